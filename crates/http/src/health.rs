//! Whether the server is well, for load balancers and monitoring.

use crate::answer::{Answer, done};
use crate::context::RequestContext;
use crate::requester::Anybody;

pub(crate) async fn alive(_ctx: RequestContext<Anybody>) -> Answer {
    Ok(done())
}

pub(crate) async fn ready(ctx: RequestContext<Anybody>) -> Answer {
    ctx.app().ready().await?;
    Ok(done())
}
