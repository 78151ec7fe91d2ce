//! One connection, of either kind, with every query of the store as a method.
//!
//! Queries are written once, in blocks with the attribute `portable`, and compiled for each database; what differs
//! between the two stands in [`crate::sqlite`] and [`crate::postgres`]. Methods of [`Reader`] only read; those that
//! write or lock are methods of [`Tx`](crate::Tx). The name of a method begins with its verb: `find`, `list` and
//! `count` read, as does a name without a verb, which is that of the record; `insert`, `update`, `set`, `delete` and
//! `lock` are of a transaction.

/// A connection to read with. The database refuses writes on it, and so does the compiler:
///
/// ```compile_fail,E0599
/// # async fn example(store: eddyline_storage::Store) {
/// store.read(|reader| reader.upsert_setting("name", b"value")).await;
/// # }
/// ```
///
/// ```
/// # async fn example(store: eddyline_storage::Store) {
/// store.write(|tx| tx.upsert_setting("name", b"value")).await;
/// # }
/// ```
pub struct Reader<'c>(pub(crate) Inner<'c>);

pub(crate) enum Inner<'c> {
    #[cfg(feature = "sqlite")]
    Sqlite(&'c mut diesel::SqliteConnection),
    #[cfg(feature = "postgres")]
    Postgres(&'c mut diesel::PgConnection),
}

impl std::fmt::Debug for Reader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reader")
    }
}

#[cfg(feature = "sqlite")]
impl<'c> From<&'c mut diesel::SqliteConnection> for Reader<'c> {
    fn from(connection: &'c mut diesel::SqliteConnection) -> Self {
        Self(Inner::Sqlite(connection))
    }
}

#[cfg(feature = "postgres")]
impl<'c> From<&'c mut diesel::PgConnection> for Reader<'c> {
    fn from(connection: &'c mut diesel::PgConnection) -> Self {
        Self(Inner::Postgres(connection))
    }
}

impl<'c> Reader<'c> {
    pub(crate) fn connection(&mut self) -> &mut Inner<'c> {
        &mut self.0
    }

    /// Changes when another connection has written to this SQLite file.
    pub(crate) fn data_version(&mut self) -> crate::Result<i64> {
        match &mut self.0 {
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(c) => crate::sqlite::data_version(c),
            #[cfg(feature = "postgres")]
            Inner::Postgres(_) => Ok(0),
        }
    }
}

/// Calls the function of the same name in the dialect of the connection at hand.
macro_rules! dialect {
    ($on:expr, $function:ident $(, $arg:expr)*) => {
        match $on.connection() {
            #[cfg(feature = "sqlite")]
            $crate::reader::Inner::Sqlite(c) => $crate::sqlite::$function(c $(, $arg)*),
            #[cfg(feature = "postgres")]
            $crate::reader::Inner::Postgres(c) => $crate::postgres::$function(c $(, $arg)*),
        }
    };
}
pub(crate) use dialect;
