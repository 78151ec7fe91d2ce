//! Flows (specification, section 4, Flows).

use eddyline_app::{FlowChanges, FlowsWanted};
use eddyline_model::flows::AccessMode;
use eddyline_model::names::FlowName;
use eddyline_model::policy::FlowAction;
use eddyline_model::scopes::Scope;
use http::StatusCode;
use http::header::LINK;

use crate::answer::{Answer, json, with_header};
use crate::context::RequestContext;
use eddyline_wire::params::Reader;

const MAX_DESCRIPTION: usize = 1000;

pub(crate) async fn joined(ctx: RequestContext) -> Answer {
    list(&ctx, false).await
}

pub(crate) async fn all(ctx: RequestContext) -> Answer {
    list(&ctx, true).await
}

async fn list(ctx: &RequestContext, all: bool) -> Answer {
    let mut params = ctx.params.reader();
    let users = params.opt_bool("users").unwrap_or(false);
    let after = params.opt_text("after", 1..=200);
    params.finish()?;
    let found = ctx.app().flow_list(ctx.actor()?, FlowsWanted { all, users, after }).await?;
    let answer = json(StatusCode::OK, &found.flows)?;
    let Some(next) = found.next else { return Ok(answer) };
    let base = &ctx.app().config().addresses.base;
    let (path, users) = (if all { "/flows/all" } else { "/flows" }, if users { "&users=1" } else { "" });
    Ok(with_header(answer, LINK, &format!("<{base}{path}?after={next}{users}>; rel=\"next\"")))
}

pub(crate) async fn get(ctx: RequestContext) -> Answer {
    let room = ctx.room(FlowAction::See).await?;
    json(StatusCode::OK, &ctx.app().flow(ctx.actor()?, &room).await?)
}

pub(crate) async fn find(ctx: RequestContext) -> Answer {
    let mut params = ctx.params.reader();
    let id = params.required_text("id", 1..=200);
    params.finish()?;
    let room = ctx.app().room_named(ctx.actor()?, &id, FlowAction::See).await?;
    json(StatusCode::OK, &ctx.app().flow(ctx.actor()?, &room).await?)
}

pub(crate) async fn create(ctx: RequestContext) -> Answer {
    let mut params = ctx.params.reader();
    let name = flow_name(&mut params);
    if name.is_none() && !ctx.params.has("name") {
        params.error("name", "can't be blank");
    }
    params.finish()?;
    let Some(name) = name else { return Err(crate::context::invalid("name", "can't be blank")) };
    let flow = ctx.app().create_flow(ctx.actor()?, ctx.segment("organization"), name).await?;
    json(StatusCode::CREATED, &flow)
}

pub(crate) async fn update(ctx: RequestContext) -> Answer {
    let room = ctx.room(FlowAction::See).await?;
    let mut params = ctx.params.reader();
    let modes = [AccessMode::Invitation, AccessMode::Link, AccessMode::Organization];
    let changes = FlowChanges {
        name: flow_name(&mut params),
        description: params.opt_text("description", 0..=MAX_DESCRIPTION),
        open: params.opt_bool("open"),
        disabled: params.opt_bool("disabled"),
        access_mode: params.opt_choice("access_mode", &modes.map(|mode| (mode.as_str(), mode))),
    };
    params.finish()?;
    let manages = FlowChanges { open: None, ..changes.clone() } != FlowChanges::default();
    if manages {
        ctx.actor()?.require_any(&[Scope::Manage])?;
    }
    json(StatusCode::OK, &ctx.app().update_flow(ctx.actor()?, &room, changes).await?)
}

pub(crate) async fn replace_join_link(ctx: RequestContext) -> Answer {
    let room = ctx.room(FlowAction::Configure).await?;
    json(StatusCode::OK, &ctx.app().replace_join_link(ctx.actor()?, &room).await?)
}

fn flow_name(params: &mut Reader<'_>) -> Option<FlowName> {
    let text = params.opt_text("name", 0..=usize::MAX)?;
    match text.parse() {
        Ok(name) => Some(name),
        Err(error) => {
            params.error("name", format!("{error}"));
            None
        }
    }
}
