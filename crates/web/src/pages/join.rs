//! The join link of a flow, `<40 hexadecimal digits>-<flow>`: one click for who is signed in, and a
//! mail for everybody else, since an address must be proved first.

use axum::response::Response;
use eddyline_app::JoinLink;
use eddyline_model::names::Email;
use http::StatusCode;

use super::password::error;
use super::plain::Plain;
use super::{page_of, secret};
use crate::answer::see_other;
use crate::error::PageError;
use crate::field::{FormField, FormView};
use crate::local_path::sign_in_path;
use crate::submission::Submission;
use crate::visit::Visit;

/// Digits of the secret in a join link.
const DIGITS: usize = 40;

pub(super) async fn show(visit: &Visit, link: &str) -> Result<Response, PageError> {
    let (secret, flow) = parse(link)?;
    let found = visit
        .app()
        .accounts()
        .join_link(visit.actor(), secret, flow)
        .await
        .map_err(PageError::of_join_link)?;
    if found.joined {
        return Ok(see_other(&page_of(&found.path)));
    }
    Ok(visit.page(&describe(visit, &found, form(visit, ""))))
}

pub(super) async fn submit(sent: &Submission, link: &str) -> Result<Response, PageError> {
    let (secret, flow) = parse(link)?;
    let visit = &sent.visit;
    match sent.get("do") {
        "join" => {
            let actor = visit.signed_in()?;
            let path = visit
                .app()
                .accounts()
                .join_by_link(actor, secret, flow)
                .await
                .map_err(PageError::of_join_link)?;
            Ok(see_other(&page_of(&path)))
        }
        "mail" => request(sent, secret, flow).await,
        _ => Err(PageError::unreadable()),
    }
}

async fn request(sent: &Submission, secret: &str, flow: &str) -> Result<Response, PageError> {
    let (visit, text) = (&sent.visit, sent.get("email"));
    let email = match text.parse::<Email>() {
        Ok(email) => email,
        Err(wrong) => {
            let found = visit
                .app()
                .accounts()
                .join_link(None, secret, flow)
                .await
                .map_err(PageError::of_join_link)?;
            let form = form(visit, text).errors([error("email", &wrong.to_string())].into());
            return Ok(visit.page_with(StatusCode::BAD_REQUEST, &describe(visit, &found, form)));
        }
    };
    visit
        .app()
        .accounts()
        .request_join(secret, flow, &email, visit.client())
        .await
        .map_err(PageError::of_link)?;
    let t = visit.texts();
    let told = Plain::new(visit, &t.page.check_mail)
        .text(t.join_link.sent.with("email", &email))
        .text(&t.join_link.not_sent);
    Ok(visit.page(&told))
}

/// The secret of a join link, and the flow's name in URLs.
fn parse(link: &str) -> Result<(&str, &str), PageError> {
    let (digits, flow) = link.split_once('-').ok_or(PageError::InvalidLink)?;
    secret(digits, DIGITS)
        .map(|_| (digits, flow))
        .ok_or(PageError::InvalidLink)
}

fn describe(visit: &Visit, link: &JoinLink, form: FormView) -> Plain {
    let t = visit.texts();
    let title = t.invitation.join.with("flow", &link.flow_name);
    let flow_of = t.join_link.flow_of.with("flow", &link.flow_name);
    let page = Plain::new(visit, title).text(flow_of.with("organization", &link.organization_name));
    match visit.actor() {
        Some(_) => page.form(form),
        None => page
            .text(&t.join_link.enter)
            .form(form)
            .link(sign_in_path(visit.path()), &t.join_link.has_account),
    }
}

fn form(visit: &Visit, email: &str) -> FormView {
    let t = visit.texts();
    match visit.name() {
        Some(name) => visit
            .form(visit.path(), t.invitation.join_as.with("name", name))
            .hidden("do", "join"),
        None => visit
            .form(visit.path(), &t.join_link.send)
            .hidden("do", "mail")
            .field(FormField::email(t).value(email)),
    }
}
