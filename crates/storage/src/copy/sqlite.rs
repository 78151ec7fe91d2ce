//! Copies of an SQLite file.

use std::collections::BTreeMap;

use diesel::connection::{AnsiTransactionManager, SimpleConnection as _, TransactionManager as _};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Text};

use super::{Column, ColumnKind, ContentRow, Defect, Described, DumpedObject, NumberRow, TextRow};
use super::{list, quoted};
use crate::backlog::Backlog;
use crate::connect::migrate::{self, SQLITE_MIGRATIONS};
use crate::{Error, Result};

#[derive(QueryableByName)]
struct NamedNumberRow {
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = BigInt)]
    value: i64,
}

#[derive(QueryableByName)]
struct ColumnRow {
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Text)]
    sql_type: String,
    #[diesel(sql_type = Bool)]
    is_key: bool,
}

pub(super) fn begin_to_read(c: &mut SqliteConnection) -> Result<()> {
    // The first read after it decides which moment it is.
    c.batch_execute("begin; select 1 from sqlite_schema")?;
    Ok(())
}

pub(super) fn begin_to_load(c: &mut SqliteConnection) -> Result<()> {
    // A row may be inserted before the row that it refers to. With deferred foreign keys SQLite would
    // search the referring tables for each row.
    c.batch_execute("pragma foreign_keys = off")?;
    AnsiTransactionManager::begin_transaction(c)?;
    Ok(())
}

pub(super) fn commit(c: &mut SqliteConnection) -> Result<()> {
    AnsiTransactionManager::commit_transaction(c)?;
    Ok(())
}

pub(super) fn is_empty(c: &mut SqliteConnection) -> Result<bool> {
    let count = diesel::sql_query("select count(*) as value from sqlite_schema");
    Ok(count.get_result::<NumberRow>(c)?.value == 0)
}

pub(super) fn has_table(c: &mut SqliteConnection, name: &str) -> Result<bool> {
    let found = "select name as value from sqlite_schema where type = 'table' and name = ?";
    Ok(!texts_with(c, found, name)?.is_empty())
}

pub(super) fn describe(c: &mut SqliteConnection) -> Result<Vec<Described>> {
    // The index of words has tables of its own below its name.
    let names = diesel::sql_query(
        "select name as value from sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\' \
         and name not like 'message\\_search\\_%' escape '\\' order by name",
    );
    let names = names.load::<TextRow>(c)?;
    names
        .into_iter()
        .map(|row| describe_one(c, row.value))
        .collect()
}

fn describe_one(c: &mut SqliteConnection, name: String) -> Result<Described> {
    let columns = diesel::sql_query(
        "select name, lower(type) as sql_type, pk > 0 as is_key from pragma_table_info(?) order by cid",
    )
    .bind::<Text, _>(&name)
    .load::<ColumnRow>(c)?;
    let columns = columns.into_iter().map(|row| Column {
        kind: match row.sql_type.as_str() {
            "blob" => ColumnKind::Bytes,
            _ => ColumnKind::Plain,
        },
        name: row.name,
        sql_type: row.sql_type,
        is_key: row.is_key,
    });
    Ok(Described {
        name,
        columns: columns.collect(),
        condition: None,
    })
}

pub(super) fn newest_migration(c: &mut SqliteConnection) -> Result<String> {
    let newest = diesel::sql_query("select max(version) as value from __diesel_schema_migrations");
    Ok(newest.get_result::<TextRow>(c)?.value)
}

pub(super) fn log_position(c: &mut SqliteConnection) -> Result<i64> {
    let position = diesel::sql_query("select sequence as value from log_clock");
    Ok(position.get_result::<NumberRow>(c)?.value)
}

pub(super) fn sequences(c: &mut SqliteConnection) -> Result<BTreeMap<String, i64>> {
    let rows = diesel::sql_query("select name, seq as value from sqlite_sequence");
    let rows = rows.load::<NamedNumberRow>(c)?;
    Ok(rows.into_iter().map(|row| (row.name, row.value)).collect())
}

pub(super) fn objects(c: &mut SqliteConnection) -> Result<Vec<DumpedObject>> {
    Ok(diesel::sql_query(
        "select object_key as \"key\", size, digest from objects where state = 1 order by object_key",
    )
    .load(c)?)
}

