//! The metrics of the writer.

use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

/// The metrics of the writer of a [`Store`](crate::Store). Clones count together.
#[derive(Clone, Debug)]
pub struct StoreMetrics {
    waiting: Gauge,
    batch: Histogram,
    duration: Histogram,
    failed: Counter,
}

impl Default for StoreMetrics {
    fn default() -> Self {
        Self {
            waiting: Gauge::default(),
            batch: Histogram::new(exponential_buckets(1.0, 2.0, 9)),
            duration: Histogram::new(exponential_buckets(0.000_25, 2.0, 16)),
            failed: Counter::default(),
        }
    }
}

impl StoreMetrics {
    /// Adds them to a registry, whose prefix their names get: `store_writes_waiting`,
    /// `store_batch_messages`, `store_transaction_duration_seconds` and
    /// `store_failed_transactions_total`.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "store_writes_waiting",
            "Writes that wait for the writer of this process",
            self.waiting.clone(),
        );
        registry.register(
            "store_batch_messages",
            "Messages that one transaction posted",
            self.batch.clone(),
        );
        registry.register_with_unit(
            "store_transaction_duration",
            "How long a transaction of the writer took, with its commit",
            Unit::Seconds,
            self.duration.clone(),
        );
        registry.register(
            "store_failed_transactions",
            "Transactions that the database did not commit",
            self.failed.clone(),
        );
    }

    pub(crate) fn note_waiting(&self) {
        self.waiting.inc();
    }

    pub(crate) fn note_taken(&self) {
        self.waiting.dec();
    }

    #[expect(clippy::cast_precision_loss, reason = "batches are small")]
    pub(crate) fn note_batch(&self, messages: usize) {
        self.batch.observe(messages as f64);
    }

    pub(crate) fn note_transaction(&self, took: Duration, has_failed: bool) {
        self.duration.observe(took.as_secs_f64());
        if has_failed {
            self.failed.inc();
        }
    }
}
