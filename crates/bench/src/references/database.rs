//! The smallest table that messages can be kept in.

use std::path::Path;

use diesel::connection::SimpleConnection as _;
use diesel::prelude::*;

use crate::Result;

diesel::table! {
    notes (id) {
        id -> BigInt,
        room -> BigInt,
        author -> BigInt,
        sent -> BigInt,
        content -> Text,
    }
}

const TABLE: &str = "create table if not exists notes (id integer primary key, room integer not null, \
    author integer not null, sent integer not null, content text not null); \
    create index if not exists notes_room on notes (room, id);";
const ROOM: i64 = 1;

/// A note as it is listed.
#[derive(Queryable, Selectable, serde::Serialize)]
#[diesel(table_name = notes)]
pub(super) struct Note {
    id: i64,
    author: i64,
    sent: i64,
    content: String,
}

/// Opens the file, as durable as our server's own.
pub(super) fn open(path: &Path) -> Result<SqliteConnection> {
    let name = path.to_str().ok_or("the path of a database is not text")?;
    let mut connection = SqliteConnection::establish(name)?;
    connection.batch_execute(
        "pragma busy_timeout = 5000; pragma journal_mode = wal; pragma synchronous = full;",
    )?;
    connection.batch_execute(TABLE)?;
    Ok(connection)
}

/// Adds a note; the statement is prepared once.
pub(super) fn insert(connection: &mut SqliteConnection, content: &str) -> QueryResult<usize> {
    diesel::insert_into(notes::table)
        .values((
            notes::room.eq(ROOM),
            notes::author.eq(7),
            notes::sent.eq(1_700_000_000_000),
            notes::content.eq(content),
        ))
        .execute(connection)
}

/// The latest notes, the oldest first.
pub(super) fn latest(connection: &mut SqliteConnection, count: i64) -> QueryResult<Vec<Note>> {
    let mut found = notes::table
        .filter(notes::room.eq(ROOM))
        .order(notes::id.desc())
        .limit(count)
        .select(Note::as_select())
        .load(connection)?;
    found.reverse();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_notes_are_listed_in_their_order() {
        let mut connection = open(Path::new(":memory:")).unwrap();
        for content in ["a", "b", "c"] {
            insert(&mut connection, content).unwrap();
        }
        let found: Vec<_> = latest(&mut connection, 2)
            .unwrap()
            .into_iter()
            .map(|note| note.content)
            .collect();
        assert_eq!(found, ["b", "c"]);
    }
}
