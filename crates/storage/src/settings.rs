//! Values that all processes on one database share.

use diesel::prelude::*;
use eddyline_model::Timestamp;
use eddyline_portable::portable;

use crate::Result;
use crate::areas::{Nodes, Settings};
use crate::reader::Access;
use crate::schema::{settings, writers};
use crate::transaction::Tx;

/// The setting with the key that secrets of applications are sealed with, where the operator gives
/// none and there is no file for it. A copy of the tables
/// leaves it out: an archive has it apart from them.
pub const SECRET_KEY_SETTING: &str = "sealing_key";

/// What the servers of a database know of its backups. A dump leaves it out, so that a restored
/// database begins backups of its own.
pub const BACKUPS_SETTING: &str = "backups";

#[portable]
impl<C: Access> Settings<'_, C> {
    /// The value under this name.
    pub fn find(c: &mut Connection, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(settings::table
            .find(name)
            .select(settings::value)
            .get_result(c)
            .optional()?)
    }
}

#[portable]
impl Settings<'_, Tx<'_>> {
    /// Sets a value unless there is one, and gives the one that holds.
    pub fn insert_or_find(c: &mut Connection, name: &str, value: &[u8]) -> Result<Vec<u8>> {
        diesel::insert_into(settings::table)
            .values((settings::name.eq(name), settings::value.eq(value)))
            .on_conflict_do_nothing()
            .execute(c)?;
        Ok(settings::table
            .find(name)
            .select(settings::value)
            .get_result(c)?)
    }

    /// Deletes a value.
    pub fn delete(c: &mut Connection, name: &str) -> Result<()> {
        diesel::delete(settings::table.find(name)).execute(c)?;
        Ok(())
    }

    /// Replaces a value, unless another process has done so since it was read. Says whether it did.
    pub fn set_unchanged(
        c: &mut Connection,
        name: &str,
        read: &[u8],
        value: &[u8],
    ) -> Result<bool> {
        let unchanged = settings::table.find(name).filter(settings::value.eq(read));
        let replaced = diesel::update(unchanged)
            .set(settings::value.eq(value))
            .execute(c)?;
        Ok(replaced > 0)
    }
}

#[portable]
impl Nodes<'_, Tx<'_>> {
    /// Notes a writer's batch in the transaction that holds it.
    pub(crate) fn upsert_writer(
        c: &mut Connection,
        writer: &str,
        batch: i64,
        now: Timestamp,
    ) -> Result<()> {
        diesel::insert_into(writers::table)
            .values((
                writers::id.eq(writer),
                writers::batch.eq(batch),
                writers::noted_at.eq(now.0),
            ))
            .on_conflict(writers::id)
            .do_update()
            .set((writers::batch.eq(batch), writers::noted_at.eq(now.0)))
            .execute(c)?;
        Ok(())
    }

    /// Deletes the row of a writer that ended in order.
    pub(crate) fn delete_writer(c: &mut Connection, writer: &str) -> Result<()> {
        diesel::delete(writers::table.find(writer)).execute(c)?;
        Ok(())
    }

    /// Removes the rows of writers that have committed nothing since `since`, and gives how many
    /// those were: of processes that were killed. A writer that lives adds its row again before it
    /// commits, once it has been idle for an hour; so `since` must be longer ago than that.
    pub fn delete_silent_writers(c: &mut Connection, since: Timestamp) -> Result<usize> {
        Ok(diesel::delete(writers::table.filter(writers::noted_at.lt(since.0))).execute(c)?)
    }
}
