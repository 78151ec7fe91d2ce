//! Deleting an organization, after a question, and what its people see while it is closed.

use askama::Template;
use axum::response::Response;
use eddyline_app::ClosedPlace;
use eddyline_model::policy::OrganizationAction;
use eddyline_wire::requests::DeleteOrganization;
use http::StatusCode;

use super::{Own, Subject, confirmation, find, with_confirmation};
use crate::answer::see_other;
use crate::error::PageError;
use crate::field::{FormField, FormView};
use crate::local_path::deletion_of;
use crate::moment;
use crate::pages::plain::Plain;
use crate::pages::settings::Frame;
use crate::pages::shell::{Shell, settings_of};
use crate::segments::OrganizationName;
use crate::submission::Submission;
use crate::texts::Texts;
use crate::visit::Visit;

/// How a form says what is to be done.
const DELETE: &str = "delete";
const RESTORE: &str = "restore";

/// Asks whether an organization shall be deleted.
#[derive(Template)]
#[template(path = "settings/organization/deletion.html")]
struct Question {
    t: &'static Texts,
    shell: Shell,
    frame: Frame,
    organization: String,
    name: String,
    /// For how many days it is closed first.
    days: u32,
    form: FormView,
    back: String,
}

impl Question {
    fn days(&self) -> usize {
        usize::try_from(self.days).unwrap_or(usize::MAX)
    }
}

pub(in crate::pages) async fn show(
    visit: Visit,
    OrganizationName(name): OrganizationName,
) -> Result<Response, PageError> {
    let actor = visit.signed_in()?;
    if let Some(closed) = visit.app().deletions().find_closed(actor, &name).await? {
        let form = restoring(&visit, &closed);
        return Ok(closed_page(&visit, &closed, form));
    }
    let own = find(&visit, &name, OrganizationAction::Administer).await?;
    let form = asking(&visit, &own, "").await?;
    ask(&visit, own, form).await
}

pub(in crate::pages) async fn change(
    OrganizationName(name): OrganizationName,
    sent: Submission,
) -> Result<Response, PageError> {
    match sent.get("do") {
        DELETE => request(&name, &sent).await,
        RESTORE => restore(&name, &sent).await,
        _ => Err(PageError::unreadable()),
    }
}

async fn request(name: &str, sent: &Submission) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let own = find(visit, name, OrganizationAction::Administer).await?;
    let shown = confirmation(sent);
    let outcome = match sent.read::<DeleteOrganization>() {
        Ok(DeleteOrganization { name }) => {
            let deletions = visit.app().deletions();
            deletions
                .request_own(visit.signed_in()?, own.id, &name, Some(&shown))
                .await
        }
        Err(error) => Err(error),
    };
    match outcome {
        Ok(_) => Ok(see_other(&deletion_of(&own.summary.parameterized_name))),
        Err(error) => {
            let form = asking(visit, &own, sent.get("name")).await?;
            let form = form.with_error(error).map_err(PageError::not_allowed)?;
            ask(visit, own, form).await
        }
    }
}

async fn restore(name: &str, sent: &Submission) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let actor = visit.signed_in()?;
    let deletions = visit.app().deletions();
    let Some(closed) = deletions.find_closed(actor, name).await? else {
        // Another administrator was faster.
        return Ok(see_other(&settings_of(name)));
    };
    match deletions.cancel_own(actor, name).await {
        Ok(()) => {
            let settings = settings_of(&closed.parameterized_name);
            Ok(see_other(&format!("{settings}?done=restored")))
        }
        Err(error) => {
            let form = restore_form(visit, &closed).with_error(error);
            let form = form.map_err(PageError::not_allowed)?;
            Ok(closed_page(visit, &closed, Some(form)))
        }
    }
}

/// The form that asks for the name, and for the password unless the visitor has just signed in.
async fn asking(visit: &Visit, own: &Own, name: &str) -> Result<FormView, PageError> {
    let t = visit.texts();
    let path = deletion_of(&own.summary.parameterized_name);
    let form = visit.form(path, &t.closing.title).hidden("do", DELETE);
    let label = &t.organization.name_in_addresses;
    let form = form.field(FormField::text("name", label, "off").value(name));
    with_confirmation(visit, form).await
}

async fn ask(visit: &Visit, own: Own, form: FormView) -> Result<Response, PageError> {
    let t = visit.texts();
    let status = match form.is_wrong() {
        true => StatusCode::BAD_REQUEST,
        false => StatusCode::OK,
    };
    let organization = own.summary.name.clone();
    let heading = t.closing.title_of.with("organization", &organization);
    let frame = Frame {
        wrong: form.is_wrong(),
        ..own
            .frame(visit, Subject::General)
            .headed(heading.to_string())
    };
    let page = Question {
        t,
        shell: Shell::beside(visit).await?,
        frame,
        organization,
        name: own.summary.parameterized_name.clone(),
        days: visit.app().config().deletion_grace.days(),
        form,
        back: own.path(Subject::General),
    };
    visit.client_page_with(status, &page).await
}

/// The button that restores a closed organization, for those who may.
fn restoring(visit: &Visit, closed: &ClosedPlace) -> Option<FormView> {
    closed.cancellable.then(|| restore_form(visit, closed))
}

fn restore_form(visit: &Visit, closed: &ClosedPlace) -> FormView {
    let path = deletion_of(&closed.parameterized_name);
    let form = visit.form(path, &visit.texts().closing.restore);
    form.hidden("do", RESTORE)
}

fn closed_page(visit: &Visit, closed: &ClosedPlace, form: Option<FormView>) -> Response {
    let texts = visit.texts();
    let t = &texts.closing;
    let day = moment::day(&closed.due_at, texts);
    let mut page = Plain::new(visit, t.closed.with("organization", &closed.name));
    page = match closed.begun {
        true => page.text(&t.begun),
        false => page.text(t.due.with("day", day)),
    };
    page = match closed {
        ClosedPlace { begun: true, .. } => page,
        ClosedPlace {
            by_operator: true, ..
        } => page.text(&t.by_operator),
        ClosedPlace {
            cancellable: true, ..
        } => page.text(&t.restorable),
        _ => page.text(&t.by_administrators),
    };
    if let Some(form) = form {
        page = page.form(form);
    }
    visit.page(&page.link("/app", &texts.own_flows.title))
}
