//! The statements of every batch, with fixed texts. The connection keeps them by their types.
//!
//! On each walk through another statement, diesel asks each part whether it does anything, and
//! writes the names of all columns. SQLite also parses and plans each other update again, since its
//! text may depend on what is set.

use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, Nullable, SmallInt, Text};
use diesel::sqlite::Sqlite;

use crate::Result;
use crate::rows::{MessageRow, NewLogRow};

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

/// The row counts of the statements that insert several rows. Each run of a statement opens the
/// table and all its indexes, so a few large runs beat many small ones; a small batch has too few
/// rows for the large statement.
const MANY: usize = 16;
const SOME: usize = 4;

/// Makes a statement that inserts rows, from one declaration of each column and its type.
///
/// With `or fail`, SQLite keeps no journal for the statement: the transaction is rolled back as a
/// whole.
macro_rules! inserts {
    ($statement:ident, $insert:ident($row:ident) into $table:literal {
        $first:ident: $first_type:ty, $( $column:ident: $type:ty, )*
    }) => {
        struct $statement<'a, const N: usize>(&'a [$row; N]);

        impl<const N: usize> QueryId for $statement<'_, N> {
            type QueryId = $statement<'static, N>;
            const HAS_STATIC_QUERY_ID: bool = true;
        }

        impl<const N: usize> RunQueryDsl<SqliteConnection> for $statement<'_, N> {}

        impl<const N: usize> QueryFragment<Sqlite> for $statement<'_, N> {
            fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
                const COLUMNS: &str = concat!(stringify!($first) $( , ", ", stringify!($column) )*);
                out.push_sql(concat!("insert or fail into ", $table, " ("));
                out.push_sql(COLUMNS);
                out.push_sql(") values (");
                for (at, row) in self.0.iter().enumerate() {
                    if at > 0 {
                        out.push_sql("), (");
                    }
                    // A pattern of all fields, so that a new one cannot be left out.
                    let $row { $first, $( $column, )* } = row;
                    out.push_bind_param::<$first_type, _>($first)?;
                    $( out.push_sql(", "); out.push_bind_param::<$type, _>($column)?; )*
                }
                out.push_sql(")");
                Ok(())
            }
        }

        pub(crate) fn $insert(c: &mut SqliteConnection, rows: &[$row]) -> Result<()> {
            let (many, rest) = rows.as_chunks::<MANY>();
            let (some, rest) = rest.as_chunks::<SOME>();
            for rows in many {
                $statement(rows).execute(c)?;
            }
            for rows in some {
                $statement(rows).execute(c)?;
            }
            for row in rest {
                $statement(std::array::from_ref(row)).execute(c)?;
            }
            Ok(())
        }
    };
}

inserts! {
    InsertMessages, insert_messages(MessageRow) into "messages" {
        room_id: BigInt,
        id: BigInt,
        event: SmallInt,
        user_id: Nullable<BigInt>,
        external_user_name: Nullable<Text>,
        content: Text,
        tags: Text,
        explicit_tags: Text,
        uuid: Nullable<Text>,
        fingerprint: BigInt,
        sent: BigInt,
        edited: Nullable<BigInt>,
        thread_root: Nullable<BigInt>,
        parent_id: Nullable<BigInt>,
        to_user_id: Nullable<BigInt>,
        thread_left: Nullable<Text>,
    }
}

inserts! {
    InsertLog, insert_log(NewLogRow) into "event_log" {
        seq: BigInt,
        check_value: BigInt,
        kind: SmallInt,
        room_id: Nullable<BigInt>,
        message_id: Nullable<BigInt>,
        user_id: Nullable<BigInt>,
        peer_id: Nullable<BigInt>,
        created_at: BigInt,
    }
}

#[cfg(test)]
mod tests {
    use diesel::debug_query;
    use diesel_migrations::{EmbeddedMigrations, MigrationHarness as _, embed_migrations};

    use super::*;

    const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/sqlite");

    #[derive(QueryableByName)]
    struct Instruction {
        #[diesel(sql_type = Text)]
        opcode: String,
    }

    /// The instructions of SQLite's program for a statement.
    fn program(c: &mut SqliteConnection, statement: &impl QueryFragment<Sqlite>) -> Vec<String> {
        let shown = debug_query::<Sqlite, _>(statement).to_string();
        let (sql, _binds) = shown.split_once(" -- binds").unwrap();
        let program = diesel::sql_query(format!("explain {sql}"))
            .load::<Instruction>(c)
            .unwrap();
        program
            .into_iter()
            .map(|instruction| instruction.opcode)
            .collect()
    }

    #[test]
    fn no_row_of_a_post_makes_a_table_of_its_own() {
        let mut c = SqliteConnection::establish(":memory:").unwrap();
        c.run_pending_migrations(MIGRATIONS).unwrap();
        let row = || MessageRow {
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
        let entry = NewLogRow {
            seq: 1,
            check_value: 0,
            kind: 0,
            room_id: None,
            message_id: None,
            user_id: None,
            peer_id: None,
            created_at: 0,
        };
        let programs = [
            program(&mut c, &InsertMessages(&[row()])),
            program(&mut c, &InsertMessages(&[(); SOME].map(|()| row()))),
            program(&mut c, &InsertMessages(&[(); MANY].map(|()| row()))),
            program(&mut c, &InsertLog(&[entry])),
            program(&mut c, &InsertLog(&[entry; SOME])),
            program(&mut c, &InsertLog(&[entry; MANY])),
            program(&mut c, &SetClock { sequence: 1 }),
            program(
                &mut c,
                &MoveRoom {
                    id: 1,
                    last_message_id: 1,
                    last_message_at: None,
                },
            ),
        ];
        for program in programs {
            assert!(
                program.iter().any(|opcode| opcode == "OpenWrite"),
                "{program:?}"
            );
            assert!(
                !program.iter().any(|opcode| opcode == "OpenEphemeral"),
                "{program:?}"
            );
        }
    }
}
