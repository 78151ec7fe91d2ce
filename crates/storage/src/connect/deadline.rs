//! When a read has to end: at a point in time, or as soon as its caller no longer waits for it.
//!
//! SQLite executes statements on the thread that reads, and asks that thread's [`Deadline`] while
//! it does. PostgreSQL is told the time with each connection, and to cancel.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[cfg(feature = "postgres")]
use super::cancel::Backend;

/// When the read on this thread has to end.
#[derive(Clone, Debug)]
pub(crate) struct Deadline {
    at: Instant,
    abandoned: Arc<AtomicBool>,
}

/// Ends the read when it is dropped, unless the read was completed.
pub(crate) struct AbandonOnDrop {
    abandoned: Arc<AtomicBool>,
    #[cfg(feature = "postgres")]
    backend: Option<Backend>,
}

thread_local! {
    static RUNNING: RefCell<Option<Deadline>> = const { RefCell::new(None) };
}

impl Deadline {
    pub(crate) fn after(time: Duration) -> Self {
        Self {
            at: Instant::now() + time,
            abandoned: Arc::default(),
        }
    }

    pub(crate) fn abandon_on_drop(
        &self,
        #[cfg(feature = "postgres")] backend: Option<Backend>,
    ) -> AbandonOnDrop {
        AbandonOnDrop {
            abandoned: Arc::clone(&self.abandoned),
            #[cfg(feature = "postgres")]
            backend,
        }
    }

    pub(crate) fn has_passed(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed) || Instant::now() >= self.at
    }

    /// Runs `work` on this thread under the deadline.
    pub(crate) fn run<R>(self, work: impl FnOnce() -> R) -> R {
        let _reset = Reset;
        RUNNING.with(|running| *running.borrow_mut() = Some(self));
        work()
    }
}

impl Drop for AbandonOnDrop {
    fn drop(&mut self) {
        self.abandoned.store(true, Ordering::Relaxed);
        #[cfg(feature = "postgres")]
        if let Some(backend) = &self.backend {
            backend.give_up();
        }
    }
}

/// Takes the deadline off the thread, also when the work panics.
struct Reset;

impl Drop for Reset {
    fn drop(&mut self) {
        RUNNING.with(|running| *running.borrow_mut() = None);
    }
}

/// Whether the deadline of what this thread reads has passed. Never panics.
pub(crate) fn has_passed() -> bool {
    let passed = RUNNING.try_with(|running| {
        running
            .try_borrow()
            .is_ok_and(|running| running.as_ref().is_some_and(Deadline::has_passed))
    });
    passed.unwrap_or(false)
}
