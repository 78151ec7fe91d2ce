//! The one writer of a process: every write is a job for it, posts in batches.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use eddyline_model::RoomId;
use eddyline_model::log::{EventId, LogBody, LogItem};
use eddyline_model::messages::Draft;
use tokio::sync::{mpsc, oneshot};

use crate::append::Outcome;
use crate::backlog::Backlog;
use crate::connect::{Connection, Connections, Location, connect};
use crate::transaction::{Failure, Tx};
use crate::work::Work;
use crate::{Clock, Error, Result};

/// The most posts in one transaction.
const BATCH: usize = 256;
/// Other processes are woken at most this often.
const BELL_PAUSE: Duration = Duration::from_millis(4);
/// How long the outcome of a commit whose answer got lost is looked for.
const DOUBT_PATIENCE: Duration = Duration::from_secs(8);
/// How long the writer keeps at it on SQLite before it lets others write, and for how long it does.
const BUSY_STRETCH: Duration = Duration::from_millis(100);
const YIELD: Duration = Duration::from_millis(1);
/// How long words wait at most for more of them while nothing else is to be written, and how long
/// after they could not be written.
const INDEX_PAUSE: Duration = Duration::from_millis(200);
const INDEX_RETRY: Duration = Duration::from_secs(5);
const RETRY_PAUSE: Duration = Duration::from_millis(200);

/// What became of a post, and where the log stood then.
#[derive(Clone, Debug)]
pub struct Posted {
    /// What became of it.
    pub outcome: Outcome,
    /// The position of its log entry, when there is one.
    pub event: Option<EventId>,
}

pub(crate) enum Job {
    Post(Box<Draft>, oneshot::Sender<Result<Posted>>),
    Run(Box<dyn Work>),
    /// Makes everything in a room found by its words.
    Index(RoomId, oneshot::Sender<Result<()>>),
    Close,
}

pub(crate) struct Writer {
    location: Location,
    pool: Connections,
    own: Option<Connection>,
    clock: Clock,
    committed: mpsc::Sender<Vec<LogItem>>,
    name: String,
    batch: i64,
    bell_due: bool,
    last_bell: Instant,
    last_pause: Instant,
    backlog: Backlog,
    /// When words could not be written, if that is how it stands.
    index_failed: Option<Instant>,
}

impl Writer {
    pub(crate) fn new(
        location: Location,
        pool: Connections,
        clock: Clock,
        committed: mpsc::Sender<Vec<LogItem>>,
        name: String,
    ) -> Self {
        let backlog = match location {
            Location::Postgres(_) => Backlog::default(),
            Location::File(_) | Location::Memory => Backlog::of_all_rooms(),
        };
        Self {
            location,
            pool,
            own: None,
            clock,
            committed,
            name,
            batch: 0,
            bell_due: false,
            last_bell: Instant::now(),
            last_pause: Instant::now(),
            backlog,
            index_failed: None,
        }
    }

    /// Works until the last job: until [`Job::Close`], or until nobody can send another.
    pub(crate) fn run(mut self, jobs: &Receiver<Job>) {
        let mut held = None;
        loop {
            let job = match held.take() {
                Some(job) => job,
                None => match self.next(jobs) {
                    Some(job) => job,
                    None => break,
                },
            };
            self.let_others_write();
            match job {
                Job::Close => break,
                Job::Run(work) => self.run_work(work),
                Job::Index(room, reply) => {
                    self.backlog.add_room(room.0);
                    let _ = reply.send(self.index());
                }
                Job::Post(draft, reply) => {
                    let (mut drafts, mut replies) = (vec![*draft], vec![reply]);
                    while drafts.len() < BATCH {
                        match jobs.try_recv() {
                            Ok(Job::Post(draft, reply)) => {
                                drafts.push(*draft);
                                replies.push(reply);
                            }
                            Ok(other) => {
                                held = Some(other);
                                break;
                            }
                            Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
                        }
                    }
                    self.post(drafts, replies);
                    if self.backlog.is_large()
                        && self.index_failed.is_none_or(|at| at.elapsed() >= INDEX_RETRY)
                    {
                        self.index_later();
                    }
                }
            }
        }
        self.farewell();
    }

    /// On SQLite, leaves the lock free for a moment now and then: between the commits of a busy
    /// server another process, such as the command line, would hardly ever find it free.
    fn let_others_write(&mut self) {
        if matches!(self.location, Location::File(_)) && self.last_pause.elapsed() >= BUSY_STRETCH {
            std::thread::sleep(YIELD);
            self.last_pause = Instant::now();
        }
    }

