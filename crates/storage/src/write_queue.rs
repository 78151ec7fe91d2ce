//! The queue of the writer. Jobs are served in turns: posts and closures, of each the groups of
//! callers, and of each group its callers. A turn counts by what is written, so neither the number
//! of jobs nor their size decides how long others wait, and a caller that is alone has the whole
//! writer.

use std::collections::VecDeque;
use std::collections::btree_map::{BTreeMap, Entry};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use eddyline_model::RoomId;
use eddyline_model::log::EventId;
use eddyline_model::messages::Draft;
use eddyline_model::shares::{InUse, NoRoom, leaves_room};
use tokio::sync::oneshot;

use crate::append::AppendOutcome;
use crate::budget::{BudgetKey, TaskBudget};
use crate::fair::FairnessKey;
use crate::turns::{Line as _, Turns, Weighted};
use crate::work::Work;
use crate::{Error, Result};

/// The most posts in one transaction. All who post meanwhile wait for it, so that it is not much
/// longer than its commit.
const BATCH: usize = 64;
/// The rows from which on a transaction takes no more posts.
const BATCH_ROWS: u64 = 512;
/// The cost of a closure, in rows: its transaction takes about as long. One that took longer is
/// charged with the rows that could have been written meanwhile, up to a bound.
const CLOSURE_ROWS: u64 = 64;
const MAX_CLOSURE_ROWS: u64 = 16_384;
/// The approximate time that writing a row takes.
const ROW_TIME: Duration = Duration::from_micros(25);
/// The most that one post counts for while it waits.
const MAX_POST_ROWS: u64 = 2_048;

/// The outcome of a post, and the position of the log then.
#[derive(Clone, Debug)]
pub struct PostResult {
    /// The outcome.
    pub outcome: AppendOutcome,
    /// The position of its log entry, when there is one.
    pub event: Option<EventId>,
}

pub(crate) type PostReply = oneshot::Sender<Result<PostResult>>;

pub(crate) enum Job {
    Post(Box<Draft>, PostReply),
    Run(Box<dyn Work>),
    /// Makes everything in a room found by its words.
    Index(RoomId, oneshot::Sender<Result<()>>),
}

/// The next work of the writer, in one transaction.
pub(crate) enum Next {
    Posts(Vec<Draft>, Vec<PostReply>),
    Run(Box<dyn Work>, JobKey),
    Index(RoomId, oneshot::Sender<Result<()>>),
}

/// The caller and the group that a job counts for.
pub(crate) type JobKey = FairnessKey<BudgetKey>;

/// The reason for which the writer waits no longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    /// A job waits.
    Ready,
    /// The time is over.
    TimedOut,
    /// No job waits, and none will come.
    Closed,
}

/// Posts share transactions, closures have one each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Lane {
    Posts,
    Closures,
}

struct Waiting {
    job: Job,
    key: JobKey,
    rows: u64,
}

impl Weighted for Waiting {
    fn weight(&self) -> u64 {
        self.rows
    }
}

type LinesOfCallers = Turns<BudgetKey, VecDeque<Waiting>>;

/// The queue of one writer.
pub(crate) struct WriteQueue {
    /// The most rows that may wait.
    bound: u64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    lanes: Turns<Lane, Turns<BudgetKey, LinesOfCallers>>,
    rows: Rows,
    is_closed: bool,
    writer_waits: bool,
}

/// The rows that wait.
#[derive(Debug, Default)]
struct Rows {
    all: u64,
    /// Those of the groups and callers of which any wait.
    by_group: BTreeMap<BudgetKey, u64>,
    by_caller: BTreeMap<BudgetKey, u64>,
}

