//! What users are notified of on their devices (docs/protocol.md, Notifications).

use eddyline_model::notifications::NotificationChanges;
use eddyline_model::policy::FlowAction;
use eddyline_model::scopes::Scope::{Flow, Profile};
use eddyline_openapi::DescribeOperation as _;
use eddyline_openapi::Shape::One;
use eddyline_openapi::tags;
use eddyline_wire::requests::{UpdateFlowNotifications, UpdateNotifications};
use eddyline_wire::{FlowNotifications, UserNotifications};
use http::{Method, StatusCode};

use crate::answer::{Answer, json};
use crate::context::RequestContext;
use crate::endpoint::Endpoint;
use crate::handler::UnparsedParams;

const FLOW: &str = "/flows/{organization}/{flow}/notifications";

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(
            Method::GET,
            "/user/notifications",
            "getNotifications",
            "What you are notified of in all flows",
            get,
        )
        .scopes(&[Profile])
        .answers(200, "What you have chosen", Some(One("UserNotifications"))),
        Endpoint::new(
            Method::PUT,
            "/user/notifications",
            "updateNotifications",
            "Choose what you are notified of in all flows",
            update,
        )
        .scopes(&[Profile])
        .answers(200, "What you have chosen", Some(One("UserNotifications"))),
        Endpoint::new(
            Method::GET,
            FLOW,
            "getFlowNotifications",
            "What you are notified of in a flow",
            get_of_flow,
        )
        .tag(tags::FLOWS)
        .scopes(&[Flow])
        .answers(200, "What you have chosen", Some(One("FlowNotifications"))),
        Endpoint::new(
            Method::PUT,
            FLOW,
            "updateFlowNotifications",
            "Choose what you are notified of in a flow",
            update_of_flow,
        )
        .tag(tags::FLOWS)
        .scopes(&[Flow])
        .answers(200, "What you have chosen", Some(One("FlowNotifications"))),
    ]
}

async fn get(ctx: RequestContext) -> Answer {
    let settings = ctx.app().notifications().settings(ctx.actor()).await?;
    json(StatusCode::OK, &UserNotifications::of(&settings))
}

async fn update(ctx: RequestContext, request: UnparsedParams<UpdateNotifications>) -> Answer {
    let UpdateNotifications {
        level,
        shows_text,
        quiet,
        from,
        until,
        zone,
    } = request.read()?;
    let changes = NotificationChanges {
        level,
        shows_text,
        quiet,
        from,
        until,
        zone,
    };
    let notifications = ctx.app().notifications();
    let settings = notifications.update(ctx.actor(), changes).await?;
    json(StatusCode::OK, &UserNotifications::of(&settings))
}

async fn get_of_flow(ctx: RequestContext) -> Answer {
    let room = ctx.flow(FlowAction::Read).await?;
    let level = ctx.app().notifications().level(ctx.actor(), &room).await?;
    json(StatusCode::OK, &FlowNotifications::of(level))
}

async fn update_of_flow(
    ctx: RequestContext,
    request: UnparsedParams<UpdateFlowNotifications>,
) -> Answer {
    let room = ctx.flow(FlowAction::Read).await?;
    let level = request.read()?.level.own();
    let notifications = ctx.app().notifications();
    notifications.set_level(ctx.actor(), &room, level).await?;
    json(StatusCode::OK, &FlowNotifications::of(level))
}
