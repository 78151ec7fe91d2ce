//! A minimum rate for transfers, so that a slow peer cannot hold one for ever.

use std::future::poll_fn;
use std::num::NonZeroU32;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::time::{Instant, timeout};

/// How slow the peer of a transfer may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinimumRate {
    /// Bytes that must pass in a second, on average. 4 KiB unless set otherwise.
    pub bytes_per_second: NonZeroU32,
    /// How long a transfer may stay below that rate: at its start, and later after it has been at
    /// that rate or above for as long. 15 seconds unless set otherwise.
    pub grace: Duration,
}

impl Default for MinimumRate {
    fn default() -> Self {
        let bytes_per_second = const { NonZeroU32::new(4 * 1024).expect("not zero") };
        Self {
            bytes_per_second,
            grace: Duration::from_secs(15),
        }
    }
}

impl MinimumRate {
    /// How long these bytes take at the minimum rate.
    fn time_for(self, bytes: u64) -> Duration {
        let nanos = u128::from(bytes) * 1_000_000_000 / u128::from(self.bytes_per_second.get());
        Duration::from_nanos(nanos.try_into().unwrap_or(u64::MAX))
    }
}

/// The peer of a transfer was slower than the minimum rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the transfer is too slow")]
pub struct TooSlow;

/// Holds one transfer to a [`MinimumRate`].
///
/// It has an allowance of time: waiting for the peer spends it, bytes that pass restore it, up to
/// [`MinimumRate::grace`]. Only waiting counts, so that the server's own slowness is never charged
/// to the peer.
///
/// ```
/// # use eddyline_http::serve::{MinimumRate, RateMeter, TooSlow};
/// # async fn example(mut receive: impl AsyncFnMut() -> Option<bytes::Bytes>) -> Result<(), TooSlow> {
/// let mut meter = RateMeter::new(MinimumRate::default());
/// while let Some(data) = meter.wait(receive()).await? {
///     meter.passed(data.len() as u64);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct RateMeter {
    rate: MinimumRate,
    allowance: Duration,
}

impl RateMeter {
    /// The meter of a transfer that begins.
    #[must_use]
    pub fn new(rate: MinimumRate) -> Self {
        Self {
            rate,
            allowance: rate.grace,
        }
    }

    /// How long the peer may still let the transfer wait if no byte passes.
    #[must_use]
    pub fn allowance(&self) -> Duration {
        self.allowance
    }

    /// Charges time for which the transfer waited for the peer.
    pub fn waited(&mut self, time: Duration) {
        self.allowance = self.allowance.saturating_sub(time);
    }

    /// Credits bytes that passed.
    pub fn passed(&mut self, bytes: u64) {
        let restored = self.allowance.saturating_add(self.rate.time_for(bytes));
        self.allowance = restored.min(self.rate.grace);
    }

    /// Waits for the peer's next step within the allowance, and charges the time. Nothing is
    /// charged for what is ready at once.
    ///
    /// # Errors
    ///
    /// [`TooSlow`] when the allowance is used up.
    pub async fn wait<F: Future>(&mut self, next: F) -> Result<F::Output, TooSlow> {
        let mut next = pin!(next);
        if let Poll::Ready(output) = poll_fn(|cx| Poll::Ready(next.as_mut().poll(cx))).await {
            return Ok(output);
        }
        let began = Instant::now();
        let output = timeout(self.allowance, next).await;
        self.waited(began.elapsed());
        output.map_err(|_| TooSlow)
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn rate() -> MinimumRate {
        MinimumRate {
            bytes_per_second: NonZeroU32::new(1000).unwrap(),
            grace: 10 * SECOND,
        }
    }

    #[test]
    fn a_transfer_at_the_minimum_rate_goes_on_for_ever() {
        let mut meter = RateMeter::new(rate());
        for _ in 0..10_000 {
            meter.waited(SECOND);
            assert_eq!(meter.allowance(), 9 * SECOND);
            meter.passed(1000);
        }
    }

    #[test]
    fn a_transfer_just_below_the_minimum_rate_ends() {
        let mut meter = RateMeter::new(rate());
        let mut seconds = 0;
        loop {
            meter.waited(SECOND);
            if meter.allowance().is_zero() {
                break;
            }
            meter.passed(990);
            seconds += 1;
        }
        // Each second costs a hundredth of one, and the last one must fit.
        assert!((890..=910).contains(&seconds), "{seconds}");
    }

    #[test]
    fn one_byte_a_minute_is_too_slow() {
        let mut meter = RateMeter::new(rate());
        meter.passed(1);
        meter.waited(10 * SECOND);
        assert!(meter.allowance().is_zero());
    }

    #[test]
    fn a_fast_beginning_buys_no_more_than_the_grace() {
        let mut meter = RateMeter::new(rate());
        meter.passed(u64::MAX);
        assert_eq!(meter.allowance(), 10 * SECOND);
    }

    #[tokio::test]
    async fn what_is_ready_is_taken_also_when_the_allowance_is_used_up() {
        let mut meter = RateMeter::new(rate());
        meter.waited(10 * SECOND);
        assert_eq!(meter.wait(ready(7)).await, Ok(7));
        assert_eq!(meter.wait(pending::<()>()).await, Err(TooSlow));
    }
}
