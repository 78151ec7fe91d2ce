//! Updates that every batch makes, as statements which the connection keeps.
//!
//! diesel has every other update read and planned again each time, since in general its text depends
//! on what is set.

use diesel::backend::Backend;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::serialize::ToSql;
use diesel::sql_types::BigInt;
use diesel::{QueryResult, RunQueryDsl};

/// Moves the clock of the log, and gives where it stands then.
#[derive(Debug, QueryId)]
pub(crate) struct AdvanceClock {
    /// By how many positions.
    pub(crate) count: i64,
}

impl Query for AdvanceClock {
    type SqlType = BigInt;
}

impl<C> RunQueryDsl<C> for AdvanceClock {}

impl<DB: Backend> QueryFragment<DB> for AdvanceClock
where
    i64: ToSql<BigInt, DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        out.push_sql("update log_clock set sequence = sequence + ");
        out.push_bind_param::<BigInt, _>(&self.count)?;
        out.push_sql(" where id = 1 returning sequence");
        Ok(())
    }
}

/// Notes the last message of a room. PostgreSQL does this for all rooms of a batch at once.
#[cfg(feature = "sqlite")]
#[derive(Debug, QueryId)]
pub(crate) struct MoveRoom {
    pub(crate) id: i64,
    pub(crate) last_message_id: i64,
    pub(crate) last_message_at: Option<i64>,
}

#[cfg(feature = "sqlite")]
impl<C> RunQueryDsl<C> for MoveRoom {}

#[cfg(feature = "sqlite")]
impl QueryFragment<diesel::sqlite::Sqlite> for MoveRoom {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, diesel::sqlite::Sqlite>) -> QueryResult<()> {
        use diesel::sql_types::Nullable;

        out.push_sql("update rooms set last_message_id = ");
        out.push_bind_param::<BigInt, _>(&self.last_message_id)?;
        out.push_sql(", last_message_at = ");
        out.push_bind_param::<Nullable<BigInt>, _>(&self.last_message_at)?;
        out.push_sql(" where id = ");
        out.push_bind_param::<BigInt, _>(&self.id)
    }
}
