//! Background work: the jobs of the process, and work of requests that must reach its end, by name.
//!
//! A job of the process ([`Jobs::spawn`], [`Jobs::spawn_essential`]) runs until its token is
//! cancelled. A request whose work must reach its end registers that work, too ([`Jobs::finish`]).
//! So a panic never goes unseen, and a shutdown waits for all of them, within a bound.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

use crate::{Error, Result};

/// How long after a panic a job is run again, so that one that panics at once does not use up a
/// core.
const RESTART_PAUSE: Duration = Duration::from_secs(1);
/// How long a shutdown waits for the work of requests: as long as an integration may take to
/// answer.
const REQUESTS_TIME: Duration = Duration::from_secs(10);
/// How long it waits for the jobs afterwards.
const JOBS_TIME: Duration = Duration::from_secs(15);

/// The jobs of one application. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Jobs {
    process: TaskTracker,
    requests: TaskTracker,
    stop: CancellationToken,
    running: Arc<Mutex<Running>>,
    failure: watch::Sender<Option<Arc<Error>>>,
}

/// The names of the jobs that run, for the warning of a shutdown that does not wait any longer.
#[derive(Debug, Default)]
struct Running {
    last: u64,
    names: BTreeMap<u64, &'static str>,
}

/// An entry of [`Running`], which is removed when this is dropped.
struct Registered {
    running: Arc<Mutex<Running>>,
    id: u64,
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .names
            .remove(&self.id);
    }
}

impl Jobs {
    /// Runs a job until the token that it gets is cancelled; again, when it panicked.
    #[expect(
        clippy::disallowed_methods,
        reason = "a pause, so that a job that panics at once does not keep a core busy"
    )]
    pub(crate) fn spawn<W>(
        &self,
        name: &'static str,
        job: impl Fn(CancellationToken) -> W + Send + Sync + 'static,
    ) where
        W: Future<Output = ()> + Send + 'static,
    {
        let (registered, stop) = (self.register(name), self.stop.clone());
        let task = async move {
            let _registered = registered;
            while AssertUnwindSafe(async { job(stop.clone()).await })
                .catch_unwind()
                .await
                .is_err()
            {
                tracing::error!(job = name, "the job panicked; it is run again");
                if stop
                    .run_until_cancelled(tokio::time::sleep(RESTART_PAUSE))
                    .await
                    .is_none()
                {
                    return;
                }
            }
        };
        self.process
            .spawn(task.instrument(tracing::error_span!("job", job = name)));
    }

    /// Runs a job without which the application cannot go on. When it fails or panics,
    /// [`Background::failed`] says so.
    pub(crate) fn spawn_essential(
        &self,
        name: &'static str,
        job: impl Future<Output = Result<()>> + Send + 'static,
    ) {
        let (registered, failure) = (self.register(name), self.failure.clone());
        let task = async move {
            let _registered = registered;
            let outcome = AssertUnwindSafe(job).catch_unwind().await;
            let outcome = outcome
                .unwrap_or_else(|_| Err(Error::internal(format!("the job {name} panicked"))));
            if let Err(error) = outcome {
                failure.send_replace(Some(Arc::new(error)));
            }
        };
        self.process
            .spawn(task.instrument(tracing::error_span!("job", job = name)));
    }

    /// Runs the work of a request to its end, also when the future that waits for it is dropped.
    ///
    /// # Errors
    ///
    /// Those of the work, and [`Error::internal`] when it panicked.
    pub(crate) async fn finish<T: Send + 'static>(
        &self,
        name: &'static str,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let registered = self.register(name);
        let task = async move {
            let _registered = registered;
            work.await
        };
        let task = task.in_current_span().instrument(traced(name));
        let task = self.requests.spawn(task);
        task.await
            .map_err(|error| Error::internal(format!("{name}: {error}")))?
    }

    /// Runs the work of a request that the request does not wait for. A shutdown does.
    pub(crate) fn finish_aside(
        &self,
        name: &'static str,
        work: impl Future<Output = Result<()>> + Send + 'static,
    ) {
        let registered = self.register(name);
        let task = async move {
            let _registered = registered;
            if let Err(error) = work.await {
                tracing::debug!(%error, "{name}: not done");
            }
        };
        self.requests
            .spawn(task.in_current_span().instrument(traced(name)));
    }

    /// Cancelled when the jobs are to stop.
    pub(crate) fn stopped(&self) -> CancellationToken {
        self.stop.clone()
    }

    fn register(&self, name: &'static str) -> Registered {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.last += 1;
        let id = running.last;
        running.names.insert(id, name);
        Registered {
            running: self.running.clone(),
            id,
        }
    }

    fn running(&self) -> Vec<&'static str> {
        self.running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .names
            .values()
            .copied()
            .collect()
    }

    /// The handle by which the owner of the application stops them.
    pub(crate) fn background(&self) -> Background {
        Background {
            jobs: self.clone(),
            _stop: self.stop.clone().drop_guard(),
        }
    }
}

/// The background work of an application, as [`App::start`](crate::App::start) gives it to its
/// owner: reading the log for streams, sending mail, tidying up. Dropping it asks all of it to
/// stop; [`Background::stop`] also waits.
#[must_use = "background work stops when this is dropped"]
#[derive(Debug)]
pub struct Background {
    jobs: Jobs,
    _stop: DropGuard,
}

impl Background {
    /// Waits until a job has failed without which streams would miss events. The application is to
    /// be stopped then.
    pub async fn failed(&self) -> Arc<Error> {
        let mut failure = self.jobs.failure.subscribe();
        match failure
            .wait_for(Option::is_some)
            .await
            .ok()
            .and_then(|failure| failure.clone())
        {
            Some(error) => error,
            // The sender lives as long as the jobs.
            None => std::future::pending().await,
        }
    }

