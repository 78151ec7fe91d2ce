//! Flows (specification, section 4, Flows).

use eddyline_app::{FlowChanges, FlowsWanted};
use eddyline_model::flows::AccessMode;
use eddyline_model::names::FlowName;
use eddyline_model::policy::FlowDeed;
use eddyline_model::scopes::Scope;
use http::StatusCode;
use http::header::LINK;

use crate::answer::{Answer, json, with_header};
use crate::call::Call;
use crate::params::Reader;

const MAX_DESCRIPTION: usize = 1000;

pub(crate) async fn joined(call: Call) -> Answer {
    list(&call, false).await
}

pub(crate) async fn all(call: Call) -> Answer {
    list(&call, true).await
}

async fn list(call: &Call, all: bool) -> Answer {
    let mut params = call.params.reader();
    let users = params.opt_bool("users").unwrap_or(false);
    let after = params.opt_text("after", 1..=200);
    params.finish()?;
    let found = call.app().flow_list(call.actor()?, FlowsWanted { all, users, after }).await?;
    let answer = json(StatusCode::OK, &found.flows)?;
    let Some(next) = found.next else { return Ok(answer) };
    let base = &call.app().config().addresses.base;
    let (path, users) = (if all { "/flows/all" } else { "/flows" }, if users { "&users=1" } else { "" });
    Ok(with_header(answer, LINK, &format!("<{base}{path}?after={next}{users}>; rel=\"next\"")))
}

pub(crate) async fn get(call: Call) -> Answer {
    let room = call.room(FlowDeed::See).await?;
    json(StatusCode::OK, &call.app().flow(call.actor()?, &room).await?)
}

pub(crate) async fn find(call: Call) -> Answer {
    let mut params = call.params.reader();
    let id = params.required_text("id", 1..=200);
    params.finish()?;
    let room = call.app().room_named(call.actor()?, &id, FlowDeed::See).await?;
    json(StatusCode::OK, &call.app().flow(call.actor()?, &room).await?)
}

pub(crate) async fn create(call: Call) -> Answer {
    let mut params = call.params.reader();
    let name = flow_name(&mut params);
    if name.is_none() && !call.params.has("name") {
        params.error("name", "can't be blank");
    }
    params.finish()?;
    let Some(name) = name else { return Err(crate::call::invalid("name", "can't be blank")) };
    let flow = call.app().create_flow(call.actor()?, call.segment("organization"), name).await?;
    json(StatusCode::CREATED, &flow)
}

pub(crate) async fn update(call: Call) -> Answer {
    let room = call.room(FlowDeed::See).await?;
    let mut params = call.params.reader();
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
        call.actor()?.require_any(&[Scope::Manage])?;
    }
    json(StatusCode::OK, &call.app().update_flow(call.actor()?, &room, changes).await?)
}

pub(crate) async fn replace_join_link(call: Call) -> Answer {
    let room = call.room(FlowDeed::Configure).await?;
    json(StatusCode::OK, &call.app().replace_join_link(call.actor()?, &room).await?)
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
