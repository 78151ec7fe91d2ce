//! Archiving a flow.

use axum::response::Response;
use eddyline_app::FlowChanges;
use eddyline_model::policy::FlowAction;

use super::ask::ask_about;
use super::{Subject, describe, find, may, path_of};
use crate::answer::see_other;
use crate::error::PageError;
use crate::segments::FlowNames;
use crate::submission::Submission;
use crate::visit::Visit;

pub(in crate::pages) async fn ask(visit: Visit, names: FlowNames) -> Result<Response, PageError> {
    let room = find(&visit, &names, FlowAction::Configure).await?;
    let flow = describe(&visit, &room).await?;
    if flow.disabled {
        return Err(PageError::not_found());
    }
    let t = &visit.texts().archiving;
    let title = t.title.with("flow", &flow.name).to_string();
    let text = t.text.with("organization", &flow.organization.name);
    ask_about(&visit, &flow, title, text.to_string()).await
}

pub(in crate::pages) async fn archive(
    names: FlowNames,
    sent: Submission,
) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let actor = visit.signed_in()?;
    let room = find(visit, &names, FlowAction::Configure).await?;
    let changes = FlowChanges {
        disabled: Some(true),
        ..FlowChanges::default()
    };
    let flow = visit.app().flows().update(actor, &room, changes).await?;
    // One who made the flow without being an administrator does not see it any more.
    let next = match may(&flow, "self", "GET") {
        true => Subject::General.path(&path_of(&flow)),
        false => "/app".to_owned(),
    };
    Ok(see_other(&format!("{next}?done=archived")))
}
