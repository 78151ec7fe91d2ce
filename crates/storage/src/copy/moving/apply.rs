//! Copies what was written to the source since it was copied.

use std::collections::{BTreeMap, BTreeSet};

use eddyline_model::messages::MessageKind;
use eddyline_model::search::{self, SearchTokens};
use eddyline_model::{MessageId, RoomId};
use serde_json::Value;

use super::side::{MoveSide, on};
use super::{DatabaseMove, ROWS, TableDigest};
use crate::copy::{Described, list, quoted};
use crate::reader::Inner;
use crate::{Error, Result};

/// What was written: the numbers of the notes, and the keys of rows by their table.
#[derive(Default)]
pub(super) struct Changes {
    ids: Vec<String>,
    keys: BTreeMap<String, BTreeSet<String>>,
}

impl Changes {
    pub(super) fn rows(&self) -> usize {
        self.keys.values().map(BTreeSet::len).sum()
    }
}

impl DatabaseMove {
    /// Copies what was written since the last time, and says how many rows that was.
    ///
    /// # Errors
    ///
    /// [`Error::Migration`] when a server of another version has changed the tables meanwhile,
    /// [`Error::Unavailable`], [`Error::DiskFull`].
    pub fn catch_up(&mut self) -> Result<usize> {
        on!(self.source, begin_to_read)?;
        self.check_schema()?;
        let changes = self.changes()?;
        self.apply(&changes)?;
        self.source.execute("commit")?;
        self.forget(&changes)?;
        Ok(changes.rows())
    }

    /// The same, and compares all tables of both databases as they are then. Gives those of the
    /// source, by name.
    ///
    /// # Errors
    ///
    /// As [`DatabaseMove::catch_up`], and [`Error::CopyDiffers`].
    pub fn compare(&mut self) -> Result<Vec<TableDigest>> {
        on!(self.source, begin_to_read)?;
        self.check_schema()?;
        let changes = self.changes()?;
        self.apply(&changes)?;
        let found = super::compare::digests(&mut self.source, &self.tables)?;
        self.source.execute("commit")?;
        self.forget(&changes)?;
        let copied = super::compare::digests(&mut self.target, &self.target_tables)?;
        let differs = |table: &&TableDigest| !copied.contains(table);
        match found.iter().find(differs) {
            Some(table) => Err(Error::CopyDiffers(table.table.clone())),
            None => Ok(found),
        }
    }

    /// The notes that are there in the present transaction of the source.
    pub(super) fn changes(&mut self) -> Result<Changes> {
        let mut changes = Changes::default();
        let notes = self.source.texts(&format!(
            "select {} as value from move_changes",
            if self.source.is_postgres() {
                "json_build_array(id, table_name, row_key)::text"
            } else {
                "json_array(id, table_name, row_key)"
            }
        ))?;
        for note in notes {
            let (id, table, key): (i64, String, String) =
                serde_json::from_str(&note).map_err(|_| Error::Corrupt("a note of a move"))?;
            changes.ids.push(id.to_string());
            changes.keys.entry(table).or_default().insert(key);
        }
        Ok(changes)
    }

    pub(super) fn check_schema(&mut self) -> Result<()> {
        if on!(self.source, newest_migration)? == self.schema {
            return Ok(());
        }
        Err(Error::Migration(
            "a server of another version has changed the tables; give the move up and begin it again"
                .to_owned(),
        ))
    }

    /// Brings the changed rows of the target up to date, in a transaction of the target's own.
    fn apply(&mut self, changes: &Changes) -> Result<()> {
        if changes.keys.is_empty() {
            return Ok(());
        }
        self.target.begin()?;
        self.apply_here(changes)?;
        self.target.commit()
    }