pub(super) fn rows<E: From<Error>>(
    c: &mut SqliteConnection,
    table: &Described,
    mut each: impl FnMut(String) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let (from, condition, order) = (quoted(&table.name), table.restriction(None), table.order());
    let query = diesel::sql_query(format!(
        "select {row} as value from {from} {condition} order by {order}",
        row = array(table.columns.iter(), "")
    ));
    for row in query.load_iter::<TextRow, _>(c).map_err(Error::from)? {
        each(row.map_err(Error::from)?.value)?;
    }
    Ok(())
}

/// An array in JSON with the values of columns, whose names have this prefix.
pub(super) fn array<'a>(columns: impl Iterator<Item = &'a Column>, prefix: &str) -> String {
    let values = list(columns.map(|column| {
        let name = format!("{prefix}{}", quoted(&column.name));
        match column.kind {
            ColumnKind::Bytes => format!("iif({name} is null, null, lower(hex({name})))"),
            ColumnKind::Plain | ColumnKind::Truth => name,
        }
    }));
    format!("json_array({values})")
}

/// The values that arrays in JSON have for columns, in rows with the name `value`.
pub(super) fn values<'a>(columns: impl Iterator<Item = &'a Column>) -> String {
    list(columns.enumerate().map(|(at, column)| match column.kind {
        ColumnKind::Bytes => format!("unhex(value ->> {at})"),
        ColumnKind::Plain | ColumnKind::Truth => format!("value ->> {at}"),
    }))
}

/// Rows with the name `value`, one for each element of an array in JSON.
pub(super) const ELEMENTS: &str = "json_each(?)";

pub(super) fn migrate_through(c: &mut SqliteConnection, schema: &str) -> Result<()> {
    migrate::migrate_through(c, SQLITE_MIGRATIONS, schema)
}

pub(super) fn migrate(c: &mut SqliteConnection) -> Result<()> {
    migrate::migrate(c, SQLITE_MIGRATIONS)
}

pub(super) fn roll_back(c: &mut SqliteConnection) -> Result<()> {
    AnsiTransactionManager::rollback_transaction(c)?;
    Ok(())
}

/// There are none to be dropped: the connection does not enforce them.
#[expect(clippy::unnecessary_wraps, reason = "its twin for PostgreSQL can fail")]
pub(super) fn drop_references(_: &mut SqliteConnection) -> Result<()> {
    Ok(())
}

/// The connection does not enforce foreign keys, see [`begin_to_load`].
#[expect(clippy::unnecessary_wraps, reason = "its twin for PostgreSQL can fail")]
pub(super) fn suspend_references(_: &mut SqliteConnection) -> Result<()> {
    Ok(())
}

pub(super) fn resume_references(c: &mut SqliteConnection) -> Result<()> {
    let broken = diesel::sql_query("select count(*) as value from pragma_foreign_key_check");
    match broken.get_result::<NumberRow>(c)?.value {
        0 => Ok(()),
        _ => Err(Error::Corrupt("a row refers to one that is missing")),
    }
}

pub(super) fn clear(c: &mut SqliteConnection, table: &str) -> Result<()> {
    c.batch_execute(&format!("delete from {}", quoted(table)))?;
    Ok(())
}

pub(super) fn insert(
    c: &mut SqliteConnection,
    table: &str,
    columns: &[&Column],
    rows: &str,
) -> Result<()> {
    let names = list(columns.iter().map(|column| quoted(&column.name)));
    let (table, values) = (quoted(table), values(columns.iter().copied()));
    let insert = format!("insert into {table} ({names}) select {values} from {ELEMENTS}");
    execute_with(c, &insert, rows)
}

pub(super) fn set_sequences(
    c: &mut SqliteConnection,
    sequences: &BTreeMap<String, i64>,
) -> Result<()> {
    for (table, highest) in sequences {
        // A table without rows is not in it.
        diesel::sql_query("delete from sqlite_sequence where name = ?")
            .bind::<Text, _>(table)
            .execute(c)?;
        diesel::sql_query("insert into sqlite_sequence (name, seq) values (?, ?)")
            .bind::<Text, _>(table)
            .bind::<BigInt, _>(highest)
            .execute(c)?;
    }
    Ok(())
}

pub(super) fn renew_check_values(c: &mut SqliteConnection) -> Result<()> {
    c.batch_execute("update event_log set check_value = random() & 4294967295")?;
    Ok(())
}

