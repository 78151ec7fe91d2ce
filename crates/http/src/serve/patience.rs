//! For how long a connection may stay as it is.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

use super::Limits;

/// What a connection is waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// For the rest of a request's head, or for the first request.
    Head,
    /// For another request.
    Idle,
    /// For us.
    Working,
    /// For the client to take more than these many bytes.
    Writing(u64),
}

/// The clock of a connection. There is one timer, and a new phase mostly leaves it as it is: it
/// then fires early, and is set to the time that is due.
pub(super) struct Patience<'a> {
    limits: &'a Limits,
    phase: Phase,
    since: Instant,
    timer: Pin<Box<Sleep>>,
}

impl<'a> Patience<'a> {
    pub(super) fn new(limits: &'a Limits) -> Self {
        let now = Instant::now();
        Self { limits, phase: Phase::Head, since: now, timer: Box::pin(sleep_until(now)) }
    }

    /// Ready when the connection has been in `phase` for too long.
    pub(super) fn poll(&mut self, phase: Phase, cx: &mut Context<'_>) -> Poll<()> {
        if phase != self.phase {
            self.phase = phase;
            self.since = Instant::now();
        }
        // A time beyond all clocks is no limit.
        let Some(due) = self.time().and_then(|time| self.since.checked_add(time)) else {
            return Poll::Pending;
        };
        if due < self.timer.deadline() {
            self.timer.as_mut().reset(due);
        }
        loop {
            ready!(self.timer.as_mut().poll(cx));
            if self.timer.deadline() >= due {
                return Poll::Ready(());
            }
            self.timer.as_mut().reset(due);
        }
    }

    fn time(&self) -> Option<Duration> {
        match self.phase {
            Phase::Head => Some(self.limits.head_time),
            Phase::Idle => Some(self.limits.keep_alive),
            Phase::Working => None,
            Phase::Writing(_) => Some(self.limits.write_time),
        }
    }
}
