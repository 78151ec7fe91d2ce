//! The threads that read.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use tokio::sync::oneshot;

use crate::{Error, Result};

type Job = Box<dyn FnOnce() + Send>;

/// As many threads as there may be reads at once; they end with the last clone. Those that tokio
/// has for blocking work grow in number whenever a read begins before the thread of the one before
/// it is idle again, and each keeps the memory of what it has read last.
#[derive(Clone, Debug)]
pub(crate) struct ReadThreads(mpsc::Sender<Job>);

impl ReadThreads {
    /// Starts so many threads.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the system has no thread left.
    pub(crate) fn start(count: usize) -> Result<Self> {
        let (sender, jobs) = mpsc::channel::<Job>();
        let jobs = Arc::new(Mutex::new(jobs));
        for _ in 0..count {
            let jobs = Arc::clone(&jobs);
            std::thread::Builder::new()
                .name("reader".into())
                .spawn(move || {
                    while let Some(job) = next(&jobs) {
                        // Its answer is dropped, which says that it panicked.
                        let _ = catch_unwind(AssertUnwindSafe(job));
                    }
                })
                .map_err(|error| Error::Unavailable(error.to_string()))?;
        }
        Ok(Self(sender))
    }

    /// Runs `work` on one of the threads, even if the future is dropped.
    ///
    /// # Errors
    ///
    /// [`Error::Panicked`].
    pub(crate) fn run<R, W>(&self, work: W) -> impl Future<Output = Result<R>> + use<R, W>
    where
        R: Send + 'static,
        W: FnOnce() -> R + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(move || {
            // The caller may have given up.
            let _ = reply.send(work());
        });
        // The threads are there as long as this sender.
        let _ = self.0.send(job);
        async move { answer.await.map_err(|_| Error::Panicked("a read")) }
    }
}

fn next(jobs: &Mutex<mpsc::Receiver<Job>>) -> Option<Job> {
    let jobs = jobs.lock().unwrap_or_else(PoisonError::into_inner);
    jobs.recv().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_thread_goes_on_after_a_panic() {
        let threads = ReadThreads::start(1).unwrap();
        let panicked = threads.run(|| -> () { panic!("on purpose") }).await;
        assert!(matches!(panicked, Err(Error::Panicked(_))));
        assert_eq!(threads.run(|| 7).await.unwrap(), 7);
    }

    #[tokio::test]
    async fn work_is_done_even_if_the_future_is_dropped() {
        let threads = ReadThreads::start(1).unwrap();
        let (sender, done) = oneshot::channel();
        drop(threads.run(move || sender.send(7)));
        assert_eq!(done.await, Ok(7));
    }
}
