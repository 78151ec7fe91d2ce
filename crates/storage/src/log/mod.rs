//! The log: everything that happened, in commit order.

mod row;

use std::collections::HashMap;
use std::sync::Arc;

use diesel::prelude::*;
use eddyline_model::log::{EventId, LogBody, LogItem, Seq};
use eddyline_model::messages::MessageView;
use eddyline_model::{RoomId, UserId};
use eddyline_portable::portable;

use self::row::new_row;
use self::row::{MESSAGE, Row, USER_EDIT, control, event_id};
use crate::Result;
use crate::areas::{Log, Messages};
use crate::reader::{Access, dialect};
use crate::rows::NewLogRow;
use crate::schema::event_log;
use crate::transaction::Tx;

/// A filter with more rooms than this reads the log itself instead of each room's part of it.
const FEW_ROOMS: usize = 16;
/// How much of the log one page of such a filter looks through.
const STRIDE: i64 = 8192;

/// Whose entries are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogFilter {
    /// Entries of these rooms.
    pub rooms: Vec<RoomId>,
    /// Entries for this user.
    pub user: Option<UserId>,
}

/// A part of the log under a filter.
#[derive(Clone, Debug)]
pub struct LogPage {
    /// The entries, ascending.
    pub items: Vec<LogItem>,
    /// The page holds everything up to here.
    pub through: Seq,
}

#[portable]
impl<C: Access> Log<'_, C> {
    fn last_row(c: &mut Connection) -> Result<Option<Row>> {
        Ok(event_log::table
            .select(Row::as_select())
            .order(event_log::seq.desc())
            .first(c)
            .optional()?)
    }

    fn last_end_row(c: &mut Connection) -> Result<Option<Row>> {
        Ok(event_log::table
            .select(Row::as_select())
            // Spelled as the index `event_log_end` spells it, so that the planner may use it.
            .filter(diesel::dsl::sql::<diesel::sql_types::Bool>("kind in (13, 14)"))
            .order(event_log::seq.desc())
            .first(c)
            .optional()?)
    }

    fn row_at(c: &mut Connection, seq: Seq) -> Result<Option<Row>> {
        Ok(event_log::table
            .find(seq.0)
            .select(Row::as_select())
            .get_result(c)
            .optional()?)
    }

    /// Whether anything happened in a room after a position.
    pub(crate) fn has_news(c: &mut Connection, room: RoomId, after: Seq) -> Result<bool> {
        let news = event_log::table
            .filter(event_log::room_id.eq(room.0))
            .filter(event_log::seq.gt(after.0));
        Ok(diesel::select(diesel::dsl::exists(news)).get_result(c)?)
    }

    fn rows_after(c: &mut Connection, after: Seq, limit: i64) -> Result<Vec<Row>> {
        Ok(event_log::table
            .select(Row::as_select())
            .filter(event_log::seq.gt(after.0))
            .order(event_log::seq)
            .limit(limit)
            .load(c)?)
    }

    fn rows_of_room(
        c: &mut Connection,
        room: RoomId,
        after: Seq,
        through: Seq,
        limit: i64,
    ) -> Result<Vec<Row>> {
        Ok(event_log::table
            .select(Row::as_select())
            .filter(event_log::room_id.eq(room.0))
            .filter(event_log::seq.gt(after.0))
            .filter(event_log::seq.le(through.0))
            .order(event_log::seq)
            .limit(limit)
            .load(c)?)
    }

    fn rows_of_user(
        c: &mut Connection,
        user: UserId,
        after: Seq,
        through: Seq,
        limit: i64,
    ) -> Result<Vec<Row>> {
        Ok(event_log::table
            .select(Row::as_select())
            .filter(event_log::user_id.eq(user.0))
            .filter(event_log::seq.gt(after.0))
            .filter(event_log::seq.le(through.0))
            .order(event_log::seq)
            .limit(limit)
            .load(c)?)
    }

    fn rows_of_peer(
        c: &mut Connection,
        user: UserId,
        after: Seq,
        through: Seq,
        limit: i64,
    ) -> Result<Vec<Row>> {
        Ok(event_log::table
            .select(Row::as_select())
            .filter(event_log::peer_id.eq(user.0))
            .filter(event_log::seq.gt(after.0))
            .filter(event_log::seq.le(through.0))
            .order(event_log::seq)
            .limit(limit)
            .load(c)?)
    }

    /// Changes of users are told to the rooms they are in, so they come for every filter.
    fn rows_of_user_edits(
        c: &mut Connection,
        after: Seq,
        through: Seq,
        limit: i64,
    ) -> Result<Vec<Row>> {
        Ok(event_log::table
            .select(Row::as_select())
            // Spelled as the index `event_log_user_edit` spells it, so that the planner may use it.
            .filter(diesel::dsl::sql::<diesel::sql_types::Bool>("kind = 5"))
            .filter(event_log::seq.gt(after.0))
            .filter(event_log::seq.le(through.0))
            .order(event_log::seq)
            .limit(limit)
            .load(c)?)
    }

    fn rows_between(c: &mut Connection, after: Seq, through: Seq) -> Result<Vec<Row>> {
        Ok(event_log::table
            .select(Row::as_select())
            .filter(event_log::seq.gt(after.0))
            .filter(event_log::seq.le(through.0))
            .order(event_log::seq)
            .load(c)?)
    }
}

