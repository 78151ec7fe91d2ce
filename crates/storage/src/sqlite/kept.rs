//! Statements of every batch, with texts of their own, which the connection keeps by their types.
//!
//! For other statements diesel asks each part whether it does anything, and writes the names of all columns, on each
//! of its walks before a run. SQLite also reads and plans an update again each time, since in general its text depends
//! on what is set.

use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, Nullable, SmallInt, Text};
use diesel::sqlite::Sqlite;

use crate::log::NewRow;
use crate::messages::Row;

/// The row counts of the two statements for several rows. Each run of a statement opens the table and all its indexes.
/// With `or fail`, SQLite keeps no journal for the statement: the transaction is rolled back as a whole.
pub(super) const MANY: usize = 16;
pub(super) const SOME: usize = 4;

/// Gives where the clock of the log stands.
#[derive(Debug, QueryId)]
pub(super) struct ReadClock;

impl Query for ReadClock {
    type SqlType = BigInt;
}

impl RunQueryDsl<SqliteConnection> for ReadClock {}

impl QueryFragment<Sqlite> for ReadClock {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql("select sequence from log_clock where id = 1");
        Ok(())
    }
}

/// Sets the clock of the log.
#[derive(Debug, QueryId)]
pub(super) struct SetClock {
    pub(super) sequence: i64,
}

impl RunQueryDsl<SqliteConnection> for SetClock {}

impl QueryFragment<Sqlite> for SetClock {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql("update log_clock set sequence = ");
        out.push_bind_param::<BigInt, _>(&self.sequence)?;
        out.push_sql(" where id = 1");
        Ok(())
    }
}

/// Notes the last message of a room.
#[derive(Debug, QueryId)]
pub(super) struct MoveRoom {
    pub(super) id: i64,
    pub(super) last_message_id: i64,
    pub(super) last_message_at: Option<i64>,
}

impl RunQueryDsl<SqliteConnection> for MoveRoom {}

impl QueryFragment<Sqlite> for MoveRoom {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql("update rooms set last_message_id = ");
        out.push_bind_param::<BigInt, _>(&self.last_message_id)?;
        out.push_sql(", last_message_at = ");
        out.push_bind_param::<Nullable<BigInt>, _>(&self.last_message_at)?;
        out.push_sql(" where id = ");
        out.push_bind_param::<BigInt, _>(&self.id)
    }
}

/// Adds a value, with a comma before all but the first.
macro_rules! values {
    ($out:ident; $first_type:ty = $first:expr $(, $type:ty = $value:expr)* $(,)?) => {
        $out.push_bind_param::<$first_type, _>($first)?;
        $( $out.push_sql(", "); $out.push_bind_param::<$type, _>($value)?; )*
    };
}

/// Adds messages.
pub(super) struct InsertMessages<'a, const N: usize>(pub(super) &'a [Row; N]);

impl<const N: usize> QueryId for InsertMessages<'_, N> {
    type QueryId = InsertMessages<'static, N>;
    const HAS_STATIC_QUERY_ID: bool = true;
}

impl<const N: usize> RunQueryDsl<SqliteConnection> for InsertMessages<'_, N> {}

impl<const N: usize> QueryFragment<Sqlite> for InsertMessages<'_, N> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql(
            "insert or fail into messages (room_id, id, event, user_id, external_user_name, content, tags, explicit_tags, \
             uuid, fingerprint, sent, edited, thread_root, parent_id, to_user_id, thread_left) values (",
        );
        for (at, row) in self.0.iter().enumerate() {
            if at > 0 {
                out.push_sql("), (");
            }
            // All of them: a new column must not be left out.
            let Row {
                room_id,
                id,
                event,
                user_id,
                external_user_name,
                content,
                tags,
                explicit_tags,
                uuid,
                fingerprint,
                sent,
                edited,
                thread_root,
                parent_id,
                to_user_id,
                thread_left,
            } = row;
            values!(out;
                BigInt = room_id,
                BigInt = id,
                SmallInt = event,
                Nullable<BigInt> = user_id,
                Nullable<Text> = external_user_name,
                Text = content,
                Text = tags,
                Text = explicit_tags,
                Nullable<Text> = uuid,
                BigInt = fingerprint,
                BigInt = sent,
                Nullable<BigInt> = edited,
                Nullable<BigInt> = thread_root,
                Nullable<BigInt> = parent_id,
                Nullable<BigInt> = to_user_id,
                Nullable<Text> = thread_left,
            );
        }
        out.push_sql(")");
        Ok(())
    }
}

