//! Threads: as rows of the inbox, and the head of one.

use std::sync::Arc;

use eddyline_app::{FlowRoom, ThreadsOf};
use eddyline_model::messages::MessageKind;
use eddyline_model::threads::{ThreadQuery, ThreadSelection};
use eddyline_model::{MessageId, Timestamp};
use eddyline_wire::{Thread, ThreadLastMessage};
use serde_json::Value;

use super::message::{PageThread, decoded};
use super::rows::{RowContext, RowThread};
use crate::error::PageError;
use crate::visit::Visit;

/// How many threads a list has.
const THREADS: i64 = 30;

/// A thread in a list.
pub(super) struct ThreadRow {
    pub(super) thread: RowThread,
    /// Whether the last message is news to the reader.
    pub(super) unread: bool,
    /// The number of its last message, or 0 when all are gone.
    pub(super) last_id: i64,
    /// What its last message says.
    pub(super) last: String,
    pub(super) source: String,
    pub(super) talks: usize,
    pub(super) updated: String,
    pub(super) clock: String,
}

/// A list of threads, those that changed last first.
pub(super) struct ThreadList {
    pub(super) rows: Vec<ThreadRow>,
    /// Where it goes on.
    pub(super) further: String,
    /// Whether there is more.
    pub(super) more: bool,
}

/// What stands above the messages of a thread.
pub(super) struct ThreadHead {
    pub(super) thread: RowThread,
    pub(super) source: Option<String>,
    pub(super) body: String,
    pub(super) fields: Vec<(String, String)>,
    pub(super) link: Option<String>,
    pub(super) actions: Vec<Action>,
}

/// What can be done with the outside item.
pub(super) struct Action {
    pub(super) position: usize,
    pub(super) name: String,
    pub(super) description: String,
    /// The address of a link (specification, 2.32.1); `None` for a request that the server sends.
    pub(super) link: Option<String>,
}

impl ThreadList {
    /// The threads of the inbox or of the chat behind the one that the address names, or those that
    /// changed last. A chat message without an answer is not listed.
    pub(super) async fn of(
        visit: &Visit,
        room: &Arc<FlowRoom>,
        of: ThreadsOf,
        context: &RowContext<'_>,
    ) -> Result<Self, PageError> {
        let (until, before) = behind(visit, room);
        let list = match of {
            ThreadsOf::Chat => "/threads",
            _ => "",
        };
        let query = ThreadQuery {
            threads: ThreadSelection::All,
            since: None,
            until,
            before,
            empty: of == ThreadsOf::Inbox,
            limit: THREADS,
            last_message: true,
        };
        let page = visit.app().threads().list(room, of, query).await?;
        let encoder = visit.app().encoder();
        let json = encoder.threads(room.id(), &page.threads, Some(&page.last_messages));
        let threads: Vec<PageThread> = decoded(&json)?;
        let rows = threads.iter().zip(&page.threads);
        let place = page.threads.last().map_or_else(String::new, |last| {
            let before = encoder.thread_id(room.id(), last.root);
            format!("?until={}&before={before}", last.counts.updated_at.0)
        });
        Ok(Self {
            rows: rows
                .map(|(thread, state)| ThreadRow::of(thread, state.counts.updated_at, context))
                .collect(),
            further: format!("{}{list}{place}", context.flow),
            more: page.more,
        })
    }
}

/// The thread behind which a list goes on: when it changed, and what began it.
fn behind(visit: &Visit, room: &FlowRoom) -> (Option<Timestamp>, Option<MessageId>) {
    let messages = visit.app().messages();
    let until = visit.query("until").parse().ok().map(Timestamp);
    let before = messages.thread_root(room, visit.query("before")).ok();
    match until {
        Some(_) => (until, before),
        None => (None, None),
    }
}

impl ThreadRow {
    fn of(thread: &PageThread, updated: Timestamp, context: &RowContext<'_>) -> Self {
        let today = context.zone.day(context.now);
        let talks = thread.internal_comments + thread.external_comments;
        let day = context.zone.day(updated).short(today, context.t);
        let last = thread.last_message.as_ref();
        let own = context.me.to_string();
        let is_news = |last: &ThreadLastMessage| {
            last.user != own && context.read.is_some_and(|read| last.id > read)
        };
        Self {
            thread: RowThread::of(thread, context.flow),
            unread: last.is_some_and(is_news),
            last_id: last.map_or(0, |last| last.id),
            last: last.map_or_else(String::new, |last| last_line(last, context)),
            source: source(thread).unwrap_or_default().to_owned(),
            talks: usize::try_from(talks).unwrap_or_default(),
            updated: thread.updated_at.clone(),
            clock: day.unwrap_or_else(|| context.zone.clock(updated)),
        }
    }
}

impl ThreadHead {
    pub(super) async fn find(
        visit: &Visit,
        room: &Arc<FlowRoom>,
        id: &str,
        context: &RowContext<'_>,
    ) -> Result<Self, PageError> {
        let state = visit.app().threads().get(room, id).await?;
        let json = visit.app().encoder().thread(room.id(), &state);
        let (thread, shown): (Thread, PageThread) = (decoded(&json)?, decoded(&json)?);
        let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
        let fields = thread
            .fields
            .iter()
            .map(|field| (text(field, "label"), text(field, "value")));
        let actions = thread.actions.iter().enumerate();
        let actions = actions.filter_map(|(position, action)| {
            Some(Action {
                position,
                name: action["name"].as_str()?.to_owned(),
                description: text(action, "description"),
                link: action["url"].as_str().map(str::to_owned),
            })
        });
        Ok(Self {
            source: source(&shown).map(str::to_owned),
            fields: fields.collect(),
            actions: actions.collect(),
            body: thread.body.clone(),
            link: thread.external_url.clone(),
            thread: RowThread::of(&shown, context.flow),
        })
    }
}

/// Who said what, in a line.
fn last_line(last: &ThreadLastMessage, context: &RowContext<'_>) -> String {
    if last.text.is_empty() {
        return String::new();
    }
    let person = || context.people.get(&last.user.parse().ok()?);
    let name = match &last.author_name {
        Some(name) => Some(name),
        None => person().map(|person| &person.name),
    };
    match name {
        Some(name) => {
            // The title of an activity says what its author did.
            let phrase = match last.event == MessageKind::Activity.as_str() {
                true => &context.t.both.last_act,
                false => &context.t.both.last_line,
            };
            phrase
                .with("name", name)
                .with("text", &last.text)
                .to_string()
        }
        None => last.text.clone(),
    }
}

/// What the application of a thread is called.
fn source(thread: &PageThread) -> Option<&str> {
    thread.source.as_ref()?.application.as_deref()
}
