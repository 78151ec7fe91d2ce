//! Messages and threads as far as pages show them.

use std::sync::Arc;

use eddyline_app::{App, Room, html_of_text};
use eddyline_markup::{chat_text, text};
use eddyline_model::items::{Item, Status};
use eddyline_model::messages::{MessageKind, MessageView, ThreadState};
use eddyline_model::reactions::Reactions;
use eddyline_model::sources::ThreadSource;
use eddyline_model::threads::{ThreadMark, plain_title_of};
use eddyline_model::{RoomId, Timestamp};
use eddyline_wire::{Attachment, Author};
use serde::Deserialize;

/// A message. The fields are those of [`eddyline_wire::Message`].
pub(super) struct PageMessage {
    pub(super) id: i64,
    pub(super) event: MessageKind,
    /// The plain text, of a kind that has one.
    pub(super) text: Option<String>,
    /// The text as HTML. `None` where it would be too long.
    pub(super) html: Option<String>,
    pub(super) author: Option<Author>,
    pub(super) title: Option<String>,
    pub(super) body: Option<String>,
    pub(super) tags: Vec<String>,
    pub(super) reactions: Reactions,
    pub(super) uuid: Option<String>,
    /// The user, or 0.
    pub(super) user: i64,
    pub(super) sent: Timestamp,
    /// The recipient, in a private conversation.
    pub(super) to: Option<i64>,
    pub(super) attachments: Vec<Attachment>,
    pub(super) is_edited: bool,
    pub(super) external_user_name: Option<String>,
    pub(super) thread: Option<PageThread>,
}

/// A thread.
pub(super) struct PageThread {
    pub(super) id: String,
    /// Where the picture of its application is shown.
    pub(super) icon: Option<String>,
    pub(super) state: ThreadState,
}

/// What an activity or a discussion holds.
#[derive(Deserialize)]
struct Inbox {
    author: Option<Author>,
    title: Option<String>,
    body: Option<String>,
    attachments: Vec<Attachment>,
}

/// What the document of any other message holds that can be read.
#[derive(Deserialize)]
struct Document {
    text: Option<String>,
}

impl PageMessage {
    /// A message of a room.
    pub(super) fn of(view: MessageView, room: &Room, app: &App) -> Self {
        let message = view.message;
        let has_tags = room.has_tags();
        let mut shown = Self {
            id: message.id.0,
            event: message.event,
            text: None,
            html: None,
            author: None,
            title: None,
            body: None,
            tags: if has_tags {
                message.tags.to_vec()
            } else {
                Vec::new()
            },
            reactions: view.reactions,
            uuid: message.uuid,
            user: message.author.user.map_or(0, |user| user.0),
            sent: message.sent,
            to: message.to.map(|user| user.0),
            attachments: Vec::new(),
            is_edited: message.edited.is_some(),
            external_user_name: message.author.external_name,
            thread: view
                .thread
                .map(|state| PageThread::of(state, message.room, app)),
        };
        match message.event {
            MessageKind::Message | MessageKind::Status | MessageKind::Comment => {
                shown.html = html_of_text(&message.content);
                shown.text = Some(message.content);
            }
            MessageKind::File => {
                shown.attachments = serde_json::from_str(&message.content).into_iter().collect();
            }
            MessageKind::Activity | MessageKind::Discussion => {
                if let Ok(inbox) = serde_json::from_str(&message.content) {
                    shown.take(inbox, app);
                }
            }
            _ => {
                let document = serde_json::from_str::<Document>(&message.content);
                shown.text = document.ok().and_then(|document| document.text);
            }
        }
        shown
    }

    fn take(&mut self, mut inbox: Inbox, app: &App) {
        if let Some(author) = &mut inbox.author {
            author.find_path(app.encoder().pictures());
        }
        self.author = inbox.author;
        self.title = inbox.title;
        self.body = inbox.body;
        self.attachments = inbox.attachments;
    }
}

impl PageThread {
    /// A thread of a room.
    pub(super) fn of(state: ThreadState, room: RoomId, app: &App) -> Self {
        let icon = state.source.as_ref().and_then(|source| {
            let address = source.icon.as_ref()?;
            app.encoder().pictures().path(address)
        });
        Self {
            id: app.encoder().thread_id(room, state.root),
            icon,
            state,
        }
    }

    pub(super) fn item(&self) -> Option<&Item> {
        self.state.item.as_deref()
    }

    pub(super) fn mark(&self) -> u8 {
        ThreadMark::of(&self.id).number()
    }

    /// What it is called, as plain text.
    pub(super) fn title(&self) -> String {
        match self.item() {
            Some(item) => text(&item.title),
            None => chat_text(plain_title_of(&self.state.root_text)),
        }
    }

    pub(super) fn status(&self) -> Option<&Status> {
        self.item()?.status.as_ref()
    }

    /// What its application is called.
    pub(super) fn source(&self) -> Option<&str> {
        let source: Option<&ThreadSource> = self.state.source.as_ref().map(Arc::as_ref);
        source.map(|source| source.application.as_str())
    }
}
