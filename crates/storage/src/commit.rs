//! How the writer commits: on a connection of its own, again where that is safe, and never guessing
//! what became of a transaction.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use eddyline_model::Timestamp;
use eddyline_model::log::LogItem;
use tokio::sync::Notify;

use crate::clock::Clock;
use crate::connect::{Connection, Connections, Location, connect};
use crate::live::LiveNotices;
use crate::metrics::StoreMetrics;
use crate::transaction::{Rollback, TransactionError, Tx, transact};
use crate::{Error, Result};

/// How often a transaction is tried at most.
const ATTEMPTS: u32 = 3;
/// How long the outcome of a commit whose answer got lost is looked for, and how often.
const DOUBT_PATIENCE: Duration = Duration::from_secs(8);
const RETRY_PAUSE: Duration = Duration::from_millis(200);
/// After how long without a commit the writer's row may have been removed by others, who take it
/// for that of a process that was killed. They wait far longer
/// ([`Nodes::delete_silent_writers`](crate::areas::Nodes::delete_silent_writers)).
const IDLE: Duration = Duration::from_secs(3600);

const WITHOUT_RESULT: Error = Error::Corrupt("a transaction without a result");

/// The pause after a transaction that another one was in the way of, and after the second one twice
/// that: without it, it may take the locks for which the other waits again, and again.
const CONTENTION_PAUSE: Duration = Duration::from_millis(20);

/// Lets the transactions that were in the way of one end.
#[expect(
    clippy::disallowed_methods,
    reason = "only the thread of the writer waits"
)]
fn wait_for_others(attempt: u32) {
    std::thread::sleep(CONTENTION_PAUSE * attempt);
}

/// Runs one transaction after another.
pub(crate) struct Committer {
    location: Location,
    pool: Connections,
    own: Option<Connection>,
    clock: Clock,
    name: String,
    batch: i64,
    /// When the writer's row was written last.
    noted: Instant,
    live: Arc<LiveNotices>,
    /// Notified when the database refuses a write because its data was moved.
    refused: Arc<Notify>,
    metrics: StoreMetrics,
}

impl Committer {
    /// One that is known to the database by this name, which nobody else has.
    pub(crate) fn new(
        location: Location,
        pool: Connections,
        clock: Clock,
        name: String,
        live: Arc<LiveNotices>,
        refused: Arc<Notify>,
        metrics: StoreMetrics,
    ) -> Self {
        Self {
            location,
            pool,
            own: None,
            clock,
            name,
            batch: 0,
            noted: Instant::now(),
            live,
            refused,
            metrics,
        }
    }

    pub(crate) fn location(&self) -> &Location {
        &self.location
    }

    pub(crate) fn is_postgres(&self) -> bool {
        self.location.is_postgres()
    }

