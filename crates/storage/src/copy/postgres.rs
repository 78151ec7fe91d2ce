//! Copies of a PostgreSQL database.

use std::collections::BTreeMap;

use diesel::connection::{AnsiTransactionManager, SimpleConnection as _, TransactionManager as _};
use diesel::pg::PgRowByRowLoadingMode;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Text};
use eddyline_model::messages::MessageKind;
use eddyline_model::search;

use super::{Column, ColumnKind, ContentRow, Defect, Described, DumpedObject, NumberRow, TextRow};
use super::{list, quoted};
use crate::connect::migrate::{self, POSTGRES_MIGRATIONS};
use crate::{Error, Result};

/// A copy is one transaction, which waits while files are copied. A role or a database may have
/// bounds for those of others; the last one is of PostgreSQL 17.
const UNLIMITED: &str = "set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; \
    select set_config('transaction_timeout', '0', false) \
    where current_setting('server_version_num')::int >= 170000";
/// How many messages are read at once for their words.
const PAGE: i64 = 1000;

#[derive(QueryableByName)]
struct ColumnRow {
    #[diesel(sql_type = Text)]
    table: String,
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Text)]
    sql_type: String,
    #[diesel(sql_type = Bool)]
    is_key: bool,
}

#[derive(QueryableByName)]
struct Reference {
    #[diesel(sql_type = Text)]
    table: String,
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Text)]
    definition: String,
}

pub(super) fn begin_to_read(c: &mut PgConnection) -> Result<()> {
    // The first read after it decides which moment it is.
    c.batch_execute(UNLIMITED)?;
    c.batch_execute("begin isolation level repeatable read read only; select 1")?;
    Ok(())
}

pub(super) fn begin_to_load(c: &mut PgConnection) -> Result<()> {
    c.batch_execute(UNLIMITED)?;
    // A connection pooler may give us a session that was read-only for its last user.
    c.batch_execute("set default_transaction_read_only = off; set lock_timeout = 0")?;
    AnsiTransactionManager::begin_transaction(c)?;
    Ok(())
}

pub(super) fn commit(c: &mut PgConnection) -> Result<()> {
    AnsiTransactionManager::commit_transaction(c)?;
    Ok(())
}

pub(super) fn is_empty(c: &mut PgConnection) -> Result<bool> {
    let count = diesel::sql_query(
        "select count(*) as value from pg_catalog.pg_tables where schemaname = current_schema()",
    );
    Ok(count.get_result::<NumberRow>(c)?.value == 0)
}

pub(super) fn has_table(c: &mut PgConnection, name: &str) -> Result<bool> {
    let found = "select tablename::text as value from pg_catalog.pg_tables \
                 where schemaname = current_schema() and tablename = $1";
    Ok(!texts_with(c, found, name)?.is_empty())
}

pub(super) fn describe(c: &mut PgConnection) -> Result<Vec<Described>> {
    let rows = diesel::sql_query(
        "select t.relname::text as \"table\", a.attname::text as name, \
             pg_catalog.format_type(a.atttypid, a.atttypmod) as sql_type, \
             coalesce(a.attnum = any (i.indkey), false) as is_key \
         from pg_catalog.pg_class t \
         join pg_catalog.pg_namespace n on n.oid = t.relnamespace and n.nspname = current_schema() \
         join pg_catalog.pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped \
         left join pg_catalog.pg_index i on i.indrelid = t.oid and i.indisprimary \
         where t.relkind = 'r' order by t.relname collate \"C\", a.attnum",
    )
    .load::<ColumnRow>(c)?;
    let mut found: Vec<Described> = Vec::new();
    for row in rows {
        if found.last().is_none_or(|table| table.name != row.table) {
            found.push(Described {
                name: row.table,
                columns: Vec::new(),
                condition: None,
            });
        }
        let Some(table) = found.last_mut() else {
            continue;
        };
        table.columns.push(Column {
            kind: match row.sql_type.as_str() {
                "bytea" => ColumnKind::Bytes,
                "boolean" => ColumnKind::Truth,
                _ => ColumnKind::Plain,
            },
            name: row.name,
            sql_type: row.sql_type,
            is_key: row.is_key,
        });
    }
    Ok(found)
}