    fn next(&mut self, jobs: &Receiver<Job>) -> Option<Job> {
        if self.bell_due {
            match jobs.recv_timeout(BELL_PAUSE) {
                Ok(job) => return Some(job),
                Err(RecvTimeoutError::Timeout) => self.ring(),
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
        match jobs.try_recv() {
            Ok(job) => Some(job),
            Err(TryRecvError::Disconnected) => None,
            Err(TryRecvError::Empty) => {
                let job = self.wait(jobs);
                // While it waited, the lock was free.
                self.last_pause = Instant::now();
                job
            }
        }
    }

    /// Waits for a job, and uses the time for words that wait.
    fn wait(&mut self, jobs: &Receiver<Job>) -> Option<Job> {
        while !self.backlog.is_empty() {
            let pause = if self.index_failed.is_some() { INDEX_RETRY } else { INDEX_PAUSE };
            match jobs.recv_timeout(pause) {
                Ok(job) => return Some(job),
                Err(RecvTimeoutError::Timeout) => self.index_later(),
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
        jobs.recv().ok()
    }

    /// Puts the words that wait into the index.
    fn index(&mut self) -> Result<()> {
        let backlog = std::mem::take(&mut self.backlog);
        let outcome = self.commit(|tx| tx.catch_up_search(&backlog));
        match outcome {
            Ok(_) => {
                self.index_failed = None;
                Ok(())
            }
            Err(error) => {
                self.backlog = backlog;
                self.index_failed = Some(Instant::now());
                Err(error)
            }
        }
    }

    fn index_later(&mut self) {
        if let Err(error) = self.index() {
            tracing::warn!(%error, "the index of words could not be brought up to date");
        }
    }

    fn post(&mut self, mut drafts: Vec<Draft>, replies: Vec<oneshot::Sender<Result<Posted>>>) {
        let outcome = self.commit(|tx| {
            catch_unwind(AssertUnwindSafe(|| tx.post(&drafts)))
                .unwrap_or(Err(Error::Corrupt("a post panicked")))
        });
        match outcome {
            Ok((outcomes, items)) => {
                let mut events = items.iter().map(|item| item.id).collect::<Vec<_>>().into_iter();
                self.keep_words(&outcomes, &mut drafts);
                for (outcome, reply) in outcomes.into_iter().zip(replies) {
                    let event = if matches!(outcome, Outcome::Added(_)) { events.next() } else { None };
                    // Whoever asked may be gone; the message is there all the same.
                    let _ = reply.send(Ok(Posted { outcome, event }));
                }
                // After the answers, which would else wait for all the streams to be written.
                self.tell(items);
            }
            Err(error) if drafts.len() > 1 && error.may_be_of_one() => {
                tracing::warn!(%error, items = drafts.len(), "a batch failed; its items are tried one by one");
                for (draft, reply) in drafts.into_iter().zip(replies) {
                    self.post(vec![draft], vec![reply]);
                }
            }
            Err(error) => {
                let mut error = Some(error);
                for reply in replies {
                    let own = error.take().unwrap_or(Error::Unavailable("the batch failed".into()));
                    let next = own.again();
                    let _ = reply.send(Err(own));
                    error = Some(next);
                }
            }
        }
    }

    /// Keeps the words of new messages for the index, where they are not in it already.
    fn keep_words(&mut self, outcomes: &[Outcome], drafts: &mut [Draft]) {
        if matches!(self.location, Location::Postgres(_)) {
            return;
        }
        for (outcome, draft) in outcomes.iter().zip(drafts) {
            if let Outcome::Added(view) = outcome {
                let words = std::mem::take(&mut draft.search_tokens);
                self.backlog.add(view.message.room.0, view.message.id.0, words);
            }
        }
    }

    fn run_work(&mut self, mut work: Box<dyn Work>) {
        // A mistake in one job must not take the writer, and every later write, with it. It is caught
        // inside the transaction, which is rolled back: a connection dropped while a panic unwinds is
        // closed, and with it a database in memory would end.
        let outcome = self.commit(|tx| {
            catch_unwind(AssertUnwindSafe(|| work.run(tx))).unwrap_or(Err(Error::Corrupt("a write panicked")))
        });
        let outcome = outcome.map(|((), items)| {
            let last = items.last().map(|item| item.id);
            if !matches!(self.location, Location::Postgres(_)) {
                for item in &items {
                    if let LogBody::Message(Some(view)) = &item.body {
                        self.backlog.add_room(view.message.room.0);
                    }
                }
            }
            self.tell(items);
            last
        });
        work.done(outcome);
    }

    /// Runs `work` in a transaction with its log entries, and again where that is safe.
    fn commit<T>(&mut self, mut work: impl FnMut(&mut Tx<'_, '_>) -> Result<T>) -> Result<(T, Vec<LogItem>)> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            self.batch += 1;
            let mut result = None;
            let failure = match self.attempt(&mut work, &mut result) {
                Ok(()) => return result.ok_or(Error::Corrupt("a transaction without a result")),
                Err(failure) => failure,
            };
            let error = match failure {
                Failure::Before(error) => error,
                Failure::AtCommit(error) if self.is_doubtful(&error) => {
                    if self.was_committed()? {
                        return result.ok_or(Error::Corrupt("a transaction without a result"));
                    }
                    error
                }
                Failure::AtCommit(error) => error,
            };
            let again = matches!(error, Error::Unavailable(_)) || error.is_contention();
            if matches!(error, Error::Unavailable(_)) {
                self.own = None;
            }
            if !again || attempt >= 3 {
                return Err(error);
            }
        }
    }

    fn attempt<T>(
        &mut self,
        work: &mut impl FnMut(&mut Tx<'_, '_>) -> Result<T>,
        result: &mut Option<(T, Vec<LogItem>)>,
    ) -> std::result::Result<(), Failure> {
        let now = (self.clock)();
        let (name, batch) = (self.name.clone(), self.batch);
        let doubtful = matches!(self.location, Location::Postgres(_));
        let pooled = matches!(self.location, Location::Memory);
        let mut connection = self.connection().map_err(Failure::Before)?;
        let outcome = connection.session().transact(|session| {
            let mut tx = Tx::new(session, now);
            let value = work(&mut tx)?;
            if doubtful {
                tx.note_batch(&name, batch)?;
            }
            let items = tx.finish()?;
            *result = Some((value, items));
            Ok(())
        });
        // The only connection of a database in memory goes back for others to read with.
        if !pooled {
            self.own = Some(connection);
        }
        outcome
    }

    fn connection(&mut self) -> Result<Connection> {
        if let Some(own) = self.own.take() {
            return Ok(own);
        }
        let mut connection = connect(&self.location, &self.pool)?;
        if matches!(self.location, Location::Postgres(_)) {
            // The row must be there before the first batch, so that it can be waited for.
            connection.session().note_batch(&self.name, 0)?;
        }
        Ok(connection)
    }

    fn is_doubtful(&self, error: &Error) -> bool {
        matches!(self.location, Location::Postgres(_)) && matches!(error, Error::Unavailable(_))
    }

    /// Finds out whether the batch whose answer got lost is there.
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
            let mut connection = connect(&self.location, &self.pool)?;
            if let Connection::Postgres(c) = &mut connection {
                let committed = crate::postgres::committed_batch(c, &self.name)? == Some(self.batch);
                self.own = Some(connection);
                return Ok(committed);
            }
        }
        Ok(false)
    }