    /// Runs `work` in a transaction with its log entries, and again where that is safe.
    pub(crate) fn commit<T>(
        &mut self,
        mut work: impl FnMut(&mut Tx<'_>) -> Result<T>,
    ) -> Result<(T, Vec<LogItem>)> {
        let done = self.commit_unless(|tx| work(tx).map_err(Rollback::Store));
        done.map_err(|Rollback::Store(error): Rollback<Infallible>| error)
    }

    /// The same for work that may decide against itself, which is not tried again.
    pub(crate) fn commit_unless<T, E>(
        &mut self,
        work: impl FnMut(&mut Tx<'_>) -> std::result::Result<T, Rollback<E>>,
    ) -> std::result::Result<(T, Vec<LogItem>), Rollback<E>> {
        let began = Instant::now();
        let outcome = self.commit_at_last(work);
        if let Err(Rollback::Store(Error::Moved)) = &outcome {
            self.refused.notify_one();
        }
        let has_failed = matches!(&outcome, Err(Rollback::Store(error)) if !error.is_conflict());
        self.metrics.note_transaction(began.elapsed(), has_failed);
        outcome
    }

    fn commit_at_last<T, E>(
        &mut self,
        mut work: impl FnMut(&mut Tx<'_>) -> std::result::Result<T, Rollback<E>>,
    ) -> std::result::Result<(T, Vec<LogItem>), Rollback<E>> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            self.batch += 1;
            let mut result = None;
            let began = Instant::now();
            let failure = match self.attempt(&mut work, &mut result) {
                Ok(()) => return result.ok_or(WITHOUT_RESULT.into()),
                Err(failure) => failure,
            };
            let (error, at_commit) = match failure {
                TransactionError::Before(Rollback::Rejected(reason)) => {
                    return Err(Rollback::Rejected(reason));
                }
                TransactionError::Before(Rollback::Store(error)) => (error, false),
                TransactionError::AtCommit(error) => (error, true),
            };
            let error = if self.is_postgres() {
                error.of_write(began.elapsed())
            } else {
                error
            };
            let unnamed = self.is_postgres() && error.is_unnamed();
            // A pooler between may report an error of its own for a commit that was made.
            if at_commit && (self.is_doubtful(&error) || unnamed) && self.was_committed()? {
                return result.ok_or(WITHOUT_RESULT.into());
            }
            let again = matches!(error, Error::Unavailable(_)) || error.is_contention() || unnamed;
            if matches!(error, Error::Unavailable(_)) {
                self.own = None;
            }
            if !again || attempt >= ATTEMPTS {
                return Err(error.into());
            }
            if unnamed || error.is_contention() {
                wait_for_others(attempt);
            }
        }
    }

    fn attempt<T, E>(
        &mut self,
        work: &mut impl FnMut(&mut Tx<'_>) -> std::result::Result<T, Rollback<E>>,
        result: &mut Option<(T, Vec<LogItem>)>,
    ) -> std::result::Result<(), TransactionError<E>> {
        let now = (self.clock)();
        let (name, batch) = (self.name.clone(), self.batch);
        let doubtful = self.is_postgres();
        let pooled = matches!(self.location, Location::Memory);
        let live = self.live.clone();
        let mut connection = self
            .connection()
            .map_err(|error| TransactionError::Before(error.into()))?;
        let outcome = transact(connection.reader(), now, |tx| {
            let value = work(tx)?;
            if doubtful {
                tx.nodes().upsert_writer(&name, batch, now)?;
            }
            tx.audit().append_pending()?;
            let items = tx.log().append_pending()?;
            // Before the commit: from then on the log shows less of them.
            live.note(&items);
            *result = Some((value, items));
            Ok(())
        });
        if outcome.is_ok() {
            self.noted = Instant::now();
        }
        // The only connection of a database in memory goes back for others to read with.
        if !pooled {
            self.own = Some(connection);
        }
        outcome
    }

    fn connection(&mut self) -> Result<Connection> {
        let (mut connection, is_new) = match self.own.take() {
            Some(own) => (own, false),
            None => (self.connect()?, true),
        };
        if self.is_postgres() && (is_new || self.noted.elapsed() >= IDLE) {
            // The row must be there before the batch, so that it can be waited for.
            let now = (self.clock)();
            write(&mut connection, now, |tx| {
                tx.nodes().upsert_writer(&self.name, 0, now)
            })?;
            self.noted = Instant::now();
        }
        Ok(connection)
    }

    /// Opens a connection of the writer's own. That of a database in memory is borrowed each time,
    /// and is not counted.
    fn connect(&self) -> Result<Connection> {
        let connection = connect(&self.location, &self.pool)?;
        if !matches!(self.location, Location::Memory) {
            self.metrics.note_writer_connection();
        }
        Ok(connection)
    }

    fn is_doubtful(&self, error: &Error) -> bool {
        self.is_postgres() && matches!(error, Error::Unavailable(_))
    }

    /// Finds out whether the batch whose answer got lost is there.
    #[expect(
        clippy::disallowed_methods,
        reason = "the writer has a thread of its own"
    )]
    fn was_committed(&mut self) -> Result<bool> {
        let started = Instant::now();
        loop {
            match self.ask_committed() {
                Ok(answer) => return Ok(answer),
                Err(error) if started.elapsed() > DOUBT_PATIENCE => return Err(error),
                Err(_) => std::thread::sleep(RETRY_PAUSE),
            }
        }
    }

    fn ask_committed(&mut self) -> Result<bool> {
        #[cfg(feature = "postgres")]
        {
            let mut connection = self.connect()?;
            if let Connection::Postgres(c) = &mut connection {
                let committed = crate::postgres::committed_batch(c, &self.name)
                    // Of any kind: the batch may be there, so nothing of it may be tried again.
                    .map_err(|error| Error::Unavailable(error.to_string()))?;
                let committed = committed == Some(self.batch);
                self.own = Some(connection);
                return Ok(committed);
            }
        }
        Ok(false)
    }

    /// Wakes the other processes, after a commit and on its own: inside the transaction it would
    /// serialise the commits of all of them. A lost notification is harmless, since they also look
    /// by themselves.
    pub(crate) fn wake_others(&mut self) {
        #[cfg(feature = "postgres")]
        if let Some(Connection::Postgres(c)) = &mut self.own
            && let Err(error) = crate::postgres::notify(c)
        {
            tracing::debug!(%error, "the other processes could not be woken");
        }
    }

    /// Takes itself off the database's list of writers. The last thing it does.
    pub(crate) fn end(&mut self) {
        if let Some(mut own) = self.own.take()
            && self.is_postgres()
            && let Err(error) = write(&mut own, (self.clock)(), |tx| {
                tx.nodes().delete_writer(&self.name)
            })
        {
            tracing::debug!(%error, "the writer could not be taken off the list");
        }
    }
}

/// A small write of the writer itself, in a transaction of its own.
fn write(
    connection: &mut Connection,
    now: Timestamp,
    work: impl FnOnce(&mut Tx<'_>) -> Result<()>,
) -> Result<()> {
    let done = transact(connection.reader(), now, |tx| {
        work(tx).map_err(Rollback::<Infallible>::Store)
    });
    done.map_err(|failure| match failure {
        TransactionError::Before(Rollback::Store(error)) | TransactionError::AtCommit(error) => {
            error
        }
        TransactionError::Before(Rollback::Rejected(never)) => match never {},
    })
}
