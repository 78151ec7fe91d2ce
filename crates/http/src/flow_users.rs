//! The users of a flow (specification, section 4, Users).

use eddyline_model::UserId;
use eddyline_model::policy::FlowAction;
use http::StatusCode;

use crate::answer::{Answer, done, json, nothing};
use crate::context::RequestContext;

pub(crate) async fn list(ctx: RequestContext) -> Answer {
    let room = ctx.room(FlowAction::See).await?;
    json(StatusCode::OK, &ctx.app().flows().users(&room).await?)
}

pub(crate) async fn add(ctx: RequestContext) -> Answer {
    let room = ctx.room(FlowAction::AddUser).await?;
    let user = ctx.params.reader().required_id::<UserId>("id")?;
    ctx.app().flows().add_user(ctx.actor()?, &room, user).await?;
    Ok(done())
}

pub(crate) async fn block(ctx: RequestContext) -> Answer {
    let room = ctx.room(FlowAction::See).await?;
    let user = ctx.id("user")?;
    let mut params = ctx.params.reader();
    let disabled = params.opt_bool("disabled");
    if disabled.is_none() && !ctx.params.has("disabled") {
        params.error("disabled", "is required");
    }
    params.finish()?;
    ctx.app().flows().set_user_blocked(ctx.actor()?, &room, user, disabled.unwrap_or_default()).await?;
    Ok(done())
}

pub(crate) async fn leave(ctx: RequestContext) -> Answer {
    let room = ctx.room(FlowAction::See).await?;
    ctx.app().flows().leave(ctx.actor()?, &room, ctx.id("user")?).await?;
    Ok(nothing())
}
