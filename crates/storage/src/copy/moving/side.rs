//! One of the two databases of a move.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::connect::{Connection, Location, connect_as_is};
use crate::copy::{COPIED, Column, LEFT_OUT, quoted};
use crate::inspection::connect_to_look;
use crate::reader::{Inner, Reader};
use crate::{Error, Result};

/// The table of a source that notes its move.
pub(super) const SOURCE: &str = "move_source";

/// The advisory lock of the command that moves a PostgreSQL database.
const MOVES_LOCK: i64 = 0x6564_6479_6d6f_7665 + 1;

/// A connection to the source or the target.
pub(super) struct MoveSide {
    connection: Connection,
    location: Location,
    /// The file that is locked while an SQLite file is moved.
    lock: Option<(File, PathBuf)>,
    /// Whether this connection has the advisory lock of a PostgreSQL database that is moved.
    is_locked: bool,
}

/// Whether an open file is still the one with this name.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let named = std::fs::metadata(path).map(|found| found.ino());
    let opened = file.metadata().map(|found| found.ino());
    matches!((named, opened), (Ok(named), Ok(opened)) if named == opened)
}

/// An open file cannot be removed there.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

impl Drop for MoveSide {
    fn drop(&mut self) {
        if let Some((_, path)) = &self.lock {
            // The next command makes it anew.
            let _ = std::fs::remove_file(path);
        }
        if self.is_locked {
            // The server ends the lock of a connection that was closed only a moment later, and the
            // next command would find it taken.
            let _ = self.execute(&format!("select pg_advisory_unlock({MOVES_LOCK})"));
        }
    }
}

/// The move of a source, as it is noted there.
pub(super) struct NotedMove {
    pub(super) id: String,
    /// The address of the other database.
    pub(super) target: String,
    pub(super) is_cut_over: bool,
}

/// Calls the function of the same name for the database of a side.
macro_rules! on {
    ($side:expr, $function:ident $(, $arg:expr)*) => {
        match $side.inner() {
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(c) => crate::copy::sqlite::$function(c $(, $arg)*),
            #[cfg(feature = "postgres")]
            Inner::Postgres(c) => crate::copy::postgres::$function(c $(, $arg)*),
        }
    };
}
pub(super) use on;

impl MoveSide {
    pub(super) fn connect(location: &Location) -> Result<Self> {
        let mut side = Self {
            connection: connect_as_is(location)?,
            location: location.clone(),
            lock: None,
            is_locked: false,
        };
        side.execute(if side.is_postgres() {
            // For a copy of any length, and for connections that a pooler has used before.
            "set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; \
             set default_transaction_read_only = off; set client_min_messages = warning"
        } else {
            // Rows come before those that they refer to, and all of them were checked already. For the
            // lock, `begin` waits in shorter steps than SQLite.
            "pragma foreign_keys = off; pragma busy_timeout = 0"
        })?;
        Ok(side)
    }

    /// A connection that changes nothing.
    pub(super) fn look(location: &Location) -> Result<Self> {
        Ok(Self {
            connection: connect_to_look(location)?,
            location: location.clone(),
            lock: None,
            is_locked: false,
        })
    }

    /// Makes sure that no other command moves this database: one could overwrite newer rows of the
    /// other with older ones. The lock ends with the side.
    pub(super) fn lock_moves(&mut self) -> Result<()> {
        const TAKEN: Error = Error::Refused("another command moves this database");
        if self.is_postgres() {
            let lock = format!("select pg_try_advisory_lock({MOVES_LOCK})::text as value");
            return match self.texts(&lock)?.first().map(String::as_str) {
                Some("true") => {
                    self.is_locked = true;
                    Ok(())
                }
                _ => Err(TAKEN),
            };
        }
        let Location::File(path) = &self.location else {
            return Err(Error::Url("a database in memory is not moved".to_owned()));
        };
        let mut path = path.clone();
        path.as_mut_os_string().push("-move");
        let failed = |error: &std::io::Error| {
            Error::Unavailable(format!("cannot lock {}: {error}", path.display()))
        };
        let file = File::create(&path).map_err(|error| failed(&error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => return Err(TAKEN),
            Err(std::fs::TryLockError::Error(error)) => return Err(failed(&error)),
        }
        // The command that had the lock before may have removed the file meanwhile.
        if !is_at(&file, &path) {
            return Err(TAKEN);
        }
        self.lock = Some((file, path));
        Ok(())
    }

    pub(super) fn is_postgres(&self) -> bool {
        self.location.is_postgres()
    }

    pub(super) fn reader(&mut self) -> Reader<'_> {
        self.connection.reader()
    }

