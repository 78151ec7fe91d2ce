//! The queue of push messages.

use std::collections::HashMap;

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use eddyline_model::{MessageId, OrganizationId, RoomId, Timestamp, UserId};
use eddyline_portable::portable;

use crate::Result;
use crate::areas::Notifications;
use crate::reader::Access;
use crate::schema::pushes;
use crate::transaction::Tx;

/// How many rows one statement adds.
const ROWS: usize = 500;
/// The most push messages that wait for one browser. Another one takes the place of the oldest.
const MAX_WAITING: usize = 20;

/// The first push message of each browser for which they are due (all are at the same time), in
/// turns of organizations, and within each in turns of users. A user counts for the first of their
/// organizations; users without one are one group. Those that were tried least come first.
const DUE: &str = "
    with browsers as (
        select p.id, p.session_hash, p.attempts, p.due_at, s.user_id, s.endpoint,
            (select min(m.organization_id) from organization_members m where m.user_id = s.user_id)
                as organization_id,
            row_number() over (partition by s.user_id order by p.attempts, p.due_at, p.id) as of_user
        from pushes p join push_subscriptions s on s.session_hash = p.session_hash
        where p.due_at <= $1 and not exists (
            select 1 from pushes earlier
            where earlier.session_hash = p.session_hash and earlier.id < p.id)
    ), turns as (
        select b.*, row_number() over (
            partition by b.organization_id order by b.of_user, b.attempts, b.due_at, b.id) as turn
        from browsers b
    )
    select id, session_hash, user_id, organization_id, endpoint from turns
    order by turn, attempts, due_at, id limit $2";

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

/// A push message that may be sent now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuePush {
    /// Its number.
    pub id: i64,
    /// The digest of the secret of the session whose browser it is for.
    pub session: Vec<u8>,
    /// The user of the browser.
    pub user: UserId,
    /// The first organization of the user.
    pub organization: Option<OrganizationId>,
    /// The address that the push service of the browser gave.
    pub endpoint: String,
}

#[derive(QueryableByName)]
struct DueRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Binary)]
    session_hash: Vec<u8>,
    #[diesel(sql_type = BigInt)]
    user_id: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    organization_id: Option<i64>,
    #[diesel(sql_type = Text)]
    endpoint: String,
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

#[derive(Queryable, Selectable)]
#[diesel(table_name = pushes)]
struct WaitingRow {
    id: i64,
    session_hash: Vec<u8>,
    room_id: i64,
    attempts: i64,
    due_at: i64,
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
    /// Returns the time at which the next push message is due that is not yet; `None` when none
    /// waits.
    pub fn find_next_due_after(c: &mut Connection, now: Timestamp) -> Result<Option<Timestamp>> {
        Ok(pushes::table
            .filter(pushes::due_at.gt(now.0))
            .select(diesel::dsl::min(pushes::due_at))
            .get_result::<Option<i64>>(c)?
            .map(Timestamp))
    }

    /// Push messages that wait, by their numbers.
    pub fn list_pushes(c: &mut Connection, ids: &[i64]) -> Result<Vec<QueuedPush>> {
        let rows: Vec<PushRow> = pushes::table
            .filter(pushes::id.eq_any(ids))
            .select(PushRow::as_select())
            .load(c)?;
        Ok(rows.into_iter().map(to_push).collect())
    }

    /// The push messages that may be sent now: one of each browser, in turns of organizations and of
    /// users.
    pub fn list_due_pushes(c: &mut Connection, now: Timestamp, limit: i64) -> Result<Vec<DuePush>> {
        let rows = diesel::sql_query(DUE)
            .bind::<BigInt, _>(now.0)
            .bind::<BigInt, _>(limit)
            .load::<DueRow>(c)?;
        let due = rows.into_iter().map(|row| DuePush {
            id: row.id,
            session: row.session_hash,
            user: UserId(row.user_id),
            organization: row.organization_id.map(OrganizationId),
            endpoint: row.endpoint,
        });
        Ok(due.collect())
    }
}

