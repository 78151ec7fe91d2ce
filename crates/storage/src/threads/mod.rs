//! Threads that have a row: those of the inbox, and those of the chat that somebody answered.

mod last;
mod lists;
mod referred;

pub use lists::ThreadPage;
pub(crate) use referred::Referred;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use diesel::prelude::*;
use eddyline_model::items::Item;
use eddyline_model::messages::{Message, MessageKind, ThreadCounts, ThreadState};
use eddyline_model::sources::{ThreadOwner, ThreadSource};
use eddyline_model::{ApplicationId, MessageId, RoomId, SourceId, Timestamp};
use eddyline_portable::portable;

use crate::areas::Threads;
use crate::reader::Access;
use crate::rows::ThreadRow;
use crate::schema::{applications, sources, thread_items, threads};
use crate::transaction::Tx;
use crate::{Error, Result};

/// Where a thread began.
pub(crate) const CHAT: i16 = 0;
pub(crate) const INBOX: i16 = 1;

/// A thread as it is kept.
#[derive(Clone)]
pub(crate) struct ThreadRecord {
    pub(crate) counts: ThreadCounts,
    /// Who keeps it, when it is of the inbox.
    pub(crate) thread_owner: Option<ThreadOwner>,
    pub(crate) external_id: Option<String>,
    /// The message under whose number the item is kept.
    pub(crate) item_id: Option<i64>,
    /// The message that gave the item its present state.
    pub(crate) item_from: Option<i64>,
    pub(crate) item: Option<Arc<Item>>,
    pub(crate) source: Option<Arc<ThreadSource>>,
}

impl ThreadRecord {
    /// A thread of the chat.
    pub(crate) fn chat(counts: ThreadCounts) -> Self {
        let (thread_owner, external_id, source) = (None, None, None);
        Self {
            counts,
            thread_owner,
            external_id,
            item_id: None,
            item_from: None,
            item: None,
            source,
        }
    }

    /// The thread as it is shown. The text of its first message is asked for only if there is no
    /// item to take a title from.
    pub(crate) fn state(&self, root: MessageId, root_text: impl FnOnce() -> String) -> ThreadState {
        let (item, source) = (self.item.clone(), self.source.clone());
        let root_text = if item.is_none() {
            root_text()
        } else {
            String::new()
        };
        ThreadState {
            root,
            root_text,
            counts: self.counts,
            item,
            source,
        }
    }

    /// The thread as it is to be written.
    pub(crate) fn row(&self, room: i64, root: i64) -> ThreadRow {
        ThreadRow {
            room_id: room,
            root_id: root,
            activities: self.counts.activities,
            internal_comments: self.counts.internal_comments,
            external_comments: self.counts.external_comments,
            created_at: self.counts.created_at.0,
            updated_at: self.counts.updated_at.0,
            origin: if self.thread_owner.is_some() {
                INBOX
            } else {
                CHAT
            },
            source_id: self.thread_owner.map(source_key),
            application_id: self
                .thread_owner
                .and_then(|thread_owner| thread_owner.application)
                .map(|id| id.0),
            external_id: self.external_id.clone(),
            item_id: self.item_id,
            item_from: self.item_from,
        }
    }

    /// The thread as it is now, to be told of again later.
    pub(crate) fn left(&self) -> ThreadSnapshot {
        ThreadSnapshot {
            item_id: self.item_id,
            activities: self.counts.activities,
            internal_comments: self.counts.internal_comments,
            external_comments: self.counts.external_comments,
            updated_at: self.counts.updated_at.0,
        }
    }

    /// The same thread with the state of its item, which is one of these.
    pub(crate) fn with_item(&self, items: &HashMap<i64, Arc<Item>>) -> Self {
        Self {
            item: self.item_id.and_then(|id| items.get(&id).cloned()),
            ..self.clone()
        }
    }

    /// The same thread with the counts that a message left it with. Its item is the present one:
    /// texts that a newer state took away are not told again.
    pub(crate) fn as_left(&self, left: ThreadSnapshot) -> Self {
        let counts = ThreadCounts {
            activities: left.activities,
            internal_comments: left.internal_comments,
            external_comments: left.external_comments,
            created_at: self.counts.created_at,
            updated_at: Timestamp(left.updated_at),
        };
        Self {
            counts,
            ..self.clone()
        }
    }
}

