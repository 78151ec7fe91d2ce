//! Which server processes are alive, and how far each has read the log.

use diesel::prelude::*;
use eddyline_model::Timestamp;
use eddyline_model::log::Seq;
use eddyline_portable::portable;

use crate::Result;
use crate::areas::Nodes;
use crate::reader::Access;
use crate::schema::nodes;
use crate::transaction::Tx;

/// A process that showed no sign of life for so many milliseconds counts as gone.
pub const SILENCE_MILLIS: i64 = 12_000;

/// A process that serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServingNode {
    /// Its id, which is another one after each start.
    pub id: String,
    /// When it last showed a sign of life.
    pub heartbeat: Timestamp,
    /// Up to where it had read the log then.
    pub read: Seq,
}

#[portable]
impl<C: Access> Nodes<'_, C> {
    /// The processes that have shown a sign of life since `since`, ordered by their ids.
    pub fn list(c: &mut Connection, since: Timestamp) -> Result<Vec<ServingNode>> {
        let rows: Vec<(String, i64, i64)> = nodes::table
            .filter(nodes::heartbeat.ge(since.0))
            .select((nodes::id, nodes::heartbeat, nodes::seq_read))
            .order(nodes::id)
            .load(c)?;
        let living = rows.into_iter().map(|(id, heartbeat, read)| ServingNode {
            id,
            heartbeat: Timestamp(heartbeat),
            read: Seq(read),
        });
        Ok(living.collect())
    }

    /// Whether every process that showed a sign of life since `since` has read the log up to
    /// `seq`.
    pub fn have_all_read(c: &mut Connection, seq: Seq, since: Timestamp) -> Result<bool> {
        let behind: i64 = nodes::table
            .filter(nodes::heartbeat.ge(since.0))
            .filter(nodes::seq_read.lt(seq.0))
            .count()
            .get_result(c)?;
        Ok(behind == 0)
    }
}

#[portable]
impl Nodes<'_, Tx<'_>> {
    /// Notes that a serving process lives, and how far it has read the log.
    pub fn upsert_heartbeat(
        c: &mut Connection,
        node: &str,
        now: Timestamp,
        read: Seq,
    ) -> Result<()> {
        diesel::insert_into(nodes::table)
            .values((
                nodes::id.eq(node),
                nodes::heartbeat.eq(now.0),
                nodes::seq_read.eq(read.0),
            ))
            .on_conflict(nodes::id)
            .do_update()
            .set((nodes::heartbeat.eq(now.0), nodes::seq_read.eq(read.0)))
            .execute(c)?;
        Ok(())
    }

    /// Takes a serving process off the list, with all that have been silent since `since`.
    pub fn delete(c: &mut Connection, node: &str, since: Timestamp) -> Result<()> {
        diesel::delete(nodes::table.filter(nodes::id.eq(node).or(nodes::heartbeat.lt(since.0))))
            .execute(c)?;
        Ok(())
    }

    /// Takes the serving processes off the list that have been silent since `since`.
    pub fn delete_silent(c: &mut Connection, since: Timestamp) -> Result<()> {
        diesel::delete(nodes::table.filter(nodes::heartbeat.lt(since.0))).execute(c)?;
        Ok(())
    }
}
