//! The one writer of a process: every write is a job for it, posts in batches.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use eddyline_model::RoomId;
use eddyline_model::log::{EventId, LogBody, LogItem};
use eddyline_model::messages::Draft;
use tokio::sync::{mpsc, oneshot};

use crate::append::AppendOutcome;
use crate::backlog::Backlog;
use crate::commit::Committer;
use crate::connect::Location;
use crate::credential_epoch::CredentialEpoch;
use crate::metrics::StoreMetrics;
use crate::transaction::Rollback;
use crate::work::Work;
use crate::{Error, Result};

/// The most posts in one transaction.
const BATCH: usize = 256;
/// Other processes are woken at most this often.
const BELL_PAUSE: Duration = Duration::from_millis(4);
/// How long the writer keeps at it on SQLite before it lets others write, and for how long it does.
const BUSY_STRETCH: Duration = Duration::from_millis(100);
const YIELD: Duration = Duration::from_millis(1);
/// How long words wait at most for more of them while nothing else is to be written, and how long
/// after they could not be written.
const INDEX_PAUSE: Duration = Duration::from_millis(200);
const INDEX_RETRY: Duration = Duration::from_secs(5);

/// What became of a post, and where the log stood then.
#[derive(Clone, Debug)]
pub struct PostResult {
    /// What became of it.
    pub outcome: AppendOutcome,
    /// The position of its log entry, when there is one.
    pub event: Option<EventId>,
}

pub(crate) enum Job {
    Post(Box<Draft>, oneshot::Sender<Result<PostResult>>),
    Run(Box<dyn Work>),
    /// Makes everything in a room found by its words.
    Index(RoomId, oneshot::Sender<Result<()>>),
    Close,
}

pub(crate) struct Writer {
    committer: Committer,
    committed: mpsc::Sender<Vec<LogItem>>,
    credential_epoch: Arc<CredentialEpoch>,
    bell_due: bool,
    last_bell: Instant,
    last_pause: Instant,
    backlog: Backlog,
    /// When words could not be written, if that is how it stands.
    index_failed: Option<Instant>,
    metrics: StoreMetrics,
}

impl Writer {
    /// A writer that tells `committed` what it wrote.
    pub(crate) fn new(
        committer: Committer,
        committed: mpsc::Sender<Vec<LogItem>>,
        credential_epoch: Arc<CredentialEpoch>,
        metrics: StoreMetrics,
    ) -> Self {
        let backlog = if committer.is_postgres() {
            Backlog::default()
        } else {
            Backlog::of_all_rooms()
        };
        Self {
            committer,
            committed,
            credential_epoch,
            bell_due: false,
            last_bell: Instant::now(),
            last_pause: Instant::now(),
            backlog,
            index_failed: None,
            metrics,
        }
    }