#[portable]
impl Notifications<'_, Tx<'_>> {
    /// Puts push messages into the queue. Each takes the place of one that waits for the same browser
    /// and room, and is due with the others of its browser. Sessions that have ended meanwhile are
    /// passed over.
    pub fn insert_pushes(c: &mut Connection, new: &[NewPush], now: Timestamp) -> Result<()> {
        use crate::schema::push_subscriptions;
        for part in new.chunks(ROWS) {
            let sessions: Vec<&[u8]> = part.iter().map(|push| push.session.as_slice()).collect();
            let subscribed: Vec<Vec<u8>> = push_subscriptions::table
                .filter(push_subscriptions::session_hash.eq_any(&sessions))
                .select(push_subscriptions::session_hash)
                .load(c)?;
            let rows: Vec<WaitingRow> = pushes::table
                .filter(pushes::session_hash.eq_any(&sessions))
                .select(WaitingRow::as_select())
                .order(pushes::id)
                .load(c)?;
            let mut waiting: HashMap<&[u8], Vec<&WaitingRow>> = HashMap::new();
            for row in &rows {
                waiting.entry(&row.session_hash).or_default().push(row);
            }
            let mut queued: HashMap<&[u8], Vec<&NewPush>> = HashMap::new();
            for push in part
                .iter()
                .filter(|push| subscribed.contains(&push.session))
            {
                let of_browser = queued.entry(&push.session).or_default();
                of_browser.retain(|earlier| earlier.room != push.room);
                of_browser.push(push);
            }
            let (mut replaced, mut inserted) = (Vec::new(), Vec::new());
            for (session, new) in queued {
                let before = waiting.remove(session).unwrap_or_default();
                let new = &new[new.len().saturating_sub(MAX_WAITING)..];
                let is_replaced =
                    |row: &WaitingRow| new.iter().any(|push| push.room.0 == row.room_id);
                let mut kept = Vec::new();
                for row in &before {
                    match is_replaced(row) {
                        true => replaced.push(row.id),
                        false => kept.push(row.id),
                    }
                }
                let oldest = (kept.len() + new.len()).saturating_sub(MAX_WAITING);
                replaced.extend(kept.drain(..oldest));
                // All messages for a browser are due at the same time.
                let (attempts, due_at) = before
                    .first()
                    .map(|row| (row.attempts, row.due_at))
                    .unwrap_or_default();
                inserted.extend(new.iter().map(|push| {
                    (
                        pushes::session_hash.eq(&push.session),
                        pushes::room_id.eq(push.room.0),
                        pushes::message_id.eq(push.message.0),
                        pushes::attempts.eq(attempts),
                        pushes::due_at.eq(due_at.max(now.0)),
                        pushes::created_at.eq(now.0),
                    )
                }));
            }
            // Those who write wait for this: a few statements for all browsers, not some for each.
            diesel::delete(pushes::table.filter(pushes::id.eq_any(replaced))).execute(c)?;
            diesel::insert_into(pushes::table)
                .values(inserted)
                .execute(c)?;
        }
        Ok(())
    }

    /// Takes push messages that are due, and puts all of their browsers off until `again`, when they
    /// are due again unless these were sent: no other process takes them meanwhile.
    pub fn claim_pushes(
        c: &mut Connection,
        ids: &[i64],
        now: Timestamp,
        again: Timestamp,
    ) -> Result<Vec<QueuedPush>> {
        let held = || {
            (
                pushes::due_at.eq(again.0),
                pushes::attempts.eq(pushes::attempts + 1),
            )
        };
        // Asked for anew, since another process may have taken some since.
        let due = pushes::table
            .filter(pushes::id.eq_any(ids))
            .filter(pushes::due_at.le(now.0));
        let mut rows: Vec<PushRow> = diesel::update(due)
            .set(held())
            .returning(PushRow::as_returning())
            .get_results(c)?;
        let sessions: Vec<&[u8]> = rows.iter().map(|row| row.session_hash.as_slice()).collect();
        let others = pushes::table
            .filter(pushes::session_hash.eq_any(sessions))
            .filter(pushes::due_at.le(now.0));
        diesel::update(others).set(held()).execute(c)?;
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

    /// Makes all push messages for the browser of a session due, as if none had been tried: its push
    /// service takes them.
    pub fn release_pushes(c: &mut Connection, session: &[u8], now: Timestamp) -> Result<()> {
        diesel::update(pushes::table.filter(pushes::session_hash.eq(session)))
            .set((pushes::due_at.eq(now.0), pushes::attempts.eq(0)))
            .execute(c)?;
        Ok(())
    }

    /// Takes push messages out of the queue: they were sent, or never will be.
    pub fn delete_pushes(c: &mut Connection, ids: &[i64]) -> Result<()> {
        diesel::delete(pushes::table.filter(pushes::id.eq_any(ids))).execute(c)?;
        Ok(())
    }
}