pub(super) fn newest_migration(c: &mut PgConnection) -> Result<String> {
    let newest =
        diesel::sql_query("select max(version)::text as value from __diesel_schema_migrations");
    Ok(newest.get_result::<TextRow>(c)?.value)
}

pub(super) fn log_position(c: &mut PgConnection) -> Result<i64> {
    let position = diesel::sql_query("select sequence as value from log_clock");
    Ok(position.get_result::<NumberRow>(c)?.value)
}

/// The tables whose column `id` numbers its rows.
fn numbered(c: &mut PgConnection) -> Result<Vec<String>> {
    let tables = diesel::sql_query(
        "select table_name::text as value from information_schema.columns \
         where table_schema = current_schema() and column_name = 'id' and is_identity = 'YES'",
    );
    let tables = tables.load::<TextRow>(c)?;
    Ok(tables.into_iter().map(|row| row.value).collect())
}

pub(super) fn sequences(c: &mut PgConnection) -> Result<BTreeMap<String, i64>> {
    let mut found = BTreeMap::new();
    for table in numbered(c)? {
        let sequence = diesel::sql_query("select pg_get_serial_sequence($1, 'id') as value")
            .bind::<Text, _>(quoted(&table))
            .get_result::<TextRow>(c)?;
        let last = diesel::sql_query(format!(
            "select case when is_called then last_value else 0 end as value from {}",
            sequence.value
        ));
        found.insert(table, last.get_result::<NumberRow>(c)?.value);
    }
    Ok(found)
}

pub(super) fn objects(c: &mut PgConnection) -> Result<Vec<DumpedObject>> {
    Ok(diesel::sql_query(
        "select object_key as \"key\", size, digest from objects where state = 1 order by object_key collate \"C\"",
    )
    .load(c)?)
}

pub(super) fn rows<E: From<Error>>(
    c: &mut PgConnection,
    table: &Described,
    mut each: impl FnMut(String) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let (from, condition, order) = (quoted(&table.name), table.restriction(None), table.order());
    let query = diesel::sql_query(format!(
        "select {row} as value from {from} {condition} order by {order}",
        row = array(table.columns.iter(), "")
    ));
    let rows = query.load_iter::<TextRow, PgRowByRowLoadingMode>(c);
    for row in rows.map_err(Error::from)? {
        each(row.map_err(Error::from)?.value)?;
    }
    Ok(())
}

/// An array in JSON with the values of columns, whose names have this prefix.
pub(super) fn array<'a>(columns: impl Iterator<Item = &'a Column>, prefix: &str) -> String {
    let values = list(columns.map(|column| {
        let name = format!("{prefix}{}", quoted(&column.name));
        match column.kind {
            ColumnKind::Bytes => format!("encode({name}, 'hex')"),
            ColumnKind::Truth => format!("{name}::int"),
            ColumnKind::Plain => name,
        }
    }));
    format!("json_build_array({values})::text")
}

/// The values that arrays in JSON have for columns, in rows with the name `value`.
pub(super) fn values<'a>(columns: impl Iterator<Item = &'a Column>) -> String {
    list(columns.enumerate().map(|(at, column)| match column.kind {
        ColumnKind::Bytes => format!("decode(value ->> {at}, 'hex')"),
        ColumnKind::Truth => format!("(value ->> {at})::int::boolean"),
        ColumnKind::Plain => format!("(value ->> {at})::{}", column.sql_type),
    }))
}

/// Rows with the name `value`, one for each element of an array in JSON.
pub(super) const ELEMENTS: &str = "jsonb_array_elements($1::jsonb) as value";

pub(super) fn migrate_through(c: &mut PgConnection, schema: &str) -> Result<()> {
    migrate::migrate_through(c, POSTGRES_MIGRATIONS, schema)
}

pub(super) fn migrate(c: &mut PgConnection) -> Result<()> {
    migrate::migrate(c, POSTGRES_MIGRATIONS)
}

pub(super) fn roll_back(c: &mut PgConnection) -> Result<()> {
    AnsiTransactionManager::rollback_transaction(c)?;
    Ok(())
}

