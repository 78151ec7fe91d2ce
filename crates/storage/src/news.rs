//! Questions whether the log has entries of a room after a position, which wait for a read that
//! answers all of them.

use std::collections::BTreeMap;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use eddyline_model::RoomId;
use eddyline_model::log::Seq;
use tokio::sync::oneshot;

use crate::connect::Location;

/// How many questions wait at most. A caller beyond makes a read of its own, which waits in the
/// line of the caller.
pub(crate) const MAX_WAITING: usize = 4096;
/// The questions that wait, each with the senders of its answer.
pub(crate) type Questions = BTreeMap<(RoomId, Seq), Vec<oneshot::Sender<bool>>>;

/// The questions of a store.
#[derive(Debug)]
pub(crate) struct News {
    state: Mutex<State>,
    /// How many reads run at once.
    max_reads: usize,
}

#[derive(Debug, Default)]
struct State {
    waiting: Questions,
    /// The number of senders in `waiting`.
    count: usize,
    /// How many reads are under way, or wait for a permit.
    reads: usize,
}

/// What becomes of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// A read that will begin answers it.
    Waits,
    /// The caller is to begin a read.
    Begins,
    /// Too many questions wait.
    Refused,
}

impl News {
    pub(crate) fn new(location: &Location) -> Self {
        // SQLite answers within microseconds. A round trip to PostgreSQL takes longer: with one
        // read at a time, a question that arrives during one would wait for nearly two.
        let max_reads = if location.is_postgres() { 4 } else { 1 };
        Self {
            state: Mutex::default(),
            max_reads,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a question. Its answer goes to `reply`.
    pub(crate) fn ask(&self, room: RoomId, after: Seq, reply: oneshot::Sender<bool>) -> Admission {
        let mut state = self.lock();
        if state.count >= MAX_WAITING {
            return Admission::Refused;
        }
        state.waiting.entry((room, after)).or_default().push(reply);
        state.count += 1;
        if state.reads >= self.max_reads {
            return Admission::Waits;
        }
        state.reads += 1;
        Admission::Begins
    }

    /// All questions that wait, for a read to answer them. The read is over after `None`.
    pub(crate) fn take(&self) -> Option<Questions> {
        let mut state = self.lock();
        if state.waiting.is_empty() {
            state.reads -= 1;
            return None;
        }
        state.count = 0;
        Some(mem::take(&mut state.waiting))
    }

    /// Ends a read early. When no other read will take the questions that wait, their senders are
    /// dropped: each caller then makes a read of its own.
    pub(crate) fn abandon(&self) {
        let mut state = self.lock();
        state.reads -= 1;
        if state.reads == 0 {
            state.count = 0;
            state.waiting.clear();
        }
    }
}
