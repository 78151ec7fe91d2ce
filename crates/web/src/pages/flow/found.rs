//! Messages that were found, as rows of a list: each leads to where it was said.

use eddyline_model::UserId;
use eddyline_model::messages::{MessageKind, MessageQuery};
use eddyline_model::reading::ReadMarker;
use eddyline_model::search::{self, SearchQuery};
use eddyline_model::tags::parse_list;
use eddyline_wire::Flow;
use eddyline_wire::requests::wrong_search;

use super::CHAT;
use super::excerpt::{Piece, excerpt};
use super::message::{PageMessage, PageThread};
use super::rows::UsersById;
use crate::error::sentence;
use crate::texts::Texts;
use crate::visit::Visit;
use crate::zone::Day;

/// How many messages a page of what was found has.
pub(super) const FOUND: i64 = 20;
/// The most tags that a search may ask for.
const MAX_TAGS: usize = eddyline_model::tags::MAX_TAGS;

/// What a search asks for, as its address says it.
pub(super) struct Question {
    pub(super) text: String,
    pub(super) tags: Vec<String>,
    /// The nick of who wrote the messages.
    pub(super) by: String,
    /// The first and the last day on which they were sent, as `2026-11-20`.
    pub(super) since: String,
    pub(super) until: String,
}

impl Question {
    pub(super) fn of(visit: &Visit) -> Self {
        Self {
            text: visit.query("q").trim().to_owned(),
            tags: parse_list(visit.query("tags")),
            by: visit.query("by").trim().to_owned(),
            since: visit.query("since").trim().to_owned(),
            until: visit.query("until").trim().to_owned(),
        }
    }

    /// Whether anything is asked for.
    pub(super) fn is_asked(&self) -> bool {
        let texts = [&self.text, &self.by, &self.since, &self.until];
        !self.tags.is_empty() || texts.into_iter().any(|text| !text.is_empty())
    }

    /// Whether it has words or tags, which a search of all rooms needs.
    pub(super) fn has_words(&self) -> bool {
        !self.tags.is_empty() || !self.text.is_empty()
    }

    /// The messages that it asks for, or what is wrong with it, in a sentence. `find_user` finds a
    /// user by their nick.
    pub(super) fn query(
        &self,
        visit: &Visit,
        find_user: impl FnOnce(&str) -> Option<UserId>,
    ) -> Result<MessageQuery, String> {
        let texts = visit.texts();
        let t = &texts.finding;
        if self.tags.len() > MAX_TAGS {
            return Err(t.too_many_tags.with("most", MAX_TAGS).to_string());
        }
        if let Some(wrong) = wrong_search(&self.text) {
            return Err(sentence(&format!("your search {wrong}")));
        }
        let nick = self.by.trim_start_matches('@');
        let by = (!nick.is_empty()).then(|| {
            let unknown = || t.unknown_user.with("nick", nick).to_string();
            find_user(nick).ok_or_else(unknown)
        });
        let last = day(&self.until, texts)?;
        let end = last.map(|day| day.next().ok_or_else(|| t.no_day.clone()));
        let start = |day: Day| visit.zone().start(day).ok_or_else(|| t.no_day.clone());
        Ok(MessageQuery {
            limit: FOUND,
            tags: self.tags.clone(),
            search: self.words(),
            by: by.transpose()?,
            since_time: day(&self.since, texts)?.map(start).transpose()?,
            until_time: end.transpose()?.map(start).transpose()?,
            ..MessageQuery::default()
        })
    }

    /// The words and phrases of its text.
    pub(super) fn words(&self) -> Option<SearchQuery> {
        (!self.text.is_empty()).then(|| search::query(&self.text))
    }

    /// The tags as the form has them.
    pub(super) fn all_tags(&self) -> String {
        self.tags.join(", ")
    }

    /// The address of the part of the list that goes on at `place`, which `name` names.
    pub(super) fn further(&self, path: &str, name: &str, place: &str) -> String {
        let tags = self.tags.join(",");
        let all = [
            ("q", self.text.as_str()),
            ("tags", &tags),
            ("by", &self.by),
            ("since", &self.since),
            ("until", &self.until),
            (name, place),
        ];
        let given = all.into_iter().filter(|(_, value)| !value.is_empty());
        let given: Vec<(&str, &str)> = given.collect();
        eddyline_model::applications::with_query(path, &given)
    }
}

/// The day of a field. `None` where the field is empty.
fn day(text: &str, t: &Texts) -> Result<Option<Day>, String> {
    match text {
        "" => Ok(None),
        text => text
            .parse()
            .map(Some)
            .map_err(|()| t.finding.no_day.clone()),
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
    /// The number of the message, and the flow of a list of what the reader is to read.
    pub(super) id: i64,
    pub(super) flow: String,
    /// The marker up to which it is read there: `chat` or `inbox`.
    pub(super) marker: &'static str,
    /// Whether the reader has not read it.
    pub(super) unread: bool,
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
    pub(super) words: &'a SearchQuery,
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
        let (zone, sent) = (visit.zone(), message.sent);
        let today = zone.day(visit.app().now());
        Self {
            path: path_of(message, room),
            name: super::rows::author_name(message, context.people, visit.texts()),
            place,
            time: sent.to_string(),
            when: zone
                .day(sent)
                .short(today, visit.texts())
                .unwrap_or_else(|| zone.clock(sent)),
            pieces: excerpt(message, context.words),
            id: message.id,
            flow: String::new(),
            marker: "",
            unread: false,
        }
    }

    /// The row in a flow that the reader has read up to a message, of the chat or of the inbox as the
    /// row is. Mentions that the reader has dealt with one by one have no tag `:unread:` of the reader
    /// any more.
    pub(super) fn read_up_to(self, flow: &Flow, kind: MessageKind, is_tagged: bool) -> Self {
        let marker = ReadMarker::of(kind).unwrap_or(ReadMarker::Chat);
        let read = match marker {
            ReadMarker::Chat => flow.read,
            ReadMarker::Inbox => flow.inbox.read,
        };
        Self {
            flow: flow.id.clone(),
            marker: marker.as_str(),
            unread: is_tagged && read.is_some_and(|read| self.id > read),
            ..self
        }
    }
}

/// Where a message stands: in the chat, or in its thread where the chat does not show it.
pub(super) fn path_of(message: &PageMessage, room: &str) -> String {
    let id = message.id;
    match &message.thread {
        Some(PageThread { id: thread, .. }) if !CHAT.contains(&message.event) => {
            format!("{room}/threads/{thread}?at={id}#t{id}")
        }
        _ => format!("{room}/messages/{id}#m{id}"),
    }
}
