//! The threads of a room.

use eddyline_archive::ThreadRecord;
use eddyline_model::items::{Item, MAX_EXTERNAL_ID_CHARS, MAX_ITEM_BYTES};
use eddyline_model::messages::MessageKind;
use eddyline_model::{ApplicationId, MessageId, Timestamp};
use eddyline_storage::ThreadOfRoom;
use serde_json::value::RawValue;

use super::sources::SourcesByNumber;
use super::{content, numbers};
use crate::texts;

/// A thread as the store takes it, with the application of its source.
pub(super) type Thread = (ThreadOfRoom, Option<ApplicationId>);

/// The state of an item, as the server keeps it; `None` for one that no integration could have
/// given.
fn item(raw: &RawValue) -> Option<String> {
    // Escapes make a text longer, by six times at most.
    if raw.get().len() > 6 * MAX_ITEM_BYTES {
        return None;
    }
    let cleaned = content::document(MessageKind::Activity, raw)?;
    let item: Item = serde_json::from_str(&cleaned).ok()?;
    // Written anew, so that it has nothing beside what is bounded.
    item.is_within_bounds()
        .then(|| serde_json::to_string(&item).ok())
        .flatten()
}

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
    now: Timestamp,
) -> Option<Thread> {
    let source = record
        .source
        .and_then(|number| sources.get(&number).copied());
    let item = match record.item.as_deref() {
        Some(text) => Some(item(text)?),
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
        created_at: texts::time(record.created_at, now),
        updated_at: texts::time(record.updated_at, now),
        item_message: within(record.item_message, last),
        item_from: within(record.item_from, last),
        item,
    };
    Some((thread, source.and_then(|(_, application)| application)))
}
