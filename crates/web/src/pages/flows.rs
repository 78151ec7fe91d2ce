//! The flows one is in, and what one of them is.

use askama::Template;
use axum::response::Response;
use eddyline_model::policy::FlowDeed;
use eddyline_wire::{Flow, FlowUser};

use crate::failure::Failure;
use crate::segments::FlowNames;
use crate::visit::{Inside, Visit};

#[derive(Template)]
#[template(path = "flows.html")]
struct Flows {
    inside: Inside,
    flows: Vec<Flow>,
}

#[derive(Template)]
#[template(path = "flow.html")]
struct FlowPage {
    inside: Inside,
    flow: Flow,
    people: Vec<FlowUser>,
    api: String,
}

pub(super) async fn list(visit: Visit) -> Result<Response, Failure> {
    let actor = visit.signed_in()?;
    let flows = visit.app().flows(actor, false, false).await?;
    Ok(visit.page(&Flows { inside: visit.inside(), flows }))
}

pub(super) async fn show(
    visit: Visit,
    FlowNames(organization, flow): FlowNames,
) -> Result<Response, Failure> {
    let actor = visit.signed_in()?;
    let room = visit.app().room(actor, &organization, &flow, FlowDeed::See).await?;
    let mut flow = visit.app().flow(actor, &room).await?;
    let people = flow.users.take().unwrap_or_default();
    let people = people.into_iter().filter(|person| !person.disabled).collect();
    let api = visit.app().config().addresses.base.clone();
    Ok(visit.page(&FlowPage { inside: visit.inside(), flow, people, api }))
}
