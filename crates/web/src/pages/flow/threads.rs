//! Threads: as rows of the inbox, and the head of one.

use std::sync::Arc;

use eddyline_app::{Actor, App, FlowRoom, ThreadPage};
use eddyline_model::items::{self, Item};
use eddyline_model::messages::{LastMessage, MessageKind, ThreadState};
use eddyline_model::threads::{ThreadQuery, ThreadSelection};
use eddyline_model::{MessageId, Timestamp};

use super::message::PageThread;
use super::rows::{RowContext, RowThread};
use crate::error::PageError;
use crate::visit::Visit;

/// How many threads a list has.
const THREADS: i64 = 30;

/// A thread in a list.
pub(super) struct ThreadRow {
    pub(super) thread: RowThread,
    /// Whether the reader has something to read in it.
    pub(super) unread: bool,
    /// The number of its last message, or 0 when all are gone.
    pub(super) last_id: i64,
    /// What its last message says.
    pub(super) last: String,
    /// What its application is called.
    pub(super) source: Option<String>,
    /// The path of the picture of its application.
    pub(super) icon: Option<String>,
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
    /// What asks for the threads of the inbox or of the chat behind the one that the address names, or
    /// for those that changed last. A chat message without an answer is not listed.
    pub(super) fn query(visit: &Visit, room: &FlowRoom, threads: ThreadSelection) -> ThreadQuery {
        let (until, before) = behind(visit, room);
        ThreadQuery {
            empty: threads == ThreadSelection::Inbox,
            threads,
            since: None,
            until,
            before,
            search: None,
            status: None,
            limit: THREADS,
            last_message: true,
            reader: visit.signed_in().ok().and_then(Actor::user_id),
        }
    }

    /// `list` is the path of the list below that of the flow.
    pub(super) fn of(
        page: ThreadPage,
        room: &FlowRoom,
        list: &str,
        app: &App,
        context: &RowContext<'_>,
    ) -> Self {
        let place = page.next.map_or_else(String::new, |last| {
            let before = app.encoder().thread_id(room.id(), last.root);
            format!("?until={}&before={before}", last.updated_at.0)
        });
        let (last, unread) = (&page.last_messages, &page.unread);
        let row = |state: ThreadState| {
            let news = (last.get(&state.root), unread.contains(&state.root));
            ThreadRow::of(&PageThread::of(state, room.id(), app), news, context)
        };
        Self {
            rows: page.threads.into_iter().map(row).collect(),
            further: format!("{}{list}{place}", context.flow),
            more: page.next.is_some(),
        }
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
    fn of(
        thread: &PageThread,
        (last, unread): (Option<&LastMessage>, bool),
        context: &RowContext<'_>,
    ) -> Self {
        let counts = &thread.state.counts;
        let (talks, updated) = (
            counts.internal_comments + counts.external_comments,
            counts.updated_at,
        );
        let today = context.zone.day(context.now);
        let day = context.zone.day(updated).short(today, context.t);
        Self {
            thread: RowThread::of(thread, context.flow),
            unread,
            last_id: last.map_or(0, |last| last.id.0),
            last: last.map_or_else(String::new, |last| last_line(last, context)),
            source: thread.source().map(str::to_owned),
            icon: thread.icon.clone(),
            talks: usize::try_from(talks).unwrap_or_default(),
            updated: updated.to_string(),
            clock: day.unwrap_or_else(|| context.zone.clock(updated)),
        }
    }
}

impl Action {
    fn of((position, action): (usize, &items::Action)) -> Self {
        let (description, link) = match action {
            items::Action::View {
                description, url, ..
            } => (description, Some(url.clone())),
            items::Action::Update { description, .. } => (description, None),
        };
        Self {
            position,
            name: action.name().to_owned(),
            description: description.clone().unwrap_or_default(),
            link,
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
        let thread = PageThread::of(state, room.id(), visit.app());
        let fields = |item: &Item| {
            let each = item.fields.iter();
            each.map(|field| (field.label.clone(), field.value.clone()))
                .collect()
        };
        let actions = |item: &Item| item.actions.iter().enumerate().map(Action::of).collect();
        let item = thread.item();
        Ok(Self {
            source: thread.source().map(str::to_owned),
            fields: item.map_or_else(Vec::new, fields),
            actions: item.map_or_else(Vec::new, actions),
            body: item.map_or_else(String::new, |item| item.body.clone()),
            link: item.and_then(|item| item.external_url.clone()),
            thread: RowThread::of(&thread, context.flow),
        })
    }
}

/// Who said what, in a line.
fn last_line(last: &LastMessage, context: &RowContext<'_>) -> String {
    if last.text.is_empty() {
        return String::new();
    }
    let text = match last.event.has_text() {
        true => eddyline_markup::chat_text(&last.text),
        false => last.text.clone(),
    };
    let person = || context.people.get(&last.user?.0);
    let name = match &last.author_name {
        Some(name) => Some(name),
        None => person().map(|person| &person.name),
    };
    match name {
        Some(name) => {
            // The title of an activity says what its author did.
            let phrase = match last.event == MessageKind::Activity {
                true => &context.t.both.last_act,
                false => &context.t.both.last_line,
            };
            phrase.with("name", name).with("text", &text).to_string()
        }
        None => text,
    }
}
