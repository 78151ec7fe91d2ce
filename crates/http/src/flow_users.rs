//! The users of a flow (specification, section 4, Users).

use eddyline_model::UserId;
use eddyline_model::policy::FlowDeed;
use http::StatusCode;

use crate::answer::{Answer, done, json, nothing};
use crate::call::Call;

pub(crate) async fn list(call: Call) -> Answer {
    let room = call.room(FlowDeed::See).await?;
    json(StatusCode::OK, &call.app().flow_users(&room).await?)
}

pub(crate) async fn add(call: Call) -> Answer {
    let room = call.room(FlowDeed::AddUser).await?;
    let user = call.params.reader().required_id::<UserId>("id")?;
    call.app().add_flow_user(call.actor()?, &room, user).await?;
    Ok(done())
}

pub(crate) async fn block(call: Call) -> Answer {
    let room = call.room(FlowDeed::See).await?;
    let user = call.id("user")?;
    let mut params = call.params.reader();
    let disabled = params.opt_bool("disabled");
    if disabled.is_none() && !call.params.has("disabled") {
        params.error("disabled", "is required");
    }
    params.finish()?;
    call.app().set_flow_user_blocked(call.actor()?, &room, user, disabled.unwrap_or_default()).await?;
    Ok(done())
}

pub(crate) async fn leave(call: Call) -> Answer {
    let room = call.room(FlowDeed::See).await?;
    call.app().leave_flow(call.actor()?, &room, call.id("user")?).await?;
    Ok(nothing())
}
