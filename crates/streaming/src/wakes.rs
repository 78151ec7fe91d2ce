//! Waking many listeners without holding everybody else up.
//!
//! A message to a thousand listeners makes a thousand tasks ready at once, and whatever comes then,
//! a request or an answer, waits behind all of them. So they are woken some at a time, with a
//! breath in between. A subscription that is woken late finds what came meanwhile as well, and
//! writes it in one.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::listeners::Signal;

/// So many at a time. With 32 a post between them still took four times as long.
const SLICE: usize = 8;

#[derive(Default)]
pub(crate) struct Wakes {
    waiting: Mutex<VecDeque<Arc<Signal>>>,
    more: Notify,
    running: AtomicBool,
}

impl Wakes {
    /// Wakes these, after those who wait to be woken already.
    pub(crate) fn wake(&self, signals: Vec<Arc<Signal>>) {
        {
            let mut waiting = self.waiting();
            if self.running.load(Ordering::SeqCst) && waiting.len() + signals.len() > SLICE {
                waiting.extend(signals);
                self.more.notify_one();
                return;
            }
        }
        for signal in signals {
            signal.wake();
        }
    }

    /// Wakes who waits, for as long as it is polled. Without it everybody is woken at once.
    pub(crate) async fn run(&self) {
        self.running.store(true, Ordering::SeqCst);
        let _at_end = AtEnd(self);
        loop {
            let slice: Vec<_> = {
                let mut waiting = self.waiting();
                let count = waiting.len().min(SLICE);
                waiting.drain(..count).collect()
            };
            if slice.is_empty() {
                self.more.notified().await;
                continue;
            }
            for signal in slice {
                signal.wake();
            }
            tokio::task::yield_now().await;
        }
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<Arc<Signal>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Leaves nobody unwoken.
struct AtEnd<'w>(&'w Wakes);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        let left = {
            // Under the lock, so that nobody is added any more.
            let mut waiting = self.0.waiting();
            self.0.running.store(false, Ordering::SeqCst);
            std::mem::take(&mut *waiting)
        };
        for signal in left {
            signal.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;
    use std::sync::atomic::AtomicUsize;
    use std::task::{Wake, Waker};

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn signals(number: usize, count: &Arc<Count>) -> Vec<Arc<Signal>> {
        let signal = || {
            let signal = Signal::new(false, 0);
            signal.register(&Waker::from(Arc::clone(count)));
            signal
        };
        std::iter::repeat_with(signal).take(number).collect()
    }

    #[tokio::test]
    async fn many_are_woken_some_at_a_time() {
        let (wakes, count) = (Wakes::default(), Arc::new(Count::default()));
        let mut running = Box::pin(wakes.run());
        assert!(running.as_mut().now_or_never().is_none());
        wakes.wake(signals(3 * SLICE, &count));
        assert_eq!(count.0.load(Ordering::SeqCst), 0);
        assert!(running.as_mut().now_or_never().is_none());
        assert_eq!(count.0.load(Ordering::SeqCst), SLICE);
        drop(running);
        assert_eq!(
            count.0.load(Ordering::SeqCst),
            3 * SLICE,
            "the rest at its end"
        );
    }

    #[test]
    fn without_a_runner_all_are_woken_at_once() {
        let (wakes, count) = (Wakes::default(), Arc::new(Count::default()));
        wakes.wake(signals(100, &count));
        assert_eq!(count.0.load(Ordering::SeqCst), 100);
    }
}
