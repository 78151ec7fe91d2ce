//! Inviting people into a flow by mail, and the invitations that are pending.

use std::collections::BTreeMap;
use std::sync::Arc;

use askama::Template;
use axum::response::Response;
use eddyline_app::{BLOCKED_ADDRESS, Error, FlowRoom, PRESENT_ADDRESS};
use eddyline_model::InvitationId;
use eddyline_model::policy::FlowAction;
use eddyline_wire::requests::ImportInvitations;
use eddyline_wire::{ImportedInvitations, Invitation};
use http::StatusCode;

use super::{Frame, Subject, describe, find, may, path_of_room};
use crate::answer::see_other;
use crate::error::PageError;
use crate::field::{FormField, FormView};
use crate::pages::shell::Shell;
use crate::segments::FlowNames;
use crate::submission::Submission;
use crate::texts::Texts;
use crate::visit::Visit;

/// How many pending invitations a page shows.
const SHOWN: usize = 100;
/// How many refused entries the form lists. The rest is counted.
const TOLD: usize = 20;

#[derive(Template)]
#[template(path = "settings/invitations.html")]
struct Invitations {
    t: &'static Texts,
    shell: Shell,
    frame: Frame,
    organization: String,
    /// Invites, for those who may.
    form: Option<FormView>,
    /// Those that are pending, each with the form that withdraws it, for those who may.
    pending: Vec<(Invitation, Option<FormView>)>,
    /// Whether these are not the first.
    later: bool,
    /// The page with those behind.
    next: Option<String>,
}

pub(in crate::pages) async fn show(visit: Visit, names: FlowNames) -> Result<Response, PageError> {
    let room = find(&visit, &names, FlowAction::Invite).await?;
    let form = inviting(&visit, &room, "", "");
    let t = &visit.texts().inviting;
    let done = match visit.query("done") {
        "sent" => Some(t.sent.as_str()),
        "added" => Some(t.added.as_str()),
        "both" => Some(t.both.as_str()),
        "pending" => Some(t.invited_before.as_str()),
        "some-pending" => Some(t.some_invited_before.as_str()),
        "withdrawn" => Some(t.withdrawn.as_str()),
        _ => None,
    };
    shown(&visit, &room, form, done).await
}

async fn shown(
    visit: &Visit,
    room: &Arc<FlowRoom>,
    form: FormView,
    done: Option<&'static str>,
) -> Result<Response, PageError> {
    let flow = describe(visit, room).await?;
    let after = visit.query("after").parse().unwrap_or(InvitationId(0));
    let pending = visit
        .app()
        .invitations()
        .list(room, after, SHOWN as i64)
        .await?;
    let here = Subject::Invitations.path(&path_of_room(room));
    let next = match pending.last() {
        Some(last) if pending.len() == SHOWN => Some(format!("{here}?after={}", last.id)),
        _ => None,
    };
    let may_change = may(&flow, "invitations", "POST");
    let pending = pending.into_iter().map(|invitation| {
        let form = may_change.then(|| {
            visit
                .form(&here, &visit.texts().inviting.withdraw)
                .prefix("withdraw-")
                .hidden("do", "withdraw")
                .hidden("invitation", &invitation.id.to_string())
                .about(&invitation.email)
                .quiet()
        });
        (invitation, form)
    });
    let wrong = form.is_wrong();
    let page = Invitations {
        t: visit.texts(),
        shell: Shell::beside(visit).await?,
        frame: Frame {
            done,
            wrong,
            ..Frame::new(visit, &flow, Subject::Invitations)
        },
        pending: pending.collect(),
        form: may_change.then_some(form),
        organization: flow.organization.name,
        later: after.0 > 0,
        next,
    };
    let status = match wrong {
        true => StatusCode::BAD_REQUEST,
        false => StatusCode::OK,
    };
    visit.client_page_with(status, &page).await
}

pub(in crate::pages) async fn change(
    names: FlowNames,
    sent: Submission,
) -> Result<Response, PageError> {
    match sent.get("do") {
        "invite" => invite(&names, &sent).await,
        "withdraw" => withdraw(&names, &sent).await,
        _ => {
            sent.visit.signed_in()?;
            Err(PageError::unreadable())
        }
    }
}

