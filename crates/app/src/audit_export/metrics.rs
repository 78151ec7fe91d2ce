//! What is counted of sending the audit log.

use eddyline_model::Timestamp;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

use crate::audit_destination::AuditDestination;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DestinationLabel {
    destination: &'static str,
}

/// How far the destinations are. Clones share the metrics.
#[derive(Clone, Debug)]
pub(super) struct AuditExportMetrics {
    waiting: Family<DestinationLabel, Gauge>,
    last_success: Family<DestinationLabel, Gauge>,
    failures: Family<DestinationLabel, Counter>,
}

/// All begin with 0, since a rate misses the first increase of a counter that was not there before.
impl Default for AuditExportMetrics {
    fn default() -> Self {
        let made = Self {
            waiting: Family::default(),
            last_success: Family::default(),
            failures: Family::default(),
        };
        for destination in AuditDestination::NAMES {
            made.of(destination);
        }
        made
    }
}

impl AuditExportMetrics {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register(
            "audit_export_waiting_records",
            "Records of the audit log that a destination has not taken, when the process last looked",
            self.waiting.clone(),
        );
        registry.register_with_unit(
            "audit_export_last_success_timestamp",
            "When a destination last took records, from whichever process; before it took any, since when it is a \
             destination; 0 where it is none",
            Unit::Seconds,
            self.last_success.clone(),
        );
        registry.register(
            "audit_export_failures",
            "Attempts of this process to send records that failed",
            self.failures.clone(),
        );
    }

    /// Those of one destination.
    pub(super) fn of(&self, destination: &'static str) -> ExportMetrics {
        let labels = DestinationLabel { destination };
        ExportMetrics {
            waiting: self.waiting.get_or_create_owned(&labels),
            last_success: self.last_success.get_or_create_owned(&labels),
            failures: self.failures.get_or_create_owned(&labels),
        }
    }
}

/// How far one destination is.
#[derive(Clone, Debug)]
pub(super) struct ExportMetrics {
    waiting: Gauge,
    last_success: Gauge,
    failures: Counter,
}

impl ExportMetrics {
    /// Shows how many records wait.
    pub(super) fn show_waiting(&self, records: i64) {
        self.waiting.set(records);
    }

    /// Shows when records were last taken.
    pub(super) fn show_success(&self, at: Timestamp) {
        self.last_success.set(at.0 / 1000);
    }

    pub(super) fn count_failure(&self) {
        self.failures.inc();
    }
}
