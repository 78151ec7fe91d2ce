//! Giving an application another secret.

use axum::response::Response;
use eddyline_model::ApplicationId;
use eddyline_model::policy::ApplicationAction;

use super::PATH;
use crate::error::PageError;
use crate::pages::secret_page::SecretPage;
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
    if application.public {
        return Err(PageError::not_found());
    }
    let page = Within::new(&visit, format!("Another secret for {}", application.name))
        .text(
            "The present secret is refused at once, and requests to the application are signed with the new \
             one. Tokens that it holds stay.",
        )
        .form(visit.form(visit.path(), "Create a new secret"))
        .link(format!("{PATH}/{id}"), format!("Back to {}", application.name));
    Ok(visit.page(&page))
}

pub(in crate::pages) async fn renew(
    Numbered(id): Numbered<ApplicationId>,
    sent: Submission,
) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let actor = visit.signed_in()?;
    let renewed = visit
        .app()
        .oauth()
        .rotate_application_secret(actor, id)
        .await;
    let secret = renewed.map_err(PageError::not_allowed)?;
    let path = format!("{PATH}/{id}");
    let page = SecretPage::new(visit, "The new secret", (&path, "Go to the application"))
        .shows("Client secret", secret.expose())
        .text("The one before is refused from now on.");
    Ok(visit.page(&page))
}