async fn invite(names: &FlowNames, sent: &Submission) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let room = find(visit, names, FlowAction::Invite).await?;
    let message = sent.get("message");
    let outcome = match sent.read::<ImportInvitations>() {
        Ok(ImportInvitations { list, message }) => {
            // Words of nothing but blanks are none.
            let words = message.map(|text| text.trim().to_owned());
            let words = words.filter(|text| !text.is_empty());
            let invitations = visit.app().invitations();
            invitations
                .import(visit.signed_in()?, &room, &list, words)
                .await
        }
        Err(error) => Err(error),
    };
    let (imported, unmailed) = match outcome {
        Ok(invited) => (invited.addresses, invited.unmailed),
        Err(error) => {
            let form = inviting(visit, &room, sent.get("list"), message).with_error(error)?;
            return shown(visit, &room, form, None).await;
        }
    };
    if imported.erroneous_emails.is_empty() {
        let here = Subject::Invitations.path(&path_of_room(&room));
        return Ok(see_other(&format!(
            "{here}?done={}",
            what_was_done(&imported, unmailed)
        )));
    }
    // What is left to do stays in the form.
    let left: Vec<&str> = refused(&imported).map(|(text, _)| text).collect();
    let t = visit.texts();
    let form = inviting(visit, &room, &left.join("\n"), message).with_error(told(&imported, t))?;
    let any = !imported.invitations.is_empty() || !imported.added_users.is_empty();
    let done = any.then_some(t.inviting.others.as_str());
    shown(visit, &room, form, done).await
}

fn what_was_done(imported: &ImportedInvitations, unmailed: usize) -> &'static str {
    match (
        imported.invitations.is_empty(),
        imported.added_users.is_empty(),
    ) {
        (true, _) => "added",
        (false, true) if unmailed == imported.invitations.len() => "pending",
        (false, _) if unmailed > 0 => "some-pending",
        (false, true) => "sent",
        (false, false) => "both",
    }
}

/// The entries that were refused, each with what is wrong with it.
fn refused(imported: &ImportedInvitations) -> impl Iterator<Item = (&str, &str)> {
    let entries = imported.erroneous_emails.iter().flat_map(BTreeMap::iter);
    entries.map(|(text, why)| (text.as_str(), why.as_str()))
}

/// What to say beside the field about the entries that were refused.
fn told(imported: &ImportedInvitations, t: &'static Texts) -> Error {
    let mut texts: Vec<String> = refused(imported)
        .take(TOLD)
        .map(|(text, why)| {
            let refused = t.inviting.refused.with("text", text);
            refused.with("why", in_words(why, t)).to_string()
        })
        .collect();
    let rest = refused(imported).count().saturating_sub(TOLD);
    if rest > 0 {
        texts.push(t.count(&t.inviting.more_refused, rest).to_string());
    }
    Error::invalid_fields([("list".to_owned(), texts)].into())
}

/// Why an address was refused, in the language of the page where it has words for it.
fn in_words<'a>(why: &'a str, t: &'static Texts) -> &'a str {
    match why {
        BLOCKED_ADDRESS => &t.inviting.blocked,
        PRESENT_ADDRESS => &t.inviting.in_flow,
        why => why,
    }
}

async fn withdraw(names: &FlowNames, sent: &Submission) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let room = find(visit, names, FlowAction::Invite).await?;
    let invitation = sent
        .get("invitation")
        .parse()
        .map_err(|_| PageError::unreadable())?;
    let (organization, flow) = (
        &room.organization.parameterized_name,
        &room.flow.parameterized_name,
    );
    visit
        .app()
        .invitations()
        .delete(visit.signed_in()?, organization, flow, invitation)
        .await?;
    let here = Subject::Invitations.path(&path_of_room(&room));
    Ok(see_other(&format!("{here}?done=withdrawn")))
}

fn inviting(visit: &Visit, room: &FlowRoom, list: &str, message: &str) -> FormView {
    let here = Subject::Invitations.path(&path_of_room(room));
    let t = &visit.texts().inviting;
    visit
        .form(here, &t.invite)
        .hidden("do", "invite")
        .field(
            FormField::lines("list", &t.addresses)
                .value(list)
                .hint(&t.addresses_hint),
        )
        .field(
            FormField::lines("message", &t.message)
                .value(message)
                .hint(&t.message_hint)
                .optional(),
        )
}