/// Adds entries of the log, with their positions.
pub(super) struct InsertLog<'a, const N: usize>(pub(super) &'a [(i64, NewRow); N]);

impl<const N: usize> QueryId for InsertLog<'_, N> {
    type QueryId = InsertLog<'static, N>;
    const HAS_STATIC_QUERY_ID: bool = true;
}

impl<const N: usize> RunQueryDsl<SqliteConnection> for InsertLog<'_, N> {}

impl<const N: usize> QueryFragment<Sqlite> for InsertLog<'_, N> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql(
            "insert or fail into event_log (seq, check_value, kind, room_id, message_id, user_id, peer_id, created_at) \
             values (",
        );
        for (at, (seq, row)) in self.0.iter().enumerate() {
            if at > 0 {
                out.push_sql("), (");
            }
            let NewRow { check_value, kind, room_id, message_id, user_id, peer_id, created_at } = row;
            values!(out;
                BigInt = seq,
                BigInt = check_value,
                SmallInt = kind,
                Nullable<BigInt> = room_id,
                Nullable<BigInt> = message_id,
                Nullable<BigInt> = user_id,
                Nullable<BigInt> = peer_id,
                BigInt = created_at,
            );
        }
        out.push_sql(")");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use diesel::debug_query;
    use diesel_migrations::{EmbeddedMigrations, MigrationHarness as _, embed_migrations};

    use super::*;

    const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");

    #[derive(QueryableByName)]
    struct Instruction {
        #[diesel(sql_type = Text)]
        opcode: String,
    }

    /// The instructions of SQLite's program for a statement.
    fn program(c: &mut SqliteConnection, statement: &impl QueryFragment<Sqlite>) -> Vec<String> {
        let shown = debug_query::<Sqlite, _>(statement).to_string();
        let (sql, _binds) = shown.split_once(" -- binds").unwrap();
        let program = diesel::sql_query(format!("explain {sql}")).load::<Instruction>(c).unwrap();
        program.into_iter().map(|instruction| instruction.opcode).collect()
    }

    #[test]
    fn no_row_of_a_post_makes_a_table_of_its_own() {
        let mut c = SqliteConnection::establish(":memory:").unwrap();
        c.run_pending_migrations(MIGRATIONS).unwrap();
        let row = || Row {
            room_id: 1,
            id: 1,
            event: 0,
            user_id: None,
            external_user_name: None,
            content: String::new(),
            tags: String::new(),
            explicit_tags: String::new(),
            uuid: None,
            fingerprint: 0,
            sent: 0,
            edited: None,
            thread_root: None,
            parent_id: None,
            to_user_id: None,
            thread_left: None,
        };
        let entry = (
            1,
            NewRow {
                check_value: 0,
                kind: 0,
                room_id: None,
                message_id: None,
                user_id: None,
                peer_id: None,
                created_at: 0,
            },
        );
        let programs = [
            program(&mut c, &InsertMessages(&[row()])),
            program(&mut c, &InsertMessages(&[(); SOME].map(|()| row()))),
            program(&mut c, &InsertMessages(&[(); MANY].map(|()| row()))),
            program(&mut c, &InsertLog(&[entry])),
            program(&mut c, &InsertLog(&[entry; SOME])),
            program(&mut c, &InsertLog(&[entry; MANY])),
            program(&mut c, &SetClock { sequence: 1 }),
            program(&mut c, &MoveRoom { id: 1, last_message_id: 1, last_message_at: None }),
        ];
        for program in programs {
            assert!(program.iter().any(|opcode| opcode == "OpenWrite"), "{program:?}");
            assert!(!program.iter().any(|opcode| opcode == "OpenEphemeral"), "{program:?}");
        }
    }
}
