//! Removing an application.

use axum::response::Response;
use eddyline_model::ApplicationId;
use eddyline_model::policy::ApplicationAction;

use super::PATH;
use crate::answer::see_other;
use crate::error::PageError;
use crate::pages::within::Within;
use crate::segments::Numbered;
use crate::submission::Submission;
use crate::visit::Visit;

pub(in crate::pages) async fn ask(
    visit: Visit,
    Numbered(id): Numbered<ApplicationId>,
) -> Result<Response, PageError> {
    let actor = visit.signed_in()?;
    let found = visit
        .app()
        .oauth()
        .application(actor, id, ApplicationAction::Change)
        .await;
    let application = found.map_err(PageError::not_allowed)?;
    let t = visit.texts();
    let removal = t.application.removal.with("application", &application.name);
    let removal = removal.to_string();
    let page = Within::new(&visit, &removal)
        .await?
        .text(&t.application.removal_text)
        .form(visit.form(visit.path(), &removal))
        .link(
            format!("{PATH}/{id}"),
            t.page.back.with("name", &application.name),
        );
    visit.client_page(&page).await
}

pub(in crate::pages) async fn remove(
    Numbered(id): Numbered<ApplicationId>,
    sent: Submission,
) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let actor = visit.signed_in()?;
    visit
        .app()
        .oauth()
        .remove_application(actor, id)
        .await
        .map_err(PageError::not_allowed)?;
    Ok(see_other(&format!("{PATH}?done=removed")))
}
