//! What posts into the inbox of a flow: its sources, each with what is wrong with it, where it is
//! configured, and a way to be rid of it (specification, section 4, Sources).

use askama::Template;
use axum::response::Response;
use eddyline_model::policy::FlowAction;
use eddyline_wire::Source;

use crate::answer::see_other;
use crate::error::PageError;
use crate::field::FormView;
use crate::segments::FlowNames;
use crate::submission::Submission;
use crate::visit::{Inside, Visit};

#[derive(Template)]
#[template(path = "inbox.html")]
struct Inbox {
    inside: Inside,
    flow: String,
    path: String,
    done: Option<&'static str>,
    sources: Vec<(Source, FormView)>,
}

fn path(organization: &str, flow: &str) -> String {
    format!("/app/{organization}/{flow}/inbox")
}

pub(super) async fn show(
    visit: Visit,
    FlowNames(organization, flow): FlowNames,
) -> Result<Response, PageError> {
    let actor = visit.signed_in()?;
    let room = visit
        .app()
        .rooms()
        .find(actor, &organization, &flow, FlowAction::ManageSources)
        .await?;
    let (organization, flow) = (
        &room.organization.parameterized_name,
        &room.flow.parameterized_name,
    );
    let here = path(organization, flow);
    let sources = visit
        .app()
        .sources()
        .list_of_flow(&room)
        .await?
        .into_iter()
        .map(|source| {
            let form = FormView::new(&here, visit.csrf(), "Remove")
                .hidden("source", &source.id.to_string())
                .about(&source.name)
                .quiet();
            (source, form)
        });
    let sources = sources.collect();
    let done =
        (visit.query("done") == "removed").then_some("Source removed. Its token no longer works.");
    let path = format!("/app/{organization}/{flow}");
    Ok(visit.page(&Inbox {
        inside: visit.inside(),
        flow: room.flow.name.clone(),
        path,
        done,
        sources,
    }))
}

pub(super) async fn remove(
    FlowNames(organization, flow): FlowNames,
    sent: Submission,
) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let actor = visit.signed_in()?;
    let source = sent
        .get("source")
        .parse()
        .map_err(|_| PageError::unreadable())?;
    let room = visit
        .app()
        .rooms()
        .find(actor, &organization, &flow, FlowAction::ManageSources)
        .await?;
    visit
        .app()
        .sources()
        .remove(actor, (room.id(), source))
        .await?;
    let (organization, flow) = (
        &room.organization.parameterized_name,
        &room.flow.parameterized_name,
    );
    Ok(see_other(&format!(
        "{}?done=removed",
        path(organization, flow)
    )))
}