fn references(c: &mut PgConnection) -> Result<Vec<Reference>> {
    Ok(diesel::sql_query(
        "select t.relname::text as \"table\", r.conname::text as name, pg_catalog.pg_get_constraintdef(r.oid) as definition \
         from pg_catalog.pg_constraint r \
         join pg_catalog.pg_class t on t.oid = r.conrelid \
         join pg_catalog.pg_namespace n on n.oid = t.relnamespace and n.nspname = current_schema() \
         where r.contype = 'f' order by 1, 2",
    )
    .load(c)?)
}

/// Drops the foreign keys, since a row may be inserted before the row that it refers to.
pub(super) fn suspend_references(c: &mut PgConnection) -> Result<()> {
    c.batch_execute(
        "create temporary table suspended_references \
         (\"table\" text not null, name text not null, definition text not null) on commit drop",
    )?;
    drop_references(c)
}

/// Moves the foreign keys into the table `suspended_references`.
pub(super) fn drop_references(c: &mut PgConnection) -> Result<()> {
    for Reference {
        table,
        name,
        definition,
    } in references(c)?
    {
        diesel::sql_query("insert into suspended_references values ($1, $2, $3)")
            .bind::<Text, _>(&table)
            .bind::<Text, _>(&name)
            .bind::<Text, _>(&definition)
            .execute(c)?;
        let (table, name) = (quoted(&table), quoted(&name));
        c.batch_execute(&format!("alter table {table} drop constraint {name}"))?;
    }
    Ok(())
}

/// Adds the foreign keys again. PostgreSQL checks all rows then.
pub(super) fn resume_references(c: &mut PgConnection) -> Result<()> {
    let suspended = diesel::sql_query("select * from suspended_references order by 1, 2");
    for Reference {
        table,
        name,
        definition,
    } in suspended.load(c)?
    {
        let (table, name) = (quoted(&table), quoted(&name));
        c.batch_execute(&format!(
            "alter table {table} add constraint {name} {definition}"
        ))?;
    }
    Ok(())
}

pub(super) fn clear(c: &mut PgConnection, table: &str) -> Result<()> {
    c.batch_execute(&format!("delete from {}", quoted(table)))?;
    Ok(())
}

pub(super) fn insert(
    c: &mut PgConnection,
    table: &str,
    columns: &[&Column],
    rows: &str,
) -> Result<()> {
    let names = list(columns.iter().map(|column| quoted(&column.name)));
    let (table, values) = (quoted(table), values(columns.iter().copied()));
    let insert = format!("insert into {table} ({names}) select {values} from {ELEMENTS}");
    execute_with(c, &insert, rows)
}

pub(super) fn set_sequences(c: &mut PgConnection, sequences: &BTreeMap<String, i64>) -> Result<()> {
    for table in numbered(c)? {
        let highest = sequences.get(&table).copied().unwrap_or_default();
        let name = quoted(&table);
        // The number is given to the next row when it is the first.
        diesel::sql_query(format!(
            "select setval(pg_get_serial_sequence($1, 'id'), greatest(highest, 1), highest > 0) as value \
             from (select greatest($2, coalesce(max(id), 0)) as highest from {name}) as known"
        ))
        .bind::<Text, _>(&name)
        .bind::<BigInt, _>(highest)
        .get_result::<NumberRow>(c)?;
    }
    Ok(())
}

pub(super) fn renew_check_values(c: &mut PgConnection) -> Result<()> {
    c.batch_execute("update event_log set check_value = floor(random() * 4294967296)::bigint")?;
    Ok(())
}

pub(super) fn rebuild_search(c: &mut PgConnection) -> Result<()> {
    index(c, (0, 0), (i64::MAX, 0))
}

/// Files all messages of a room under their words once more.
pub(super) fn index_room(c: &mut PgConnection, room: i64) -> Result<()> {
    // Locks out edits of its messages until the commit.
    crate::postgres::lock_rooms(c, &[room])?;
    execute(
        c,
        &format!("delete from message_search where room_id = {room}"),
    )?;
    index(c, (room, 0), (room + 1, 0))
}

