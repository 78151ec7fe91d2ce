//! Rows as the tables have them, which the queries share with the dialects of both databases.

use diesel::prelude::*;

use crate::schema::{messages, threads};

/// A message.
#[derive(Clone, Queryable, QueryableByName)]
#[diesel(table_name = messages)]
pub(crate) struct MessageRow {
    pub(crate) room_id: i64,
    pub(crate) id: i64,
    pub(crate) event: i16,
    pub(crate) user_id: Option<i64>,
    pub(crate) external_user_name: Option<String>,
    pub(crate) content: String,
    pub(crate) tags: String,
    pub(crate) explicit_tags: String,
    pub(crate) uuid: Option<String>,
    pub(crate) fingerprint: i64,
    pub(crate) sent: i64,
    pub(crate) edited: Option<i64>,
    pub(crate) thread_root: Option<i64>,
    pub(crate) parent_id: Option<i64>,
    pub(crate) to_user_id: Option<i64>,
    pub(crate) thread_left: Option<String>,
}

/// A mention: room, its key (a user, or a cohort by its number negated; 0 stands for everyone in
/// messages of earlier versions), message, sender.
pub(crate) type MentionRow = (i64, i64, i64, i64);

/// A thread.
#[derive(Clone, Queryable, QueryableByName, Insertable)]
#[diesel(table_name = threads, treat_none_as_default_value = false)]
pub(crate) struct ThreadRow {
    pub(crate) room_id: i64,
    pub(crate) root_id: i64,
    pub(crate) activities: i64,
    pub(crate) internal_comments: i64,
    pub(crate) external_comments: i64,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
    pub(crate) origin: i16,
    pub(crate) source_id: Option<i64>,
    pub(crate) application_id: Option<i64>,
    pub(crate) external_id: Option<String>,
    pub(crate) item_id: Option<i64>,
    pub(crate) item_from: Option<i64>,
}

/// A room as a batch sees it.
#[derive(Clone, Copy, Queryable)]
pub(crate) struct LockedRoom {
    pub(crate) id: i64,
    pub(crate) last_message_id: i64,
    pub(crate) last_message_at: Option<i64>,
    pub(crate) access_version: i64,
}

/// An entry of the log about to be written.
#[derive(Clone, Copy)]
pub(crate) struct NewLogRow {
    /// Its position; 0 until the clock has been moved.
    pub(crate) seq: i64,
    pub(crate) check_value: i64,
    pub(crate) kind: i16,
    pub(crate) room_id: Option<i64>,
    pub(crate) message_id: Option<i64>,
    pub(crate) user_id: Option<i64>,
    pub(crate) peer_id: Option<i64>,
    pub(crate) created_at: i64,
}
