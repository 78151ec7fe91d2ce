//! The pages over all rooms of the reader: a search, and what mentions them.

use std::collections::{BTreeSet, HashMap};

use askama::Template;
use axum::response::Response;
use eddyline_app::{Actor, ErrorKind, RoomsList};
use eddyline_model::UserId;
use eddyline_model::messages::MessageCursor;
use eddyline_model::policy::FlowAction;

use super::found::{FOUND, FoundContext, FoundList, FoundRow, Question};
use super::message::{PageMessage, decoded};
use super::private::{former, person};
use super::rows::UsersById;
use crate::error::PageError;
use crate::pages::shell::Shell;
use crate::texts::Texts;
use crate::visit::Visit;

const SEARCH: &str = "/app/-/search";
const MENTIONS: &str = "/app/-/mentions";

#[derive(Template)]
#[template(path = "app/everywhere.html")]
struct Everywhere {
    t: &'static Texts,
    shell: Shell,
    /// Of a search.
    question: Option<Question>,
    mistake: Option<String>,
    found: FoundList,
}

pub(in crate::pages) async fn search(visit: Visit) -> Result<Response, PageError> {
    let actor = visit.signed_in()?;
    let question = Question::of(&visit);
    let user = user_with_nick(&visit, actor, &question).await?;
    let (mistake, found) = match question.query(&visit, |_| user) {
        Err(mistake) => (Some(mistake), FoundList::default()),
        Ok(_) if question.is_asked() && !question.has_words() => {
            let mistake = visit.texts().finding.needs_words.clone();
            (Some(mistake), FoundList::default())
        }
        Ok(query) if question.is_asked() => {
            let messages = visit.app().messages();
            let list = messages.search_everywhere(actor, query, before(&visit));
            let further = |place: &str| question.further(SEARCH, "before", place);
            let words = question.words().unwrap_or_default();
            let found = rows(&visit, actor, list.await?, &words, further).await?;
            (None, found)
        }
        Ok(_) => (None, FoundList::default()),
    };
    let shell = Shell::beside(&visit).await?;
    let page = Everywhere {
        t: visit.texts(),
        shell,
        question: Some(question),
        mistake,
        found,
    };
    visit.client_page(&page).await
}

/// Finds the user with the nick of the form among the users that the reader can see.
async fn user_with_nick(
    visit: &Visit,
    actor: &Actor,
    question: &Question,
) -> Result<Option<UserId>, PageError> {
    let nick = question.by.trim_start_matches('@');
    if nick.is_empty() {
        return Ok(None);
    }
    let known = visit.app().users().list(actor).await?;
    let mut named = known
        .iter()
        .filter(|user| user.nick.eq_ignore_ascii_case(nick));
    Ok(named.next().map(|user| UserId(user.id)))
}

pub(in crate::pages) async fn mentions(visit: Visit) -> Result<Response, PageError> {
    let actor = visit.signed_in()?;
    let shell = Shell::beside(&visit).await?;
    let messages = visit.app().messages();
    let list = messages.mentions(actor, FOUND, before(&visit)).await?;
    let further = |place: &str| format!("{MENTIONS}?before={place}");
    let found = rows(&visit, actor, list, &[], further).await?;
    let page = Everywhere {
        t: visit.texts(),
        shell,
        question: None,
        mistake: None,
        found,
    };
    visit.client_page(&page).await
}

fn before(visit: &Visit) -> Option<MessageCursor> {
    visit.query("before").parse().ok()
}

/// The rows of a list over several rooms.
async fn rows(
    visit: &Visit,
    actor: &Actor,
    list: RoomsList,
    words: &[String],
    further: impl Fn(&str) -> String,
) -> Result<FoundList, PageError> {
    let messages: Vec<PageMessage> = decoded(&list.json)?;
    let me = actor.user()?.user.id;
    let flows = visit.app().flows().all(actor).await?;
    let flows: HashMap<&str, (String, &str)> = flows
        .iter()
        .map(|flow| {
            let (organization, name) = (
                &flow.organization.parameterized_name,
                &flow.parameterized_name,
            );
            let path = format!("/app/{organization}/{name}");
            (flow.id.as_str(), (path, flow.name.as_str()))
        })
        .collect();
    let mut people = UsersById::new();
    for message in &messages {
        for id in [Some(&message.user), message.to.as_ref()]
            .into_iter()
            .flatten()
        {
            add_person(visit, actor, &mut people, id).await?;
        }
    }
    add_former(visit, actor, &mut people, &messages).await?;
    let context = FoundContext {
        visit,
        people: &people,
        words,
    };
    let rows = messages.iter().filter_map(|message| {
        let (path, place) = match &message.flow {
            Some(flow) => {
                let (path, name) = flows.get(flow.as_str())?;
                (path.clone(), (*name).to_owned())
            }
            None => of_conversation(message, me, &people, visit.texts())?,
        };
        Some(FoundRow::of(message, &path, Some(place), &context))
    });
    let rows = rows.collect();
    let further = list.next.map(|place| further(&place.to_string()));
    Ok(FoundList { rows, further })
}

/// The path and the name of the private conversation of a message.
fn of_conversation(
    message: &PageMessage,
    me: UserId,
    people: &UsersById,
    t: &Texts,
) -> Option<(String, String)> {
    let own = message.user == me.to_string();
    let with = if own {
        message.to.as_ref()?
    } else {
        &message.user
    };
    let with: i64 = with.parse().ok()?;
    let name = people
        .get(&with)
        .map_or(&t.both.former, |person| &person.name);
    Some((format!("/app/-/private/{with}"), name.to_owned()))
}

/// Adds the user with this id, unless the reader may no longer see this user.
async fn add_person(
    visit: &Visit,
    actor: &Actor,
    people: &mut UsersById,
    id: &str,
) -> Result<(), PageError> {
    let Ok(id) = id.parse::<UserId>() else {
        return Ok(());
    };
    if people.contains_key(&id.0) {
        return Ok(());
    }
    match visit.app().users().get(actor, id).await {
        Ok(user) => {
            people.insert(id.0, person(&user));
            Ok(())
        }
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Denied) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Adds the authors who have left the flow of their message.
async fn add_former(
    visit: &Visit,
    actor: &Actor,
    people: &mut UsersById,
    messages: &[PageMessage],
) -> Result<(), PageError> {
    let is_known = |message: &&PageMessage| {
        let user: i64 = message.user.parse().unwrap_or_default();
        user == 0 || people.contains_key(&user)
    };
    let unknown = messages.iter().filter(|message| !is_known(message));
    let flows: BTreeSet<&str> = unknown.filter_map(|each| each.flow.as_deref()).collect();
    for flow in flows {
        let room = visit.app().rooms();
        let room = room.find_named(actor, flow, FlowAction::Read).await?;
        for user in visit.app().flows().former_users(&room).await? {
            people.insert(user.id, former(&user));
        }
    }
    Ok(())
}