impl<C: Access> Log<'_, C> {
    /// Whether anything happened in each of these rooms after its position, in the same order.
    pub(crate) fn has_news_of_each(&mut self, asked: &[(RoomId, Seq)]) -> Result<Vec<bool>> {
        #[cfg(feature = "postgres")]
        if let (crate::reader::Inner::Postgres(c), [_, _, ..]) = (self.0.connection(), asked) {
            return crate::postgres::news_of_each(c, asked);
        }
        asked
            .iter()
            .map(|&(room, after)| self.has_news(room, after))
            .collect()
    }

    /// The last entry of the log; position 0 when there is none.
    ///
    /// # Errors
    ///
    /// When the database fails.
    pub fn find_head(&mut self) -> Result<EventId> {
        Ok(self
            .last_row()?
            .map_or_else(EventId::default, |row| event_id(&row)))
    }

    /// The last entry by which a credential or a grant ended.
    ///
    /// # Errors
    ///
    /// When the database fails.
    pub fn find_last_end(&mut self) -> Result<Option<EventId>> {
        Ok(self.last_end_row()?.map(|row| event_id(&row)))
    }

    /// Whether this log holds an entry with that position and check value. The beginning, position
    /// 0, is part of every log.
    ///
    /// # Errors
    ///
    /// When the database fails.
    pub fn contains(&mut self, id: EventId) -> Result<bool> {
        if id == EventId::default() {
            return Ok(true);
        }
        Ok(self.row_at(id.seq)?.is_some_and(|row| event_id(&row) == id))
    }

    /// The entries after a position, at most `limit`, ascending.
    ///
    /// # Errors
    ///
    /// When the database fails.
    pub fn list_after(&mut self, after: Seq, limit: i64) -> Result<Vec<LogItem>> {
        let rows = self.rows_after(after, limit)?;
        self.items(&rows)
    }

    /// The next entries that a filter wants, about `limit` at most, of those after one position and
    /// not after another.
    ///
    /// # Errors
    ///
    /// When the database fails.
    pub fn list_page(
        &mut self,
        after: Seq,
        through: Seq,
        filter: &LogFilter,
        limit: i64,
    ) -> Result<LogPage> {
        let (rows, through) = if filter.rooms.len() <= FEW_ROOMS {
            self.merge_rooms(after, through, filter, limit)?
        } else {
            let through = Seq(through.0.min(after.0 + STRIDE));
            let mut rows = self.rows_between(after, through)?;
            rows.retain(|row| wants(filter, row));
            let through = cut(&mut rows, limit, through);
            (rows, through)
        };
        Ok(LogPage {
            items: self.items(&rows)?,
            through,
        })
    }

    fn merge_rooms(
        &mut self,
        after: Seq,
        through: Seq,
        filter: &LogFilter,
        limit: i64,
    ) -> Result<(Vec<Row>, Seq)> {
        let mut rows = self.rows_of_user_edits(after, through, limit)?;
        if let Some(user) = filter.user {
            rows.extend(self.rows_of_user(user, after, through, limit)?);
            rows.extend(self.rows_of_peer(user, after, through, limit)?);
        }
        for room in &filter.rooms {
            rows.extend(self.rows_of_room(*room, after, through, limit)?);
        }
        rows.sort_unstable_by_key(|row| row.seq);
        rows.dedup_by_key(|row| row.seq);
        let through = cut(&mut rows, limit, through);
        Ok((rows, through))
    }

    fn items(&mut self, rows: &[Row]) -> Result<Vec<LogItem>> {
        let mut views = self.views_of(rows)?;
        rows.iter()
            .map(|row| {
                let body = match (row.kind, row.room_id, row.message_id) {
                    (MESSAGE, Some(room), Some(id)) => LogBody::Message(views.remove(&(room, id))),
                    // Without one of a newer version a server could go on granting a right that was
                    // withdrawn.
                    _ => LogBody::Control(control(row)?),
                };
                Ok(LogItem {
                    id: event_id(row),
                    body,
                })
            })
            .collect()
    }

    fn views_of(&mut self, rows: &[Row]) -> Result<HashMap<(i64, i64), Arc<MessageView>>> {
        let mut wanted: HashMap<i64, Vec<i64>> = HashMap::new();
        for row in rows.iter().filter(|row| row.kind == MESSAGE) {
            if let (Some(room), Some(id)) = (row.room_id, row.message_id) {
                wanted.entry(room).or_default().push(id);
            }
        }
        let mut views = HashMap::new();
        for (room, ids) in wanted {
            let found = Messages(self.0).list_rows(RoomId(room), &ids)?;
            for view in Messages(self.0).list_views_as_left(RoomId(room), found)? {
                views.insert((room, view.message.id.0), Arc::new(view));
            }
        }
        Ok(views)
    }
}

