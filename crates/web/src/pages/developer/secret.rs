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
    let t = visit.texts();
    let another = t.application.another.with("application", &application.name);
    let page = Within::new(&visit, another)
        .await?
        .text(&t.application.another_text)
        .form(visit.form(visit.path(), &t.application.new_secret))
        .link(
            format!("{PATH}/{id}"),
            t.page.back.with("name", &application.name),
        );
    visit.client_page(&page).await
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
    let t = &visit.texts().application;
    let page = SecretPage::new(visit, &t.fresh, (&path, &t.go))
        .await?
        .shows(&t.client_secret, secret.expose())
        .text(&t.fresh_text);
    visit.client_page(&page).await
}
