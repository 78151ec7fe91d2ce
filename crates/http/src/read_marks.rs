//! Marking what was read (docs/protocol.md, Reading).

use eddyline_model::policy::MessageAction;
use eddyline_model::scopes::Scope::{Flow, Private};
use eddyline_openapi::DescribeOperation as _;
use eddyline_openapi::Shape::Empty;
use eddyline_openapi::tags;
use eddyline_wire::requests::MarkRead;
use http::Method;

use crate::answer::{Answer, done};
use crate::context::RequestContext;
use crate::endpoint::Endpoint;
use crate::handler::UnparsedParams;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(
            Method::PUT,
            "/flows/{organization}/{flow}/read",
            "markFlowRead",
            "Mark a flow as read",
            mark_read,
        )
        .scopes(&[Flow])
        .answers(200, "Done", Some(Empty)),
        Endpoint::new(
            Method::PUT,
            "/private/{user}/read",
            "markPrivateConversationRead",
            "Mark a private conversation as read",
            mark_read,
        )
        .tag(tags::PRIVATE_CONVERSATIONS)
        .scopes(&[Private])
        .answers(200, "Done", Some(Empty)),
    ]
}

async fn mark_read(ctx: RequestContext, request: UnparsedParams<MarkRead>) -> Answer {
    let room = ctx.room(MessageAction::Read).await?;
    ctx.app()
        .messages()
        .mark_read(ctx.actor(), &room, request.read()?.message)
        .await?;
    Ok(done())
}
