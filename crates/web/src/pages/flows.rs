//! The flows one is in, and the settings of one.

use askama::Template;
use axum::response::Response;
use eddyline_model::policy::FlowAction;
use eddyline_wire::{Flow, FlowUser};

use crate::answer::see_other;
use crate::error::PageError;
use crate::field::FormView;
use crate::segments::FlowNames;
use crate::submission::Submission;
use crate::visit::{Inside, Visit};

#[derive(Template)]
#[template(path = "flows.html")]
struct Flows {
    inside: Inside,
    flows: Vec<Flow>,
}

#[derive(Template)]
#[template(path = "flow_settings.html")]
struct FlowSettings {
    inside: Inside,
    flow: Flow,
    people: Vec<FlowUser>,
    api: String,
    done: Option<&'static str>,
    /// Replaces the join link, for those who may.
    replace: Option<FormView>,
}

pub(super) async fn list(visit: Visit) -> Result<Response, PageError> {
    let actor = visit.signed_in()?;
    let flows = visit.app().flows().all(actor).await?;
    Ok(visit.page(&Flows {
        inside: visit.inside(),
        flows,
    }))
}

pub(super) async fn settings(
    visit: Visit,
    FlowNames(organization, flow): FlowNames,
) -> Result<Response, PageError> {
    let actor = visit.signed_in()?;
    let room = visit
        .app()
        .rooms()
        .find(actor, &organization, &flow, FlowAction::See)
        .await?;
    let flow = visit.app().flows().get(actor, &room).await?;
    show_settings(&visit, flow)
}

/// The settings of a flow, for all who may see it, members or not.
pub(super) fn show_settings(visit: &Visit, mut flow: Flow) -> Result<Response, PageError> {
    let people = flow.users.take().unwrap_or_default();
    let people = people
        .into_iter()
        .filter(|person| !person.disabled)
        .collect();
    let api = visit.app().config().addresses.base.clone();
    let done = (visit.query("done") == "replaced")
        .then_some("The flow has a new join link. The old one no longer works.");
    let replace = (flow.join_url.is_some() && flow.flow_admin).then(|| {
        let here = path(
            &flow.organization.parameterized_name,
            &flow.parameterized_name,
        );
        FormView::new(&here, visit.csrf(), "Replace the join link")
            .hidden("do", "replace")
            .quiet()
    });
    Ok(visit.page(&FlowSettings {
        inside: visit.inside(),
        flow,
        people,
        api,
        done,
        replace,
    }))
}

pub(super) async fn change(
    FlowNames(organization, flow): FlowNames,
    sent: Submission,
) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let actor = visit.signed_in()?;
    if sent.get("do") != "replace" {
        return Err(PageError::unreadable());
    }
    let room = visit
        .app()
        .rooms()
        .find(actor, &organization, &flow, FlowAction::Configure)
        .await?;
    visit.app().flows().replace_join_link(actor, &room).await?;
    let here = path(
        &room.organization.parameterized_name,
        &room.flow.parameterized_name,
    );
    Ok(see_other(&format!("{here}?done=replaced")))
}

fn path(organization: &str, flow: &str) -> String {
    format!("/app/{organization}/{flow}/settings")
}
