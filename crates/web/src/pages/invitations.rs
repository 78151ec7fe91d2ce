//! What an invitation's link leads to, and the paths it shares with the join links of flows.

use askama::Template;
use axum::response::Response;
use eddyline_app::{ErrorKind, InvitationDetails, NewAccount, Password, Secret};
use http::StatusCode;

use super::{join, page_of, secret};
use crate::answer::see_other;
use crate::error::PageError;
use crate::field::{FormField, FormView};
use crate::local_path::sign_in_path;
use crate::segments::LinkSegment;
use crate::submission::Submission;
use crate::texts::Texts;
use crate::visit::Visit;

use super::plain::Plain;

/// Digits of the secret in a mailed link.
const DIGITS: usize = 64;

#[derive(Template)]
#[template(path = "invitation.html")]
struct InvitationPage {
    t: &'static Texts,
    title: String,
    text: Vec<String>,
    words: Option<String>,
    main_form: FormView,
    links: Vec<(String, &'static str)>,
    others: Vec<FormView>,
}

pub(super) async fn show(
    visit: Visit,
    LinkSegment(link): LinkSegment,
) -> Result<Response, PageError> {
    let Some(link) = secret(&link, DIGITS) else {
        return join::show(&visit, &link).await;
    };
    let invited = visit
        .app()
        .accounts()
        .invitation_link(&link)
        .await
        .map_err(PageError::of_join_link)?;
    let form = main_form(&visit, &invited, "", "");
    Ok(visit.page(&describe(&visit, invited, form)))
}

pub(super) async fn submit(
    LinkSegment(link): LinkSegment,
    sent: Submission,
) -> Result<Response, PageError> {
    let Some(link) = secret(&link, DIGITS) else {
        return join::submit(&sent, &link).await;
    };
    match sent.get("do") {
        "join" => join_by(&sent, &link).await,
        "decline" => decline(&sent, &link).await,
        "sign-up" => sign_up(&sent, &link).await,
        _ => Err(PageError::unreadable()),
    }
}

async fn join_by(sent: &Submission, link: &Secret) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let actor = visit.signed_in()?;
    Ok(see_other(&page_of(
        &visit
            .app()
            .accounts()
            .accept_link(actor, link)
            .await
            .map_err(PageError::of_join_link)?,
    )))
}

async fn decline(sent: &Submission, link: &Secret) -> Result<Response, PageError> {
    sent.visit
        .app()
        .accounts()
        .decline_link(link)
        .await
        .map_err(PageError::of_link)?;
    let declined = &sent.visit.texts().invitation.declined;
    let told = Plain::new(&sent.visit, &declined.title).text(&declined.text);
    Ok(sent.visit.page(&told))
}

async fn sign_up(sent: &Submission, link: &Secret) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let (name, nick) = (sent.get("name"), sent.get("nick"));
    let new = NewAccount {
        name: name.to_owned(),
        nick: nick.to_owned(),
        password: Password::new(sent.get("password")),
    };
    let error = match visit.app().accounts().sign_up(link, new).await {
        Ok((session, path)) => return visit.begin_session(&session, &page_of(&path)).await,
        Err(error) if matches!(error.kind(), ErrorKind::Invalid | ErrorKind::Conflict) => error,
        Err(error) => return Err(PageError::of_join_link(error)),
    };
    let status = match error.kind() {
        ErrorKind::Conflict => StatusCode::CONFLICT,
        _ => StatusCode::BAD_REQUEST,
    };
    let invited = visit
        .app()
        .accounts()
        .invitation_link(link)
        .await
        .map_err(PageError::of_join_link)?;
    let form = sign_up_form(visit, &invited, name, nick).with_error(error)?;
    Ok(visit.page_with(status, &describe(visit, invited, form)))
}

fn describe(visit: &Visit, invited: InvitationDetails, main_form: FormView) -> InvitationPage {
    let t = visit.texts();
    let sign_in = sign_in_path(visit.path());
    let links = match (visit.actor().is_some(), invited.has_account) {
        (false, false) => vec![(sign_in, t.invitation.other_account.as_str())],
        (false, true) => vec![("/password".to_owned(), t.sign_in.forgot.as_str())],
        (true, _) => Vec::new(),
    };
    let decline = visit
        .form(visit.path(), &t.invitation.decline)
        .hidden("do", "decline")
        .quiet();
    let mut others = vec![decline];
    if visit.actor().is_some() {
        others.push(visit.form("/sign-out", &t.invitation.sign_out).quiet());
    }
    InvitationPage {
        t,
        title: t
            .invitation
            .join
            .with("flow", &invited.flow_name)
            .to_string(),
        text: vec![who_asks(t, &invited)],
        words: invited.message,
        main_form,
        links,
        others,
    }
}

/// Who would have the visitor in the flow.
fn who_asks(t: &Texts, invited: &InvitationDetails) -> String {
    let (flow, organization) = (&invited.flow_name, &invited.organization_name);
    match &invited.inviter {
        Some(who) => {
            let invites = t.invitation.invites.with("who", who);
            invites
                .with("flow", flow)
                .with("organization", organization)
                .to_string()
        }
        None => {
            let asks = t.invitation.asks.with("flow", flow);
            asks.with("organization", organization).to_string()
        }
    }
}

/// What most people come for.
fn main_form(visit: &Visit, invited: &InvitationDetails, name: &str, nick: &str) -> FormView {
    let t = visit.texts();
    match visit.name() {
        Some(name) => visit
            .form(visit.path(), t.invitation.join_as.with("name", name))
            .hidden("do", "join"),
        None if invited.has_account => visit
            .form("/sign-in", &t.sign_in.title)
            .hidden("next", visit.path())
            .field(FormField::email(t).value(&invited.email))
            .field(FormField::password(
                "password",
                &t.field.password,
                "current-password",
            )),
        None => sign_up_form(visit, invited, name, nick),
    }
}

fn sign_up_form(visit: &Visit, invited: &InvitationDetails, name: &str, nick: &str) -> FormView {
    let t = visit.texts();
    visit
        .form(
            visit.path(),
            t.invitation.join.with("flow", &invited.flow_name),
        )
        .hidden("do", "sign-up")
        .field(
            FormField::email(t)
                .value(&invited.email)
                .readonly()
                .hint(&t.invitation.email_hint),
        )
        .field(FormField::text("name", &t.field.full_name, "name").value(name))
        .field(
            FormField::text("nick", &t.field.nick, "nickname")
                .value(nick)
                .hint(&t.field.nick_hint),
        )
        .field(FormField::new_password(t, &t.field.password))
}
