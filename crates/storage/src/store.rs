//! The handle by which everything else reaches the data.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use eddyline_model::log::{EventId, LogItem, Seq};
use eddyline_model::messages::Draft;
use eddyline_model::{RoomId, Timestamp};
use prometheus_client::registry::Registry;
use tokio::sync::{Notify, mpsc, oneshot};
use tracing::Instrument as _;

use crate::budget::TaskBudget;
use crate::clock::{self, Clock};
use crate::commit::Committer;
use crate::connect::migrate::Upgrade;
use crate::connect::{Connections, Location};
use crate::credential_epoch::CredentialEpoch;
use crate::live::LiveNotices;
use crate::metrics::{PoolCollector, StoreMetrics};
use crate::news::News;
use crate::read_threads::ReadThreads;
use crate::readers::Readers;
use crate::transaction::{Abort, Tx};
use crate::work::Closure;
use crate::write_queue::{Job, PostResult, WriteQueue, closed};
use crate::writer::Writer;
use crate::{Error, Result};

/// How many batches wait to be looked at by the feed; those beyond it are read from the log.
const HINTS: usize = 64;

/// How a store is opened.
#[derive(Clone)]
pub struct Options {
    /// How many requests may read at once, each on a connection of its own.
    pub readers: u32,
    /// The number of rows that may wait to be written, where a write that is no post counts as 64;
    /// more are refused with [`Error::Busy`]. A caller and a group of callers have shares of it,
    /// beyond which they are refused with [`Error::TooManyWrites`].
    pub queue: u64,
    /// How long a read of a request may take; then its statement is interrupted.
    pub read_time: Duration,
    /// Whether tables of an older version are upgraded; else they are refused with
    /// [`Error::OlderSchema`]. A database without tables gets them in any case.
    pub upgrade: bool,
    /// How long to wait for tables that are locked, and for servers that a migration would disturb.
    /// More than 12 seconds, so that a server which was killed is not waited for in vain.
    pub upgrade_time: Duration,
    /// What time it is.
    pub clock: Clock,
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("readers", &self.readers)
            .field("queue", &self.queue)
            .field("read_time", &self.read_time)
            .field("upgrade", &self.upgrade)
            .field("upgrade_time", &self.upgrade_time)
            .finish_non_exhaustive()
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            readers: 8,
            queue: 65_536,
            read_time: Duration::from_secs(5),
            upgrade: true,
            upgrade_time: Duration::from_secs(30),
            clock: clock::system(),
        }
    }
}

/// A store. Clones share it.
///
/// Reading and writing need a tokio runtime; opening does not.
///
/// ```
/// # fn main() -> Result<(), eddyline_storage::Error> {
/// let store = eddyline_storage::Store::open("sqlite::memory:")?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Store {
    inner: Arc<StoreInner>,
}

struct StoreInner {
    location: Location,
    pool: Connections,
    readers: Readers,
    read_threads: ReadThreads,
    news: News,
    queue: Arc<WriteQueue>,
    writer: Mutex<Option<JoinHandle<()>>>,
    committed: Mutex<Option<mpsc::Receiver<Vec<LogItem>>>>,
    clock: Clock,
    credential_epoch: Arc<CredentialEpoch>,
    live: Arc<LiveNotices>,
    refused: Arc<Notify>,
    metrics: StoreMetrics,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Store")
    }
}

impl Store {
    /// Opens the database at `url`, making and upgrading its tables as needed: `sqlite:PATH`,
    /// `sqlite::memory:`, or `postgres://…`.
    ///
    /// Blocks while it connects.
    ///
    /// # Errors
    ///
    /// [`Error::Url`] and [`Error::Unavailable`]; [`Error::NewerSchema`] for tables of a newer version,
    /// [`Error::OlderSchema`] for those of an older one that are not to be upgraded, and
    /// [`Error::ServersRun`], [`Error::TablesLocked`] or [`Error::Migration`] when they cannot be.
    pub fn open(url: &str) -> Result<Self> {
        Self::open_with(url, Options::default())
    }

