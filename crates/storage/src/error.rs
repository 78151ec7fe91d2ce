//! What can go wrong with the store, in the terms of those who act on it.

use std::time::Duration;

use diesel::result::{DatabaseErrorInformation, DatabaseErrorKind, Error as Diesel};

/// How long a statement that writes to PostgreSQL waits for a lock.
pub(crate) const LOCK_TIME: Duration = Duration::from_secs(10);

/// What triggers say that refuse writes after a move.
pub(crate) const WRITE_REFUSED: &str = "eddyline: the data was moved into another database";

/// An error of the store.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database does not answer, or went away while it was asked. Trying later may help; what
    /// was being written may or may not be there.
    #[error("the database is unavailable: {0}")]
    Unavailable(String),
    /// More writes wait than the queue holds.
    #[error("too many writes are waiting")]
    Busy,
    /// As many reads of this caller wait as may.
    #[error("too many reads of this caller are waiting")]
    TooManyReads,
    /// As many writes of this caller wait as may.
    #[error("too many writes of this caller are waiting")]
    TooManyWrites,
    /// A read took longer than it may and was interrupted.
    #[error("the read took too long")]
    Deadline,
    /// No room is left for data.
    #[error("the disk is full")]
    DiskFull,
    /// Something with the same unique name is there already.
    #[error("it exists already: {0}")]
    Exists(String),
    /// The database to be filled has tables.
    #[error("the database is not empty")]
    NotEmpty,
    /// The data was moved into another database, so that this one takes no writes.
    #[error("the data was moved into another database")]
    Moved,
    /// The data of another database is moved into this one, and not all of it is here.
    #[error(
        "a move of data into this database is not complete; `eddyline move` completes it or gives it up"
    )]
    IncompleteMove,
    /// A table of the target of a move is not like that of the source.
    #[error("the copy of the table {0} differs; give the move up and begin it again")]
    CopyDiffers(String),
    /// A rule of the store's own would be broken by a write, which was rolled back. Those of its
    /// callers are [`Abort::Rejected`](crate::Abort::Rejected).
    #[error("refused: {0}")]
    Refused(&'static str),
    /// The database's address cannot be used.
    #[error("database URL: {0}")]
    Url(String),
    /// A migration failed, and changed nothing.
    #[error("migrations: {0}")]
    Migration(String),
    /// The tables are those of a newer version.
    #[error(
        "a newer version of Eddyline has made the tables: this version does not know their migration {migration}. \
         Install that version or a later one, or restore a backup of before the upgrade into an empty place"
    )]
    NewerSchema {
        /// The first migration that this version does not know.
        migration: String,
    },
    /// The tables are those of an older version, and were not to be upgraded.
    #[error(
        "an older version of Eddyline has made the tables: they lack the migration {migration}. Use the program of \
         that version, or start `eddyline serve` of this version first, which upgrades them"
    )]
    OlderSchema {
        /// The first migration that they lack.
        migration: String,
    },
    /// Servers run that a migration would disturb. It was not begun.
    #[error(
        "the tables cannot be upgraded while servers of an older version run: migration {migration} would disturb \
         them, and {count} showed a sign of life within the last 12 seconds. Stop every server of the database, \
         then start this version"
    )]
    ServersRun {
        /// The migration.
        migration: String,
        /// How many servers run.
        count: i64,
    },
    /// A migration was taken back after waiting, mostly for a table that another transaction holds.
    #[error(
        "migration {migration} changed nothing, since it could not be done in time: {reason}. When another \
         transaction holds a table, end that one (pg_stat_activity shows it), then start again"
    )]
    TablesLocked {
        /// The migration.
        migration: String,
        /// What the database said.
        reason: String,
    },
    /// Anything else the database said, which points at a mistake of ours.
    #[error("database: {0}")]
    Database(#[source] Diesel),
    /// A closure panicked. The log has the place.
    #[error("{0} panicked")]
    Panicked(&'static str),
    /// A row holds what it never should.
    #[error("stored data cannot be read: {0}")]
    Corrupt(&'static str),
    /// A row of the log is of a kind that this version does not know, or holds what it never
    /// should.
    #[error(
        "row {seq} of the log is of kind {kind}, which this version cannot read; a newer version may have written it"
    )]
    LogRow {
        /// Its position.
        seq: i64,
        /// Its kind.
        kind: i16,
    },
}