    /// Works until the last job: until [`Job::Close`], or until nobody can send another.
    pub(crate) fn run(mut self, jobs: &Receiver<Job>) {
        let mut held = None;
        loop {
            let job = match held.take() {
                Some(job) => job,
                None => match self.next(jobs) {
                    Some(job) => self.taken(job),
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
                                self.metrics.note_taken();
                                drafts.push(*draft);
                                replies.push(reply);
                            }
                            Ok(other) => {
                                held = Some(self.taken(other));
                                break;
                            }
                            Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
                        }
                    }
                    self.post(drafts, replies);
                    if self.backlog.is_large()
                        && self
                            .index_failed
                            .is_none_or(|at| at.elapsed() >= INDEX_RETRY)
                    {
                        self.index_later();
                    }
                }
            }
        }
        self.farewell();
    }

    /// Counts a job that waits no longer. The last one was not counted.
    fn taken(&self, job: Job) -> Job {
        if !matches!(job, Job::Close) {
            self.metrics.note_taken();
        }
        job
    }

    /// On SQLite, leaves the lock free for a moment now and then: between the commits of a busy
    /// server another process, such as the command line, would hardly ever find it free.
    fn let_others_write(&mut self) {
        if matches!(self.committer.location(), Location::File(_))
            && self.last_pause.elapsed() >= BUSY_STRETCH
        {
            #[expect(
                clippy::disallowed_methods,
                reason = "the writer has a thread of its own"
            )]
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
            let pause = if self.index_failed.is_some() {
                INDEX_RETRY
            } else {
                INDEX_PAUSE
            };
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
        let outcome = self
            .committer
            .commit(|tx| tx.messages().update_search(&backlog));
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

    fn post(&mut self, mut drafts: Vec<Draft>, replies: Vec<oneshot::Sender<Result<PostResult>>>) {
        let credential_epoch = self.credential_epoch.clone();
        // Until the commit is answered, so that a request that ends a credential can wait for it.
        let entered = credential_epoch.enter();
        let outcome = self.committer.commit(|tx| {
            let now = tx.now();
            catch_unwind(AssertUnwindSafe(|| {
                tx.messages()
                    .append_if(&drafts, |draft| credential_epoch.admits(draft, now))
            }))
            .unwrap_or(Err(Error::Panicked("a post")))
        });
        drop(entered);
        match outcome {
            Ok((outcomes, items)) => {
                let mut events = items
                    .iter()
                    .map(|item| item.id)
                    .collect::<Vec<_>>()
                    .into_iter();
                self.keep_words(&outcomes, &mut drafts);
                let is_added =
                    |outcome: &&AppendOutcome| matches!(outcome, AppendOutcome::Added(_));
                self.metrics
                    .note_batch(outcomes.iter().filter(is_added).count());
                for (outcome, reply) in outcomes.into_iter().zip(replies) {
                    let event = if matches!(outcome, AppendOutcome::Added(_)) {
                        events.next()
                    } else {
                        None
                    };
                    // The caller may be gone; the message is there all the same.
                    let _ = reply.send(Ok(PostResult { outcome, event }));
                }
                // After the answers, which would else wait for all the streams to be written.
                self.publish(items);
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
                    let own = error
                        .take()
                        .unwrap_or(Error::Unavailable("the batch failed".into()));
                    let next = own.again();
                    let _ = reply.send(Err(own));
                    error = Some(next);
                }
            }
        }
    }

    /// Keeps the words of new messages for the index, where they are not in it already.
    fn keep_words(&mut self, outcomes: &[AppendOutcome], drafts: &mut [Draft]) {
        if self.committer.is_postgres() {
            return;
        }
        for (outcome, draft) in outcomes.iter().zip(drafts) {
            if let AppendOutcome::Added(view) = outcome {
                let words = std::mem::take(&mut draft.search_tokens);
                self.backlog
                    .add(view.message.room.0, view.message.id.0, words);
            }
        }
    }

    fn run_work(&mut self, mut work: Box<dyn Work>) {
        // A mistake in one job must not take the writer, and every later write, with it. It is
        // caught inside the transaction, which is rolled back: a connection dropped while a panic
        // unwinds is closed, and with it a database in memory would end.
        let outcome = self.committer.commit_unless(|tx| {
            let panicked = || Err(Rollback::Store(Error::Panicked("a write")));
            catch_unwind(AssertUnwindSafe(|| work.run(tx))).unwrap_or_else(|_| panicked())
        });
        let outcome = outcome.map(|((), items)| {
            let last = items.last().map(|item| item.id);
            if !self.committer.is_postgres() {
                for item in &items {
                    if let LogBody::Message(Some(view)) = &item.body {
                        self.backlog.add_room(view.message.room.0);
                    }
                }
            }
            self.publish(items);
            last
        });
        work.done(outcome);
    }

    fn publish(&mut self, items: Vec<LogItem>) {
        if items.is_empty() {
            return;
        }
        // A hint that nobody takes is no loss: the log has it all.
        let _ = self.committed.try_send(items);
        self.bell_due = self.committer.is_postgres();
        if self.bell_due && self.last_bell.elapsed() >= BELL_PAUSE {
            self.ring();
        }
    }

    /// Wakes the other processes.
    fn ring(&mut self) {
        self.bell_due = false;
        self.last_bell = Instant::now();
        self.committer.wake_others();
    }

    fn farewell(&mut self) {
        if !self.backlog.is_empty() {
            self.index_later();
        }
        if self.bell_due {
            self.ring();
        }
        self.committer.end();
    }
}
