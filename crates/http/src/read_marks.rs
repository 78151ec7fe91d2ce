//! Marking what was read (docs/protocol.md, Reading).

use eddyline_model::policy::{FlowAction, MessageAction};
use eddyline_model::scopes::Scope::{Flow, Private};
use eddyline_openapi::DescribeOperation as _;
use eddyline_openapi::Shape::{Empty, One};
use eddyline_openapi::tags;
use eddyline_wire::requests::{MarkFlowRead, MarkRead};
use http::{Method, StatusCode};

use crate::answer::{Answer, done, json};
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
            mark_flow_read,
        )
        .scopes(&[Flow])
        .answers(200, "Done", Some(Empty)),
        Endpoint::new(
            Method::PUT,
            "/flows/{organization}/{flow}/threads/{thread}/read",
            "markThreadRead",
            "Mark a thread as read",
            mark_thread_read,
        )
        .scopes(&[Flow])
        .answers(200, "The flow, with what is unread now", Some(One("Flow"))),
        Endpoint::new(
            Method::PUT,
            "/private/{user}/read",
            "markPrivateConversationRead",
            "Mark a private conversation as read",
            mark_private_read,
        )
        .tag(tags::PRIVATE_CONVERSATIONS)
        .scopes(&[Private])
        .answers(200, "Done", Some(Empty)),
    ]
}

async fn mark_flow_read(ctx: RequestContext, request: UnparsedParams<MarkFlowRead>) -> Answer {
    let room = ctx.room(MessageAction::Read).await?;
    let MarkFlowRead { message, marker } = request.read()?;
    ctx.app()
        .messages()
        .mark_read(ctx.actor(), &room, marker, message)
        .await?;
    Ok(done())
}

async fn mark_thread_read(ctx: RequestContext, request: UnparsedParams<MarkRead>) -> Answer {
    let room = ctx.flow(FlowAction::Read).await?;
    let message = request.read()?.message;
    let flow = ctx
        .app()
        .messages()
        .mark_thread_read(ctx.actor(), &room, ctx.segment("thread"), message)
        .await?;
    json(StatusCode::OK, &flow)
}

async fn mark_private_read(ctx: RequestContext, request: UnparsedParams<MarkRead>) -> Answer {
    let room = ctx.room(MessageAction::Read).await?;
    ctx.app()
        .messages()
        .mark_read(ctx.actor(), &room, None, request.read()?.message)
        .await?;
    Ok(done())
}
