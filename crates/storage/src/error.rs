//! What can go wrong with the store, in the terms of those who act on it.

use diesel::result::{DatabaseErrorKind, Error as Diesel};

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
    /// A rule of the store's own would be broken by a write, which was rolled back. Those of its callers are
    /// [`Undone::Because`](crate::Undone::Because).
    #[error("refused: {0}")]
    Refused(&'static str),
    /// The database's address cannot be used.
    #[error("database URL: {0}")]
    Url(String),
    /// The schema could not be brought up to date.
    #[error("migrations: {0}")]
    Migration(String),
    /// Anything else the database said, which points at a mistake of ours.
    #[error("database: {0}")]
    Database(#[source] Diesel),
    /// A row holds what it never should.
    #[error("stored data cannot be read: {0}")]
    Corrupt(&'static str),
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
            Self::Corrupt(what) => Self::Corrupt(what),
            other => Self::Unavailable(other.to_string()),
        }
    }

    /// The same of a read, whose statement was interrupted when its deadline passed.
    pub(crate) fn of_read(self) -> Self {
        match self {
            Self::Unavailable(why) if why.contains("canceling statement") => Self::Deadline,
            Self::Database(Diesel::DatabaseError(_, info)) if info.message() == "interrupted" => {
                Self::Deadline
            }
            other => other,
        }
    }

    /// Whether a single item of a batch may be to blame, so that the others deserve a try of their own.
    pub(crate) fn may_be_of_one(&self) -> bool {
        !matches!(self, Self::Unavailable(_) | Self::DiskFull | Self::Busy)
    }

    /// Whether transactions got in each other's way, so that trying again is the answer.
    pub(crate) fn is_contention(&self) -> bool {
        match self {
            Self::Database(Diesel::DatabaseError(DatabaseErrorKind::SerializationFailure, _)) => true,
            Self::Database(Diesel::DatabaseError(_, info)) => info.message().contains("deadlock"),
            _ => false,
        }
    }
}

impl From<Diesel> for Error {
    fn from(error: Diesel) -> Self {
        match &error {
            Diesel::DatabaseError(kind, info) => {
                let message = info.message();
                match kind {
                    DatabaseErrorKind::UniqueViolation => Self::Exists(message.to_owned()),
                    DatabaseErrorKind::ClosedConnection | DatabaseErrorKind::UnableToSendCommand => {
                        Self::Unavailable(message.to_owned())
                    }
                    _ if is_disk_full(message) => Self::DiskFull,
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
        Self::Unavailable(error.to_string())
    }
}

fn is_disk_full(message: &str) -> bool {
    message.contains("disk is full") || message.contains("No space left on device")
}

// Neither library gives these a kind of their own.
fn is_unavailable(message: &str) -> bool {
    [
        "database is locked",
        "server closed the connection",
        "no connection to the server",
        "terminating connection",
        "the database system is",
        "could not connect",
        "connection to server",
        "Connection refused",
        "SSL connection has been closed",
        "could not receive data",
        "could not send data",
        "remaining connection slots",
        "too many clients",
        "canceling statement",
        "disk I/O error",
        "unable to open database file",
        "readonly database",
    ]
    .iter()
    .any(|text| message.contains(text))
}
