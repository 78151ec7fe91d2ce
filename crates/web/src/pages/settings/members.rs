//! Who is in a flow, who is blocked from it, and adding members of the organization.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use askama::Template;
use axum::response::Response;
use eddyline_app::{Actor, Error, FlowRoom};
use eddyline_model::UserId;
use eddyline_model::organizations::OrganizationRole;
use eddyline_model::policy::{self, FlowAction};
use eddyline_wire::requests::AddFlowUser;
use eddyline_wire::{Flow, FlowUser, User};
use http::StatusCode;

use super::ask::Ask;
use super::{Frame, Subject, describe, find, may, path_of, path_of_room};
use crate::answer::see_other;
use crate::error::PageError;
use crate::field::{FormField, FormView};
use crate::pages::shell::Shell;
use crate::segments::FlowNames;
use crate::submission::Submission;
use crate::texts::Texts;
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "settings/members.html")]
struct Members {
    t: &'static Texts,
    shell: Shell,
    frame: Frame,
    organization: String,
    /// Those who are in the flow.
    people: Vec<Person>,
    /// Those who are blocked from it.
    blocked: Vec<Person>,
    add: Adding,
}

/// A row of the list.
struct Person {
    user: FlowUser,
    picture: String,
    /// What the person is, beside a member.
    marks: Vec<&'static str>,
    /// Blocks the person, or lets them back in, for those who may.
    form: Option<FormView>,
}

/// How the page offers to add a person.
enum Adding {
    /// The visitor may not.
    Denied,
    /// There is no person left to add.
    Complete,
    Form(Box<FormView>),
}

pub(in crate::pages) async fn show(visit: Visit, names: FlowNames) -> Result<Response, PageError> {
    let room = find(&visit, &names, FlowAction::See).await?;
    shown(&visit, &room, None).await
}

/// The page; `error` is what was wrong with the form that adds a member, as it was sent.
async fn shown(
    visit: &Visit,
    room: &Arc<FlowRoom>,
    error: Option<(&str, Error)>,
) -> Result<Response, PageError> {
    let actor = visit.signed_in()?;
    let mut flow = describe(visit, room).await?;
    let mut members = flow.users.take().unwrap_or_default();
    members.sort_by_cached_key(|member| (member.name.to_lowercase(), member.id));
    let organization = visit
        .app()
        .organizations()
        .users(actor, room.organization.id)
        .await?;
    let adding = match adding(visit, &flow, &members, &organization) {
        Adding::Form(form) => {
            let form = match error {
                Some((id, error)) => form.chosen("id", id).with_error(error)?,
                None => *form,
            };
            Adding::Form(Box::new(form))
        }
        other => other,
    };
    let wrong = matches!(&adding, Adding::Form(form) if form.is_wrong());
    let administrators: HashMap<i64, bool> = organization
        .iter()
        .map(|user| (user.id, user.admin == Some(true)))
        .collect();
    let rows = members.into_iter().map(|user| {
        let role = administrators.get(&user.id).map(|admin| match admin {
            true => OrganizationRole::Administrator,
            false => OrganizationRole::Member,
        });
        row(visit, room, &flow, user, role)
    });
    let (blocked, people) = rows.partition(|person: &Person| person.user.disabled);
    let t = &visit.texts().members;
    let done = match visit.query("done") {
        "added" => Some(t.was_added.as_str()),
        "blocked" => Some(t.was_blocked.as_str()),
        "unblocked" => Some(t.was_unblocked.as_str()),
        _ => None,
    };
    let page = Members {
        t: visit.texts(),
        shell: Shell::beside(visit).await?,
        frame: Frame {
            done: done.filter(|_| !wrong),
            wrong,
            ..Frame::new(visit, &flow, Subject::Members)
        },
        organization: flow.organization.name,
        people,
        blocked,
        add: adding,
    };
    let status = match wrong {
        true => StatusCode::BAD_REQUEST,
        false => StatusCode::OK,
    };
    visit.client_page_with(status, &page).await
}

fn row(
    visit: &Visit,
    room: &FlowRoom,
    flow: &Flow,
    user: FlowUser,
    role: Option<OrganizationRole>,
) -> Person {
    let t = visit.texts();
    let actor = visit.actor();
    let me = visit.actor().and_then(Actor::user_id);
    let is_own = me.is_some_and(|id| id.0 == user.id);
    let may_block = flow.organization.active
        && !is_own
        && actor.is_some_and(|actor| policy::block(actor.flow_caller(room), role).is_ok());
    let form = may_block.then(|| {
        let (label, what) = match user.disabled {
            true => (&t.members.unblock, "unblock"),
            false => (&t.members.block, "block"),
        };
        visit
            .form(Subject::Members.path(&path_of(flow)), label)
            .hidden("do", what)
            .hidden("user", &user.id.to_string())
            .about(format!("{} @{}", user.name, user.nick))
            .quiet()
    });
    let marks = [
        (is_own, t.settings.you.as_str()),
        (
            role == Some(OrganizationRole::Administrator),
            &t.settings.administrator,
        ),
        (
            room.flow.creator.is_some_and(|id| id.0 == user.id),
            &t.members.maker,
        ),
    ];
    Person {
        // Pages are served beside the API.
        picture: user
            .avatar
            .replacen(&visit.app().config().addresses.base, "", 1),
        marks: marks
            .into_iter()
            .filter_map(|(is, mark)| is.then_some(mark))
            .collect(),
        form,
        user,
    }
}

