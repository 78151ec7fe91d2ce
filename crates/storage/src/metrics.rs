//! The metrics of the writer and of the connections to read with.

use std::fmt;
use std::time::Duration;

use diesel::r2d2::event::TimeoutEvent;
use diesel::r2d2::{HandleEvent, State};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use crate::connect::Connections;
use crate::readers::Readers;

/// The metrics of a [`Store`](crate::Store). Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct StoreMetrics {
    waiting: Gauge,
    batch: Histogram,
    duration: Histogram,
    failed: Counter,
    writer_connections: Counter,
    pool_timeouts: Counter,
}

impl Default for StoreMetrics {
    fn default() -> Self {
        Self {
            waiting: Gauge::default(),
            batch: Histogram::new(exponential_buckets(1.0, 2.0, 9)),
            duration: Histogram::new(exponential_buckets(0.000_25, 2.0, 16)),
            failed: Counter::default(),
            writer_connections: Counter::default(),
            pool_timeouts: Counter::default(),
        }
    }
}

impl StoreMetrics {
    pub(crate) fn register(&self, registry: &mut Registry) {
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
        registry.register(
            "store_writer_connections",
            "Connections that the writer has opened",
            self.writer_connections.clone(),
        );
        registry.register(
            "store_pool_timeouts",
            "Reads for which the pool had no connection in time",
            self.pool_timeouts.clone(),
        );
    }

    pub(crate) fn note_writer_connection(&self) {
        self.writer_connections.inc();
    }

    /// What counts the time-outs of a pool.
    pub(crate) fn pool_events(&self) -> Box<dyn HandleEvent> {
        Box::new(PoolEvents(self.pool_timeouts.clone()))
    }

    pub(crate) fn note_waiting(&self) {
        self.waiting.inc();
    }

    pub(crate) fn note_taken(&self, jobs: usize) {
        self.waiting.dec_by(i64::try_from(jobs).unwrap_or(i64::MAX));
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

#[derive(Debug)]
struct PoolEvents(Counter);

impl HandleEvent for PoolEvents {
    fn handle_timeout(&self, _: TimeoutEvent) {
        self.0.inc();
    }
}

/// Asks the pool and the line of reads when the metrics are read, so that reads count nothing.
pub(crate) struct PoolCollector {
    pub(crate) pool: Connections,
    pub(crate) readers: Readers,
}

impl Collector for PoolCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let State {
            connections,
            idle_connections: idle,
            ..
        } = self.pool.state();
        let mut states = encoder.encode_descriptor(
            "store_pool_connections",
            "Connections of the pool to read with, by state.",
            None,
            MetricType::Gauge,
        )?;
        for (state, number) in [("idle", idle), ("in_use", connections.saturating_sub(idle))] {
            let labels = [("state", state)];
            ConstGauge::new(number).encode(states.encode_family(&labels)?)?;
        }
        let mut gauge = |name, help, number: i64| {
            let metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            ConstGauge::new(number).encode(metric)
        };
        gauge(
            "store_pool_max_connections",
            "Connections that the pool may have.",
            self.pool.max_size().into(),
        )?;
        gauge(
            "store_reads_waiting",
            "Reads that wait for their turn.",
            i64::try_from(self.readers.waiting()).unwrap_or(i64::MAX),
        )
    }
}

impl fmt::Debug for PoolCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PoolCollector")
    }
}
