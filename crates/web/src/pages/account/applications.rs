//! The applications that one has allowed to act for oneself.

use askama::Template;
use axum::response::Response;
use eddyline_app::Authorized;

use crate::answer::see_other;
use crate::error::PageError;
use crate::field::FormView;
use crate::pages::shell::Shell;
use crate::submission::Submission;
use crate::texts::Texts;
use crate::visit::Visit;

const PATH: &str = "/account/applications";

#[derive(Template)]
#[template(path = "allowed.html")]
struct Allowed {
    t: &'static Texts,
    shell: Shell,
    done: Option<&'static str>,
    applications: Vec<(Authorized, FormView)>,
}

pub(in crate::pages) async fn show(visit: Visit) -> Result<Response, PageError> {
    let actor = visit.signed_in()?;
    let allowed = visit.app().oauth().authorized(actor).await?;
    let t = &visit.texts().allowed;
    let applications = allowed.into_iter().map(|one| {
        let form = visit
            .form(PATH, &t.revoke)
            .hidden("application", &one.application.id.to_string())
            .about(
                t.by.with("application", &one.application.name)
                    .with("organization", &one.organization_name),
            )
            .quiet();
        (one, form)
    });
    let applications = applications.collect();
    let done = (visit.query("done") == "ended").then_some(t.revoked.as_str());
    let page = Allowed {
        t: visit.texts(),
        shell: Shell::beside(&visit).await?,
        done,
        applications,
    };
    visit.client_page(&page).await
}

pub(in crate::pages) async fn take_back(sent: Submission) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let actor = visit.signed_in()?;
    let application = sent
        .get("application")
        .parse()
        .map_err(|_| PageError::unreadable())?;
    visit.app().oauth().unauthorize(actor, application).await?;
    Ok(see_other(&format!("{PATH}?done=ended")))
}