    /// Opens a database, not by default.
    ///
    /// # Errors
    ///
    /// As [`Store::open`].
    pub fn open_with(url: &str, options: Options) -> Result<Self> {
        let location = Location::parse(url)?;
        let metrics = StoreMetrics::default();
        let upgrade = Upgrade {
            is_allowed: options.upgrade,
            patience: options.upgrade_time,
            clock: options.clock.clone(),
        };
        let pool = Connections::open(&location, options.readers, metrics.pool_events(), &upgrade)?;
        let readers = if matches!(location, Location::Memory) {
            1
        } else {
            options.readers
        };
        let queue = Arc::new(WriteQueue::new(options.queue));
        let (committed, receiver) = mpsc::channel(HINTS);
        let (clock, live) = (options.clock.clone(), Arc::new(LiveNotices::default()));
        let refused = Arc::new(Notify::new());
        let committer = Committer::new(
            location.clone(),
            pool.clone(),
            clock,
            eddyline_random::hex::<16>(),
            live.clone(),
            refused.clone(),
            metrics.clone(),
        );
        let credential_epoch = Arc::new(CredentialEpoch::default());
        let writer = Writer::new(
            committer,
            committed,
            credential_epoch.clone(),
            metrics.clone(),
        );
        let jobs = queue.clone();
        let thread = std::thread::Builder::new()
            .name("writer".into())
            .spawn(move || writer.run(&jobs))
            .map_err(|error| Error::Unavailable(error.to_string()))?;
        Ok(Self {
            inner: Arc::new(StoreInner {
                news: News::new(&location),
                location,
                pool,
                readers: Readers::new(readers as usize, options.read_time),
                read_threads: ReadThreads::start(readers as usize)?,
                queue,
                writer: Mutex::new(Some(thread)),
                committed: Mutex::new(Some(receiver)),
                clock: options.clock,
                credential_epoch,
                live,
                refused,
                metrics,
            }),
        })
    }

    /// Whether there is a database at `url` with the tables of a store, of whatever version. Makes
    /// nothing.
    ///
    /// Blocks while it connects.
    ///
    /// # Errors
    ///
    /// [`Error::Url`], and [`Error::Unavailable`] when that cannot be found out.
    pub fn exists(url: &str) -> Result<bool> {
        crate::connect::exists(&Location::parse(url)?)
    }

    /// Whether data goes to the database over the network without encryption, and the address does
    /// not say that this is meant (`sslmode=disable`).
    #[must_use]
    pub fn is_exposed(&self) -> bool {
        self.inner.location.is_exposed()
    }

    /// Adds the metrics of the store to a registry, whose prefix their names get.
    ///
    /// Of the writer: `store_writes_waiting`, `store_batch_messages`,
    /// `store_transaction_duration_seconds`, `store_failed_transactions_total` and
    /// `store_writer_connections_total`. Of reads: `store_reads_waiting`, `store_pool_connections`,
    /// `store_pool_max_connections` and `store_pool_timeouts_total`.
    pub fn register_metrics(&self, registry: &mut Registry) {
        self.inner.metrics.register(registry);
        registry.register_collector(Box::new(PoolCollector {
            pool: self.connections().clone(),
            readers: self.readers().clone(),
        }));
    }

