//! One application: seeing and changing it.

use askama::Template;
use axum::response::Response;
use eddyline_app::{Error, ErrorKind};
use eddyline_model::ApplicationId;
use eddyline_model::applications::Application;
use eddyline_model::policy::ApplicationAction;
use http::StatusCode;

use super::form::Values;
use crate::answer::see_other;
use crate::error::PageError;
use crate::field::FormView;
use crate::pages::shell::Shell;
use crate::segments::Numbered;
use crate::submission::Submission;
use crate::texts::Texts;
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "application.html")]
struct ApplicationPage {
    t: &'static Texts,
    shell: Shell,
    done: Option<&'static str>,
    application: Application,
    /// What the organization is called.
    organization: String,
    /// Absent for those who may only see it.
    form: Option<FormView>,
}

impl ApplicationPage {
    fn is_wrong(&self) -> bool {
        self.form.as_ref().is_some_and(FormView::is_wrong)
    }
}

pub(in crate::pages) async fn show(
    visit: Visit,
    Numbered(id): Numbered<ApplicationId>,
) -> Result<Response, PageError> {
    shown(&visit, id, None).await
}

pub(in crate::pages) async fn change(
    Numbered(id): Numbered<ApplicationId>,
    sent: Submission,
) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let actor = visit.signed_in()?;
    let values = Values::sent(&sent);
    let outcome = match values.read(visit.texts()) {
        Ok(changes) => {
            visit
                .app()
                .oauth()
                .change_application(actor, id, changes)
                .await
        }
        Err(errors) => {
            // Only those who may change it are told what is wrong.
            let allowed = visit
                .app()
                .oauth()
                .application(actor, id, ApplicationAction::Change)
                .await;
            allowed.and(Err(Error::invalid_fields(errors)))
        }
    };
    match outcome {
        Ok(_) => Ok(see_other(&format!("{}?done=changed", visit.path()))),
        Err(error) if error.kind() == ErrorKind::Invalid => {
            let form = changing(visit, &values).errors(error.into_fields());
            shown(visit, id, Some(form)).await
        }
        Err(error) => Err(PageError::not_allowed(error)),
    }
}

/// The page of an application; `wrong` is the form as it was sent, when something is wrong with it.
async fn shown(
    visit: &Visit,
    id: ApplicationId,
    wrong: Option<FormView>,
) -> Result<Response, PageError> {
    let actor = visit.signed_in()?;
    let app = visit.app();
    let application = app
        .oauth()
        .application(actor, id, ApplicationAction::See)
        .await?;
    let own = app.organizations().list_own(actor).await?;
    let organization = own
        .into_iter()
        .find(|own| own.id == application.organization);
    let form = app
        .oauth()
        .may_change_application(actor, &application)
        .then(|| wrong.unwrap_or_else(|| changing(visit, &Values::of(&application))));
    let t = visit.texts();
    let page = ApplicationPage {
        t: visit.texts(),
        shell: Shell::beside(visit).await?,
        done: match visit.query("done") {
            "registered" => Some(t.application.registered.as_str()),
            "changed" => Some(t.application.changed.as_str()),
            _ => None,
        },
        organization: organization.ok_or_else(PageError::not_found)?.name,
        application,
        form,
    };
    let status = if page.is_wrong() {
        StatusCode::BAD_REQUEST
    } else {
        StatusCode::OK
    };
    visit.client_page_with(status, &page).await
}

fn changing(visit: &Visit, values: &Values) -> FormView {
    let t = visit.texts();
    values.fields(t, visit.form(visit.path(), &t.application.change))
}