    fn tell(&mut self, items: Vec<LogItem>) {
        if items.is_empty() {
            return;
        }
        // A hint that nobody takes is no loss: the log has it all.
        let _ = self.committed.try_send(items);
        self.bell_due = matches!(self.location, Location::Postgres(_));
        if self.bell_due && self.last_bell.elapsed() >= BELL_PAUSE {
            self.ring();
        }
    }

    /// Wakes the other processes, after the commit and on its own: inside the transaction it would
    /// serialise the commits of all of them. A lost bell is harmless, since they also look by
    /// themselves.
    fn ring(&mut self) {
        self.bell_due = false;
        self.last_bell = Instant::now();
        #[cfg(feature = "postgres")]
        if let Some(Connection::Postgres(c)) = &mut self.own
            && let Err(error) = crate::postgres::notify(c)
        {
            tracing::debug!(%error, "the other processes could not be woken");
        }
    }

    fn farewell(&mut self) {
        if !self.backlog.is_empty() {
            self.index_later();
        }
        if self.bell_due {
            self.ring();
        }
        if let Some(mut own) = self.own.take()
            && matches!(self.location, Location::Postgres(_))
            && let Err(error) = own.session().forget_writer(&self.name)
        {
            tracing::debug!(%error, "the writer could not be taken off the list");
        }
    }
}