/// Files messages under their words: those behind the first of these places and before the second.
fn index(c: &mut PgConnection, mut after: (i64, i64), end: (i64, i64)) -> Result<()> {
    loop {
        let page = diesel::sql_query(
            "select room_id, id, event, content from messages \
             where (room_id, id) > ($1, $2) and (room_id, id) < ($3, $4) \
             order by room_id, id limit $5",
        )
        .bind::<BigInt, _>(after.0)
        .bind::<BigInt, _>(after.1)
        .bind::<BigInt, _>(end.0)
        .bind::<BigInt, _>(end.1)
        .bind::<BigInt, _>(PAGE)
        .load::<ContentRow>(c)?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = (last.room_id, last.id);
        let mut words = Vec::with_capacity(page.len());
        for row in &page {
            let event = MessageKind::from_code(row.event).ok_or(Error::Corrupt("event"))?;
            let of_row = search::of_message(event, &row.content);
            if !of_row.is_empty() {
                words.push((row.room_id, row.id, of_row));
            }
        }
        let words: Vec<_> = words
            .iter()
            .map(|(room, id, words)| (*room, *id, words))
            .collect();
        crate::postgres::index_at_once(c, &words)?;
    }
}

/// PostgreSQL holds its references itself, and has checksums of pages of its own.
#[expect(clippy::unnecessary_wraps, reason = "its twin for SQLite can fail")]
pub(super) fn damage(_: &mut PgConnection) -> Result<Vec<Defect>> {
    Ok(Vec::new())
}

pub(super) fn texts(c: &mut PgConnection, query: &str, mut each: impl FnMut(String)) -> Result<()> {
    let rows = diesel::sql_query(query);
    for row in rows.load_iter::<TextRow, PgRowByRowLoadingMode>(c)? {
        each(row?.value);
    }
    Ok(())
}

pub(super) fn texts_with(
    c: &mut PgConnection,
    query: &str,
    parameter: &str,
) -> Result<Vec<String>> {
    let rows = diesel::sql_query(query)
        .bind::<Text, _>(parameter)
        .load::<TextRow>(c)?;
    Ok(rows.into_iter().map(|row| row.value).collect())
}

pub(super) fn execute(c: &mut PgConnection, statement: &str) -> Result<()> {
    Ok(c.batch_execute(statement)?)
}

pub(super) fn execute_with(c: &mut PgConnection, statement: &str, parameter: &str) -> Result<()> {
    diesel::sql_query(statement)
        .bind::<Text, _>(parameter)
        .execute(c)?;
    Ok(())
}

/// The index is never behind here.
#[expect(clippy::unnecessary_wraps, reason = "its twin for SQLite can fail")]
pub(super) fn ends_of_index(_: &mut PgConnection) -> Result<BTreeMap<i64, i64>> {
    Ok(BTreeMap::new())
}

pub(super) fn messages(
    c: &mut PgConnection,
    mut each: impl FnMut(i64, i64, i16, String),
) -> Result<()> {
    let rows = diesel::sql_query("select room_id, id, event, content from messages");
    for row in rows.load_iter::<ContentRow, PgRowByRowLoadingMode>(c)? {
        let row = row?;
        each(row.room_id, row.id, row.event, row.content);
    }
    Ok(())
}

#[derive(QueryableByName)]
struct WordsRow {
    #[diesel(sql_type = BigInt)]
    room_id: i64,
    #[diesel(sql_type = BigInt)]
    message_id: i64,
    #[diesel(sql_type = Text)]
    words: String,
}

pub(super) fn indexed_words(
    c: &mut PgConnection,
    mut each: impl FnMut(i64, i64, &str),
) -> Result<()> {
    let rows = diesel::sql_query(
        "select room_id, message_id, array_to_string(tsvector_to_array(words), ' ') as words from message_search",
    );
    for row in rows.load_iter::<WordsRow, PgRowByRowLoadingMode>(c)? {
        let row = row?;
        for word in row.words.split(' ').filter(|word| !word.is_empty()) {
            each(row.room_id, row.message_id, word);
        }
    }
    Ok(())
}
