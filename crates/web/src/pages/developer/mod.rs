//! The applications of one's organizations: seeing and registering them. Each has a page of its
//! own.

pub(super) mod application;
mod form;
pub(super) mod remove;
pub(super) mod secret;
pub(super) mod setup;

use askama::Template;
use axum::response::Response;
use eddyline_app::{Error, ErrorKind, NewApplication, OwnOrganization};
use eddyline_model::applications::Application;
use http::StatusCode;

use self::form::Values;
use crate::answer::see_other;
use crate::error::PageError;
use crate::field::{FormField, FormView};
use crate::pages::secret_page::SecretPage;
use crate::pages::shell::Shell;
use crate::submission::Submission;
use crate::texts::Texts;
use crate::visit::Visit;

const PATH: &str = "/developer";

#[derive(Template)]
#[template(path = "developer.html")]
struct Developer {
    t: &'static Texts,
    shell: Shell,
    done: Option<&'static str>,
    api: String,
    /// What each organization is called, and what it has registered.
    registered: Vec<(String, Vec<Application>)>,
    /// Absent for somebody who is in no organization.
    form: Option<FormView>,
}

impl Developer {
    fn is_wrong(&self) -> bool {
        self.form.as_ref().is_some_and(FormView::is_wrong)
    }
}

pub(super) async fn list(visit: Visit) -> Result<Response, PageError> {
    listed(&visit, |own| {
        registering(&visit, own, &Values::default(), ("", false))
    })
    .await
}

pub(super) async fn register(sent: Submission) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let actor = visit.signed_in()?;
    let (values, public) = (Values::sent(&sent), !sent.get("public").is_empty());
    let organization = sent.get("organization").parse();
    let t = visit.texts();
    let outcome = match (values.read(t), organization) {
        (Ok(about), Ok(organization)) => {
            let new = NewApplication { public, about };
            visit
                .app()
                .oauth()
                .register_application(actor, organization, new)
                .await
        }
        (Err(errors), _) => Err(Error::invalid_fields(errors)),
        (Ok(_), Err(_)) => Err(Error::invalid("organization", t.developer.not_own.as_str())),
    };
    let errors = match outcome {
        Ok((application, secret)) => {
            let path = format!("{PATH}/{}", application.id);
            let Some(secret) = secret else {
                return Ok(see_other(&format!("{path}?done=registered")));
            };
            let title = t
                .developer
                .registered
                .with("application", &application.name);
            let page = SecretPage::new(visit, title, (&path, &t.application.go))
                .await?
                .shows(&t.application.client_id, &application.client_id)
                .shows(&t.application.client_secret, secret.expose());
            return visit.client_page(&page).await;
        }
        Err(error) if error.kind() == ErrorKind::Invalid => error.into_fields(),
        Err(error) => return Err(PageError::not_allowed(error)),
    };
    let chosen = sent.get("organization");
    listed(visit, |own| {
        registering(visit, own, &values, (chosen, public)).errors(errors)
    })
    .await
}

async fn listed(
    visit: &Visit,
    form: impl FnOnce(&[OwnOrganization]) -> FormView,
) -> Result<Response, PageError> {
    let actor = visit.signed_in()?;
    let own = visit.app().organizations().list_own(actor).await?;
    let mut registered = Vec::with_capacity(own.len());
    for organization in &own {
        let applications = visit
            .app()
            .oauth()
            .applications(actor, organization.id)
            .await?;
        registered.push((organization.name.clone(), applications));
    }
    let removed = visit.texts().developer.removed.as_str();
    let page = Developer {
        t: visit.texts(),
        shell: Shell::beside(visit).await?,
        done: (visit.query("done") == "removed").then_some(removed),
        api: visit.app().config().addresses.base.clone(),
        registered,
        form: (!own.is_empty()).then(|| form(&own)),
    };
    let status = if page.is_wrong() {
        StatusCode::BAD_REQUEST
    } else {
        StatusCode::OK
    };
    visit.client_page_with(status, &page).await
}

/// What one registers an application with; the last are what was chosen before, and the switch.
fn registering(
    visit: &Visit,
    own: &[OwnOrganization],
    values: &Values,
    (chosen, public): (&str, bool),
) -> FormView {
    let t = visit.texts();
    let form = visit.form(PATH, &t.developer.register);
    let form = match own {
        [only] => form.hidden("organization", &only.id.to_string()),
        several => {
            let choices = several
                .iter()
                .map(|one| (one.id.to_string(), one.name.clone()))
                .collect();
            form.field(
                FormField::choice("organization", &t.developer.organization, choices).value(chosen),
            )
        }
    };
    let switch =
        FormField::switch("public", &t.developer.public, public).hint(&t.developer.public_hint);
    values.fields(t, form).field(switch)
}
