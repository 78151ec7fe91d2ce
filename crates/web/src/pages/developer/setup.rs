//! Where an application is set up for a flow. That is a page of the application's, so that one is
//! led there by a link and never sent.

use askama::Template;
use axum::response::Response;
use eddyline_model::ApplicationId;
use eddyline_model::policy::ApplicationAction;

use crate::error::PageError;
use crate::pages::shell::Shell;
use crate::segments::Numbered;
use crate::texts::Texts;
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "setup.html")]
struct Setup {
    t: &'static Texts,
    shell: Shell,
    id: ApplicationId,
    name: String,
    /// The names of the flow and its organization, and the link.
    flows: Vec<(String, String, String)>,
}

pub(in crate::pages) async fn show(
    visit: Visit,
    Numbered(id): Numbered<ApplicationId>,
) -> Result<Response, PageError> {
    let actor = visit.signed_in()?;
    let application = visit
        .app()
        .oauth()
        .application(actor, id, ApplicationAction::See)
        .await?;
    if application.setup_uri.is_none() {
        return Err(PageError::not_found());
    }
    let flows = visit.app().flows().all(actor).await?;
    let flows = flows.into_iter().filter_map(|flow| {
        let link = application.setup_link(&flow.id, &flow.url)?;
        Some((flow.name, flow.organization.name, link))
    });
    let flows = flows.collect();
    let page = Setup {
        t: visit.texts(),
        shell: Shell::beside(&visit).await?,
        id,
        name: application.name,
        flows,
    };
    visit.client_page(&page).await
}
