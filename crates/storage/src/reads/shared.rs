//! Shared reads of whether the log has entries of a room after a position. Each list of the newest
//! messages asks this, so the questions are coalesced: those that arrive while a read is under way
//! share the next one.

use eddyline_model::RoomId;
use eddyline_model::log::Seq;
use tokio::sync::oneshot;

use crate::budget::{BudgetKey, TaskBudget};
use crate::fair::Permit;
use crate::news::{Admission, Questions};
use crate::reader::Reader;
use crate::store::Store;
use crate::{Error, Result};

/// The budget of the shared reads. They count for no caller: one question costs a look into an
/// index.
const SHARED: TaskBudget = TaskBudget {
    caller: BudgetKey::NEWS,
    group: BudgetKey::NEWS,
    line: usize::MAX,
};

/// How many reads one thread makes before it gives back its permit and its connection for a moment.
const READS_IN_A_ROW: usize = 64;

/// Answers questions, one read after the other, until none waits.
struct Answering {
    store: Store,
    ended: bool,
}

impl Answering {
    fn new(store: Store) -> Self {
        Self {
            store,
            ended: false,
        }
    }

    /// All questions that wait. There is nothing more to do after `None`.
    fn next(&mut self) -> Option<Questions> {
        let questions = self.store.news().take();
        self.ended = questions.is_none();
        questions
    }

    /// Answers, on a thread that reads. It goes on for others when the request that began it has
    /// its answer.
    #[expect(
        clippy::disallowed_methods,
        reason = "waits for a read and a permit only, which the store grants or refuses"
    )]
    fn start(self, permit: Permit<BudgetKey>) {
        let threads = self.store.read_threads().clone();
        let reading = threads.run(move || {
            let rest = self.run();
            drop(permit);
            rest
        });
        tokio::spawn(async move {
            if let Ok(Some(rest)) = reading.await {
                rest.start_again().await;
            }
        });
    }

    async fn start_again(self) {
        if let Ok(permit) = self.store.readers().acquire(SHARED).await {
            self.start(permit);
        }
    }

    /// Blocks. Gives itself back when others wait for a permit to read, which it must not keep from
    /// them, and after some reads.
    fn run(mut self) -> Option<Self> {
        for _ in 0..READS_IN_A_ROW {
            let questions = self.next()?;
            let readers = self.store.readers();
            let read = self.store.begin_read(readers.time(SHARED));
            if let Err(error) = read.run(|reader| answer(reader, questions)) {
                tracing::debug!(%error, "a shared look into the log failed");
            }
            if readers.are_awaited() {
                break;
            }
        }
        Some(self)
    }
}

impl Drop for Answering {
    /// It may end early, as when the request that began it was dropped.
    fn drop(&mut self) {
        if !self.ended {
            self.store.news().abandon();
        }
    }
}

impl Store {
    /// Whether anything happened in a room after a position of the log: whatever was committed
    /// before the call counts, by this process or another.
    ///
    /// # Errors
    ///
    /// As [`Store::read`].
    pub async fn log_has_news(&self, room: RoomId, after: Seq) -> Result<bool> {
        match self.ask_with_others(room, after).await {
            Some(has_news) => Ok(has_news),
            // This read has the budget and the error of the caller.
            None => {
                self.read(move |reader| reader.log().has_news(room, after))
                    .await
            }
        }
    }

    /// The answer of a shared read. `None` when that failed, or too many wait.
    async fn ask_with_others(&self, room: RoomId, after: Seq) -> Option<bool> {
        let (reply, mut answer) = oneshot::channel();
        match self.news().ask(room, after, reply) {
            Admission::Refused => return None,
            Admission::Waits => {}
            Admission::Begins => {
                let answering = Answering::new(self.clone());
                tokio::select! {
                    biased;
                    // A read of another has taken the question along.
                    has_news = &mut answer => return has_news.ok(),
                    permit = self.readers().acquire(SHARED) => answering.start(permit.ok()?),
                }
            }
        }
        answer.await.ok()
    }
}

