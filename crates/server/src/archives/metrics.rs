//! What a server counts of its backups.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

use super::state::BackupState;

/// Counters of the backups that a schedule takes. A clone counts the same ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct BackupMetrics {
    last_success: Gauge,
    failed: Counter,
}

impl BackupMetrics {
    /// Describes the metrics to those who read them.
    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register_with_unit(
            "backup_last_success_timestamp",
            "When the last backup of the schedule was taken, by whichever process; 0 before the first",
            Unit::Seconds,
            self.last_success.clone(),
        );
        registry.register(
            "backups_failed",
            "Backups that this process did not complete",
            self.failed.clone(),
        );
    }

    /// Shows what the processes of the database share about their backups.
    pub(super) fn show(&self, state: &BackupState) {
        if let Some(last) = &state.last {
            self.last_success.set(last.taken_at / 1000);
        }
    }

    /// Counts a backup that failed.
    pub(super) fn count_failure(&self) {
        self.failed.inc();
    }
}
