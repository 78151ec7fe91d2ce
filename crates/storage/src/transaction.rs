//! A writing transaction: what it may do, and how it ends.

use diesel::connection::{AnsiTransactionManager, TransactionManager};
use eddyline_model::Timestamp;
use eddyline_model::log::{Control, LogBody, LogItem};
use eddyline_model::messages::Draft;

use crate::append::Outcome;
use crate::log::{NewRow, new_row};
use crate::session::{Inner, Session};
use crate::work::Abort;
use crate::{Error, Result};

/// A writing transaction under way. Everything a [`Session`] can do, and telling the log.
#[derive(Debug)]
pub struct Tx<'s, 'c> {
    session: &'s mut Session<'c>,
    told: Vec<LogBody>,
    now: Timestamp,
}

impl<'s, 'c> Tx<'s, 'c> {
    pub(crate) fn new(session: &'s mut Session<'c>, now: Timestamp) -> Self {
        Self { session, told: Vec::new(), now }
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
        let outcomes = self.session.append_messages(drafts, admits)?;
        for outcome in &outcomes {
            if let Outcome::Added(view) = outcome {
                self.told.push(LogBody::Message(Some(view.clone())));
            }
        }
        Ok(outcomes)
    }

    /// Adds an entry to the log that is no message.
    pub fn tell(&mut self, control: Control) {
        self.told.push(LogBody::Control(control));
    }

    /// Writes what was told, last of all.
    pub(crate) fn finish(self) -> Result<Vec<LogItem>> {
        let rows: Vec<NewRow> = self.told.iter().filter_map(|body| new_row(body, self.now)).collect();
        let ids = self.session.append_log(rows)?;
        Ok(ids.into_iter().zip(self.told).map(|(id, body)| LogItem { id, body }).collect())
    }
}

impl<'c> std::ops::Deref for Tx<'_, 'c> {
    type Target = Session<'c>;
    fn deref(&self) -> &Session<'c> {
        self.session
    }
}

impl<'c> std::ops::DerefMut for Tx<'_, 'c> {
    fn deref_mut(&mut self) -> &mut Session<'c> {
        self.session
    }
}

/// How a transaction failed.
pub(crate) enum Failure<E> {
    /// Before the commit was sent: nothing of it is there.
    Before(Abort<E>),
    /// While the commit was under way: it may be there, unless the database said otherwise.
    AtCommit(Error),
}

impl Session<'_> {
    /// Runs `work` in a writing transaction.
    pub(crate) fn transact<T, E>(
        &mut self,
        work: impl FnOnce(&mut Self) -> std::result::Result<T, Abort<E>>,
    ) -> std::result::Result<T, Failure<E>> {
        self.begin().map_err(|error| Failure::Before(error.into()))?;
        match work(self) {
            Ok(value) => match self.commit() {
                Ok(()) => Ok(value),
                Err(error) => {
                    self.rollback();
                    Err(Failure::AtCommit(error))
                }
            },
            Err(abort) => {
                self.rollback();
                Err(Failure::Before(abort))
            }
        }
    }

    fn begin(&mut self) -> Result<()> {
        match &mut self.0 {
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(c) => crate::sqlite::begin(c),
            #[cfg(feature = "postgres")]
            Inner::Postgres(c) => Ok(AnsiTransactionManager::begin_transaction(&mut **c)?),
        }
    }

    fn commit(&mut self) -> Result<()> {
        match &mut self.0 {
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(c) => Ok(AnsiTransactionManager::commit_transaction(&mut **c)?),
            #[cfg(feature = "postgres")]
            Inner::Postgres(c) => Ok(AnsiTransactionManager::commit_transaction(&mut **c)?),
        }
    }

    // A connection that cannot even roll back is given up by its holder.
    fn rollback(&mut self) {
        let outcome = match &mut self.0 {
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
