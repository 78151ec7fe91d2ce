//! Who is present at each of several processes that serve one database. None of this is in the log:
//! the rows of a process are replaced as its users come and go, and removed with the process.

use diesel::prelude::*;
use eddyline_model::{Timestamp, UserId};
use eddyline_portable::portable;

use crate::Result;
use crate::areas::Nodes;
use crate::reader::Access;
use crate::schema::{node_presence, nodes};
use crate::transaction::Tx;

/// A process other than the one that asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherNode {
    /// Its name.
    pub id: String,
    /// When it last showed a sign of life.
    pub heartbeat: Timestamp,
    /// The time of its newest rows; 0 when it has published none.
    pub presence_at: Timestamp,
    /// Rows of users who left by this time have been removed. A process that has read less far
    /// reads all rows.
    pub presence_from: Timestamp,
}

/// A user as a process shows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresenceRow {
    /// The user.
    pub user: UserId,
    /// Whether the user is present anywhere.
    pub present: bool,
    /// Where and how, in the writer's encoding.
    pub places: Vec<u8>,
}

#[portable]
impl<C: Access> Nodes<'_, C> {
    /// Whether a process other than this one showed a sign of life since `since`.
    pub fn has_others(c: &mut Connection, node: &str, since: Timestamp) -> Result<bool> {
        let others = nodes::table
            .filter(nodes::id.ne(node))
            .filter(nodes::heartbeat.ge(since.0));
        Ok(diesel::select(diesel::dsl::exists(others)).get_result(c)?)
    }

    /// The processes other than this one that showed a sign of life since `since`.
    pub fn list_others(c: &mut Connection, node: &str, since: Timestamp) -> Result<Vec<OtherNode>> {
        let rows: Vec<(String, i64, i64, i64)> = nodes::table
            .filter(nodes::id.ne(node))
            .filter(nodes::heartbeat.ge(since.0))
            .order(nodes::id)
            .select((
                nodes::id,
                nodes::heartbeat,
                nodes::presence_at,
                nodes::presence_from,
            ))
            .load(c)?;
        let other = |(id, heartbeat, at, from)| OtherNode {
            id,
            heartbeat: Timestamp(heartbeat),
            presence_at: Timestamp(at),
            presence_from: Timestamp(from),
        };
        Ok(rows.into_iter().map(other).collect())
    }

    /// Since when no row of a process has been removed; see [`OtherNode::presence_from`]. `None`
    /// when the process is not on the list.
    pub fn find_presence_start(c: &mut Connection, node: &str) -> Result<Option<Timestamp>> {
        let from = nodes::table
            .find(node)
            .select(nodes::presence_from)
            .get_result::<i64>(c)
            .optional()?;
        Ok(from.map(Timestamp))
    }

    /// The next `limit` rows of a process that are newer than `after`, in the order of the users,
    /// of the users after `last`.
    pub fn list_presence_since(
        c: &mut Connection,
        node: &str,
        after: Timestamp,
        last: UserId,
        limit: i64,
    ) -> Result<Vec<PresenceRow>> {
        let rows: Vec<(i64, bool, Vec<u8>)> = node_presence::table
            .filter(node_presence::node.eq(node))
            .filter(node_presence::changed_at.gt(after.0))
            .filter(node_presence::user_id.gt(last.0))
            .limit(limit)
            .order(node_presence::user_id)
            .select((
                node_presence::user_id,
                node_presence::present,
                node_presence::places,
            ))
            .load(c)?;
        let row = |(user, present, places)| PresenceRow {
            user: UserId(user),
            present,
            places,
        };
        Ok(rows.into_iter().map(row).collect())
    }
}

#[portable]
impl Nodes<'_, Tx<'_>> {
    /// Removes all rows of a process and begins anew at `at`. `false` when the process is not on
    /// the list of those that live: then it has no rows.
    pub fn set_presence_start(c: &mut Connection, node: &str, at: Timestamp) -> Result<bool> {
        diesel::delete(node_presence::table.filter(node_presence::node.eq(node))).execute(c)?;
        let started = diesel::update(nodes::table.find(node))
            .set((nodes::presence_at.eq(at.0), nodes::presence_from.eq(at.0)))
            .execute(c)?;
        Ok(started > 0)
    }

    /// Moves a process on from its last rows, of the time `from`, to those of the time `to`.
    /// `false` when its last rows are not there any more, because it was taken off the list in
    /// between.
    pub fn advance_presence(
        c: &mut Connection,
        node: &str,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<bool> {
        let advanced = diesel::update(
            nodes::table
                .find(node)
                .filter(nodes::presence_at.eq(from.0)),
        )
        .set(nodes::presence_at.eq(to.0))
        .execute(c)?;
        Ok(advanced > 0)
    }

    /// Replaces the rows of these users at a process, which has moved on to the time `at`.
    pub fn upsert_presence(
        c: &mut Connection,
        node: &str,
        at: Timestamp,
        rows: &[PresenceRow],
    ) -> Result<()> {
        let users: Vec<i64> = rows.iter().map(|row| row.user.0).collect();
        let earlier = node_presence::table
            .filter(node_presence::node.eq(node))
            .filter(node_presence::user_id.eq_any(&users));
        diesel::delete(earlier).execute(c)?;
        let values = |row: &PresenceRow| {
            (
                node_presence::node.eq(node.to_owned()),
                node_presence::user_id.eq(row.user.0),
                node_presence::changed_at.eq(at.0),
                node_presence::present.eq(row.present),
                node_presence::places.eq(row.places.clone()),
            )
        };
        diesel::insert_into(node_presence::table)
            .values(rows.iter().map(values).collect::<Vec<_>>())
            .execute(c)?;
        Ok(())
    }

    /// Removes the rows of users who left a process by `until`.
    pub fn delete_absent(c: &mut Connection, node: &str, until: Timestamp) -> Result<()> {
        let absent = node_presence::table
            .filter(node_presence::node.eq(node))
            .filter(node_presence::changed_at.le(until.0))
            .filter(node_presence::present.eq(false));
        diesel::delete(absent).execute(c)?;
        diesel::update(
            nodes::table
                .find(node)
                .filter(nodes::presence_from.lt(until.0)),
        )
        .set(nodes::presence_from.eq(until.0))
        .execute(c)?;
        Ok(())
    }

    /// Removes all rows of a process that has no others to tell.
    pub fn delete_presence(c: &mut Connection, node: &str) -> Result<()> {
        diesel::delete(node_presence::table.filter(node_presence::node.eq(node))).execute(c)?;
        diesel::update(nodes::table.find(node))
            .set((nodes::presence_at.eq(0), nodes::presence_from.eq(0)))
            .execute(c)?;
        Ok(())
    }
}
