use std::collections::BTreeMap;

use super::{COPIED, Described, Table};
use crate::connect::{Connection, Location, connect};
use crate::reader::{Inner, Reader};
use crate::{Error, Result, Store};

/// All tables as they were at one moment. Others write meanwhile; a long dump of an SQLite file
/// keeps its write-ahead log from being emptied.
pub struct Dump<'c> {
    pub(super) c: Inner<'c>,
    described: Vec<Described>,
}

/// An object whose bytes belong to a copy.
#[derive(Clone, Debug, PartialEq, Eq, diesel::QueryableByName)]
pub struct DumpedObject {
    /// The key under which the bytes are kept.
    #[diesel(sql_type = diesel::sql_types::Text)]
    pub key: String,
    /// How many there are.
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    pub size: i64,
    /// Their SHA-256.
    #[diesel(sql_type = diesel::sql_types::Binary)]
    pub digest: Vec<u8>,
}

/// Calls the function of the same name for the database of a dump or load.
macro_rules! each {
    ($of:expr, $function:ident $(, $arg:expr)*) => {
        match &mut $of.c {
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(c) => super::sqlite::$function(c $(, $arg)*),
            #[cfg(feature = "postgres")]
            Inner::Postgres(c) => super::postgres::$function(c $(, $arg)*),
        }
    };
}
pub(super) use each;

impl Store {
    /// Reads with the queries of all areas, as everything is at one moment.
    ///
    /// Blocks for as long as that takes. A database in memory cannot be read so.
    ///
    /// # Errors
    ///
    /// What `read` answers, and [`Error::Unavailable`].
    pub fn snapshot<R, E: From<Error>>(
        &self,
        read: impl FnOnce(&mut Reader<'_>) -> std::result::Result<R, E>,
    ) -> std::result::Result<R, E> {
        let mut connection = self.connect_to_copy()?;
        let mut reader = connection.reader();
        let mut snapshot = Dump {
            c: crate::reader::Connected::connection(&mut reader),
            described: Vec::new(),
        };
        each!(snapshot, begin_to_read)?;
        // The connection ends here, and the transaction with it.
        read(&mut reader)
    }

    fn connect_to_copy(&self) -> Result<Connection> {
        if matches!(self.location(), Location::Memory) {
            return Err(Error::Unavailable(
                "a database in memory is not copied".to_owned(),
            ));
        }
        connect(self.location(), self.connections())
    }

    /// Reads all tables as they are at one moment.
    ///
    /// Blocks for as long as that takes. A database in memory cannot be dumped.
    ///
    /// # Errors
    ///
    /// What `read` answers, and [`Error::Unavailable`].
    pub fn dump<R, E: From<Error>>(
        &self,
        read: impl FnOnce(&mut Dump<'_>) -> std::result::Result<R, E>,
    ) -> std::result::Result<R, E> {
        let mut connection = self.connect_to_copy()?;
        let mut reader = connection.reader();
        let mut dump = Dump {
            c: crate::reader::Connected::connection(&mut reader),
            described: Vec::new(),
        };
        each!(dump, begin_to_read)?;
        dump.described = dump.describe()?;
        // The connection ends here, and the transaction with it.
        read(&mut dump)
    }
}

impl Dump<'_> {
    fn describe(&mut self) -> Result<Vec<Described>> {
        let mut found = each!(self, describe)?;
        found.retain(|table| COPIED.contains(&table.name.as_str()));
        Ok(found.into_iter().map(Described::of_dump).collect())
    }

    /// The tables that a copy has, by name.
    #[must_use]
    pub fn tables(&self) -> Vec<Table> {
        self.described.iter().map(Described::table).collect()
    }

    /// The version of the newest migration that the database has.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`].
    pub fn schema(&mut self) -> Result<String> {
        each!(self, newest_migration)
    }

    /// How many events the log has had.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`].
    pub fn log_position(&mut self) -> Result<i64> {
        each!(self, log_position)
    }

    /// The highest number that each table has given to a row, also to one that is gone.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`].
    pub fn sequences(&mut self) -> Result<BTreeMap<String, i64>> {
        each!(self, sequences)
    }

    /// The objects whose bytes belong to the copy.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`].
    pub fn objects(&mut self) -> Result<Vec<DumpedObject>> {
        each!(self, objects)
    }

    /// Gives the rows of a table one by one, ordered by its key.
    ///
    /// # Errors
    ///
    /// What `row` answers, and [`Error::Unavailable`].
    pub fn rows<E: From<Error>>(
        &mut self,
        table: &str,
        row: impl FnMut(String) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let described = self.described.iter().find(|known| known.name == table);
        let described = described.ok_or(Error::Corrupt("no such table"))?;
        each!(self, rows, described, row)
    }
}

impl std::fmt::Debug for Dump<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Dump")
    }
}
