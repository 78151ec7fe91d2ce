//! Both databases have the same tables and columns. The tests' own way into a database is here too.

use std::collections::BTreeMap;

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Text};

use crate::home;

#[derive(diesel::QueryableByName)]
struct NumberRow {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    value: i64,
}

/// The column `value` of the row that a query gives.
pub(crate) fn number(url: &str, sql: &str) -> i64 {
    // A sum or a length has another type on each database.
    let sql = format!("select cast(value as bigint) as value from ({sql}) found");
    let row: NumberRow = match url.strip_prefix("sqlite:") {
        Some(path) => {
            let mut connection = SqliteConnection::establish(path).expect("SQLite opens");
            diesel::sql_query(sql).get_result(&mut connection)
        }
        None => {
            let mut connection = PgConnection::establish(url).expect("PostgreSQL answers");
            diesel::sql_query(sql).get_result(&mut connection)
        }
    }
    .expect("one row");
    row.value
}

/// Runs statements on a connection of the test's own.
pub(crate) fn execute(url: &str, sql: &str) {
    match url.strip_prefix("sqlite:") {
        Some(path) => {
            let mut connection = SqliteConnection::establish(path).expect("SQLite opens");
            connection
                .batch_execute("pragma busy_timeout = 5000")
                .expect("a pragma");
            connection
                .batch_execute(sql)
                .expect("the statements are good");
        }
        None => PgConnection::establish(url)
            .expect("PostgreSQL answers")
            .batch_execute(sql)
            .expect("the statements are good"),
    }
}

#[derive(QueryableByName)]
struct Column {
    #[diesel(sql_type = Text)]
    table_name: String,
    #[diesel(sql_type = Text)]
    column_name: String,
    #[diesel(sql_type = Bool)]
    nullable: bool,
}

const SQLITE_COLUMNS: &str = "select t.name as table_name, c.name as column_name, not c.\"notnull\" as nullable \
    from pragma_table_list t join pragma_table_info(t.name) c \
    where t.schema = 'main' and t.type in ('table', 'virtual') and t.name not like 'sqlite_%'";
const POSTGRES_COLUMNS: &str = "select table_name::text, column_name::text, is_nullable = 'YES' as nullable \
    from information_schema.columns where table_schema = 'public'";

/// What SQLite's index of words looks like is its own affair, and diesel's table is diesel's.
const OTHERS: [&str; 2] = ["message_search", "__diesel_schema_migrations"];
/// How far SQLite's index has come; PostgreSQL's is never behind.
const PROGRESS: &str = "search_progress";

type Tables = BTreeMap<String, BTreeMap<String, bool>>;

fn tables(columns: Vec<Column>) -> Tables {
    let mut tables = Tables::new();
    for column in columns {
        tables
            .entry(column.table_name)
            .or_default()
            .insert(column.column_name, column.nullable);
    }
    tables.remove(PROGRESS);
    for other in OTHERS {
        assert!(tables.remove(other).is_some(), "{other} is there");
    }
    tables
}

#[test]
fn both_databases_have_the_same_tables_and_columns() {
    let file = home::sqlite_file().expect("a file");
    let Some(database) = home::postgres() else {
        return;
    };
    file.open();
    database.open();
    let path = file.url.strip_prefix("sqlite:").expect("a path");
    let lite = diesel::sql_query(SQLITE_COLUMNS)
        .load(&mut SqliteConnection::establish(path).expect("SQLite opens"))
        .expect("SQLite tells its columns");
    let pg = diesel::sql_query(POSTGRES_COLUMNS)
        .load(&mut PgConnection::establish(&database.url).expect("PostgreSQL answers"))
        .expect("PostgreSQL tells its columns");
    let (lite, pg) = (tables(lite), tables(pg));
    assert!(lite.len() >= 17, "{lite:#?}");
    assert_eq!(lite, pg);
}
