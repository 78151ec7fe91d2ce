//! Leaving a flow.

use axum::response::Response;
use eddyline_model::policy::FlowAction;

use super::ask::ask_about;
use super::{describe, find};
use crate::answer::see_other;
use crate::error::PageError;
use crate::segments::FlowNames;
use crate::submission::Submission;
use crate::visit::Visit;

pub(in crate::pages) async fn ask(visit: Visit, names: FlowNames) -> Result<Response, PageError> {
    let room = find(&visit, &names, FlowAction::See).await?;
    let flow = describe(&visit, &room).await?;
    if !flow.joined {
        return Err(PageError::not_found());
    }
    let t = &visit.texts().leaving;
    let way_back = match flow.access_mode.as_str() {
        "organization" => &t.any_time,
        "link" => &t.by_link,
        _ => &t.by_invitation,
    };
    let text = format!("{} {way_back}", t.text);
    let title = t.title.with("flow", &flow.name).to_string();
    ask_about(&visit, &flow, title, text).await
}

pub(in crate::pages) async fn leave(
    names: FlowNames,
    sent: Submission,
) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let actor = visit.signed_in()?;
    let room = find(visit, &names, FlowAction::See).await?;
    let flows = visit.app().flows();
    flows.leave(actor, &room, actor.user()?.user.id).await?;
    Ok(see_other("/app?done=left"))
}
