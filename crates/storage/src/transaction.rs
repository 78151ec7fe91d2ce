//! A writing transaction: what it may do, and how it ends.

use std::convert::Infallible;
use std::sync::Arc;

use diesel::connection::{AnsiTransactionManager, TransactionManager};
use eddyline_model::Timestamp;
use eddyline_model::audit::{AuditAuthor, AuditEntry};
use eddyline_model::log::{Control, EventId, LogBody};
use eddyline_model::messages::MessageView;

use crate::reader::{Access, Connected, Inner, Reader};
use crate::{Error, Result};

/// How a transaction ends when it does not give what it was run for. Nothing that it wrote is kept,
/// except by [`Abort::Commit`].
#[derive(Debug)]
pub enum Abort<E> {
    /// The store could not do it.
    Store(Error),
    /// The closure decided against it, for this reason.
    Rejected(E),
    /// The closure decided against it for this reason, but what it wrote is committed: a stolen
    /// token is refused *and* its family revoked. Closures make it by [`Abort::commit`].
    Commit {
        /// The reason.
        reason: E,
        /// The position of the last event of the transaction, once it is committed.
        event: Option<EventId>,
    },
}

impl<E> Abort<E> {
    /// Decides against what was asked for this reason, and commits what was written.
    pub fn commit(reason: E) -> Self {
        Self::Commit {
            reason,
            event: None,
        }
    }
}

impl Abort<Infallible> {
    /// The error of the store, where there is no other reason.
    #[must_use]
    pub fn into_store_error(self) -> Error {
        match self {
            Self::Store(error) => error,
            Self::Rejected(never) | Self::Commit { reason: never, .. } => match never {},
        }
    }
}

impl<E> From<Error> for Abort<E> {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

/// Why a transaction is rolled back.
pub(crate) enum Rollback<E> {
    /// The store could not do it.
    Store(Error),
    /// The work decided against it.
    Rejected(E),
}

impl<E> From<Error> for Rollback<E> {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

/// A writing transaction under way: everything that a [`Reader`] can do, the methods of the areas
/// that write, and the events of the log that the transaction adds.
#[derive(Debug)]
pub struct Tx<'c> {
    reader: Reader<'c>,
    pending_events: Vec<LogBody>,
    pending_audit: Vec<AuditEntry>,
    author: AuditAuthor,
    now: Timestamp,
}

impl<'c> Tx<'c> {
    fn new(reader: Reader<'c>, now: Timestamp) -> Self {
        Self {
            reader,
            pending_events: Vec::new(),
            pending_audit: Vec::new(),
            author: AuditAuthor::default(),
            now,
        }
    }

    pub(crate) fn connection(&mut self) -> Inner<'_> {
        Connected::connection(&mut self.reader)
    }

    /// The connection, if it is one to PostgreSQL, where rows are locked against others. A
    /// transaction that writes to SQLite writes alone.
    #[cfg(feature = "postgres")]
    pub(crate) fn postgres(&mut self) -> Option<&mut diesel::PgConnection> {
        match self.connection() {
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(_) => None,
            Inner::Postgres(c) => Some(c),
        }
    }

    /// When the transaction began.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Adds an entry to the log that is no message.
    pub fn record_event(&mut self, control: Control) {
        self.pending_events.push(LogBody::Control(control));
    }

    /// For whom the transaction writes, as records of the audit log name them. Without it, that is
    /// the server itself.
    pub fn set_author(&mut self, author: AuditAuthor) {
        self.author = author;
    }

    /// Returns the actor of this transaction.
    #[must_use]
    pub fn actor(&self) -> &str {
        &self.author.actor
    }

    /// Who acts in this transaction, once that is known: the author of its records, who keeps the
    /// address.
    pub fn set_actor(&mut self, actor: impl Into<String>) {
        self.author.actor = actor.into();
    }

    /// Adds a record to the audit log.
    pub(crate) fn record_audit(&mut self, entry: AuditEntry) {
        self.pending_audit.push(entry);
    }

    /// The records that are not in the audit log yet, which are to be written last of all, and for
    /// whom the transaction writes.
    pub(crate) fn take_audit(&mut self) -> (Vec<AuditEntry>, AuditAuthor) {
        let author = std::mem::take(&mut self.author);
        (std::mem::take(&mut self.pending_audit), author)
    }

    /// Adds the entry of a message to the log.
    pub(crate) fn record_message(&mut self, message: Arc<MessageView>) {
        self.pending_events.push(LogBody::Message(Some(message)));
    }

    /// The events that are not in the log yet, which are to be written last of all.
    pub(crate) fn take_events(&mut self) -> Vec<LogBody> {
        std::mem::take(&mut self.pending_events)
    }
}

impl Access for Tx<'_> {}

impl Connected for Tx<'_> {
    fn connection(&mut self) -> Inner<'_> {
        self.connection()
    }
}

impl<'c> std::ops::Deref for Tx<'c> {
    type Target = Reader<'c>;
    fn deref(&self) -> &Reader<'c> {
        &self.reader
    }
}

impl<'c> std::ops::DerefMut for Tx<'c> {
    fn deref_mut(&mut self) -> &mut Reader<'c> {
        &mut self.reader
    }
}

/// How a transaction failed.
pub(crate) enum TransactionError<E> {
    /// Before the commit was sent: nothing of it is there.
    Before(Rollback<E>),
    /// While the commit was under way: it may be there, unless the database said otherwise.
    AtCommit(Error),
}

/// Runs `work` in a writing transaction on this connection.
pub(crate) fn transact<T, E>(
    reader: Reader<'_>,
    now: Timestamp,
    work: impl FnOnce(&mut Tx<'_>) -> std::result::Result<T, Rollback<E>>,
) -> std::result::Result<T, TransactionError<E>> {
    let mut tx = Tx::new(reader, now);
    tx.begin()
        .map_err(|error| TransactionError::Before(error.into()))?;
    match work(&mut tx) {
        Ok(value) => match tx.commit() {
            Ok(()) => Ok(value),
            Err(error) => {
                tx.rollback();
                Err(TransactionError::AtCommit(error))
            }
        },
        Err(why) => {
            tx.rollback();
            Err(TransactionError::Before(why))
        }
    }
}

impl Tx<'_> {
    fn begin(&mut self) -> Result<()> {
        match self.connection() {
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(c) => crate::sqlite::begin(c),
            #[cfg(feature = "postgres")]
            Inner::Postgres(c) => {
                // A hot standby refuses to begin a writing transaction. diesel gives no SQLSTATE
                // for it, and a BEGIN fails for no reason that is the caller's.
                AnsiTransactionManager::begin_transaction_sql(c, "begin read write")
                    .map_err(|error| Error::Unavailable(error.to_string()))
            }
        }
    }

    fn commit(&mut self) -> Result<()> {
        match self.connection() {
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(c) => Ok(AnsiTransactionManager::commit_transaction(c)?),
            #[cfg(feature = "postgres")]
            Inner::Postgres(c) => Ok(AnsiTransactionManager::commit_transaction(c)?),
        }
    }

    // A connection that cannot even roll back is given up by its holder.
    fn rollback(&mut self) {
        let outcome = match self.connection() {
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(c) => AnsiTransactionManager::rollback_transaction(c),
            #[cfg(feature = "postgres")]
            Inner::Postgres(c) => AnsiTransactionManager::rollback_transaction(c),
        };
        if let Err(error) = outcome {
            tracing::debug!(%error, "a transaction could not be rolled back");
        }
    }
}