/// How a message left its thread. With the message it is kept as one short text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadSnapshot {
    pub(crate) item_id: Option<i64>,
    activities: i64,
    internal_comments: i64,
    external_comments: i64,
    updated_at: i64,
}

impl ThreadSnapshot {
    /// These counts, and the message under whose number the item is kept.
    pub(crate) fn of(counts: ThreadCounts, item: Option<MessageId>) -> Self {
        Self {
            item_id: item.map(|id| id.0),
            activities: counts.activities,
            internal_comments: counts.internal_comments,
            external_comments: counts.external_comments,
            updated_at: counts.updated_at.0,
        }
    }
}

impl std::fmt::Display for ThreadSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            item_id,
            activities,
            internal_comments,
            external_comments,
            updated_at,
        } = self;
        let item = item_id.unwrap_or(0);
        write!(
            f,
            "{item} {activities} {internal_comments} {external_comments} {updated_at}"
        )
    }
}

impl std::str::FromStr for ThreadSnapshot {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let broken = || Error::Corrupt("thread_left");
        let numbers: Vec<i64> = text
            .split(' ')
            .map(str::parse)
            .collect::<std::result::Result<_, _>>()
            .map_err(|_| broken())?;
        let [
            item,
            activities,
            internal_comments,
            external_comments,
            updated_at,
        ] = numbers[..]
        else {
            return Err(broken());
        };
        let item_id = Some(item).filter(|id| *id > 0);
        Ok(Self {
            item_id,
            activities,
            internal_comments,
            external_comments,
            updated_at,
        })
    }
}

/// The number of a thread owner's source; 0 for the flow's own token.
pub(crate) fn source_key(thread_owner: ThreadOwner) -> i64 {
    thread_owner.source.map_or(0, |source| source.0)
}

impl ThreadRow {
    /// The thread, but for its item and what it shows of its source.
    fn record(self) -> ThreadRecord {
        let thread_owner = self.source_id.map(|source| ThreadOwner {
            source: Some(SourceId(source)).filter(|id| id.0 > 0),
            application: self.application_id.map(ApplicationId),
        });
        ThreadRecord {
            counts: ThreadCounts {
                activities: self.activities,
                internal_comments: self.internal_comments,
                external_comments: self.external_comments,
                created_at: Timestamp(self.created_at),
                updated_at: Timestamp(self.updated_at),
            },
            thread_owner,
            external_id: self.external_id,
            item_id: self.item_id,
            item_from: self.item_from,
            item: None,
            source: None,
        }
    }
}

