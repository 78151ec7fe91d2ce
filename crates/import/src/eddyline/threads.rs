//! The threads of a room.

use eddyline_archive::ThreadRecord;
use eddyline_model::items::MAX_EXTERNAL_ID_CHARS;
use eddyline_model::messages::MessageKind;
use eddyline_model::{ApplicationId, MessageId};
use eddyline_storage::ThreadOfRoom;

use super::sources::SourcesByNumber;
use super::{content, numbers};
use crate::texts;

/// A thread as the store takes it, with the application of its source.
pub(super) type Thread = (ThreadOfRoom, Option<ApplicationId>);

/// A number of a message of a room whose last one is `last`.
pub(super) fn within(number: Option<i64>, last: MessageId) -> Option<MessageId> {
    number
        .filter(|number| (1..=last.0).contains(number))
        .map(MessageId)
}

/// A thread of a room whose last message is `last`; `None` when its item is none.
pub(super) fn thread(
    record: &ThreadRecord,
    sources: &SourcesByNumber,
    last: MessageId,
) -> Option<Thread> {
    let source = record
        .source
        .and_then(|number| sources.get(&number).copied());
    let item = match record.item.as_deref() {
        Some(item) => {
            serde_json::from_str::<eddyline_model::items::Item>(item.get()).ok()?;
            Some(content::document(MessageKind::Activity, item)?)
        }
        None => None,
    };
    let external_id = record.external_id.as_deref();
    let thread = ThreadOfRoom {
        root: within(Some(record.id), last)?,
        is_inbox: record.inbox,
        source: record.inbox.then(|| source.map_or(0, |(id, _)| id)),
        external_id: external_id.map(|id| texts::short(id, MAX_EXTERNAL_ID_CHARS)),
        activities: numbers::bounded(record.activities, last),
        internal_comments: numbers::bounded(record.internal_comments, last),
        external_comments: numbers::bounded(record.external_comments, last),
        created_at: texts::time(record.created_at),
        updated_at: texts::time(record.updated_at),
        item_message: within(record.item_message, last),
        item_from: within(record.item_from, last),
        item,
    };
    Some((thread, source.and_then(|(_, application)| application)))
}
