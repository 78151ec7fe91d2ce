use std::collections::BTreeMap;

use super::dump::each;
use super::{COPIED, Described, Table};
use crate::connect::{Location, connect_as_is};
use crate::reader::Inner;
use crate::{Error, Result, Store};

/// An empty database that is being filled. Nothing of it is there before [`Store::load`] returns.
pub struct Load<'c> {
    pub(super) c: Inner<'c>,
    described: Vec<Described>,
}

impl Store {
    /// Whether there is no database at `url`, or one without tables, which [`Store::load`] fills.
    ///
    /// Blocks while it connects.
    ///
    /// # Errors
    ///
    /// [`Error::Url`] and [`Error::Unavailable`].
    pub fn is_empty(url: &str) -> Result<bool> {
        if !Self::exists(url)? {
            return Ok(true);
        }
        let mut connection = connect_as_is(&Location::parse(url)?)?;
        let mut reader = connection.reader();
        let mut load = Load {
            c: crate::reader::Connected::connection(&mut reader),
            described: Vec::new(),
        };
        each!(load, is_empty)
    }

    /// Fills the empty database at `url` with rows of the schema that a dump had, and brings it up
    /// to date. All is done in one transaction.
    ///
    /// Stream ids of before do not hold afterwards: each event of the log gets another check value,
    /// so that listeners which knew of later events start anew.
    ///
    /// Blocks for as long as that takes.
    ///
    /// # Errors
    ///
    /// What `fill` answers; [`Error::NotEmpty`] when the database has tables, [`Error::Migration`]
    /// for a schema that this version does not know, and [`Error::Unavailable`].
    pub fn load<R, E: From<Error>>(
        url: &str,
        schema: &str,
        sequences: &BTreeMap<String, i64>,
        fill: impl FnOnce(&mut Load<'_>) -> std::result::Result<R, E>,
    ) -> std::result::Result<R, E> {
        let location = Location::parse(url)?;
        let mut connection = connect_as_is(&location)?;
        let mut reader = connection.reader();
        let mut load = Load {
            c: crate::reader::Connected::connection(&mut reader),
            described: Vec::new(),
        };
        each!(load, begin_to_load)?;
        if !each!(load, is_empty)? {
            return Err(Error::NotEmpty.into());
        }
        each!(load, migrate_through, schema)?;
        load.described = each!(load, describe)?;
        load.clear()?;
        let filled = fill(&mut load)?;
        load.finish(sequences)?;
        Ok(filled)
    }
}

impl Load<'_> {
    /// Migrations fill tables, too.
    fn clear(&mut self) -> Result<()> {
        each!(self, suspend_references)?;
        let described = self.described.iter();
        for table in described.filter(|table| COPIED.contains(&table.name.as_str())) {
            each!(self, clear, &table.name)?;
        }
        Ok(())
    }

    /// Adds rows of a table, each an array in JSON as a dump gives it, with values for these columns.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] for a table or a column that there is not, [`Error::Exists`], and
    /// [`Error::Database`] for what is no such row.
    pub fn insert(&mut self, table: &Table, rows: &[String]) -> Result<()> {
        let described = self.described.iter().find(|known| known.name == table.name);
        let described = described.filter(|known| COPIED.contains(&known.name.as_str()));
        let described = described.ok_or(Error::Corrupt("no such table"))?;
        let columns = described.columns_like(&table.columns)?;
        let rows = format!("[{}]", rows.join(","));
        each!(self, insert, &table.name, &columns, &rows)
    }

    /// Keeps the key that secrets of applications are sealed with, which is not among the rows.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`].
    pub fn set_secret_key(&mut self, key: &[u8]) -> Result<()> {
        use crate::schema::settings;
        use diesel::{ExpressionMethods as _, RunQueryDsl as _};
        let row = (
            settings::name.eq(crate::SECRET_KEY_SETTING),
            settings::value.eq(key),
        );
        let insert = diesel::insert_into(settings::table)
            .values(row)
            .on_conflict(settings::name)
            .do_update()
            .set(settings::value.eq(key));
        match &mut self.c {
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(c) => insert.execute(*c)?,
            #[cfg(feature = "postgres")]
            Inner::Postgres(c) => insert.execute(*c)?,
        };
        Ok(())
    }

    fn finish(&mut self, sequences: &BTreeMap<String, i64>) -> Result<()> {
        each!(self, set_sequences, sequences)?;
        each!(self, resume_references)?;
        each!(self, migrate)?;
        each!(self, renew_check_values)?;
        each!(self, rebuild_search)?;
        each!(self, commit)
    }
}

impl std::fmt::Debug for Load<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Load")
    }
}
