//! Signing in and out.

use axum::response::Response;
use eddyline_app::{ErrorKind, Password};
use http::StatusCode;

use super::plain::Plain;
use super::{authorize, secret};
use crate::answer::{let_forms_lead_to, see_other};
use crate::error::PageError;
use crate::field::{FormField, FormView};
use crate::local_path::local_path;
use crate::local_path::sign_in_path;
use crate::segments::LinkSegment;
use crate::submission::Submission;
use crate::visit::Visit;

/// Where one goes on to when nothing else was asked for.
const INSIDE: &str = "/";

/// Digits of the secret in a link.
const DIGITS: usize = 64;

/// The first page is another: for those who are signed in that of the first flow whose tab is open.
pub(super) async fn first(visit: Visit) -> Result<Response, PageError> {
    let Some(actor) = visit.actor() else {
        return Ok(see_other("/sign-in"));
    };
    let flows = visit.app().flows().all(actor).await?;
    let first = flows.iter().find(|flow| flow.open).map(|flow| {
        let organization = &flow.organization.parameterized_name;
        format!("/app/{organization}/{}", flow.parameterized_name)
    });
    Ok(see_other(first.as_deref().unwrap_or("/app")))
}

pub(super) async fn show(visit: Visit) -> Result<Response, PageError> {
    let next = next(visit.query("next"));
    if visit.actor().is_some() {
        return Ok(see_other(next));
    }
    page(&visit, StatusCode::OK, next, form(&visit, next, "")).await
}

pub(super) async fn submit(sent: Submission) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let (next, email) = (next(sent.get("next")), sent.get("email"));
    let password = Password::new(sent.get("password"));
    match visit
        .app()
        .accounts()
        .sign_in(email, &password, visit.client())
        .await
    {
        Ok(session) => visit.begin_session(&session, next).await,
        Err(error) if error.kind() == ErrorKind::Unauthenticated => {
            let wrong = visit.texts().problem.credentials.as_str();
            let form = form(visit, next, email).problem(wrong);
            page(visit, StatusCode::BAD_REQUEST, next, form).await
        }
        Err(error) => Err(error.into()),
    }
}

/// The page of a link that signs in. Only its button does, since other programs follow links too.
pub(super) async fn show_link(
    visit: Visit,
    LinkSegment(link): LinkSegment,
) -> Result<Response, PageError> {
    let link = secret(&link, DIGITS).ok_or(PageError::InvalidLink)?;
    let name = visit
        .app()
        .accounts()
        .sign_in_link(&link)
        .await
        .map_err(PageError::of_link)?;
    let t = &visit.texts().sign_in;
    let form = visit.form(visit.path(), t.named.with("name", name));
    Ok(visit.page(&Plain::new(&visit, &t.title).text(&t.once).form(form)))
}

pub(super) async fn use_link(
    LinkSegment(link): LinkSegment,
    sent: Submission,
) -> Result<Response, PageError> {
    let link = secret(&link, DIGITS).ok_or(PageError::InvalidLink)?;
    let session = sent
        .visit
        .app()
        .accounts()
        .sign_in_by_link(&link)
        .await
        .map_err(PageError::of_link)?;
    sent.visit.begin_session(&session, INSIDE).await
}

pub(super) async fn sign_out(sent: Submission) -> Result<Response, PageError> {
    let path = local_path(sent.get("next")).map_or_else(|| "/sign-in".to_owned(), sign_in_path);
    sent.visit.end_session(see_other(&path)).await
}

async fn page(
    visit: &Visit,
    status: StatusCode,
    next: &str,
    form: FormView,
) -> Result<Response, PageError> {
    let mut response = visit.page_with(status, &sign_in(visit, form));
    if let Some(source) = authorize::way_back(visit, next).await? {
        let_forms_lead_to(&mut response, &source);
    }
    Ok(response)
}

fn next(text: &str) -> &str {
    local_path(text).unwrap_or(INSIDE)
}

fn form(visit: &Visit, next: &str, email: &str) -> FormView {
    let t = visit.texts();
    visit
        .form("/sign-in", &t.sign_in.title)
        .hidden("next", next)
        .field(FormField::email(t).value(email).focused())
        .field(FormField::password(
            "password",
            &t.field.password,
            "current-password",
        ))
}

fn sign_in(visit: &Visit, form: FormView) -> Plain {
    let t = &visit.texts().sign_in;
    Plain::new(visit, &t.title)
        .form(form)
        .link("/password", &t.forgot)
}