/// The result of asking the store.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// The same answer for the next one in a batch that failed as a whole.
    pub(crate) fn again(&self) -> Self {
        match self {
            Self::Busy => Self::Busy,
            Self::DiskFull => Self::DiskFull,
            Self::Refused(why) => Self::Refused(why),
            Self::Moved => Self::Moved,
            Self::Corrupt(what) => Self::Corrupt(what),
            Self::Panicked(what) => Self::Panicked(what),
            other => Self::Unavailable(other.to_string()),
        }
    }

    /// The same of a read whose deadline has passed or not. What interrupted its statement then has
    /// no kind of its own, and a text in the language of the database.
    pub(crate) fn of_read(self, deadline_has_passed: bool) -> Self {
        if deadline_has_passed && self.is_unnamed() {
            Self::Deadline
        } else {
            self
        }
    }

    /// The same of a transaction on PostgreSQL that took so long. What ends one that has waited for
    /// a lock for as long as it may has no kind of its own either.
    pub(crate) fn of_write(self, took: Duration) -> Self {
        if took >= LOCK_TIME && self.is_unnamed() {
            Self::Unavailable(self.to_string())
        } else {
            self
        }
    }

    /// Whether a single item of a batch may be to blame, so that the others deserve a try of their
    /// own.
    pub(crate) fn may_be_of_one(&self) -> bool {
        !matches!(
            self,
            Self::Unavailable(_) | Self::DiskFull | Self::Busy | Self::Moved
        )
    }

    /// Whether the write met what is there already, which is no fault of the database.
    pub(crate) fn is_conflict(&self) -> bool {
        matches!(self, Self::Exists(_) | Self::Refused(_))
    }

    /// Whether transactions got in each other's way, so that trying again is the answer.
    pub(crate) fn is_contention(&self) -> bool {
        matches!(
            self,
            Self::Database(Diesel::DatabaseError(
                DatabaseErrorKind::SerializationFailure,
                _
            ))
        )
    }

    /// Whether the database reported an error to which the driver gives no kind. On PostgreSQL that
    /// may be anything that ended the transaction: a deadlock, or an operator who cancelled it, or
    /// a mistake of ours. The driver shows nothing of those but their text, which is in the
    /// language of the server, so that nothing is concluded from it. Each of them took the
    /// transaction back, so that trying again does no harm.
    pub(crate) fn is_unnamed(&self) -> bool {
        matches!(self, Self::Database(Diesel::DatabaseError(kind, _)) if !is_named(kind))
    }
}

impl From<Diesel> for Error {
    fn from(error: Diesel) -> Self {
        match &error {
            Diesel::DatabaseError(kind, info) => {
                let message = info.message();
                match kind {
                    _ if message.contains(WRITE_REFUSED) => Self::Moved,
                    DatabaseErrorKind::UniqueViolation => Self::Exists(message.to_owned()),
                    // The last is a server that only follows another, such as one that took its
                    // place.
                    DatabaseErrorKind::ClosedConnection
                    | DatabaseErrorKind::UnableToSendCommand
                    | DatabaseErrorKind::ReadOnlyTransaction => {
                        Self::Unavailable(message.to_owned())
                    }
                    _ if is_disk_full(info.as_ref()) => Self::DiskFull,
                    _ if is_unavailable(message) => Self::Unavailable(message.to_owned()),
                    _ => Self::Database(error),
                }
            }
            Diesel::BrokenTransactionManager => Self::Unavailable(error.to_string()),
            _ => Self::Database(error),
        }
    }
}

impl From<r2d2::Error> for Error {
    fn from(error: r2d2::Error) -> Self {
        #[cfg(feature = "postgres")]
        let text = eddyline_postgres_tls::without_socket(&error.to_string());
        #[cfg(not(feature = "postgres"))]
        let text = error.to_string();
        Self::Unavailable(text)
    }
}

/// Whether the driver has found out what kind of error it is, from its code.
fn is_named(kind: &DatabaseErrorKind) -> bool {
    matches!(
        kind,
        DatabaseErrorKind::UniqueViolation
            | DatabaseErrorKind::ForeignKeyViolation
            | DatabaseErrorKind::UnableToSendCommand
            | DatabaseErrorKind::SerializationFailure
            | DatabaseErrorKind::ReadOnlyTransaction
            | DatabaseErrorKind::RestrictViolation
            | DatabaseErrorKind::NotNullViolation
            | DatabaseErrorKind::CheckViolation
            | DatabaseErrorKind::ExclusionViolation
            | DatabaseErrorKind::ClosedConnection
    )
}

/// SQLite says so in English. PostgreSQL says it in the language of the server, but names in each
/// the file of a table that it could not make longer, between quotes, and gives a hint. That it
/// could not write a temporary file has no hint. Other causes of the same two errors, such as a
/// disk that fails, are taken for a full disk.
fn is_disk_full(info: &dyn DatabaseErrorInformation) -> bool {
    let message = info.message();
    // The quotes around a path are those of the language. An error about a file that ends with its
    // path has another cause.
    let is_quoted_file = |text: &str| {
        let end = text.find(|c: char| !c.is_ascii_alphanumeric() && !"/._".contains(c));
        text.starts_with(|first: char| first.is_ascii_digit()) && end.is_some()
    };
    let mut paths = ["base/", "global/", "pg_tblspc/"]
        .into_iter()
        .flat_map(|folder| message.split(folder).skip(1));
    message.contains("disk is full")
        || message.contains("No space left on device")
        || (info.hint().is_some() && paths.any(is_quoted_file))
        || message.contains("/pgsql_tmp/")
}

