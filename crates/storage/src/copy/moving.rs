//! Moves a database into another one, of the same kind or the other, while servers write to it.
//!
//! Triggers of the source note the key of each row that is written. The tables are copied from one
//! snapshot; then what was written meanwhile is copied again and again, until little is left. For
//! the rest, the cut-over, writers of the source wait. From then on the triggers refuse all writes
//! to the source, and it says where the data is ([`moved_database`]).
//!
//! Whatever is interrupted before the cut-over can be begun again, or given up ([`give_up_move`]):
//! the source is complete. After it the target is.

mod apply;
mod capture;
mod compare;
mod cut_over;
mod side;

use eddyline_random::hex;

pub use self::compare::TableDigest;
pub use self::cut_over::{
    CutOver, MovedDatabase, check_moved_references, moved_database, open_moved_database,
};

use self::side::{MoveSide, on};
use super::{COPIED, Described};
use crate::connect::Location;
use crate::reader::Inner;
use crate::{Error, Result, SECRET_KEY_SETTING};

/// The tables that a move copies besides those of a dump: push messages that wait.
const ALSO_MOVED: &[&str] = &["pushes"];
/// How many rows are inserted at once.
const ROWS: usize = 1000;
/// How many rows there are between two reports on a table.
const ROWS_FOR_A_REPORT: u64 = 50_000;

/// A move under way. Its methods block. Drop it between any two of them to interrupt the move, and
/// after an error.
pub struct DatabaseMove {
    source: MoveSide,
    target: MoveSide,
    /// The same name in both databases.
    id: String,
    schema: String,
    tables: Vec<Described>,
    /// The same tables as the target describes them.
    target_tables: Vec<Described>,
}

/// How far a move is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoveProgress {
    /// So many rows of a table are in the target.
    Rows {
        /// The table.
        table: String,
        /// How many.
        rows: u64,
    },
    /// The index of words is made anew.
    Indexing,
}

impl DatabaseMove {
    /// Begins to move the database at `from` into the empty one at `to`, or goes on with a move that
    /// was interrupted: copies all tables, unless that is done. The target also gets the secret key,
    /// where it is to be kept in a database.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] when another command moves this database, or a move to another place is
    /// under way, [`Error::Moved`] after
    /// the cut-over, [`Error::NotEmpty`] when the target has tables, [`Error::Url`],
    /// [`Error::Unavailable`], [`Error::DiskFull`].
    pub fn begin(
        from: &str,
        to: &str,
        secret_key: Option<&[u8]>,
        mut progress: impl FnMut(MoveProgress),
    ) -> Result<Self> {
        let (source_place, target_place) = (Location::parse(from)?, Location::parse(to)?);
        let mut source = MoveSide::connect(&source_place)?;
        source.lock_moves()?;
        let mut target = MoveSide::connect(&target_place)?;
        let id = match source.find_move()? {
            Some(known) if known.is_cut_over => return Err(Error::Moved),
            Some(known) if known.target != to => {
                return Err(Error::Refused(
                    "a move to another place is under way; give it up first",
                ));
            }
            Some(known) => known.id,
            None => hex::<16>(),
        };
        let is_filled = match target.find_target()? {
            Some(filled) if filled == id => true,
            Some(_) => return Err(Error::NotEmpty),
            None if on!(target, is_empty)? => false,
            None => return Err(Error::NotEmpty),
        };
        let tables = moved_tables(&mut source)?;
        capture::install(&mut source, &tables, &id, to)?;
        let schema = on!(source, newest_migration)?;
        let mut this = Self {
            source,
            target,
            id,
            schema,
            tables,
            target_tables: Vec::new(),
        };
        if !is_filled {
            this.fill(secret_key, &mut progress)?;
        }
        if this.target.is_postgres() {
            // Without numbers of rows, it would read whole tables to find a few rows in them.
            this.target.execute("analyze")?;
        }
        this.target_tables = moved_tables(&mut this.target)?;
        this.target.drop_references()?;
        Ok(this)
    }

