//! Flows (specification, section 4, Flows).

use eddyline_app::{FlowChanges, FlowsWanted};
use eddyline_model::policy::FlowAction;
use eddyline_model::scopes::Scope;
use eddyline_wire::requests::{CreateFlow, FindFlow, ListFlows, UpdateFlow};
use http::StatusCode;
use http::header::LINK;

use crate::answer::{Answer, json};
use crate::context::RequestContext;
use crate::handler::UnparsedParams;
use crate::response::with_header;

pub(crate) async fn joined(ctx: RequestContext, request: UnparsedParams<ListFlows>) -> Answer {
    list(&ctx, request.read()?, false).await
}

pub(crate) async fn all(ctx: RequestContext, request: UnparsedParams<ListFlows>) -> Answer {
    list(&ctx, request.read()?, true).await
}

async fn list(ctx: &RequestContext, ListFlows { users, after }: ListFlows, all: bool) -> Answer {
    let found = ctx
        .app()
        .flows()
        .list(
            ctx.actor(),
            FlowsWanted {
                all,
                users,
                after,
                ..FlowsWanted::default()
            },
        )
        .await?;
    let answer = json(StatusCode::OK, &found.flows)?;
    let Some(next) = found.next else {
        return Ok(answer);
    };
    let base = &ctx.app().config().addresses.base;
    let (path, users) = (
        if all { "/flows/all" } else { "/flows" },
        if users { "&users=1" } else { "" },
    );
    Ok(with_header(
        answer,
        LINK,
        &format!("<{base}{path}?after={next}{users}>; rel=\"next\""),
    ))
}

pub(crate) async fn get(ctx: RequestContext) -> Answer {
    let room = ctx.flow(FlowAction::See).await?;
    json(
        StatusCode::OK,
        &ctx.app().flows().get(ctx.actor(), &room).await?,
    )
}

pub(crate) async fn find(ctx: RequestContext, request: UnparsedParams<FindFlow>) -> Answer {
    let FindFlow { id } = request.read()?;
    let room = ctx
        .app()
        .rooms()
        .find_named(ctx.actor(), &id, FlowAction::See)
        .await?;
    json(
        StatusCode::OK,
        &ctx.app().flows().get(ctx.actor(), &room).await?,
    )
}

pub(crate) async fn create(ctx: RequestContext, request: UnparsedParams<CreateFlow>) -> Answer {
    let CreateFlow { name } = request.read()?;
    let flow = ctx
        .app()
        .flows()
        .create(ctx.actor(), ctx.segment("organization"), name)
        .await?;
    json(StatusCode::CREATED, &flow)
}

pub(crate) async fn update(ctx: RequestContext, request: UnparsedParams<UpdateFlow>) -> Answer {
    let room = ctx.flow(FlowAction::See).await?;
    let UpdateFlow {
        name,
        description,
        open,
        disabled,
        access_mode,
    } = request.read()?;
    let changes = FlowChanges {
        name,
        description,
        open,
        disabled,
        access_mode,
    };
    let manages = FlowChanges {
        open: None,
        ..changes.clone()
    } != FlowChanges::default();
    if manages {
        ctx.actor().require_any(&[Scope::Manage])?;
    }
    json(
        StatusCode::OK,
        &ctx.app()
            .flows()
            .update(ctx.actor(), &room, changes)
            .await?,
    )
}

pub(crate) async fn replace_join_link(ctx: RequestContext) -> Answer {
    let room = ctx.flow(FlowAction::Configure).await?;
    json(
        StatusCode::OK,
        &ctx.app()
            .flows()
            .replace_join_link(ctx.actor(), &room)
            .await?,
    )
}