#[portable]
impl<C: Access> Threads<'_, C> {
    fn rows_of_threads(c: &mut Connection, room: RoomId, roots: &[i64]) -> Result<Vec<ThreadRow>> {
        Ok(threads::table
            .filter(threads::room_id.eq(room.0))
            .filter(threads::root_id.eq_any(roots))
            .load(c)?)
    }

    /// States of items by the messages that brought the first ones.
    fn item_rows(c: &mut Connection, room: RoomId, ids: &[i64]) -> Result<Vec<(i64, String)>> {
        Ok(thread_items::table
            .filter(thread_items::room_id.eq(room.0))
            .filter(thread_items::message_id.eq_any(ids))
            .select((thread_items::message_id, thread_items::item))
            .load(c)?)
    }

    /// How many bytes states of items take that are kept under the numbers of these messages.
    fn item_size_rows(c: &mut Connection, room: RoomId, ids: &[i64]) -> Result<Vec<(i64, i64)>> {
        let size =
            diesel::dsl::sql::<diesel::sql_types::BigInt>("cast(octet_length(item) as bigint)");
        Ok(thread_items::table
            .filter(thread_items::room_id.eq(room.0))
            .filter(thread_items::message_id.eq_any(ids))
            .select((thread_items::message_id, size))
            .load(c)?)
    }

    /// Whether a thread has a row.
    pub fn contains(c: &mut Connection, room: RoomId, root: MessageId) -> Result<bool> {
        Ok(
            diesel::select(diesel::dsl::exists(threads::table.find((room.0, root.0))))
                .get_result(c)?,
        )
    }

    /// When a thread of each source of a room changed last.
    pub fn list_changes_by_source(
        c: &mut Connection,
        room: RoomId,
    ) -> Result<HashMap<SourceId, Timestamp>> {
        let rows = threads::table
            .filter(threads::room_id.eq(room.0))
            .filter(threads::source_id.gt(0))
            .group_by(threads::source_id)
            .select((
                threads::source_id.assume_not_null(),
                diesel::dsl::max(threads::updated_at).assume_not_null(),
            ))
            .load::<(i64, i64)>(c)?;
        let rows = rows.into_iter();
        Ok(rows
            .map(|(source, at)| (SourceId(source), Timestamp(at)))
            .collect())
    }

    /// When a thread of a source changed last.
    pub fn find_change_of_source(
        c: &mut Connection,
        room: RoomId,
        source: SourceId,
    ) -> Result<Option<Timestamp>> {
        let last: Option<i64> = threads::table
            .filter(threads::room_id.eq(room.0))
            .filter(threads::source_id.eq(source.0))
            .select(diesel::dsl::max(threads::updated_at))
            .get_result(c)?;
        Ok(last.map(Timestamp))
    }

    /// What threads show of these sources.
    fn sources_shown(c: &mut Connection, ids: &[i64]) -> Result<HashMap<i64, Arc<ThreadSource>>> {
        let rows = sources::table
            .left_join(
                applications::table.on(applications::id.nullable().eq(sources::application_id)),
            )
            .filter(sources::id.eq_any(ids))
            .select((
                sources::id,
                sources::name,
                applications::name.nullable(),
                applications::icon_url.nullable(),
            ))
            .load::<(i64, String, Option<String>, Option<String>)>(c)?;
        Ok(rows
            .into_iter()
            .map(|(id, name, application, icon)| {
                let application = application.unwrap_or(name);
                (
                    id,
                    Arc::new(ThreadSource {
                        id: SourceId(id),
                        icon,
                        application,
                    }),
                )
            })
            .collect())
    }
}

#[portable]
impl Threads<'_, Tx<'_>> {
    /// Keeps the states of items: room, the message that brought the first one, state. A new state
    /// takes the place of the one before.
    pub(crate) fn insert_items(c: &mut Connection, items: &[(i64, i64, String)]) -> Result<()> {
        for (room, message, item) in items {
            diesel::insert_into(thread_items::table)
                .values((
                    thread_items::room_id.eq(room),
                    thread_items::message_id.eq(message),
                    thread_items::item.eq(item),
                ))
                .on_conflict((thread_items::room_id, thread_items::message_id))
                .do_update()
                .set(thread_items::item.eq(item))
                .execute(c)?;
        }
        Ok(())
    }

    fn delete_item(c: &mut Connection, room: RoomId, message: i64) -> Result<()> {
        diesel::delete(thread_items::table.find((room.0, message))).execute(c)?;
        Ok(())
    }

    /// Counts a message of a thread no more.
    fn subtract_counts(
        c: &mut Connection,
        room: RoomId,
        root: MessageId,
        activity: i64,
        internal: i64,
        external: i64,
    ) -> Result<()> {
        diesel::update(threads::table.find((room.0, root.0)))
            .set((
                threads::activities.eq(threads::activities - activity),
                threads::internal_comments.eq(threads::internal_comments - internal),
                threads::external_comments.eq(threads::external_comments - external),
            ))
            .execute(c)?;
        Ok(())
    }
}

