//! For how long a connection may stay as it is.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

use super::unauthenticated::UnauthenticatedConnection;
use super::{Limits, RateMeter};

/// What a connection is waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// For the rest of a request's head, or for the first request.
    Head,
    /// For another request.
    Idle,
    /// For us.
    Working,
    /// For us, and its client has closed its side.
    HungUp,
    /// For the client to take what was written.
    Writing,
}

/// How far a connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ConnectionSnapshot {
    pub(super) phase: Phase,
    /// Requests that have come so far.
    pub(super) requests: u64,
    /// Bytes written so far.
    pub(super) written: u64,
}

/// The clock of a connection. There is one timer, and a new status mostly leaves it as it is: it
/// then fires early, and is set to the time that is due.
pub(super) struct PhaseTimer<'a> {
    limits: &'a Limits,
    unknown: Option<&'a UnauthenticatedConnection>,
    status: ConnectionSnapshot,
    since: Instant,
    /// The rate at which the client takes the present answer.
    taking: RateMeter,
    timer: Pin<Box<Sleep>>,
}

impl<'a> PhaseTimer<'a> {
    pub(super) fn new(
        limits: &'a Limits,
        unknown: Option<&'a UnauthenticatedConnection>,
        status: ConnectionSnapshot,
    ) -> Self {
        let now = Instant::now();
        let taking = RateMeter::new(limits.write_rate);
        Self {
            limits,
            unknown,
            status,
            since: now,
            taking,
            timer: Box::pin(sleep_until(now)),
        }
    }

    /// Ready when the connection has been as it is for too long.
    pub(super) fn poll(&mut self, status: ConnectionSnapshot, cx: &mut Context<'_>) -> Poll<()> {
        if status != self.status {
            self.advance(status);
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

    /// A request that is answered at once changes no phase but counts all the same.
    fn advance(&mut self, status: ConnectionSnapshot) {
        let now = Instant::now();
        if status.requests != self.status.requests {
            self.taking = RateMeter::new(self.limits.write_rate);
        } else if self.status.phase == Phase::Writing {
            self.taking.waited(now - self.since);
        }
        self.taking.passed(status.written - self.status.written);
        (self.status, self.since) = (status, now);
    }

    fn time(&self) -> Option<Duration> {
        match self.status.phase {
            Phase::Head => Some(self.unless_hurried(self.limits.head_time)),
            Phase::Idle => Some(self.unless_hurried(self.limits.keep_alive)),
            Phase::Working => None,
            Phase::HungUp => Some(self.limits.hang_up_time),
            Phase::Writing => Some(self.taking.allowance()),
        }
    }

    fn unless_hurried(&self, time: Duration) -> Duration {
        match self
            .unknown
            .is_some_and(UnauthenticatedConnection::is_hurried)
        {
            true => time.min(self.limits.scarce_time),
            false => time,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::time::advance;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    impl PhaseTimer<'_> {
        /// Whether the connection has been as it is for too long.
        async fn is_over(&mut self, status: ConnectionSnapshot) -> bool {
            poll_fn(|cx| Poll::Ready(self.poll(status, cx).is_ready())).await
        }
    }

    fn idle_after(requests: u64) -> ConnectionSnapshot {
        ConnectionSnapshot {
            phase: Phase::Idle,
            requests,
            written: 100 * requests,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_is_answered_at_once_prolongs_keep_alive() {
        let limits = Limits::default();
        let mut phase_timer = PhaseTimer::new(&limits, None, idle_after(0));
        for requests in 1..=10 {
            assert!(!phase_timer.is_over(idle_after(requests)).await);
            advance(limits.keep_alive - SECOND).await;
            assert!(!phase_timer.is_over(idle_after(requests)).await);
        }
        advance(SECOND).await;
        assert!(phase_timer.is_over(idle_after(10)).await);
    }

    #[tokio::test(start_paused = true)]
    async fn one_byte_in_a_while_is_no_way_to_take_an_answer() {
        let limits = Limits::default();
        let writing = |written| ConnectionSnapshot {
            phase: Phase::Writing,
            requests: 1,
            written,
        };
        let mut phase_timer = PhaseTimer::new(&limits, None, writing(0));
        let seconds = limits.write_rate.grace.as_secs();
        for second in 0..seconds {
            assert!(!phase_timer.is_over(writing(second)).await);
            advance(SECOND).await;
        }
        advance(SECOND / 10).await;
        assert!(phase_timer.is_over(writing(seconds - 1)).await);
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_for_the_server_is_not_charged_to_the_reader_of_an_answer() {
        let limits = Limits::default();
        let status = |phase| ConnectionSnapshot {
            phase,
            requests: 1,
            written: 0,
        };
        let mut phase_timer = PhaseTimer::new(&limits, None, status(Phase::Writing));
        advance(limits.write_rate.grace - SECOND).await;
        assert!(!phase_timer.is_over(status(Phase::Working)).await);
        advance(3600 * SECOND).await;
        assert!(!phase_timer.is_over(status(Phase::Writing)).await);
        advance(SECOND).await;
        assert!(phase_timer.is_over(status(Phase::Writing)).await);
    }
}