/// Texts of the libraries in this process, which are always in English and have no kind of their
/// own: first those of SQLite, then those of PostgreSQL's client.
fn is_unavailable(message: &str) -> bool {
    [
        "database is locked",
        "disk I/O error",
        "unable to open database file",
        "readonly database",
        "server closed the connection",
        "no connection to the server",
        "could not connect",
        "connection to server",
        "Connection refused",
        "SSL connection has been closed",
        "could not receive data",
        "could not send data",
    ]
    .iter()
    .any(|text| message.contains(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(11);
    const SHORT: Duration = Duration::from_millis(9);

    fn database(kind: DatabaseErrorKind, text: &str) -> Error {
        Diesel::DatabaseError(kind, Box::new(text.to_owned())).into()
    }

    fn unnamed(text: &str) -> Error {
        database(DatabaseErrorKind::Unknown, text)
    }

    #[test]
    fn what_ended_a_statement_is_known_by_its_time_in_any_language() {
        for text in [
            "canceling statement due to statement timeout",
            "storniere Anfrage",
            "выполнение оператора отменено",
        ] {
            assert!(
                matches!(unnamed(text).of_read(true), Error::Deadline),
                "{text}"
            );
            assert!(
                matches!(unnamed(text).of_read(false), Error::Database(_)),
                "{text}"
            );
            assert!(
                matches!(unnamed(text).of_write(LONG), Error::Unavailable(_)),
                "{text}"
            );
            assert!(
                matches!(unnamed(text).of_write(SHORT), Error::Database(_)),
                "{text}"
            );
        }
    }

    /// An error of PostgreSQL, with or without a hint.
    struct OfPostgres(&'static str, Option<&'static str>);

    impl DatabaseErrorInformation for OfPostgres {
        fn message(&self) -> &str {
            self.0
        }

        fn details(&self) -> Option<&str> {
            None
        }

        fn hint(&self) -> Option<&str> {
            self.1
        }

        fn table_name(&self) -> Option<&str> {
            None
        }

        fn column_name(&self) -> Option<&str> {
            None
        }

        fn constraint_name(&self) -> Option<&str> {
            None
        }

        fn statement_position(&self) -> Option<i32> {
            None
        }
    }

    #[test]
    fn a_full_disk_is_known_in_any_language() {
        for (text, hint, is_full) in [
            (
                "konnte Datei »base/16384/16390« nicht erweitern: Kein Platz",
                Some("Prüfen Sie den Platz."),
                true,
            ),
            (
                "could not extend file \"base/16384/16390\": No space left on device",
                None,
                true,
            ),
            (
                "konnte nicht in Datei »base/pgsql_tmp/pgsql_tmp7.0« schreiben",
                None,
                true,
            ),
            (
                "konnte Block 7 in Datei »base/16384/16390« nicht lesen",
                None,
                false,
            ),
            (
                "unexpected data beyond EOF in block 7 of relation base/16384/16390",
                Some("A buggy kernel?"),
                false,
            ),
            (
                "Relation »base« existiert nicht",
                Some("Meinten Sie etwas anderes?"),
                false,
            ),
        ] {
            let error =
                Diesel::DatabaseError(DatabaseErrorKind::Unknown, Box::new(OfPostgres(text, hint)));
            assert_eq!(
                matches!(Error::from(error), Error::DiskFull),
                is_full,
                "{text}"
            );
        }
    }

    #[test]
    fn an_error_that_the_driver_knows_is_that_however_long_it_took() {
        let taken = || {
            database(
                DatabaseErrorKind::UniqueViolation,
                "doppelter Schlüsselwert",
            )
        };
        assert!(matches!(taken().of_read(true), Error::Exists(_)));
        assert!(matches!(taken().of_write(LONG), Error::Exists(_)));
        let broken = || {
            database(
                DatabaseErrorKind::ForeignKeyViolation,
                "verletzt Fremdschlüssel",
            )
        };
        assert!(matches!(broken().of_read(true), Error::Database(_)));
        assert!(!broken().is_unnamed() && !broken().is_contention());
        assert!(matches!(
            Error::Refused("no").of_write(LONG),
            Error::Refused(_)
        ));
    }

    #[test]
    fn what_is_worth_another_try_is_known_without_its_text() {
        assert!(
            database(
                DatabaseErrorKind::SerializationFailure,
                "kann Zugriff nicht serialisieren"
            )
            .is_contention()
        );
        assert!(unnamed("Verklemmung entdeckt").is_unnamed());
        for kind in [
            DatabaseErrorKind::ClosedConnection,
            DatabaseErrorKind::ReadOnlyTransaction,
        ] {
            assert!(matches!(
                database(kind, "breche Verbindung ab"),
                Error::Unavailable(_)
            ));
        }
    }
}