    /// What time it is for this store.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        (self.inner.clock)()
    }

    pub(crate) fn location(&self) -> &Location {
        &self.inner.location
    }

    /// What decides whether posts may still be committed.
    #[must_use]
    pub fn credential_epoch(&self) -> &Arc<CredentialEpoch> {
        &self.inner.credential_epoch
    }

    /// What this process commits, in order, as it commits it. There is one such feed: the second
    /// call gives `None`. A reader that does not keep up finds holes, which the log fills.
    #[must_use]
    pub fn committed(&self) -> Option<mpsc::Receiver<Vec<LogItem>>> {
        self.inner.committed.lock().ok()?.take()
    }

    /// Puts the notices that this process committed in the places of the same ones among `items`,
    /// which were read from the log after the position `after`: the log keeps less than streams are
    /// told at once, see [`LiveNotice`](eddyline_model::messages::LiveNotice). To be called by one
    /// reader, which goes onward: those at or before `after` are forgotten.
    pub fn restore_live_notices(&self, after: Seq, items: &mut [LogItem]) {
        self.inner.live.restore(after, items);
    }

    pub(crate) async fn index_words(&self, room: RoomId) -> Result<()> {
        let (reply, answer) = oneshot::channel();
        self.send(Job::Index(room, reply))?;
        answer.await.map_err(|_| closed())?
    }

    /// Writes, in a transaction of its own, which waits for its turn among those of the budget of the
    /// task ([`TaskBudget::current`]) and of others; the answer comes after the commit, with the position of
    /// the last log entry the closure told. The closure is called again when the transaction met
    /// another and nothing of it was kept.
    ///
    /// # Errors
    ///
    /// What the closure answers (then nothing was written), [`Error::TooManyWrites`],
    /// [`Error::Busy`], [`Error::Unavailable`], [`Error::DiskFull`].
    pub async fn write<R, F>(&self, mut work: F) -> Result<(R, Option<EventId>)>
    where
        R: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<R> + Send + 'static,
    {
        let done = self
            .transaction(move |tx| work(tx).map_err(Abort::<Infallible>::Store))
            .await;
        done.map_err(Abort::into_store_error)
    }

    /// The same for a write that may be decided against: once the closure gives a reason, all that
    /// it wrote and recorded is rolled back ([`Abort::Rejected`]) or committed ([`Abort::Commit`]),
    /// and the reason is the answer.
    ///
    /// # Errors
    ///
    /// The closure's reason, and what [`Store::write`] gives.
    pub async fn transaction<R, E, F>(
        &self,
        work: F,
    ) -> std::result::Result<(R, Option<EventId>), Abort<E>>
    where
        R: Send + 'static,
        E: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> std::result::Result<R, Abort<E>> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        self.send(Job::Run(Box::new(Closure {
            work,
            result: None,
            reply,
        })))?;
        let span = tracing::info_span!("store.transaction", otel.kind = "internal");
        answer.instrument(span).await.map_err(|_| closed())?
    }

    /// Posts a message, in one transaction with whatever else is posted at that moment; the answer
    /// comes after the commit. A draft whose sender was checked in another epoch of the
    /// [`CredentialEpoch`] is [`AppendOutcome::Stale`](crate::AppendOutcome::Stale).
    ///
    /// # Errors
    ///
    /// [`Error::TooManyWrites`], [`Error::Busy`], [`Error::Unavailable`], [`Error::DiskFull`].
    pub async fn post(&self, draft: Draft) -> Result<PostResult> {
        let (reply, answer) = oneshot::channel();
        self.send(Job::Post(Box::new(draft), reply))?;
        let span = tracing::info_span!("store.post", otel.kind = "internal");
        answer.instrument(span).await.map_err(|_| closed())?
    }

    /// Puts a job into the queue, where it counts for the budget of the task.
    fn send(&self, job: Job) -> Result<()> {
        // Before the writer may take it.
        self.inner.metrics.note_waiting();
        let sent = self.inner.queue.push(job, TaskBudget::current());
        sent.inspect_err(|_| self.inner.metrics.note_taken(1))
    }

    /// Whether writes are still taken: not after [`Store::close`], nor when the writer has ended by
    /// a mistake of ours.
    #[must_use]
    pub fn takes_writes(&self) -> bool {
        let writer = self.inner.writer.lock();
        writer.is_ok_and(|writer| writer.as_ref().is_some_and(|thread| !thread.is_finished()))
    }

    /// Finishes the writes that wait and ends the writer. Reads still work.
    pub async fn close(&self) {
        self.inner.queue.close();
        let writer = self
            .inner
            .writer
            .lock()
            .ok()
            .and_then(|mut writer| writer.take());
        let ended = tokio::task::spawn_blocking(move || writer.map(JoinHandle::join));
        if let Ok(Some(Err(_))) = ended.await {
            tracing::error!("the writer ended in a panic");
        }
    }

    /// Waits until the database has refused a write because its data was moved.
    pub(crate) async fn write_was_refused(&self) {
        self.inner.refused.notified().await;
    }

    pub(crate) fn readers(&self) -> &Readers {
        &self.inner.readers
    }

    pub(crate) fn read_threads(&self) -> &ReadThreads {
        &self.inner.read_threads
    }

    pub(crate) fn news(&self) -> &News {
        &self.inner.news
    }

    pub(crate) fn connections(&self) -> &Connections {
        &self.inner.pool
    }
}

impl Drop for StoreInner {
    fn drop(&mut self) {
        self.queue.close();
    }
}
