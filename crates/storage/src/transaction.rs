//! A writing transaction: what it may do, and how it ends.

use diesel::connection::{AnsiTransactionManager, TransactionManager};
use eddyline_model::Timestamp;
use eddyline_model::log::{Control, LogBody, LogItem};
use eddyline_model::messages::Draft;

use crate::append::Outcome;
use crate::log::{NewRow, new_row};
use crate::reader::{Inner, Reader};
use crate::work::Abort;
use crate::{Error, Result};

/// A writing transaction under way: everything that a [`Reader`] can do, the methods that write, and the events of
/// the log that the transaction adds.
#[derive(Debug)]
pub struct Tx<'c> {
    reader: Reader<'c>,
    pending_events: Vec<LogBody>,
    now: Timestamp,
}

impl<'c> Tx<'c> {
    fn new(reader: Reader<'c>, now: Timestamp) -> Self {
        Self { reader, pending_events: Vec::new(), now }
    }

    pub(crate) fn connection(&mut self) -> &mut Inner<'c> {
        self.reader.connection()
    }

    /// The connection, if it is one to PostgreSQL, where rows are locked against others. A transaction that writes
    /// to SQLite writes alone.
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

    /// Adds messages and their log entries.
    pub fn post(&mut self, drafts: &[Draft]) -> Result<Vec<Outcome>> {
        self.post_if(drafts, |_| true)
    }

    /// The same, but those that are not admitted are [`Outcome::Stale`].
    pub(crate) fn post_if(
        &mut self,
        drafts: &[Draft],
        admits: impl Fn(&Draft) -> bool,
    ) -> Result<Vec<Outcome>> {
        let outcomes = self.append_messages(drafts, admits)?;
        for outcome in &outcomes {
            if let Outcome::Added(view) = outcome {
                self.pending_events.push(LogBody::Message(Some(view.clone())));
            }
        }
        Ok(outcomes)
    }

    /// Adds an entry to the log that is no message.
    pub fn record_event(&mut self, control: Control) {
        self.pending_events.push(LogBody::Control(control));
    }

    /// Writes the events to the log, last of all.
    pub(crate) fn finish(&mut self) -> Result<Vec<LogItem>> {
        let events = std::mem::take(&mut self.pending_events);
        let rows: Vec<NewRow> = events.iter().filter_map(|body| new_row(body, self.now)).collect();
        let ids = self.append_log(rows)?;
        Ok(ids.into_iter().zip(events).map(|(id, body)| LogItem { id, body }).collect())
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
pub(crate) enum Failure<E> {
    /// Before the commit was sent: nothing of it is there.
    Before(Abort<E>),
    /// While the commit was under way: it may be there, unless the database said otherwise.
    AtCommit(Error),
}

/// Runs `work` in a writing transaction on this connection.
pub(crate) fn transact<T, E>(
    reader: Reader<'_>,
    now: Timestamp,
    work: impl FnOnce(&mut Tx<'_>) -> std::result::Result<T, Abort<E>>,
) -> std::result::Result<T, Failure<E>> {
    let mut tx = Tx::new(reader, now);
    tx.begin().map_err(|error| Failure::Before(error.into()))?;
    match work(&mut tx) {
        Ok(value) => match tx.commit() {
            Ok(()) => Ok(value),
            Err(error) => {
                tx.rollback();
                Err(Failure::AtCommit(error))
            }
        },
        Err(abort) => {
            tx.rollback();
            Err(Failure::Before(abort))
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
                // A hot standby refuses to begin a writing transaction. diesel gives no SQLSTATE for it, and a BEGIN
                // fails for no reason that is the caller's.
                AnsiTransactionManager::begin_transaction_sql(&mut **c, "begin read write")
                    .map_err(|error| Error::Unavailable(error.to_string()))
            }
        }
    }

    fn commit(&mut self) -> Result<()> {
        match self.connection() {
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(c) => Ok(AnsiTransactionManager::commit_transaction(&mut **c)?),
            #[cfg(feature = "postgres")]
            Inner::Postgres(c) => Ok(AnsiTransactionManager::commit_transaction(&mut **c)?),
        }
    }

    // A connection that cannot even roll back is given up by its holder.
    fn rollback(&mut self) {
        let outcome = match self.connection() {
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(c) => AnsiTransactionManager::rollback_transaction(&mut **c),
            #[cfg(feature = "postgres")]
            Inner::Postgres(c) => AnsiTransactionManager::rollback_transaction(&mut **c),
        };
        if let Err(error) = outcome {
            tracing::debug!(%error, "a transaction could not be rolled back");
        }
    }
}
