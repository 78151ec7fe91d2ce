//! Messages that were found, as rows of a list: each leads to where it was said.

use eddyline_model::tags::parse_list;
use eddyline_model::{Timestamp, search};
use eddyline_wire::requests::wrong_search;

use super::CHAT;
use super::excerpt::{Piece, excerpt};
use super::message::PageMessage;
use super::rows::UsersById;
use crate::error::sentence;
use crate::texts::Texts;
use crate::visit::Visit;

/// How many messages a page of what was found has.
pub(super) const FOUND: i64 = 20;
/// The most tags that a search may ask for.
const MAX_TAGS: usize = eddyline_model::tags::MAX_TAGS;

/// What a search asks for, as its address says it.
pub(super) struct Question {
    pub(super) text: String,
    pub(super) tags: Vec<String>,
}

impl Question {
    pub(super) fn of(visit: &Visit) -> Self {
        Self {
            text: visit.query("q").trim().to_owned(),
            tags: parse_list(visit.query("tags")),
        }
    }

    /// Whether anything is asked for.
    pub(super) fn is_asked(&self) -> bool {
        !self.text.is_empty() || !self.tags.is_empty()
    }

    /// What is wrong with it, in a sentence.
    pub(super) fn mistake(&self, t: &Texts) -> Option<String> {
        if self.tags.len() > MAX_TAGS {
            return Some(t.finding.too_many_tags.with("most", MAX_TAGS).to_string());
        }
        wrong_search(&self.text).map(|wrong| sentence(&format!("your search {wrong}")))
    }

    /// The tokens it is searched by.
    pub(super) fn words(&self) -> Option<Vec<String>> {
        (!self.text.is_empty()).then(|| search::query(&self.text))
    }

    /// The tags as the form has them.
    pub(super) fn all_tags(&self) -> String {
        self.tags.join(", ")
    }

    /// The address of the part of the list that goes on at `place`, which `name` names.
    pub(super) fn further(&self, path: &str, name: &str, place: &str) -> String {
        let tags = self.tags.join(",");
        let all = [("q", self.text.as_str()), ("tags", &tags), (name, place)];
        let given = all.into_iter().filter(|(_, value)| !value.is_empty());
        let given: Vec<(&str, &str)> = given.collect();
        eddyline_model::applications::with_query(path, &given)
    }
}

/// A message that was found.
pub(super) struct FoundRow {
    /// Where it stands among the messages around it.
    pub(super) path: String,
    pub(super) name: String,
    /// The room, where the list is of several.
    pub(super) place: Option<String>,
    pub(super) time: String,
    /// The day, or the time of today.
    pub(super) when: String,
    pub(super) pieces: Vec<Piece>,
}

/// A list of what was found.
#[derive(Default)]
pub(super) struct FoundList {
    pub(super) rows: Vec<FoundRow>,
    /// Where it goes on.
    pub(super) further: Option<String>,
}

/// What rows of found messages need to know beside them.
pub(super) struct FoundContext<'a> {
    pub(super) visit: &'a Visit,
    pub(super) people: &'a UsersById,
    pub(super) words: &'a [String],
}

impl FoundRow {
    /// `room` is the path of the room's page.
    pub(super) fn of(
        message: &PageMessage,
        room: &str,
        place: Option<String>,
        context: &FoundContext<'_>,
    ) -> Self {
        let visit = context.visit;
        let (zone, sent) = (visit.zone(), Timestamp(message.sent));
        let today = zone.day(visit.app().now());
        Self {
            path: path_of(message, room),
            name: super::rows::author_name(message, context.people, visit.texts()),
            place,
            time: message.created_at.clone(),
            when: zone
                .day(sent)
                .short(today, visit.texts())
                .unwrap_or_else(|| zone.clock(sent)),
            pieces: excerpt(message, context.words),
        }
    }
}

/// Where a message stands: in the chat, or in its thread where the chat does not show it.
pub(super) fn path_of(message: &PageMessage, room: &str) -> String {
    let id = message.id;
    let in_chat = CHAT.iter().any(|kind| kind.as_str() == message.event);
    match &message.thread_id {
        Some(thread) if !in_chat => format!("{room}/threads/{thread}?at={id}#t{id}"),
        _ => format!("{room}/messages/{id}#m{id}"),
    }
}
