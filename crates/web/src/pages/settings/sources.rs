//! What posts into the inbox of a flow: its sources, each with what is wrong with it, where it is
//! configured, and a way to be rid of it (specification, section 4, Sources).

use askama::Template;
use axum::response::Response;
use eddyline_model::policy::FlowAction;
use eddyline_wire::Source;

use super::{Frame, Subject, describe, find, path_of_room};
use crate::answer::see_other;
use crate::error::PageError;
use crate::field::FormView;
use crate::segments::FlowNames;
use crate::submission::Submission;
use crate::visit::{Inside, Visit};

#[derive(Template)]
#[template(path = "settings/sources.html")]
struct Sources {
    inside: Inside,
    frame: Frame,
    /// Each with the form that removes it, where the organization takes changes.
    sources: Vec<(Source, Option<FormView>)>,
}

pub(in crate::pages) async fn show(visit: Visit, names: FlowNames) -> Result<Response, PageError> {
    let room = find(&visit, &names, FlowAction::ManageSources).await?;
    let flow = describe(&visit, &room).await?;
    let t = &visit.texts().sources;
    let here = Subject::Sources.path(&path_of_room(&room));
    let found = visit.app().sources().list_of_flow(&room).await?;
    let sources = found.into_iter().map(|source| {
        let form = flow.organization.active.then(|| {
            visit
                .form(&here, &t.remove)
                .hidden("source", &source.id.to_string())
                .about(&source.name)
                .quiet()
        });
        (source, form)
    });
    let done = (visit.query("done") == "removed").then_some(t.removed.as_str());
    Ok(visit.page(&Sources {
        inside: visit.inside(),
        sources: sources.collect(),
        frame: Frame {
            done,
            ..Frame::new(&visit, &flow, Subject::Sources)
        },
    }))
}

/// Sends readers of an older address on.
pub(in crate::pages) async fn moved(visit: Visit) -> Result<Response, PageError> {
    let flow = visit.path().strip_suffix("/inbox");
    let flow = flow.ok_or_else(PageError::not_found)?;
    Ok(see_other(&Subject::Sources.path(flow)))
}

pub(in crate::pages) async fn remove(
    names: FlowNames,
    sent: Submission,
) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let actor = visit.signed_in()?;
    let source = sent
        .get("source")
        .parse()
        .map_err(|_| PageError::unreadable())?;
    let room = find(visit, &names, FlowAction::ManageSources).await?;
    visit
        .app()
        .sources()
        .remove(actor, (room.id(), source))
        .await?;
    let here = Subject::Sources.path(&path_of_room(&room));
    Ok(see_other(&format!("{here}?done=removed")))
}
