//! The end of a move: the source takes no writes any longer, and the target is used in its place.

use std::time::{Duration, Instant};

use tokio::time::MissedTickBehavior;

use super::DatabaseMove;
use super::capture::WRITERS_LOCK;
use super::side::{MoveSide, SOURCE, on};
use crate::connect::Location;
use crate::copy::quoted;
use crate::reader::{Inner, Reader};
use crate::{Error, Result, Store};

/// With more changed rows than this, writers would wait for too long.
const MOST_ROWS: usize = 2000;
/// How long writers wait at most for one that holds up the cut-over.
const LOCK_TIMEOUT: &str = "500ms";

/// How often a server that writes nothing looks whether its data was moved.
const LOOK: Duration = Duration::from_secs(1);

/// The result of an attempt to cut over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutOver {
    /// The target has everything. Writers of the source waited for so long.
    Done {
        /// From the request for the lock until the source refused writes.
        pause: Duration,
    },
    /// More rows are to be copied than writers should wait for, or one of them holds a lock: catch up
    /// and try again.
    NotYet,
}

/// Where the data of a database was moved.
#[derive(Clone, PartialEq, Eq)]
pub struct MovedDatabase {
    /// The address, which may have a password.
    pub url: String,
    id: String,
}

impl DatabaseMove {
    /// Copies the last changes while writers of the source wait, and has it refuse all writes from
    /// then on.
    ///
    /// # Errors
    ///
    /// As [`DatabaseMove::catch_up`]. When the source went away during its commit, the move may be
    /// done: [`DatabaseMove::begin`] knows.
    pub fn cut_over(&mut self) -> Result<CutOver> {
        let asked = Instant::now();
        self.source.begin()?;
        let done = self.cut_over_here();
        match done {
            Ok(true) => self.source.commit()?,
            other => {
                // What went wrong before says more.
                let _ = self.source.roll_back();
                return other.map(|_| CutOver::NotYet);
            }
        }
        let pause = asked.elapsed();
        self.target.open()?;
        Ok(CutOver::Done { pause })
    }

    /// Whether it was done, in the present transaction of the source.
    fn cut_over_here(&mut self) -> Result<bool> {
        if self.source.is_postgres() {
            self.source
                .execute(&format!("set local lock_timeout = '{LOCK_TIMEOUT}'"))?;
            let lock = format!("select pg_advisory_xact_lock({WRITERS_LOCK})");
            match self.source.execute(&lock) {
                Err(error) if error.is_unnamed() => return Ok(false),
                locked => locked?,
            }
        }
        self.check_schema()?;
        let changes = self.changes()?;
        if changes.rows() > MOST_ROWS {
            return Ok(false);
        }
        let mut sequences = on!(self.source, sequences)?;
        sequences.retain(|table, _| self.tables.iter().any(|known| known.name == *table));
        self.target.begin()?;
        let applied = self.apply_here(&changes);
        let applied = applied.and_then(|()| on!(self.target, set_sequences, &sequences));
        if let Err(error) = applied.and_then(|()| self.target.add_references()) {
            let _ = self.target.roll_back();
            return Err(error);
        }
        self.target.commit()?;
        self.source
            .execute("update move_source set is_cut_over = 1")?;
        Ok(true)
    }
}

impl Store {
    /// Waits until the data was moved into another database. It learns that at once from a write that
    /// is refused, and within a second otherwise.
    pub async fn moved(&self) {
        let mut look = tokio::time::interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = self.write_was_refused() => return,
                _ = look.tick() => {}
            }
            // An error says nothing: the database may be away for a moment.
            if let Ok(true) = self.read(is_moved).await {
                return;
            }
        }
    }
}

