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
    visit.page(&asking(asking_form(&visit, "")))
}

pub(super) async fn request(sent: Submission) -> Result<Response, PageError> {
    let (visit, email) = (&sent.visit, sent.get("email"));
    if !email.contains('@') {
        let form = asking_form(visit, email)
            .errors([error("email", "is not a valid e-mail address")].into());
        return Ok(visit.page_with(StatusCode::BAD_REQUEST, &asking(form)));
    }
    visit
        .app()
        .accounts()
        .request_password_reset(email, visit.client())
        .await?;
    let told = Plain::new("Check your e-mail")
        .text(format!(
            "If {email} has an account here, we’ve sent it a link. It may take a few minutes."
        ))
        .text("The link works for a few hours. You can ask for another one after five minutes.")
        .link("/sign-in", "Sign in");
    Ok(visit.page(&told))
}

pub(super) async fn choose(
    visit: Visit,
    LinkSegment(link): LinkSegment,
) -> Result<Response, PageError> {
    let found = find(&visit, &link).await?;
    Ok(visit.page(&choosing(choosing_form(&visit, &found), &found)))
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
            Ok(visit.page_with(StatusCode::BAD_REQUEST, &choosing(form, &shown)))
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

fn asking(form: FormView) -> Plain {
    Plain::new("Choose a new password")
        .text("Enter the e-mail address of your account. We’ll send you a link to choose a new password.")
        .form(form)
        .link("/sign-in", "Sign in")
}

fn asking_form(visit: &Visit, email: &str) -> FormView {
    FormView::new("/password", visit.csrf(), "Send me a link")
        .field(FormField::email().value(email))
}

fn choosing(form: FormView, link: &ResetLink) -> Plain {
    Plain::new("Choose a new password")
        .text(format!(
            "{}, this signs you out on every device.",
            link.name
        ))
        .form(form)
}

fn choosing_form(visit: &Visit, link: &ResetLink) -> FormView {
    FormView::new(visit.path(), visit.csrf(), "Set the password")
        .field(FormField::email().value(&link.email).readonly())
        .field(FormField::password("password", "New password", "new-password").hint(HINT))
}

/// What makes a password a good one.
pub(super) const HINT: &str =
    "At least 8 characters. A few unrelated words are easy to remember and hard to guess.";
