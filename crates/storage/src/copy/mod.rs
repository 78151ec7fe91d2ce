//! Copies of all tables: a [`Dump`] reads them as they were at one moment, and a [`Load`] fills an
//! empty database with them, of either kind.
//!
//! Both databases give and take the same rows: each is an array in JSON, with numbers, texts,
//! `null`, 0 and 1 for truth values, and hexadecimal texts for bytes.

mod check;
mod dump;
mod load;
mod moving;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;

pub use self::check::CheckReport;
pub use self::dump::{Dump, DumpedObject};
pub use self::load::Load;
pub use self::moving::{
    CutOver, DatabaseMove, MoveProgress, MovedDatabase, TableDigest, check_moved_references,
    give_up_move, moved_database, open_moved_database,
};

use diesel::sql_types::Text;

use crate::files::DELETIONS_PAUSED_UNTIL;
use crate::{BACKUPS_SETTING, SECRET_KEY_SETTING};

/// What belongs to the processes of one installation, or can be made from the other tables: how far
/// writers and servers are, who is present, the index of words, and push messages that wait.
const LEFT_OUT: &[&str] = &[
    "__diesel_schema_migrations",
    "message_search",
    "node_presence",
    "nodes",
    "pushes",
    "search_progress",
    "writers",
];

/// Rows that do not go together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defect {
    /// What they are.
    pub what: &'static str,
    /// How many there are.
    pub count: u64,
    /// Some of them.
    pub examples: Vec<String>,
    /// Whether [`Store::repair`](crate::Store::repair) makes them right.
    pub is_repairable: bool,
}

/// The tables that a copy has, in alphabetical order: all but those of [`LEFT_OUT`], and none that an
/// operator has added.
const COPIED: &[&str] = &[
    "access_tokens",
    "api_tokens",
    "applications",
    "audit",
    "audit_exports",
    "authorization_codes",
    "avatars",
    "closed_members",
    "closed_room_members",
    "cohorts",
    "email_claims",
    "event_log",
    "files",
    "flow_tokens",
    "flows",
    "former_members",
    "grants",
    "identities",
    "identity_providers",
    "imported_records",
    "invitations",
    "legal_holds",
    "links",
    "log_clock",
    "mail_records",
    "mails",
    "mentions",
    "mentions_seen",
    "message_tags",
    "messages",
    "notification_levels",
    "notification_settings",
    "objects",
    "organization_domains",
    "organization_members",
    "organization_names",
    "organizations",
    "pending_deletions",
    "private_rooms",
    "push_subscriptions",
    "reactions",
    "refresh_tokens",
    "removed_members",
    "retention_rules",
    "room_members",
    "rooms",
    "sessions",
    "settings",
    "sources",
    "suspended_memberships",
    "thread_items",
    "thread_markers",
    "threads",
    "user_group_members",
    "user_groups",
    "users",
];

/// A table with the columns that its rows have, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// The names of the columns.
    pub columns: Vec<String>,
}

/// A table as a database describes it.
struct Described {
    name: String,
    columns: Vec<Column>,
    /// Which of the rows are read, if not all.
    condition: Option<String>,
}

struct Column {
    name: String,
    kind: ColumnKind,
    /// The type by its name in the database.
    #[cfg_attr(
        not(feature = "postgres"),
        allow(dead_code, reason = "SQLite casts nothing")
    )]
    sql_type: String,
    is_key: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ColumnKind {
    Plain,
    #[cfg_attr(
        not(feature = "postgres"),
        allow(dead_code, reason = "SQLite has numbers for them")
    )]
    Truth,
    Bytes,
}

impl Described {
    fn table(&self) -> Table {
        Table {
            name: self.name.clone(),
            columns: self
                .columns
                .iter()
                .map(|column| column.name.clone())
                .collect(),
        }
    }

    /// The same with the rows that a dump has: of objects those that are kept, and no settings of one
    /// installation.
    fn of_dump(mut self) -> Self {
        self.condition = match self.name.as_str() {
            "objects" => Some("state = 1".to_owned()),
            "settings" => {
                let left_out = [SECRET_KEY_SETTING, BACKUPS_SETTING, DELETIONS_PAUSED_UNTIL];
                Some(format!("name not in ('{}')", left_out.join("', '")))
            }
            _ => None,
        };
        self
    }

    /// The rows that are read, as the end of a statement that may have a further condition.
    fn restriction(&self, further: Option<&str>) -> String {
        let conditions = [self.condition.as_deref(), further];
        let conditions: Vec<_> = conditions.into_iter().flatten().collect();
        match conditions.is_empty() {
            true => String::new(),
            false => format!("where {}", conditions.join(" and ")),
        }
    }

    fn column(&self, name: &str) -> crate::Result<&Column> {
        let found = self.columns.iter().find(|column| column.name == name);
        found.ok_or(crate::Error::Corrupt("no such column"))
    }

    /// These columns in the order of another description of the table.
    fn columns_like(&self, other: &[String]) -> crate::Result<Vec<&Column>> {
        other.iter().map(|name| self.column(name)).collect()
    }

    fn keys(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| column.is_key)
    }

    fn order(&self) -> String {
        list(self.keys().map(|column| quoted(&column.name)))
    }
}

fn list(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

/// A name in SQL.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[derive(diesel::QueryableByName)]
struct TextRow {
    #[diesel(sql_type = Text)]
    value: String,
}

#[derive(diesel::QueryableByName)]
struct NumberRow {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    value: i64,
}

/// What the words of a message are made of.
#[derive(diesel::QueryableByName)]
struct ContentRow {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    room_id: i64,
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    id: i64,
    #[diesel(sql_type = diesel::sql_types::SmallInt)]
    event: i16,
    #[diesel(sql_type = Text)]
    content: String,
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use super::*;
    use crate::Store;

    #[test]
    fn every_table_is_copied_or_left_out() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store.db");
        Store::open(&format!("sqlite:{}", path.display())).unwrap();
        let mut connection =
            <diesel::SqliteConnection as diesel::Connection>::establish(&path.to_string_lossy())
                .unwrap();
        let found = sqlite::describe(&mut connection).unwrap();
        let mut found: Vec<_> = found.iter().map(|table| table.name.as_str()).collect();
        let mut known = [COPIED, LEFT_OUT].concat();
        found.sort_unstable();
        known.sort_unstable();
        assert_eq!(found, known);
        assert!(COPIED.is_sorted());
    }
}