fn answer(reader: &mut Reader<'_>, questions: Questions) -> Result<()> {
    let asked: Vec<(RoomId, Seq)> = questions.keys().copied().collect();
    let answers = reader.log().has_news_of_each(&asked)?;
    if answers.len() != asked.len() {
        return Err(Error::Corrupt("a room without an answer"));
    }
    for (replies, has_news) in questions.into_values().zip(answers) {
        for reply in replies {
            // The receiver is gone when its request has ended.
            let _ = reply.send(has_news);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::disallowed_methods,
        reason = "the tasks of a test end with its runtime"
    )]

    use super::*;
    use crate::news::MAX_WAITING;

    const ROOM: RoomId = RoomId(1);

    fn ask(store: &Store) -> (Admission, oneshot::Receiver<bool>) {
        let (reply, answer) = oneshot::channel();
        (store.news().ask(ROOM, Seq(1), reply), answer)
    }

    #[test]
    fn a_question_waits_for_the_next_read_and_the_last_read_ends() {
        let store = Store::open("sqlite::memory:").unwrap();
        let (asked, _answer) = ask(&store);
        assert_eq!(asked, Admission::Begins, "no task reads yet");
        let mut answering = Answering::new(store.clone());
        assert_eq!(answering.next().map(|questions| questions.len()), Some(1));
        let ((second, _answer), (third, _other)) = (ask(&store), ask(&store));
        assert_eq!((second, third), (Admission::Waits, Admission::Waits));
        let shared = answering
            .next()
            .and_then(|mut questions| questions.remove(&(ROOM, Seq(1))));
        assert_eq!(shared.map(|replies| replies.len()), Some(2));
        assert!(answering.next().is_none());
        drop(answering);
        assert_eq!(
            ask(&store).0,
            Admission::Begins,
            "the reading task has ended"
        );
    }

    #[test]
    fn who_ends_early_leaves_nobody_waiting() {
        let store = Store::open("sqlite::memory:").unwrap();
        let (_, mut answer) = ask(&store);
        drop(Answering::new(store.clone()));
        assert_eq!(answer.try_recv(), Err(oneshot::error::TryRecvError::Closed));
        assert_eq!(ask(&store).0, Admission::Begins);
    }

    #[tokio::test]
    async fn others_who_wait_to_read_come_in_between() {
        let store = Store::open("sqlite::memory:").unwrap();
        let permit = store.readers().acquire(SHARED).await.unwrap();
        let other = tokio::spawn({
            let store = store.clone();
            async move { store.read(|reader| reader.log().find_head()).await }
        });
        while !store.readers().are_awaited() {
            tokio::task::yield_now().await;
        }
        let (_, answer) = ask(&store);
        let rest = Answering::new(store.clone()).run().unwrap();
        assert_eq!(answer.await, Ok(false));
        let (asked, late) = ask(&store);
        assert_eq!(asked, Admission::Waits, "the rest answers it");
        drop(permit);
        tokio::spawn(rest.start_again());
        other.await.unwrap().unwrap();
        assert_eq!(late.await, Ok(false));
    }

    #[tokio::test]
    async fn questions_beyond_the_bound_are_answered_all_the_same() {
        let store = Store::open("sqlite::memory:").unwrap();
        let (first, _answer) = ask(&store);
        let waiting: Vec<_> = (1..MAX_WAITING).map(|_| ask(&store)).collect();
        assert!(
            first == Admission::Begins
                && waiting.iter().all(|(asked, _)| *asked == Admission::Waits)
        );
        assert_eq!(ask(&store).0, Admission::Refused);
        assert_eq!(store.log_has_news(ROOM, Seq(1)).await.ok(), Some(false));
        assert!(Answering::new(store.clone()).run().is_none());
        assert!(
            waiting
                .into_iter()
                .all(|(_, mut answer)| answer.try_recv() == Ok(false))
        );
    }

    #[tokio::test]
    async fn who_is_dropped_while_it_waits_for_a_permit_lets_others_ask() {
        let store = Store::open("sqlite::memory:").unwrap();
        let permit = store.readers().acquire(SHARED).await.unwrap();
        let question = |store: Store| async move { store.log_has_news(ROOM, Seq(1)).await };
        let first = tokio::spawn(question(store.clone()));
        while !store.readers().are_awaited() {
            tokio::task::yield_now().await;
        }
        let second = tokio::spawn(question(store.clone()));
        first.abort();
        assert!(first.await.unwrap_err().is_cancelled());
        drop(permit);
        assert_eq!(second.await.unwrap().ok(), Some(false));
    }
}