    /// Copies all tables as they are at one moment.
    fn fill(
        &mut self,
        secret_key: Option<&[u8]>,
        progress: &mut impl FnMut(MoveProgress),
    ) -> Result<()> {
        on!(self.source, begin_to_read)?;
        on!(self.target, begin_to_load)?;
        on!(self.target, migrate_through, &self.schema)?;
        if self.target.is_postgres() {
            self.target.execute(
                "create table suspended_references \
                 (\"table\" text not null, name text not null, definition text not null)",
            )?;
            on!(self.target, drop_references)?;
        }
        for into in moved_tables(&mut self.target)? {
            // Migrations fill tables, too.
            on!(self.target, clear, &into.name)?;
            let from = self.tables.iter().find(|table| table.name == into.name);
            let from = from.ok_or(Error::Corrupt("no such table"))?;
            copy_table(&mut self.source, &mut self.target, from, &into, progress)?;
            if let Some(key) = secret_key.filter(|_| into.name == "settings") {
                set_secret_key(&mut self.target, &into, key)?;
            }
        }
        progress(MoveProgress::Indexing);
        on!(self.target, rebuild_search)?;
        self.target.note_target(&self.id)?;
        on!(self.target, commit)?;
        self.source.execute("commit")
    }
}

impl std::fmt::Debug for DatabaseMove {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DatabaseMove")
    }
}

fn copy_table(
    source: &mut MoveSide,
    target: &mut MoveSide,
    from: &Described,
    into: &Described,
    progress: &mut impl FnMut(MoveProgress),
) -> Result<()> {
    let columns = into.columns_like(&from.table().columns)?;
    let (mut count, mut waiting) = (0, Vec::with_capacity(ROWS));
    let mut report = |rows| {
        progress(MoveProgress::Rows {
            table: from.name.clone(),
            rows,
        });
    };
    let mut insert = |waiting: &mut Vec<String>| {
        let rows = format!("[{}]", waiting.join(","));
        waiting.clear();
        on!(target, insert, &into.name, &columns, &rows)
    };
    on!(source, rows, from, |row| {
        waiting.push(row);
        count += 1;
        if waiting.len() == ROWS {
            insert(&mut waiting)?;
        }
        if count % ROWS_FOR_A_REPORT == 0 {
            report(count);
        }
        Ok::<_, Error>(())
    })?;
    insert(&mut waiting)?;
    report(count);
    Ok(())
}

/// Keeps the secret key in the database.
fn set_secret_key(target: &mut MoveSide, settings: &Described, key: &[u8]) -> Result<()> {
    let columns = [settings.column("name")?, settings.column("value")?];
    let digits: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    let row = format!("[[\"{SECRET_KEY_SETTING}\", \"{digits}\"]]");
    on!(target, insert, "settings", &columns, &row)
}

/// The tables that are moved, with the rows of them that are.
fn moved_tables(side: &mut MoveSide) -> Result<Vec<Described>> {
    let mut found = on!(side, describe)?;
    found.retain(|table| {
        [COPIED, ALSO_MOVED]
            .iter()
            .any(|names| names.contains(&table.name.as_str()))
    });
    for table in &mut found {
        if table.name == "settings" {
            // Each kind of database keeps the key in a place of its own.
            table.condition = Some(format!("name <> '{SECRET_KEY_SETTING}'"));
        }
    }
    Ok(found)
}

/// Gives up the move of the database at `from` into the one at `to`, which is emptied if the move
/// has filled it. The source goes on as before. Says whether the target could be reached: one that
/// is gone must not keep the source from being what it was.
///
/// # Errors
///
/// [`Error::Moved`] after the cut-over, [`Error::Refused`] when there is no such move,
/// [`Error::Url`], [`Error::Unavailable`].
pub fn give_up_move(from: &str, to: &str) -> Result<bool> {
    let mut source = MoveSide::connect(&Location::parse(from)?)?;
    source.lock_moves()?;
    let known = source
        .find_move()?
        .filter(|known| known.target == to)
        .ok_or(Error::Refused("no move to this place is under way"))?;
    if known.is_cut_over {
        return Err(Error::Moved);
    }
    let is_reached = match empty_target(&Location::parse(to)?, &known.id) {
        Ok(()) => true,
        Err(Error::Unavailable(_)) => false,
        Err(error) => return Err(error),
    };
    capture::remove(&mut source)?;
    Ok(is_reached)
}

/// Empties a target that a move has filled.
fn empty_target(place: &Location, id: &str) -> Result<()> {
    if !crate::connect::exists(place)? {
        return Ok(());
    }
    let mut target = MoveSide::connect(place)?;
    match target.find_target()? {
        Some(filled) if filled == id => target.clear(),
        _ => Ok(()),
    }
}
