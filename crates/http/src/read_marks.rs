//! Marking what was read (docs/protocol.md, Reading).

use eddyline_model::policy::FlowAction;
use eddyline_model::scopes::Scope::{Flow, Private};
use eddyline_wire::requests::MarkRead;
use http::Method;

use crate::answer::{Answer, done};
use crate::context::RequestContext;
use crate::endpoint::Endpoint;
use crate::endpoint::Shape::Empty;
use crate::handler::UnparsedParams;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(
            Method::PUT,
            "/flows/{organization}/{flow}/read",
            "Mark a flow as read",
            flow,
        )
        .scopes(&[Flow])
        .answers(200, "Done", Some(Empty)),
        Endpoint::new(
            Method::PUT,
            "/private/{user}/read",
            "Mark a private conversation as read",
            private,
        )
        .scopes(&[Private])
        .answers(200, "Done", Some(Empty)),
    ]
}

async fn flow(ctx: RequestContext, request: UnparsedParams<MarkRead>) -> Answer {
    let room = ctx.room(FlowAction::Read).await?;
    ctx.app()
        .messages()
        .mark_read(ctx.actor(), &room, request.read()?.message)
        .await?;
    Ok(done())
}

async fn private(ctx: RequestContext, request: UnparsedParams<MarkRead>) -> Answer {
    ctx.actor().user()?;
    let with = ctx.id("user")?;
    ctx.app()
        .messages()
        .mark_private_read(ctx.actor(), with, request.read()?.message)
        .await?;
    Ok(done())
}