/// Whether the data of the database was moved.
fn is_moved(reader: &mut Reader<'_>) -> Result<bool> {
    const CUT_OVER: &str = "select move_id as value from move_source where is_cut_over = 1";
    let mut found = false;
    match &mut reader.0 {
        #[cfg(feature = "sqlite")]
        Inner::Sqlite(c) => {
            if crate::copy::sqlite::has_table(c, SOURCE)? {
                crate::copy::sqlite::texts(c, CUT_OVER, |_| found = true)?;
            }
        }
        #[cfg(feature = "postgres")]
        Inner::Postgres(c) => {
            if crate::copy::postgres::has_table(c, SOURCE)? {
                crate::copy::postgres::texts(c, CUT_OVER, |_| found = true)?;
            }
        }
    }
    Ok(found)
}

impl MoveSide {
    /// Lets servers open the target of a complete move.
    fn open(&mut self) -> Result<()> {
        // A server and the command may do so at the same time.
        self.transaction(|target| target.execute("drop table if exists move_target"))
    }

    /// Drops the foreign keys of PostgreSQL that are known to be, in a target that is filled.
    pub(super) fn drop_references(&mut self) -> Result<()> {
        self.each_reference(|table, name, _| {
            format!("alter table {table} drop constraint if exists {name}")
        })
    }

    /// Adds the foreign keys again, for new rows: the others come from a database that had them.
    fn add_references(&mut self) -> Result<()> {
        self.each_reference(|table, name, definition| {
            format!("alter table {table} add constraint {name} {definition} not valid")
        })
    }

    fn check_references(&mut self) -> Result<()> {
        self.each_reference(|table, name, _| {
            format!("alter table {table} validate constraint {name}")
        })?;
        self.execute("drop table if exists suspended_references")
    }

    fn each_reference(&mut self, statement: impl Fn(&str, &str, &str) -> String) -> Result<()> {
        if !self.is_postgres() || !self.has_table("suspended_references")? {
            return Ok(());
        }
        let references = self.texts(
            "select json_build_array(\"table\", name, definition)::text as value \
             from suspended_references order by 1",
        )?;
        for reference in references {
            let [table, name, definition]: [String; 3] = serde_json::from_str(&reference)
                .map_err(|_| Error::Corrupt("a reference of a table"))?;
            self.execute(&statement(&quoted(&table), &quoted(&name), &definition))?;
        }
        Ok(())
    }
}

/// Where the data of the database at `url` was moved, if it was. Changes nothing.
///
/// Blocks while it connects.
///
/// # Errors
///
/// [`Error::Url`], [`Error::Unavailable`].
pub fn moved_database(url: &str) -> Result<Option<MovedDatabase>> {
    let location = Location::parse(url)?;
    if matches!(location, Location::Memory) || !crate::connect::exists(&location)? {
        return Ok(None);
    }
    let found = MoveSide::look(&location)?.find_move()?;
    Ok(found
        .filter(|found| found.is_cut_over)
        .map(|found| MovedDatabase {
            url: found.target,
            id: found.id,
        }))
}

/// Lets servers open the database to which data was moved, should the move have ended between its
/// last two steps.
///
/// Blocks while it connects.
///
/// # Errors
///
/// [`Error::Url`], [`Error::Unavailable`].
pub fn open_moved_database(moved: &MovedDatabase) -> Result<()> {
    let location = Location::parse(&moved.url)?;
    if !crate::connect::exists(&location)? {
        return Err(Error::Unavailable(
            "the database to which the data was moved is not there".to_owned(),
        ));
    }
    let mut target = MoveSide::connect(&location)?;
    if target.find_target()?.is_some_and(|id| id == moved.id) {
        target.open()?;
    }
    Ok(())
}

/// Checks all references of the database at `url`, into which data was moved. That takes long on
/// PostgreSQL, and hinders no server.
///
/// # Errors
///
/// [`Error::Database`] when a row refers to one that is missing, [`Error::Url`],
/// [`Error::Unavailable`].
pub fn check_moved_references(url: &str) -> Result<()> {
    MoveSide::connect(&Location::parse(url)?)?.check_references()
}

