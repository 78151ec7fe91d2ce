//! The files of a flow: those that were sent, the newest first.

use eddyline_app::Room;
use eddyline_model::MessageId;
use eddyline_model::messages::{MessageKind, MessageQuery};

use super::message::PageMessage;
use super::rows::{FileCard, RowContext, author_name, file_card};
use crate::error::PageError;
use crate::visit::Visit;

/// How many files a list opens with.
const FILES: i64 = 30;

/// A file in the list.
pub(super) struct FileRow {
    pub(super) file: FileCard,
    /// The page with the message that brought it.
    pub(super) path: String,
    /// Who sent it.
    pub(super) name: String,
    pub(super) time: String,
    pub(super) when: String,
}

/// A list of files.
pub(super) struct FileList {
    pub(super) rows: Vec<FileRow>,
    /// Where it goes on.
    pub(super) further: Option<String>,
}

impl FileList {
    /// The files before the message that the address names, or the newest.
    pub(super) async fn of(
        visit: &Visit,
        room: &Room,
        context: &RowContext<'_>,
    ) -> Result<Self, PageError> {
        let query = MessageQuery {
            events: vec![MessageKind::File],
            beyond: visit.query("before").parse().ok().map(MessageId),
            limit: FILES,
            ..MessageQuery::default()
        };
        let list = visit.app().messages().list_views(room, query).await?;
        let rows = list.messages.into_iter().rev();
        let rows = rows.flat_map(|view| {
            let message = PageMessage::of(view, room, visit.app());
            FileRow::of(&message, context)
        });
        let further = |next: MessageId| format!("{}/files?before={next}", context.room);
        Ok(Self {
            rows: rows.collect(),
            further: list.next.map(further),
        })
    }
}

impl FileRow {
    /// The files of a message.
    fn of(message: &PageMessage, context: &RowContext<'_>) -> Vec<Self> {
        let sent = message.sent;
        let today = context.zone.day(context.now);
        let day = context.zone.day(sent).short(today, context.t);
        let when = day.unwrap_or_else(|| context.zone.clock(sent));
        let files = message.attachments.iter().map(|file| Self {
            file: file_card(file, context.t),
            path: format!("{}/messages/{}#m{}", context.room, message.id, message.id),
            name: author_name(message, context.people, context.t),
            time: sent.to_string(),
            when: when.clone(),
        });
        files.collect()
    }
}
