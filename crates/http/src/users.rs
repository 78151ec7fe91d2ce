//! Users (specification, section 4, Users).

use http::StatusCode;

use crate::answer::{Answer, json};
use crate::call::Call;

pub(crate) async fn me(call: Call) -> Answer {
    json(StatusCode::OK, &call.app().me(call.actor()?)?)
}

pub(crate) async fn get(call: Call) -> Answer {
    let user = call.app().user(call.actor()?, call.id("user")?).await?;
    json(StatusCode::OK, &user)
}