impl Log<'_, Tx<'_>> {
    /// Writes the events of the transaction to the log. Comes last in it.
    pub(crate) fn append_pending(&mut self) -> Result<Vec<LogItem>> {
        let (events, now) = (self.0.take_events(), self.0.now());
        let rows: Vec<NewLogRow> = events
            .iter()
            .filter_map(|body| new_row(body, now))
            .collect();
        let ids = self.append(rows)?;
        Ok(ids
            .into_iter()
            .zip(events)
            .map(|(id, body)| LogItem { id, body })
            .collect())
    }

    /// Writes the log rows of a transaction and gives them their positions. Comes last in it.
    fn append(&mut self, mut rows: Vec<NewLogRow>) -> Result<Vec<EventId>> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        fill_checks(&mut rows);
        // The row of the clock stays locked until the transaction ends, so this comes last.
        let last: i64 = dialect!(self, advance_clock, rows.len() as i64)?;
        let first = last - rows.len() as i64 + 1;
        for (row, seq) in rows.iter_mut().zip(first..) {
            row.seq = seq;
        }
        dialect!(self, insert_log, &rows)?;
        Ok(rows
            .iter()
            .map(|row| EventId {
                seq: Seq(row.seq),
                check: row.check_value as u32,
            })
            .collect())
    }
}

fn wants(filter: &LogFilter, row: &Row) -> bool {
    row.kind == USER_EDIT
        || row
            .room_id
            .is_some_and(|room| filter.rooms.contains(&RoomId(room)))
        || [row.user_id, row.peer_id]
            .into_iter()
            .flatten()
            .any(|user| filter.user == Some(UserId(user)))
}

/// Cuts the rows to the limit and says up to where they are complete.
fn cut(rows: &mut Vec<Row>, limit: i64, through: Seq) -> Seq {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX).max(1);
    if rows.len() < limit {
        return through;
    }
    rows.truncate(limit);
    rows.last().map_or(through, |row| Seq(row.seq))
}

fn fill_checks(rows: &mut [NewLogRow]) {
    // One call of the system for all rows.
    let mut bytes = vec![0u8; rows.len() * 4];
    eddyline_random::fill(&mut bytes);
    for (row, chunk) in rows.iter_mut().zip(bytes.chunks_exact(4)) {
        row.check_value = i64::from(u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]));
    }
}