impl std::fmt::Debug for MovedDatabase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MovedDatabase").finish_non_exhaustive()
    }
}

#[cfg(all(test, feature = "sqlite", feature = "postgres"))]
mod tests {
    use super::*;

    /// Moves of an SQLite file to PostgreSQL and back, each in a place of its own.
    fn each(test: impl Fn(&str, &str)) {
        let directory = tempfile::tempdir().expect("a directory");
        let file = |name: &str| format!("sqlite:{}", directory.path().join(name).display());
        if let Some(database) = eddyline_testing::postgres::database() {
            test(&file("from.db"), database.url());
        }
        if let Some(database) = eddyline_testing::postgres::database() {
            test(database.url(), &file("to.db"));
        }
    }

    fn set(url: &str, value: &'static [u8]) -> Result<()> {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(async {
            let store = Store::open(url)?;
            let set = store.write(move |tx| tx.settings().upsert("name", value));
            let set = set.await.map(|_| ());
            store.close().await;
            set
        })
    }

    fn setting(url: &str) -> Option<Vec<u8>> {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(async {
            let store = Store::open(url).expect("it opens");
            let found = store.read(|reader| reader.settings().find("name")).await;
            store.close().await;
            found.expect("it is read")
        })
    }

    #[test]
    fn the_source_goes_on_when_it_did_not_commit_the_cut_over() {
        each(|from, to| {
            set(from, b"first").unwrap();
            let mut moving = DatabaseMove::begin(from, to, None, |_| {}).unwrap();
            moving.source.begin().unwrap();
            assert!(moving.cut_over_here().unwrap());
            // The target has everything, with its references; the source forgets.
            drop(moving);
            assert_eq!(moved_database(from).unwrap(), None);
            set(from, b"second").unwrap();
            assert!(matches!(Store::open(to), Err(Error::IncompleteMove)));
            let mut moving = DatabaseMove::begin(from, to, None, |_| {}).unwrap();
            moving.compare().unwrap();
            assert!(matches!(moving.cut_over(), Ok(CutOver::Done { .. })));
            assert_eq!(setting(to).unwrap(), b"second");
        });
    }

    #[test]
    fn the_target_is_used_once_the_source_has_committed_the_cut_over() {
        each(|from, to| {
            set(from, b"first").unwrap();
            let mut moving = DatabaseMove::begin(from, to, None, |_| {}).unwrap();
            moving.source.begin().unwrap();
            assert!(moving.cut_over_here().unwrap());
            moving.source.commit().unwrap();
            drop(moving);
            assert!(matches!(set(from, b"second"), Err(Error::Moved)));
            assert!(matches!(Store::open(to), Err(Error::IncompleteMove)));
            let moved = moved_database(from).unwrap().unwrap();
            assert_eq!(moved.url, to);
            open_moved_database(&moved).unwrap();
            assert_eq!(setting(to).unwrap(), b"first");
            set(to, b"second").unwrap();
            assert!(matches!(
                crate::copy::give_up_move(from, to),
                Err(Error::Moved)
            ));
        });
    }

    #[test]
    fn writers_do_not_wait_for_many_rows() {
        each(|from, to| {
            set(from, b"first").unwrap();
            let mut moving = DatabaseMove::begin(from, to, None, |_| {}).unwrap();
            let note = "with recursive n (n) as (select 0 union all select n + 1 from n where n < 2000) \
                        insert into move_changes (table_name, row_key) \
                        select 'settings', '[\"n' || n || '\"]' from n";
            moving.source.execute(note).unwrap();
            assert_eq!(moving.cut_over().unwrap(), CutOver::NotYet);
            set(from, b"second").unwrap();
            assert_eq!(moving.catch_up().unwrap(), MOST_ROWS + 2);
            assert!(matches!(moving.cut_over(), Ok(CutOver::Done { .. })));
            assert_eq!(setting(to).unwrap(), b"second");
        });
    }
}
