//! The pages over all rooms of the reader: a search, and what mentions them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use askama::Template;
use axum::response::Response;
use eddyline_app::{Actor, Room, RoomsMessages};
use eddyline_model::UserId;
use eddyline_model::messages::MessageCursor;
use eddyline_model::search::SearchQuery;
use eddyline_wire::{Flow, RoomRef};

use super::found::{FOUND, FoundContext, FoundList, FoundRow, Question};
use super::message::PageMessage;
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
    let found = rows(&visit, actor, list, &SearchQuery::default(), further).await?;
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
    list: RoomsMessages,
    words: &SearchQuery,
    further: impl Fn(&str) -> String,
) -> Result<FoundList, PageError> {
    let shown = |(room, view)| {
        let message = PageMessage::of(view, &room, visit.app());
        (room, message)
    };
    let messages: Vec<(Room, PageMessage)> = list.messages.into_iter().map(shown).collect();
    let me = actor.user()?.user.id;
    let flows = visit.app().flows().all(actor).await?;
    let flows: HashMap<&str, (String, &Flow)> = flows
        .iter()
        .map(|flow| {
            let (organization, name) = (
                &flow.organization.parameterized_name,
                &flow.parameterized_name,
            );
            let path = format!("/app/{organization}/{name}");
            (flow.id.as_str(), (path, flow))
        })
        .collect();
    let mut people = known_people(visit, actor, &messages).await?;
    add_former(visit, &mut people, &messages).await?;
    let context = FoundContext {
        visit,
        people: &people,
        words,
    };
    let unread = format!(":unread:{me}");
    let rows = messages.iter().filter_map(|(room, message)| {
        Some(match room.reference() {
            RoomRef::Flow(flow) => {
                let (path, flow) = flows.get(flow.0.as_str())?;
                let row = FoundRow::of(message, path, Some(flow.name.clone()), &context);
                let is_tagged = message.tags.contains(&unread);
                row.read_up_to(flow, message.event, is_tagged)
            }
            RoomRef::Private => {
                let (path, place) = of_conversation(message, me, &people, visit.texts())?;
                FoundRow::of(message, &path, Some(place), &context)
            }
        })
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
    let with = match message.user == me.0 {
        true => message.to?,
        false => message.user,
    };
    let name = people
        .get(&with)
        .map_or(&t.both.former, |person| &person.name);
    Some((format!("/app/-/private/{with}"), name.to_owned()))
}

/// The authors and the recipients of messages, as far as the reader may still see them.
async fn known_people(
    visit: &Visit,
    actor: &Actor,
    messages: &[(Room, PageMessage)],
) -> Result<UsersById, PageError> {
    let of_message = |(_, message): &(Room, PageMessage)| [message.user, message.to.unwrap_or(0)];
    let ids: BTreeSet<i64> = messages.iter().flat_map(of_message).collect();
    let ids = ids.into_iter().filter(|id| *id != 0).map(UserId).collect();
    let known = visit.app().users().list_known(actor, ids).await?;
    Ok(known
        .into_iter()
        .map(|user| (user.id, user.into()))
        .collect())
}

/// Adds the authors who have left the flow of their message.
async fn add_former(
    visit: &Visit,
    people: &mut UsersById,
    messages: &[(Room, PageMessage)],
) -> Result<(), PageError> {
    let mut flows = BTreeMap::new();
    for (room, message) in messages {
        let is_known = message.user == 0 || people.contains_key(&message.user);
        if let (Room::Flow(flow), false) = (room, is_known) {
            flows.insert(flow.id(), flow);
        }
    }
    for flow in flows.into_values() {
        for user in visit.app().flows().former_users(flow).await? {
            people.insert(user.id, user.into());
        }
    }
    Ok(())
}
