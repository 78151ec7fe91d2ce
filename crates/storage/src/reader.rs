//! One connection, of either kind.
//!
//! The queries are methods of the [area handles](crate::areas). They are written once, in blocks
//! with the attribute `portable`, and compiled for each database; what differs between the two
//! stands in [`crate::sqlite`] and [`crate::postgres`].

/// A connection to read with. The database refuses writes on it, and so does the compiler:
///
/// ```compile_fail,E0599
/// # async fn example(store: eddyline_storage::Store) {
/// store.read(|reader| reader.settings().upsert("name", b"value")).await;
/// # }
/// ```
///
/// ```
/// # async fn example(store: eddyline_storage::Store) {
/// store.write(|tx| tx.settings().upsert("name", b"value")).await;
/// # }
/// ```
pub struct Reader<'c>(pub(crate) Inner<'c>);

/// A connection to one of the databases.
pub enum Inner<'c> {
    /// To SQLite.
    #[cfg(feature = "sqlite")]
    Sqlite(&'c mut diesel::SqliteConnection),
    /// To PostgreSQL.
    #[cfg(feature = "postgres")]
    Postgres(&'c mut diesel::PgConnection),
}

/// What an area handle reads with: a [`Reader`] or a [`Tx`](crate::Tx).
pub trait Access: Connected {}

/// What has a connection. The trait cannot be named outside of the crate, so that no other type can
/// be an [`Access`], and no other crate can reach the connection of one.
pub trait Connected {
    /// The connection.
    fn connection(&mut self) -> Inner<'_>;
}

impl Access for Reader<'_> {}

impl Connected for Reader<'_> {
    fn connection(&mut self) -> Inner<'_> {
        match &mut self.0 {
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(c) => Inner::Sqlite(c),
            #[cfg(feature = "postgres")]
            Inner::Postgres(c) => Inner::Postgres(c),
        }
    }
}

impl std::fmt::Debug for Reader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reader")
    }
}

/// For tests that look at the statements which a connection of theirs is sent. A
/// [`Store`](crate::Store) gives readers of its own.
#[cfg(feature = "sqlite")]
impl<'c> From<&'c mut diesel::SqliteConnection> for Reader<'c> {
    fn from(connection: &'c mut diesel::SqliteConnection) -> Self {
        Self(Inner::Sqlite(connection))
    }
}

/// For tests, as the one from a connection to SQLite.
#[cfg(feature = "postgres")]
impl<'c> From<&'c mut diesel::PgConnection> for Reader<'c> {
    fn from(connection: &'c mut diesel::PgConnection) -> Self {
        Self(Inner::Postgres(connection))
    }
}

impl Reader<'_> {
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

/// Calls the function of the same name in the dialect of the connection of an area handle.
macro_rules! dialect {
    ($handle:expr, $function:ident $(, $arg:expr)*) => {
        match $crate::reader::Connected::connection(&mut *$handle.0) {
            #[cfg(feature = "sqlite")]
            $crate::reader::Inner::Sqlite(c) => $crate::sqlite::$function(c $(, $arg)*),
            #[cfg(feature = "postgres")]
            $crate::reader::Inner::Postgres(c) => $crate::postgres::$function(c $(, $arg)*),
        }
    };
}
pub(crate) use dialect;
