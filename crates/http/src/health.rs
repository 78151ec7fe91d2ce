//! Whether the server is well, for whoever watches over it.

use crate::answer::{Answer, done};
use crate::call::Call;

pub(crate) async fn alive(_call: Call) -> Answer {
    Ok(done())
}

pub(crate) async fn ready(call: Call) -> Answer {
    call.app().ready().await?;
    Ok(done())
}