pub(super) fn rebuild_search(c: &mut SqliteConnection) -> Result<()> {
    crate::sqlite::catch_up(c, &Backlog::of_all_rooms())
}

/// Pages that are damaged, and rows that refer to missing ones.
pub(super) fn damage(c: &mut SqliteConnection) -> Result<Vec<Defect>> {
    let looks = [
        (
            "damaged places in the file",
            "select integrity_check as value from pragma_integrity_check where integrity_check <> 'ok'",
        ),
        (
            "rows that refer to missing ones",
            "select \"table\" || ' ' || coalesce(rowid, 0) as value from pragma_foreign_key_check",
        ),
    ];
    let mut found = Vec::new();
    for (what, look) in looks {
        let rows = diesel::sql_query(look).load::<TextRow>(c)?;
        if !rows.is_empty() {
            found.push(Defect {
                what,
                count: rows.len() as u64,
                examples: rows.into_iter().take(5).map(|row| row.value).collect(),
                is_repairable: false,
            });
        }
    }
    Ok(found)
}

pub(super) fn texts(
    c: &mut SqliteConnection,
    query: &str,
    mut each: impl FnMut(String),
) -> Result<()> {
    for row in diesel::sql_query(query).load_iter::<TextRow, _>(c)? {
        each(row?.value);
    }
    Ok(())
}

pub(super) fn texts_with(
    c: &mut SqliteConnection,
    query: &str,
    parameter: &str,
) -> Result<Vec<String>> {
    let rows = diesel::sql_query(query)
        .bind::<Text, _>(parameter)
        .load::<TextRow>(c)?;
    Ok(rows.into_iter().map(|row| row.value).collect())
}

pub(super) fn execute(c: &mut SqliteConnection, statement: &str) -> Result<()> {
    Ok(c.batch_execute(statement)?)
}

pub(super) fn execute_with(
    c: &mut SqliteConnection,
    statement: &str,
    parameter: &str,
) -> Result<()> {
    diesel::sql_query(statement)
        .bind::<Text, _>(parameter)
        .execute(c)?;
    Ok(())
}

/// The last message of each room that the index has; of rooms that are missing here it has none.
pub(super) fn ends_of_index(c: &mut SqliteConnection) -> Result<BTreeMap<i64, i64>> {
    let ends = diesel::sql_query(
        "select r.id as room_id, coalesce(p.message_id, 0) as id from rooms r left join search_progress p on p.room_id = r.id",
    );
    let ends = ends.load::<EndRow>(c)?;
    Ok(ends.into_iter().map(|row| (row.room_id, row.id)).collect())
}

#[derive(QueryableByName)]
struct EndRow {
    #[diesel(sql_type = BigInt)]
    room_id: i64,
    #[diesel(sql_type = BigInt)]
    id: i64,
}

pub(super) fn messages(
    c: &mut SqliteConnection,
    mut each: impl FnMut(i64, i64, i16, String),
) -> Result<()> {
    let rows = diesel::sql_query("select room_id, id, event, content from messages");
    for row in rows.load_iter::<ContentRow, _>(c)? {
        let row = row?;
        each(row.room_id, row.id, row.event, row.content);
    }
    Ok(())
}

#[derive(QueryableByName)]
struct WordRow {
    #[diesel(sql_type = Text)]
    term: String,
    #[diesel(sql_type = BigInt)]
    doc: i64,
}

pub(super) fn indexed_words(
    c: &mut SqliteConnection,
    mut each: impl FnMut(i64, i64, &str),
) -> Result<()> {
    c.batch_execute(
        "create virtual table temp.search_words using fts5vocab(main, message_search, instance)",
    )?;
    let rows = diesel::sql_query("select term, doc from temp.search_words");
    for row in rows.load_iter::<WordRow, _>(c)? {
        let row = row?;
        each(row.doc >> 32, row.doc & 0xffff_ffff, &row.term);
    }
    Ok(())
}

/// Files all messages of a room under their words once more.
pub(super) fn index_room(c: &mut SqliteConnection, room: i64) -> Result<()> {
    c.batch_execute(&format!(
        "delete from message_search where rowid >= {room} << 32 and rowid < ({room} + 1) << 32; \
         delete from search_progress where room_id = {room}"
    ))?;
    let mut backlog = Backlog::default();
    backlog.add_room(room);
    crate::sqlite::catch_up(c, &backlog)
}