impl<C: Access> Threads<'_, C> {
    /// The threads of one room that have a row, by their first messages.
    pub(crate) fn list_records(
        &mut self,
        room: RoomId,
        roots: &[i64],
    ) -> Result<HashMap<i64, ThreadRecord>> {
        if roots.is_empty() {
            return Ok(HashMap::new());
        }
        let rows = self.rows_of_threads(room, roots)?;
        let mut records = self.records(rows)?;
        let items = self.list_items(
            room,
            records.iter().filter_map(|(_, record)| record.item_id),
        )?;
        for (_, record) in &mut records {
            *record = record.with_item(&items);
        }
        Ok(records.into_iter().collect())
    }

    /// The same without the states of their items, which may be large.
    pub(crate) fn list_records_without_items(
        &mut self,
        room: RoomId,
        roots: &[i64],
    ) -> Result<HashMap<i64, ThreadRecord>> {
        if roots.is_empty() {
            return Ok(HashMap::new());
        }
        let rows = self.rows_of_threads(room, roots)?;
        Ok(self.records(rows)?.into_iter().collect())
    }

    fn records(&mut self, rows: Vec<ThreadRow>) -> Result<Vec<(i64, ThreadRecord)>> {
        let ids: BTreeSet<i64> = rows
            .iter()
            .filter_map(|row| row.source_id)
            .filter(|id| *id > 0)
            .collect();
        let shown = match ids.is_empty() {
            true => HashMap::new(),
            false => self.sources_shown(&ids.into_iter().collect::<Vec<_>>())?,
        };
        let filled = rows.into_iter().map(|row| {
            let (root, source) = (row.root_id, row.source_id);
            let mut record = row.record();
            record.source = source.and_then(|id| shown.get(&id).cloned());
            (root, record)
        });
        Ok(filled.collect())
    }

    /// How many bytes the states of items take that these messages brought.
    pub(crate) fn list_item_sizes(
        &mut self,
        room: RoomId,
        ids: impl Iterator<Item = i64>,
    ) -> Result<HashMap<i64, usize>> {
        let ids: BTreeSet<i64> = ids.collect();
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let rows = self.item_size_rows(room, &ids.into_iter().collect::<Vec<_>>())?;
        Ok(rows
            .into_iter()
            .map(|(id, size)| (id, usize::try_from(size).unwrap_or(usize::MAX)))
            .collect())
    }

    /// The states of items that these messages brought.
    pub(crate) fn list_items(
        &mut self,
        room: RoomId,
        ids: impl Iterator<Item = i64>,
    ) -> Result<HashMap<i64, Arc<Item>>> {
        let ids: BTreeSet<i64> = ids.collect();
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let rows = self.item_rows(room, &ids.into_iter().collect::<Vec<_>>())?;
        rows.into_iter()
            .map(|(id, item)| {
                let item = serde_json::from_str(&item).map_err(|_| Error::Corrupt("item"))?;
                Ok((id, Arc::new(item)))
            })
            .collect()
    }

    /// One thread of a room; `None` when no message began it, or that is gone and nobody answered.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn find(&mut self, room: RoomId, root: MessageId) -> Result<Option<ThreadState>> {
        let record = self.list_records(room, &[root.0])?.remove(&root.0);
        let first = self.list_referred(room, &[root.0])?.remove(&root.0);
        Ok(match (record, first) {
            (Some(record), first) => {
                Some(record.state(root, || first.map_or_else(String::new, |m| m.text())))
            }
            (None, Some(first)) if first.thread_root == Some(root) => {
                let counts = ThreadCounts::begun_by(first.event, first.sent);
                Some(ThreadRecord::chat(counts).state(root, || first.text()))
            }
            (None, _) => None,
        })
    }

    /// Who owns a thread of the inbox.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn find_owner(&mut self, room: RoomId, root: MessageId) -> Result<Option<ThreadOwner>> {
        Ok(self
            .list_records(room, &[root.0])?
            .remove(&root.0)
            .and_then(|record| record.thread_owner))
    }
}

impl Threads<'_, Tx<'_>> {
    /// Takes a deleted message out of its thread's count, and deletes the state that it gave the
    /// item.
    pub(crate) fn delete_message(&mut self, gone: &Message) -> Result<()> {
        let Some(root) = gone.thread_root else {
            return Ok(());
        };
        let mut one = ThreadCounts::begun_by(gone.event, gone.sent);
        one.updated_at = gone.sent;
        self.subtract_counts(
            gone.room,
            root,
            one.activities,
            one.internal_comments,
            one.external_comments,
        )?;
        let is_inbox = matches!(
            gone.event,
            MessageKind::Activity | MessageKind::Discussion | MessageKind::Mail
        );
        let record = self
            .list_records_without_items(gone.room, &[root.0])?
            .remove(&root.0);
        if let Some(ThreadRecord {
            item_id: Some(item),
            item_from,
            ..
        }) = record
            && item_from.map_or(is_inbox, |from| from == gone.id.0)
        {
            self.delete_item(gone.room, item)?;
        }
        Ok(())
    }
}
