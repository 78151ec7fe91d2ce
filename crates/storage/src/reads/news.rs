//! Asking whether anything happened in a room since a position of the log. Each list of the newest messages asks
//! this, so questions that arrive while a read is under way share the next one.

use std::collections::BTreeMap;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use eddyline_model::RoomId;
use eddyline_model::log::Seq;
use tokio::sync::oneshot;

use crate::budget::{Account, ReadBudget};
use crate::connect::Location;
use crate::session::Session;
use crate::store::Store;
use crate::{Error, Result};

/// The budget of the shared reads. They count for no caller: one question costs a look into an index.
const SHARED: ReadBudget = ReadBudget { caller: Account::NEWS, group: Account::NEWS, line: usize::MAX };

/// What is asked, and who waits for the answer.
type Questions = BTreeMap<(RoomId, Seq), Vec<oneshot::Sender<bool>>>;

/// The questions of a store.
#[derive(Debug)]
pub(crate) struct News {
    state: Mutex<State>,
    /// How many reads run at once.
    most_reads: usize,
}

#[derive(Debug, Default)]
struct State {
    waiting: Questions,
    reads: usize,
}

impl News {
    pub(crate) fn new(location: &Location) -> Self {
        // SQLite answers within microseconds. A round trip to PostgreSQL takes longer, and those who come during
        // one should not have to wait for two.
        let most_reads = match location {
            Location::Memory | Location::File(_) => 1,
            Location::Postgres(_) => 4,
        };
        Self { state: Mutex::default(), most_reads }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a question in the line. Tells whether the caller is to start another task that answers questions.
    fn ask(&self, room: RoomId, after: Seq, reply: oneshot::Sender<bool>) -> bool {
        let mut state = self.lock();
        state.waiting.entry((room, after)).or_default().push(reply);
        let starts = state.reads < self.most_reads;
        state.reads += usize::from(starts);
        starts
    }
}

/// Answers questions, one read after the other, until none waits.
struct Answering {
    store: Store,
    ended: bool,
}

impl Answering {
    fn new(store: Store) -> Self {
        Self { store, ended: false }
    }

    /// All questions that wait. There is nothing more to do after `None`.
    fn next(&mut self) -> Option<Questions> {
        let mut state = self.store.news().lock();
        if state.waiting.is_empty() {
            state.reads -= 1;
            self.ended = true;
            return None;
        }
        Some(mem::take(&mut state.waiting))
    }

    /// Blocks.
    fn run(mut self) {
        while let Some(questions) = self.next() {
            let read = self.store.begin_read(self.store.readers().time(SHARED));
            if let Err(error) = read.run(|session| answer(session, questions)) {
                tracing::debug!(%error, "a shared look into the log failed");
            }
        }
    }
}

impl Drop for Answering {
    /// Leaves nobody waiting when it ends early, as when the request that began it was dropped.
    fn drop(&mut self) {
        if !self.ended {
            let mut state = self.store.news().lock();
            state.reads -= 1;
            state.waiting.clear();
        }
    }
}

impl Store {
    /// Whether anything happened in a room after a position of the log: whatever was committed before the call counts,
    /// by this process or another.
    ///
    /// # Errors
    ///
    /// As [`Store::read`].
    pub async fn log_has_news(&self, room: RoomId, after: Seq) -> Result<bool> {
        let (reply, answer) = oneshot::channel();
        if self.news().ask(room, after, reply) {
            let answering = Answering::new(self.clone());
            let permit = self.readers().acquire(SHARED).await?;
            // It goes on for others when this request has its answer.
            tokio::task::spawn_blocking(move || {
                let _permit = permit;
                answering.run();
            });
        }
        match answer.await {
            Ok(has_news) => Ok(has_news),
            // The shared read failed. This one has the budget and the error of the caller.
            Err(_) => self.read(move |session| session.log_has_news(room, after)).await,
        }
    }
}

fn answer(session: &mut Session<'_>, questions: Questions) -> Result<()> {
    let asked: Vec<(RoomId, Seq)> = questions.keys().copied().collect();
    let answers = session.log_has_news_of_each(&asked)?;
    if answers.len() != asked.len() {
        return Err(Error::Corrupt("a room without an answer"));
    }
    for (replies, has_news) in questions.into_values().zip(answers) {
        for reply in replies {
            // Whose request has ended needs no answer.
            let _ = reply.send(has_news);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: RoomId = RoomId(1);

    fn ask(store: &Store) -> (bool, oneshot::Receiver<bool>) {
        let (reply, answer) = oneshot::channel();
        (store.news().ask(ROOM, Seq(1), reply), answer)
    }

    #[test]
    fn a_question_waits_for_the_next_read_and_the_last_read_ends() {
        let store = Store::open("sqlite::memory:").unwrap();
        let (starts, _answer) = ask(&store);
        assert!(starts, "nobody reads yet");
        let mut answering = Answering::new(store.clone());
        assert_eq!(answering.next().map(|questions| questions.len()), Some(1));
        let ((starts, _second), (starts_too, _third)) = (ask(&store), ask(&store));
        assert!(!starts && !starts_too);
        let shared = answering.next().and_then(|mut questions| questions.remove(&(ROOM, Seq(1))));
        assert_eq!(shared.map(|replies| replies.len()), Some(2));
        assert!(answering.next().is_none());
        drop(answering);
        assert!(ask(&store).0, "nobody reads any more");
    }

    #[test]
    fn who_ends_early_leaves_nobody_waiting() {
        let store = Store::open("sqlite::memory:").unwrap();
        let (_, mut answer) = ask(&store);
        drop(Answering::new(store.clone()));
        assert_eq!(answer.try_recv(), Err(oneshot::error::TryRecvError::Closed));
        assert!(ask(&store).0);
    }
}