    pub(super) fn inner(&mut self) -> Inner<'_> {
        self.reader().0
    }

    pub(super) fn execute(&mut self, statement: &str) -> Result<()> {
        on!(self, execute, statement)
    }

    pub(super) fn execute_with(&mut self, statement: &str, parameter: &str) -> Result<()> {
        on!(self, execute_with, statement, parameter)
    }

    /// The texts of the column `value`.
    pub(super) fn texts(&mut self, query: &str) -> Result<Vec<String>> {
        let mut found = Vec::new();
        on!(self, texts, query, |text| found.push(text))?;
        Ok(found)
    }

    pub(super) fn texts_with(&mut self, query: &str, parameter: &str) -> Result<Vec<String>> {
        on!(self, texts_with, query, parameter)
    }

    /// An array in JSON with the values of columns, whose names have this prefix.
    pub(super) fn array<'a>(
        &self,
        columns: impl Iterator<Item = &'a Column>,
        prefix: &str,
    ) -> String {
        match &self.connection {
            #[cfg(feature = "sqlite")]
            Connection::Sqlite(_) | Connection::PooledSqlite(_) => {
                crate::copy::sqlite::array(columns, prefix)
            }
            #[cfg(feature = "postgres")]
            Connection::Postgres(_) | Connection::PooledPostgres(_) => {
                crate::copy::postgres::array(columns, prefix)
            }
        }
    }

    /// The values that arrays in JSON have for columns, in rows of [`MoveSide::elements`].
    pub(super) fn values<'a>(&self, columns: impl Iterator<Item = &'a Column>) -> String {
        match &self.connection {
            #[cfg(feature = "sqlite")]
            Connection::Sqlite(_) | Connection::PooledSqlite(_) => {
                crate::copy::sqlite::values(columns)
            }
            #[cfg(feature = "postgres")]
            Connection::Postgres(_) | Connection::PooledPostgres(_) => {
                crate::copy::postgres::values(columns)
            }
        }
    }

    /// Rows with the name `value`, one for each element of the parameter, an array in JSON.
    pub(super) fn elements(&self) -> &'static str {
        match &self.connection {
            #[cfg(feature = "sqlite")]
            Connection::Sqlite(_) | Connection::PooledSqlite(_) => crate::copy::sqlite::ELEMENTS,
            #[cfg(feature = "postgres")]
            Connection::Postgres(_) | Connection::PooledPostgres(_) => {
                crate::copy::postgres::ELEMENTS
            }
        }
    }

    /// Begins a transaction that may write. SQLite's is the only one then.
    pub(super) fn begin(&mut self) -> Result<()> {
        match self.inner() {
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(c) => crate::sqlite::begin(c),
            #[cfg(feature = "postgres")]
            Inner::Postgres(c) => {
                use diesel::connection::{AnsiTransactionManager, TransactionManager as _};
                Ok(AnsiTransactionManager::begin_transaction(c)?)
            }
        }
    }

    pub(super) fn commit(&mut self) -> Result<()> {
        on!(self, commit)
    }

    pub(super) fn roll_back(&mut self) -> Result<()> {
        on!(self, roll_back)
    }

    /// Does work in a transaction of its own.
    pub(super) fn transaction<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.begin()?;
        match work(self) {
            Ok(done) => {
                self.commit()?;
                Ok(done)
            }
            Err(error) => {
                // The error of the work says more than that of the way back.
                let _ = self.roll_back();
                Err(error)
            }
        }
    }

    pub(super) fn has_table(&mut self, name: &str) -> Result<bool> {
        on!(self, has_table, name)
    }

    /// The move that this database is the source of.
    pub(super) fn find_move(&mut self) -> Result<Option<NotedMove>> {
        if !self.has_table(SOURCE)? {
            return Ok(None);
        }
        let mut column = |name: &str| {
            let found = self.texts(&format!("select {name} as value from move_source"))?;
            Ok::<_, Error>(found.into_iter().next())
        };
        let (Some(id), Some(target)) = (column("move_id")?, column("target")?) else {
            return Ok(None);
        };
        let state = column("cast(is_cut_over as text)")?;
        Ok(Some(NotedMove {
            id,
            target,
            is_cut_over: state.as_deref() == Some("1"),
        }))
    }

    /// The move that this database is the target of, and that is not complete.
    pub(super) fn find_target(&mut self) -> Result<Option<String>> {
        if !self.has_table("move_target")? {
            return Ok(None);
        }
        let found = self.texts("select move_id as value from move_target")?;
        Ok(found.into_iter().next())
    }

    /// Notes that this database is the target of a move, so that no server uses it before its end.
    pub(super) fn note_target(&mut self, id: &str) -> Result<()> {
        self.execute("create table move_target (move_id text primary key not null)")?;
        self.execute(&format!("insert into move_target values ('{id}')"))
    }

    /// Removes all tables of ours from the target of a move.
    pub(super) fn clear(mut self) -> Result<()> {
        let Location::File(path) = self.location.clone() else {
            let ours = [COPIED, LEFT_OUT, &["suspended_references", "move_target"]].concat();
            return self.transaction(|side| {
                ours.iter().try_for_each(|table| {
                    side.execute(&format!("drop table if exists {} cascade", quoted(table)))
                })
            });
        };
        drop(self);
        for ending in ["", "-wal", "-shm"] {
            let mut path = path.clone();
            path.as_mut_os_string().push(ending);
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    let path = path.display();
                    return Err(Error::Unavailable(format!("cannot remove {path}: {error}")));
                }
                _ => {}
            }
        }
        Ok(())
    }
}