impl WriteQueue {
    /// A queue in which so many rows may wait.
    pub(crate) fn new(bound: u64) -> Self {
        Self {
            bound,
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Puts a job last among those of its caller.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyWrites`] when too much of the caller or its group waits, [`Error::Busy`] when
    /// too much waits in all, [`Error::Unavailable`] when the queue is closed.
    pub(crate) fn push(&self, job: Job, budget: TaskBudget) -> Result<()> {
        let (lane, rows) = match &job {
            Job::Post(draft, _) => (Lane::Posts, draft.rows().min(MAX_POST_ROWS)),
            Job::Run(_) | Job::Index(..) => (Lane::Closures, CLOSURE_ROWS),
        };
        let key = JobKey {
            caller: budget.caller,
            group: budget.group,
        };
        let mut state = self.lock();
        if state.is_closed {
            return Err(closed());
        }
        state.rows.admit(key, rows, self.bound)?;
        state.rows.add(key, rows);
        let callers = state.lanes.line(lane).line(key.group);
        callers
            .line(key.caller)
            .push_back(Waiting { job, key, rows });
        // One notification is enough: the writer then takes until nothing waits.
        if std::mem::take(&mut state.writer_waits) {
            self.changed.notify_one();
        }
        Ok(())
    }

    /// Takes out what is next: a job, or as many posts as one transaction takes.
    pub(crate) fn take(&self) -> Option<Next> {
        let mut state = self.lock();
        let Waiting { job, key, rows } = state.lanes.take_next()?;
        state.rows.remove(key, rows);
        let (draft, reply) = match job {
            Job::Run(work) => return Some(Next::Run(work, key)),
            Job::Index(room, reply) => return Some(Next::Index(room, reply)),
            Job::Post(draft, reply) => (draft, reply),
        };
        let (mut drafts, mut replies, mut sum) = (vec![*draft], vec![reply], rows);
        while drafts.len() < BATCH
            && sum < BATCH_ROWS
            && let Some(Waiting { job, key, rows }) = state.lanes.take_of(Lane::Posts)
        {
            state.rows.remove(key, rows);
            sum += rows;
            if let Job::Post(draft, reply) = job {
                drafts.push(*draft);
                replies.push(reply);
            }
        }
        Some(Next::Posts(drafts, replies))
    }

    /// Charges a closure that was run with the time it took beyond [`CLOSURE_ROWS`].
    pub(crate) fn charge(&self, key: JobKey, took: Duration) {
        let rows = u64::try_from(took.as_micros() / ROW_TIME.as_micros()).unwrap_or(u64::MAX);
        let more = rows.min(MAX_CLOSURE_ROWS).saturating_sub(CLOSURE_ROWS);
        let mut state = self.lock();
        let _ = state
            .lanes
            .charge(Lane::Closures, more)
            .and_then(|groups| groups.charge(key.group, more))
            .and_then(|callers| callers.charge(key.caller, more));
    }

    /// Waits for a job, for so long at most. Only the writer waits.
    pub(crate) fn wait(&self, most: Option<Duration>) -> Waited {
        let nothing = |state: &mut State| {
            state.writer_waits = state.rows.all == 0 && !state.is_closed;
            state.writer_waits
        };
        let state = self.lock();
        let state = match most {
            Some(most) => {
                let waited = self.changed.wait_timeout_while(state, most, nothing);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
            None => {
                let waited = self.changed.wait_while(state, nothing);
                waited.unwrap_or_else(PoisonError::into_inner)
            }
        };
        match (state.rows.all > 0, state.is_closed) {
            (true, _) => Waited::Ready,
            (false, true) => Waited::Closed,
            (false, false) => Waited::TimedOut,
        }
    }

    /// Takes no more jobs. Those that wait are still served.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_one();
    }

    /// Closes the queue and drops the jobs that wait, which fails them: for a writer that has
    /// ended.
    pub(crate) fn abandon(&self) {
        self.close();
        let lanes = std::mem::take(&mut self.lock().lanes);
        drop(lanes);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rows {
    /// Checks that so many more rows of a key may wait.
    fn admit(&self, key: JobKey, rows: u64, bound: u64) -> Result<()> {
        // The jobs of the process itself have a bound of their own making, and all users need them:
        // they are admitted while there is room at all, which the shares of callers leave.
        if key.caller == BudgetKey::BACKGROUND {
            let left = bound.saturating_sub(self.all);
            return if self.all == 0 || rows <= left {
                Ok(())
            } else {
                Err(Error::Busy)
            };
        }
        let of = |waiting: &BTreeMap<BudgetKey, u64>, key| waiting.get(&key).copied().unwrap_or(0);
        let waiting = InUse {
            all: self.all,
            group: of(&self.by_group, key.group),
            caller: of(&self.by_caller, key.caller),
        };
        leaves_room(bound, waiting, rows).map_err(|refused| match refused {
            NoRoom::All => Error::Busy,
            NoRoom::Share => Error::TooManyWrites,
        })
    }

    fn add(&mut self, key: JobKey, rows: u64) {
        self.all += rows;
        *self.by_group.entry(key.group).or_default() += rows;
        *self.by_caller.entry(key.caller).or_default() += rows;
    }

    fn remove(&mut self, key: JobKey, rows: u64) {
        self.all -= rows;
        let parts = [
            (&mut self.by_group, key.group),
            (&mut self.by_caller, key.caller),
        ];
        for (waiting, key) in parts {
            if let Entry::Occupied(mut of_key) = waiting.entry(key) {
                *of_key.get_mut() -= rows;
                if *of_key.get() == 0 {
                    of_key.remove();
                }
            }
        }
    }
}

/// The answer of a queue that takes no more jobs.
pub(crate) fn closed() -> Error {
    Error::Unavailable("the store is closed".into())
}

#[cfg(test)]
mod tests;
