//! The metrics of the log, as far as this process has read it, and of changes that all processes
//! must act upon.

use std::fmt;
use std::sync::atomic::Ordering;
use std::time::Duration;

use eddyline_model::Timestamp;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use super::Core;

impl Core {
    /// Adds the metrics of the log and of revocations to a registry.
    pub(crate) fn register_metrics(&self, registry: &mut Registry) {
        self.revocations.register(registry);
        registry.register_collector(Box::new(LogCollector(self.clone())));
    }
}

/// The waits for other processes after changes of rights. The process that makes a change measures
/// its wait, so the clocks of several machines need not agree. Clones share the
/// counters.
#[derive(Clone, Debug)]
pub(crate) struct RevocationMetrics {
    lag: Histogram,
    unconfirmed: Counter,
}

impl Default for RevocationMetrics {
    fn default() -> Self {
        Self {
            lag: Histogram::new(exponential_buckets(0.001, 2.0, 13)),
            unconfirmed: Counter::default(),
        }
    }
}

impl RevocationMetrics {
    fn register(&self, registry: &mut Registry) {
        registry.register_with_unit(
            "revocation_lag",
            "How long it took until every process had acted upon a change of rights",
            Unit::Seconds,
            self.lag.clone(),
        );
        registry.register(
            "revocations_unconfirmed",
            "Changes of rights that not every process was known to have acted upon in time",
            self.unconfirmed.clone(),
        );
    }

    pub(crate) fn note(&self, took: Duration, is_confirmed: bool) {
        self.lag.observe(took.as_secs_f64());
        if !is_confirmed {
            self.unconfirmed.inc();
        }
    }
}

/// Tells how far the feed has come at the moment in which the metrics are read: a gauge that the
/// feed sets would stand still exactly when the feed does.
struct LogCollector(Core);

impl Collector for LogCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let position = encoder.encode_descriptor(
            "log_position",
            "The position up to which this process has read the log.",
            None,
            MetricType::Gauge,
        )?;
        ConstGauge::new(self.0.position().0).encode(position)?;
        let synced_at = Timestamp(self.0.synced_at.load(Ordering::Relaxed));
        let lag = encoder.encode_descriptor(
            "log_lag",
            "For how long this process may not know the end of the log.",
            Some(&Unit::Seconds),
            MetricType::Gauge,
        )?;
        ConstGauge::new(lag_seconds(synced_at, self.0.now())).encode(lag)
    }
}

impl fmt::Debug for LogCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LogCollector")
    }
}

/// The time since the feed last knew the end of the log; infinite before it first did, and after it
/// has ended.
#[expect(
    clippy::cast_precision_loss,
    reason = "a lag has fewer than 2^52 milliseconds"
)]
fn lag_seconds(synced_at: Timestamp, now: Timestamp) -> f64 {
    if synced_at.0 == 0 {
        return f64::INFINITY;
    }
    // A clock that was set back makes no negative lag.
    (now.0 - synced_at.0).max(0) as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lag_is_the_time_since_the_feed_last_knew_the_end_of_the_log() {
        let at = Timestamp(1_800_000_000_000);
        for (now, lag) in [(at, 0.0), (at.plus_millis(1500), 1.5)] {
            assert!((lag_seconds(at, now) - lag).abs() < f64::EPSILON);
        }
        assert!(lag_seconds(at, at.plus_millis(-1)) >= 0.0);
        assert!(lag_seconds(Timestamp(0), at).is_infinite());
    }
}
