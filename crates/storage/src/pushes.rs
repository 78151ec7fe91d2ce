//! The queue of push messages.

use std::collections::HashMap;

use diesel::prelude::*;
use eddyline_model::{MessageId, RoomId, Timestamp};
use eddyline_portable::portable;

use crate::Result;
use crate::areas::Notifications;
use crate::reader::Access;
use crate::schema::pushes;
use crate::transaction::Tx;

/// How many rows one statement adds.
const ROWS: usize = 500;

/// A push message to be put into the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPush {
    /// The digest of the secret of the session whose browser it is for.
    pub session: Vec<u8>,
    /// The room of the message that it tells of.
    pub room: RoomId,
    /// The message.
    pub message: MessageId,
}

/// A push message that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedPush {
    /// Its number.
    pub id: i64,
    /// What it is.
    pub push: NewPush,
    /// How often it was taken to be sent, with this time.
    pub attempts: i64,
    /// When it was put into the queue.
    pub created_at: Timestamp,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = pushes)]
struct PushRow {
    id: i64,
    session_hash: Vec<u8>,
    room_id: i64,
    message_id: i64,
    attempts: i64,
    created_at: i64,
}

fn to_push(row: PushRow) -> QueuedPush {
    QueuedPush {
        id: row.id,
        push: NewPush {
            session: row.session_hash,
            room: RoomId(row.room_id),
            message: MessageId(row.message_id),
        },
        attempts: row.attempts,
        created_at: Timestamp(row.created_at),
    }
}

#[portable]
impl<C: Access> Notifications<'_, C> {
    /// When the next push message is due; `None` when none waits.
    pub fn find_next_due(c: &mut Connection) -> Result<Option<Timestamp>> {
        Ok(pushes::table
            .select(diesel::dsl::min(pushes::due_at))
            .get_result::<Option<i64>>(c)?
            .map(Timestamp))
    }
}

#[portable]
impl Notifications<'_, Tx<'_>> {
    /// Puts push messages into the queue. Each takes the place of one that waits for the same browser
    /// and room. Sessions that have ended meanwhile are passed over.
    pub fn insert_pushes(c: &mut Connection, new: &[NewPush], now: Timestamp) -> Result<()> {
        use crate::schema::push_subscriptions;
        for part in new.chunks(ROWS) {
            let sessions: Vec<&[u8]> = part.iter().map(|push| push.session.as_slice()).collect();
            let known: Vec<Vec<u8>> = push_subscriptions::table
                .filter(push_subscriptions::session_hash.eq_any(sessions))
                .select(push_subscriptions::session_hash)
                .load(c)?;
            let last: HashMap<_, _> = part
                .iter()
                .filter(|push| known.contains(&push.session))
                .map(|push| ((&push.session, push.room), push))
                .collect();
            for (session, room) in last.keys() {
                let waiting = pushes::table
                    .filter(pushes::session_hash.eq(session.as_slice()))
                    .filter(pushes::room_id.eq(room.0));
                diesel::delete(waiting).execute(c)?;
            }
            let rows: Vec<_> = last
                .values()
                .map(|push| {
                    (
                        pushes::session_hash.eq(&push.session),
                        pushes::room_id.eq(push.room.0),
                        pushes::message_id.eq(push.message.0),
                        pushes::attempts.eq(0),
                        pushes::due_at.eq(now.0),
                        pushes::created_at.eq(now.0),
                    )
                })
                .collect();
            diesel::insert_into(pushes::table).values(rows).execute(c)?;
        }
        Ok(())
    }

    /// Takes the push messages that are due, and puts them off until `again`, when they are due again
    /// unless they were sent: no other process takes them meanwhile. Those that were tried least come
    /// first, so that a push service that fails delays no others, and of these the oldest.
    pub fn claim_due(
        c: &mut Connection,
        now: Timestamp,
        again: Timestamp,
        limit: i64,
    ) -> Result<Vec<QueuedPush>> {
        let ids: Vec<i64> = pushes::table
            .filter(pushes::due_at.le(now.0))
            .order((pushes::attempts, pushes::due_at, pushes::id))
            .limit(limit)
            .select(pushes::id)
            .load(c)?;
        // Asked for anew, since another process may have taken some since.
        let due = pushes::table
            .filter(pushes::id.eq_any(ids))
            .filter(pushes::due_at.le(now.0));
        let mut rows = diesel::update(due)
            .set((
                pushes::due_at.eq(again.0),
                pushes::attempts.eq(pushes::attempts + 1),
            ))
            .returning(PushRow::as_returning())
            .get_results(c)?;
        rows.sort_unstable_by_key(|row| row.id);
        Ok(rows.into_iter().map(to_push).collect())
    }

    /// Puts all push messages for the browser of a session off: its push service does not take them
    /// now.
    pub fn postpone_pushes(c: &mut Connection, session: &[u8], until: Timestamp) -> Result<()> {
        diesel::update(pushes::table.filter(pushes::session_hash.eq(session)))
            .set(pushes::due_at.eq(until.0))
            .execute(c)?;
        Ok(())
    }

    /// Takes push messages out of the queue: they were sent, or never will be.
    pub fn delete_pushes(c: &mut Connection, ids: &[i64]) -> Result<()> {
        diesel::delete(pushes::table.filter(pushes::id.eq_any(ids))).execute(c)?;
        Ok(())
    }
}
