//! The users of a flow (specification, section 4, Users).

use eddyline_model::policy::FlowAction;
use eddyline_wire::requests::{AddFlowUser, BlockFlowUser};
use http::StatusCode;

use crate::answer::{Answer, done, json, nothing};
use crate::context::RequestContext;
use crate::handler::UnparsedParams;

pub(crate) async fn list(ctx: RequestContext) -> Answer {
    let room = ctx.flow(FlowAction::See).await?;
    json(StatusCode::OK, &ctx.app().flows().users(&room).await?)
}

pub(crate) async fn former(ctx: RequestContext) -> Answer {
    let room = ctx.flow(FlowAction::Read).await?;
    let users = ctx.app().flows().former_users(&room).await?;
    json(StatusCode::OK, &users)
}

pub(crate) async fn add(ctx: RequestContext, request: UnparsedParams<AddFlowUser>) -> Answer {
    let room = ctx.flow(FlowAction::AddUser).await?;
    let AddFlowUser { id } = request.read()?;
    ctx.app().flows().add_user(ctx.actor(), &room, id).await?;
    Ok(done())
}

pub(crate) async fn block(ctx: RequestContext, request: UnparsedParams<BlockFlowUser>) -> Answer {
    let room = ctx.flow(FlowAction::See).await?;
    let user = ctx.id("user")?;
    let BlockFlowUser { disabled } = request.read()?;
    ctx.app()
        .flows()
        .set_user_blocked(ctx.actor(), &room, user, disabled)
        .await?;
    Ok(done())
}

pub(crate) async fn leave(ctx: RequestContext) -> Answer {
    let room = ctx.flow(FlowAction::See).await?;
    ctx.app()
        .flows()
        .leave(ctx.actor(), &room, ctx.id("user")?)
        .await?;
    Ok(nothing())
}
