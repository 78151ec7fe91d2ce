//! The one writer of a process: every write is a job for it, posts in batches.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use eddyline_model::log::{LogBody, LogItem};
use eddyline_model::messages::Draft;
use tokio::sync::mpsc;

use crate::append::AppendOutcome;
use crate::backlog::Backlog;
use crate::commit::Committer;
use crate::connect::Location;
use crate::credential_epoch::CredentialEpoch;
use crate::metrics::StoreMetrics;
use crate::transaction::Rollback;
use crate::work::Work;
use crate::write_queue::{Next, PostReply, PostResult, Waited, WriteQueue};
use crate::{Error, Result};

/// Other processes are woken at most this often.
const BELL_PAUSE: Duration = Duration::from_millis(4);
/// How long the writer keeps at it on SQLite before it lets others write, and for how long it does.
const BUSY_STRETCH: Duration = Duration::from_millis(100);
const YIELD: Duration = Duration::from_millis(1);
/// How long words wait at most for more of them while nothing else is to be written, and how long
/// after they could not be written.
const INDEX_PAUSE: Duration = Duration::from_millis(200);
const INDEX_RETRY: Duration = Duration::from_secs(5);

/// Answers those who wait for a writer that has ended, possibly because of a bug.
struct AbandonedOnDrop<'a>(&'a WriteQueue);

impl Drop for AbandonedOnDrop<'_> {
    fn drop(&mut self) {
        self.0.abandon();
    }
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

    /// Works until the queue is closed and nothing waits in it.
    pub(crate) fn run(mut self, queue: &WriteQueue) {
        let _abandoned = AbandonedOnDrop(queue);
        loop {
            self.let_others_write();
            match queue.take() {
                Some(Next::Posts(drafts, replies)) => {
                    self.metrics.note_taken(drafts.len());
                    self.post(drafts, replies);
                    if self.backlog.is_large()
                        && self
                            .index_failed
                            .is_none_or(|at| at.elapsed() >= INDEX_RETRY)
                    {
                        self.index_later();
                    }
                }
                Some(Next::Run(work, key)) => {
                    self.metrics.note_taken(1);
                    let began = Instant::now();
                    self.run_work(work);
                    queue.charge(key, began.elapsed());
                }
                Some(Next::Index(room, reply)) => {
                    self.metrics.note_taken(1);
                    self.backlog.add_room(room.0);
                    let _ = reply.send(self.index());
                }
                None if self.wait(queue) => {
                    // While it waited, the lock was free.
                    self.last_pause = Instant::now();
                }
                None => break,
            }
        }
        self.farewell();
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

    /// Waits for a job, and uses the time to wake other processes and to index words that wait.
    /// Returns `false` when no job will come.
    fn wait(&mut self, queue: &WriteQueue) -> bool {
        loop {
            let pause = if self.bell_due {
                Some(BELL_PAUSE)
            } else if self.backlog.is_empty() {
                None
            } else if self.index_failed.is_some() {
                Some(INDEX_RETRY)
            } else {
                Some(INDEX_PAUSE)
            };
            match queue.wait(pause) {
                Waited::Ready => return true,
                Waited::Closed => return false,
                Waited::TimedOut if self.bell_due => self.ring(),
                Waited::TimedOut => self.index_later(),
            }
        }
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

    fn post(&mut self, mut drafts: Vec<Draft>, replies: Vec<PostReply>) {
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
