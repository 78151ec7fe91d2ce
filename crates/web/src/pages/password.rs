//! The way back in without the password: having a link mailed, and choosing a new one by it.

use axum::response::Response;
use eddyline_app::{ErrorKind, Password, ResetLink};
use http::StatusCode;

use super::plain::Plain;
use super::secret;
use crate::error::PageError;
use crate::field::{FormField, FormView};
use crate::segments::LinkSegment;
use crate::submission::Submission;
use crate::visit::Visit;

/// Digits of the secret in the link.
const DIGITS: usize = 64;

pub(super) async fn ask(visit: Visit) -> Response {
    visit.page(&asking(&visit, asking_form(&visit, "")))
}

pub(super) async fn request(sent: Submission) -> Result<Response, PageError> {
    let (visit, email) = (&sent.visit, sent.get("email"));
    let t = visit.texts();
    if !email.contains('@') {
        let form = asking_form(visit, email).errors([error("email", &t.problem.email)].into());
        return Ok(visit.page_with(StatusCode::BAD_REQUEST, &asking(visit, form)));
    }
    visit
        .app()
        .accounts()
        .request_password_reset(email, visit.client())
        .await?;
    let told = Plain::new(visit, &t.page.check_mail)
        .text(t.new_password.sent.with("email", email))
        .text(&t.new_password.again)
        .link("/sign-in", &t.sign_in.title);
    Ok(visit.page(&told))
}

pub(super) async fn choose(
    visit: Visit,
    LinkSegment(link): LinkSegment,
) -> Result<Response, PageError> {
    let found = find(&visit, &link).await?;
    Ok(visit.page(&choosing(&visit, choosing_form(&visit, &found), &found)))
}

pub(super) async fn set(
    LinkSegment(link): LinkSegment,
    sent: Submission,
) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let shown = find(visit, &link).await?;
    let link = secret(&link, DIGITS).ok_or(PageError::InvalidLink)?;
    match visit
        .app()
        .accounts()
        .reset_password(&link, &Password::new(sent.get("password")))
        .await
    {
        Ok(session) => visit.begin_session(&session, "/app").await,
        Err(error) if error.kind() == ErrorKind::Invalid => {
            let form = choosing_form(visit, &shown).errors(error.into_fields());
            Ok(visit.page_with(StatusCode::BAD_REQUEST, &choosing(visit, form, &shown)))
        }
        Err(error) => Err(PageError::of_link(error)),
    }
}

async fn find(visit: &Visit, link: &str) -> Result<ResetLink, PageError> {
    let link = secret(link, DIGITS).ok_or(PageError::InvalidLink)?;
    visit
        .app()
        .accounts()
        .reset_link(&link)
        .await
        .map_err(PageError::of_link)
}

pub(super) fn error(field: &str, text: &str) -> (String, Vec<String>) {
    (field.to_owned(), vec![text.to_owned()])
}

fn asking(visit: &Visit, form: FormView) -> Plain {
    let t = visit.texts();
    Plain::new(visit, &t.new_password.title)
        .text(&t.new_password.ask)
        .form(form)
        .link("/sign-in", &t.sign_in.title)
}

fn asking_form(visit: &Visit, email: &str) -> FormView {
    let t = visit.texts();
    visit
        .form("/password", &t.new_password.send)
        .field(FormField::email(t).value(email))
}

fn choosing(visit: &Visit, form: FormView, link: &ResetLink) -> Plain {
    let t = &visit.texts().new_password;
    Plain::new(visit, &t.title)
        .text(t.everywhere.with("name", &link.name))
        .form(form)
}

fn choosing_form(visit: &Visit, link: &ResetLink) -> FormView {
    let t = visit.texts();
    visit
        .form(visit.path(), &t.new_password.set)
        .field(FormField::email(t).value(&link.email).readonly())
        .field(FormField::new_password(t, &t.field.new_password))
}