fn adding(visit: &Visit, flow: &Flow, members: &[FlowUser], organization: &[User]) -> Adding {
    if !may(flow, "users", "POST") {
        return Adding::Denied;
    }
    let inside: HashSet<i64> = members.iter().map(|member| member.id).collect();
    let mut others: Vec<&User> = organization
        .iter()
        .filter(|user| !inside.contains(&user.id))
        .collect();
    if others.is_empty() {
        return Adding::Complete;
    }
    others.sort_by_cached_key(|user| (user.name.to_lowercase(), user.id));
    let named = others.into_iter().map(|user| {
        (
            user.id.to_string(),
            format!("{} (@{})", user.name, user.nick),
        )
    });
    let t = &visit.texts().members;
    let choices = [(String::new(), t.choose.clone())]
        .into_iter()
        .chain(named)
        .collect();
    let form = visit
        .form(Subject::Members.path(&path_of(flow)), &t.add)
        .prefix("add-")
        .hidden("do", "add")
        .field(FormField::choice("id", &t.person, choices));
    Adding::Form(Box::new(form))
}

pub(in crate::pages) async fn change(
    names: FlowNames,
    sent: Submission,
) -> Result<Response, PageError> {
    match sent.get("do") {
        "add" => add(&names, &sent).await,
        "block" => set_blocked(&names, &sent, true).await,
        "unblock" => set_blocked(&names, &sent, false).await,
        _ => {
            sent.visit.signed_in()?;
            Err(PageError::unreadable())
        }
    }
}

async fn add(names: &FlowNames, sent: &Submission) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let room = find(visit, names, FlowAction::AddUser).await?;
    let read = match sent.get("id") {
        "" => Err(Error::invalid("id", visit.texts().problem.blank.as_str())),
        _ => sent.read::<AddFlowUser>(),
    };
    let outcome = match read {
        Ok(AddFlowUser { id }) => {
            let flows = visit.app().flows();
            flows.add_user(visit.signed_in()?, &room, id).await
        }
        Err(error) => Err(error),
    };
    match outcome {
        Ok(()) => Ok(see_other(&done(&room, "added"))),
        Err(error) => shown(visit, &room, Some((sent.get("id"), error))).await,
    }
}

async fn set_blocked(
    names: &FlowNames,
    sent: &Submission,
    blocked: bool,
) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let room = find(visit, names, FlowAction::See).await?;
    let user = sent
        .get("user")
        .parse()
        .map_err(|_| PageError::unreadable())?;
    if blocked && sent.get("sure") != "1" {
        return ask_to_block(visit, &room, user).await;
    }
    visit
        .app()
        .flows()
        .set_user_blocked(visit.signed_in()?, &room, user, blocked)
        .await?;
    let what = match blocked {
        true => "blocked",
        false => "unblocked",
    };
    Ok(see_other(&done(&room, what)))
}

fn done(room: &FlowRoom, what: &str) -> String {
    format!("{}?done={what}", Subject::Members.path(&path_of_room(room)))
}

/// Asks first, since the person is out of the flow at once.
async fn ask_to_block(visit: &Visit, room: &FlowRoom, user: UserId) -> Result<Response, PageError> {
    let user = visit.app().users().get(visit.signed_in()?, user).await?;
    let flow = describe(visit, room).await?;
    if !flow.organization.active {
        return Err(Error::denied().into());
    }
    let t = &visit.texts().members;
    let here = Subject::Members.path(&path_of(&flow));
    let form = visit.form(&here, &t.block);
    let heading = t.blocking.with("name", &user.name);
    let heading = heading.with("flow", &flow.name).to_string();
    Ask {
        t: visit.texts(),
        shell: Shell::beside(visit).await?,
        frame: Frame::new(visit, &flow, Subject::Members).headed(heading),
        text: t.blocking_text.clone(),
        form: form
            .hidden("do", "block")
            .hidden("user", &user.id.to_string())
            .hidden("sure", "1"),
        back: here,
    }
    .answer(visit)
    .await
}