    /// Waits for the work of requests, ten seconds at most, then asks the jobs to stop and waits
    /// for them, fifteen at most. What is late then is named in the log and goes on until the
    /// runtime ends.
    ///
    /// # Errors
    ///
    /// The error of a job that failed, before or while it stopped.
    pub async fn stop(self) -> std::result::Result<(), Arc<Error>> {
        let jobs = &self.jobs;
        jobs.requests.close();
        jobs.process.close();
        // The work of requests waits for the feed, so it ends first.
        let requests = tokio::time::timeout(REQUESTS_TIME, jobs.requests.wait()).await;
        jobs.stop.cancel();
        let ended = tokio::time::timeout(JOBS_TIME, jobs.process.wait()).await;
        if requests.is_err() || ended.is_err() {
            tracing::warn!(jobs = ?jobs.running(), "jobs did not stop in time");
        }
        jobs.failure.borrow().clone().map_or(Ok(()), Err)
    }
}

/// Says when a job is to work: at once, then after each period, until it is to stop.
pub(crate) struct Ticker {
    interval: Interval,
    stop: CancellationToken,
}

impl Ticker {
    pub(crate) fn new(period: Duration, stop: CancellationToken) -> Self {
        let mut interval = tokio::time::interval(period);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { interval, stop }
    }

    /// Waits for the next time to work; `false` when the job is to stop.
    pub(crate) async fn tick(&mut self) -> bool {
        self.tick_or(std::future::pending()).await
    }

    /// The same, but works earlier when `notified` resolves.
    pub(crate) async fn tick_or(&mut self, notified: impl Future<Output = ()>) -> bool {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => false,
            _ = self.interval.tick() => true,
            () = notified => true,
        }
    }
}

/// The span of a job in the trace of its request. `in_current_span` takes only the span of the log
/// into the task; without this one the task would not be part of the trace.
fn traced(name: &'static str) -> tracing::Span {
    tracing::info_span!("job", otel.kind = "internal", otel.name = name)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use tokio::sync::Notify;

    use super::*;
    use crate::ErrorKind;

    #[tokio::test(start_paused = true)]
    async fn a_job_that_panicked_is_run_again() {
        let jobs = Jobs::default();
        let (runs, again) = (Arc::new(AtomicU32::new(0)), Arc::new(Notify::new()));
        jobs.spawn("flaky", {
            let (runs, again) = (runs.clone(), again.clone());
            move |stop| {
                let (runs, again) = (runs.clone(), again.clone());
                async move {
                    assert!(
                        runs.fetch_add(1, Ordering::SeqCst) > 0,
                        "the first run fails"
                    );
                    again.notify_one();
                    stop.cancelled().await;
                }
            }
        });
        again.notified().await;
        assert_eq!(jobs.running(), ["flaky"]);
        jobs.background().stop().await.unwrap();
        assert!(jobs.running().is_empty());
        assert_eq!(runs.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn a_panic_of_an_essential_job_is_a_failure() {
        let jobs = Jobs::default();
        let background = jobs.background();
        jobs.spawn_essential("feed", async { panic!("a mistake") });
        assert_eq!(
            background.failed().await.to_string(),
            "internal error: the job feed panicked"
        );
        assert!(background.stop().await.is_err());
    }

    #[tokio::test]
    async fn an_error_of_an_essential_job_is_a_failure() {
        let jobs = Jobs::default();
        let background = jobs.background();
        jobs.spawn_essential("feed", async { Err(Error::not_found()) });
        assert_eq!(background.failed().await.kind(), ErrorKind::NotFound);
    }

    #[tokio::test]
    async fn the_work_of_a_request_goes_on_without_it() {
        let jobs = Jobs::default();
        let (begun, release, done) = (
            Arc::new(Notify::new()),
            Arc::new(Notify::new()),
            Arc::new(Notify::new()),
        );
        let work = {
            let (begun, release, done) = (begun.clone(), release.clone(), done.clone());
            async move {
                begun.notify_one();
                release.notified().await;
                done.notify_one();
                Ok(())
            }
        };
        #[expect(
            clippy::disallowed_methods,
            reason = "stands for a request, which may be dropped while its work goes on"
        )]
        let waiting = tokio::spawn({
            let jobs = jobs.clone();
            async move { jobs.finish("a request", work).await }
        });
        begun.notified().await;
        waiting.abort();
        assert_eq!(jobs.running(), ["a request"]);
        release.notify_one();
        jobs.background().stop().await.unwrap();
        done.notified().await;
    }

    #[tokio::test]
    async fn a_panic_in_the_work_of_a_request_is_its_error() {
        let outcome = Jobs::default()
            .finish::<()>("a request", async { panic!("a mistake") })
            .await;
        let error = outcome.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Internal);
        assert!(error.to_string().contains("a request"), "{error}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_shutdown_does_not_wait_for_ever() {
        let jobs = Jobs::default();
        jobs.spawn("deaf", |_| std::future::pending());
        jobs.background().stop().await.unwrap();
        assert_eq!(jobs.running(), ["deaf"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_ticker_ends_when_the_job_is_to_stop() {
        let stop = CancellationToken::new();
        let mut ticker = Ticker::new(Duration::from_secs(3600), stop.clone());
        assert!(ticker.tick().await, "at once");
        assert!(ticker.tick_or(async {}).await, "when notified");
        assert!(ticker.tick().await, "an hour later");
        stop.cancel();
        assert!(!ticker.tick_or(async {}).await, "to stop comes first");
    }
}
