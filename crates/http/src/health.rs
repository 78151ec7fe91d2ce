//! Whether the server is well, for load balancers and monitoring.

use crate::answer::{Answer, done};
use crate::context::RequestContext;

pub(crate) async fn alive(_ctx: RequestContext) -> Answer {
    Ok(done())
}

pub(crate) async fn ready(ctx: RequestContext) -> Answer {
    ctx.app().ready().await?;
    Ok(done())
}