    /// The same inside the present transaction of the target. All changed rows are removed before
    /// any is inserted: a value that must be unique may have gone from one to another.
    pub(super) fn apply_here(&mut self, changes: &Changes) -> Result<()> {
        let Self {
            source,
            target,
            tables,
            target_tables,
            ..
        } = self;
        let changed = |table: &&Described| changes.keys.contains_key(&table.name);
        for table in target_tables.iter().filter(changed) {
            let among = is_among(target, table);
            let delete = format!(
                "delete from {} {}",
                quoted(&table.name),
                table.restriction(Some(&among))
            );
            for keys in chunks(&changes.keys[&table.name]) {
                target.execute_with(&delete, &keys)?;
            }
        }
        let mut words = MessageWords::new();
        for table in tables.iter().filter(changed) {
            let into = target_tables.iter().find(|known| known.name == table.name);
            let into = into.ok_or(Error::Corrupt("no such table"))?;
            let columns = into.columns_like(&table.table().columns)?;
            let among = is_among(source, table);
            let read = format!(
                "select {} as value from {} {}",
                source.array(table.columns.iter(), ""),
                quoted(&table.name),
                table.restriction(Some(&among))
            );
            for keys in chunks(&changes.keys[&table.name]) {
                let rows = source.texts_with(&read, &keys)?;
                let array = format!("[{}]", rows.join(","));
                on!(target, insert, &table.name, &columns, &array)?;
                if table.name == "messages" {
                    find_words(table, &keys, &rows, &mut words)?;
                }
            }
        }
        // Behind the rooms, which know how far the index of SQLite has to come.
        index(target, &words)
    }

    /// Removes notes of what the target has.
    fn forget(&mut self, changes: &Changes) -> Result<()> {
        let delete = format!(
            "delete from move_changes where id in (select cast(value as bigint) from {})",
            self.source.elements()
        );
        self.source.transaction(|source| {
            changes
                .ids
                .chunks(ROWS)
                .try_for_each(|ids| source.execute_with(&delete, &format!("[{}]", ids.join(","))))
        })
    }
}

/// Keys as arrays in JSON, so many at a time.
fn chunks(keys: &BTreeSet<String>) -> impl Iterator<Item = String> {
    let keys: Vec<_> = keys.iter().map(String::as_str).collect();
    let chunks: Vec<_> = keys
        .chunks(ROWS)
        .map(|keys| format!("[{}]", keys.join(",")))
        .collect();
    chunks.into_iter()
}

/// A condition: whether the key of a row is among those of a parameter.
fn is_among(side: &MoveSide, table: &Described) -> String {
    let names = list(table.keys().map(|column| quoted(&column.name)));
    let values = side.values(table.keys());
    format!("({names}) in (select {values} from {})", side.elements())
}

/// The words of changed messages by room and number; `None` for one that is removed.
type MessageWords = BTreeMap<(i64, i64), Option<SearchTokens>>;

/// Adds the words of messages with these keys, of which these rows are there.
fn find_words(
    table: &Described,
    keys: &str,
    rows: &[String],
    words: &mut MessageWords,
) -> Result<()> {
    const UNREADABLE: Error = Error::Corrupt("a row of a message");
    let keys: Vec<(i64, i64)> = serde_json::from_str(keys).map_err(|_| UNREADABLE)?;
    words.extend(keys.into_iter().map(|key| (key, None)));
    let at = |name: &str| {
        let found = table.columns.iter().position(|column| column.name == name);
        found.ok_or(Error::Corrupt("no such column"))
    };
    let (room, id, event, content) = (at("room_id")?, at("id")?, at("event")?, at("content")?);
    for row in rows {
        let row: Vec<Value> = serde_json::from_str(row).map_err(|_| UNREADABLE)?;
        let number = |at: usize| row[at].as_i64().ok_or(UNREADABLE);
        let kind = i16::try_from(number(event)?).ok();
        let kind = kind.and_then(MessageKind::from_code);
        let kind = kind.ok_or(Error::Corrupt("event"))?;
        let content = row[content].as_str().unwrap_or_default();
        words.insert(
            (number(room)?, number(id)?),
            Some(search::of_message(kind, content)),
        );
    }
    Ok(())
}

/// Files changed messages of the target under their words.
fn index(target: &mut MoveSide, words: &MessageWords) -> Result<()> {
    for ((room, id), words) in words {
        let (room, id) = (RoomId(*room), MessageId(*id));
        match (words, target.inner()) {
            #[cfg(feature = "sqlite")]
            (Some(words), Inner::Sqlite(c)) => crate::sqlite::reindex(c, room, id, words)?,
            #[cfg(feature = "sqlite")]
            (None, Inner::Sqlite(c)) => crate::sqlite::unindex(c, room, id)?,
            #[cfg(feature = "postgres")]
            (Some(words), Inner::Postgres(c)) => crate::postgres::reindex(c, room, id, words)?,
            #[cfg(feature = "postgres")]
            (None, Inner::Postgres(c)) => crate::postgres::unindex(c, room, id)?,
        }
    }
    Ok(())
}
