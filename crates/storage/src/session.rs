//! One connection, of either kind, with every query of the store as a method.
//!
//! Queries are written once, inside [`portable!`], and compiled for each database; what differs
//! between the two stands in [`crate::sqlite`] and [`crate::postgres`].

/// A connection to ask.
pub struct Session<'c>(pub(crate) Inner<'c>);

pub(crate) enum Inner<'c> {
    #[cfg(feature = "sqlite")]
    Sqlite(&'c mut diesel::SqliteConnection),
    #[cfg(feature = "postgres")]
    Postgres(&'c mut diesel::PgConnection),
}

impl std::fmt::Debug for Session<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Session")
    }
}

#[cfg(feature = "sqlite")]
impl<'c> From<&'c mut diesel::SqliteConnection> for Session<'c> {
    fn from(connection: &'c mut diesel::SqliteConnection) -> Self {
        Self(Inner::Sqlite(connection))
    }
}

#[cfg(feature = "postgres")]
impl<'c> From<&'c mut diesel::PgConnection> for Session<'c> {
    fn from(connection: &'c mut diesel::PgConnection) -> Self {
        Self(Inner::Postgres(connection))
    }
}

impl Session<'_> {
    /// The connection, if it is one to PostgreSQL: where rows can be held against others. A transaction that writes
    /// to SQLite writes alone.
    #[cfg(feature = "postgres")]
    pub(crate) fn postgres(&mut self) -> Option<&mut diesel::PgConnection> {
        match &mut self.0 {
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(_) => None,
            Inner::Postgres(c) => Some(c),
        }
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

/// Compiles each function for both databases and makes it a method of [`Session`].
///
/// The first argument of a function is its connection. To use another query of the store on it,
/// a body says `Session::from(&mut *c)`.
macro_rules! portable {
    ($($(#[$meta:meta])* $vis:vis fn $name:ident($c:ident $(, $arg:ident: $ty:ty)* $(,)?) -> $ret:ty $body:block)*) => {
        #[cfg(feature = "sqlite")]
        mod lite {
            #[allow(unused_imports, reason = "not every query needs all that another does")]
            use super::*;
            $(pub(super) fn $name($c: &mut diesel::SqliteConnection $(, $arg: $ty)*) -> $ret $body)*
        }
        #[cfg(feature = "postgres")]
        mod pg {
            #[allow(unused_imports, reason = "not every query needs all that another does")]
            use super::*;
            $(pub(super) fn $name($c: &mut diesel::PgConnection $(, $arg: $ty)*) -> $ret $body)*
        }
        impl $crate::session::Session<'_> {
            $($(#[$meta])* $vis fn $name(&mut self $(, $arg: $ty)*) -> $ret {
                match &mut self.0 {
                    #[cfg(feature = "sqlite")]
                    $crate::session::Inner::Sqlite(c) => lite::$name(c $(, $arg)*),
                    #[cfg(feature = "postgres")]
                    $crate::session::Inner::Postgres(c) => pg::$name(c $(, $arg)*),
                }
            })*
        }
    };
}
pub(crate) use portable;

/// Calls the function of the same name in the dialect of the connection at hand.
macro_rules! dialect {
    ($session:expr, $function:ident $(, $arg:expr)*) => {
        match &mut $session.0 {
            #[cfg(feature = "sqlite")]
            $crate::session::Inner::Sqlite(c) => $crate::sqlite::$function(c $(, $arg)*),
            #[cfg(feature = "postgres")]
            $crate::session::Inner::Postgres(c) => $crate::postgres::$function(c $(, $arg)*),
        }
    };
}
pub(crate) use dialect;
