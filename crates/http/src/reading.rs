//! Marking what was read (docs/protocol.md, Reading).

use eddyline_model::MessageId;
use eddyline_model::policy::FlowAction;
use eddyline_model::scopes::Scope::{Flow, Private};
use http::Method;

use crate::answer::{Answer, done};
use crate::context::RequestContext;
use crate::endpoint::Endpoint;
use crate::endpoint::Shape::Empty;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::PUT, "/flows/{organization}/{flow}/read", "Mark a flow as read", flow)
            .scopes(&[Flow])
            .needs("message", "integer", "The last message read; an earlier one changes nothing")
            .answers(200, "Done", Some(Empty)),
        Endpoint::new(Method::PUT, "/private/{user}/read", "Mark a private conversation as read", private)
            .scopes(&[Private])
            .needs("message", "integer", "The last message read; an earlier one changes nothing")
            .answers(200, "Done", Some(Empty)),
    ]
}

async fn flow(ctx: RequestContext) -> Answer {
    let room = ctx.room(FlowAction::Read).await?;
    ctx.app().messages().mark_read(ctx.actor()?, &room, message(&ctx)?).await?;
    Ok(done())
}

async fn private(ctx: RequestContext) -> Answer {
    ctx.actor()?.user()?;
    let with = ctx.id("user")?;
    ctx.app().messages().mark_private_read(ctx.actor()?, with, message(&ctx)?).await?;
    Ok(done())
}

fn message(ctx: &RequestContext) -> Result<MessageId, crate::error::Failure> {
    Ok(ctx.params.reader().required_id("message")?)
}
