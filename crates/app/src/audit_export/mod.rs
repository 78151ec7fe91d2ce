//! The audit log leaves the server as it is written: to a collector of syslog, and to a webhook.
//!
//! The table of destinations has, for each, the last record that it has taken, and the process that
//! sends to it. Records become visible in the order of their numbers, so reading on from a number
//! misses none. A batch is noted after the destination has taken it: a process that ends between the
//! two leaves records that are sent again, and none that is not sent.

mod export;
mod metrics;
mod sender;
#[cfg(test)]
mod tests;

use std::time::Duration;

use eddyline_storage::Result as StoreResult;
use eddyline_storage::Tx;
use prometheus_client::registry::Registry;
use tokio_util::sync::CancellationToken;

use self::export::ExportWork;
use self::metrics::AuditExportMetrics;
use crate::Result;
use crate::audit_destination::AuditDestination;
use crate::core::Core;
use crate::core::transaction::NoCaller;

/// How long a batch under way may go on when the process is to stop.
const STOP_PATIENCE: Duration = Duration::from_secs(3);

/// Sends the audit log to the destinations of the configuration.
#[derive(Clone)]
pub(crate) struct AuditExporter {
    core: Core,
    metrics: AuditExportMetrics,
}

crate::core::opaque_debug!(AuditExporter);

impl AuditExporter {
    pub(crate) fn new(core: Core) -> Self {
        Self {
            core,
            metrics: AuditExportMetrics::default(),
        }
    }

    /// Describes the metrics to those who read them.
    pub(crate) fn register_metrics(&self, registry: &mut Registry) {
        self.metrics.register(registry);
    }

    /// The destinations of the configuration.
    pub(crate) fn destinations(&self) -> &[AuditDestination] {
        &self.core.config().audit.destinations
    }

    /// Lets each new destination begin behind the last record that there is.
    pub(crate) async fn begin(&self) -> Result<()> {
        let names: Vec<_> = self
            .destinations()
            .iter()
            .map(AuditDestination::name)
            .collect();
        if names.is_empty() {
            return Ok(());
        }
        let begun = self.core.store().write(NoCaller::Process, move |tx| {
            names.iter().try_for_each(|name| insert_missing(tx, name))
        });
        begun.await?;
        Ok(())
    }

    /// Sends to a destination, whenever there is something new.
    #[expect(
        clippy::disallowed_methods,
        reason = "the pace of looking into the table, and of trying again"
    )]
    pub(crate) async fn run_export(self, destination: AuditDestination, stop: CancellationToken) {
        let mut export = ExportWork::new(self.core, &self.metrics, destination);
        let stopping = async {
            stop.cancelled().await;
            tokio::time::sleep(STOP_PATIENCE).await;
        };
        tokio::pin!(stopping);
        loop {
            let pause = tokio::select! {
                pause = export.work() => pause,
                () = &mut stopping => return export.close().await,
            };
            let paused = stop.run_until_cancelled(tokio::time::sleep(pause));
            if paused.await.is_none() {
                return export.close().await;
            }
        }
    }
}

fn insert_missing(tx: &mut Tx<'_>, name: &str) -> StoreResult<()> {
    if tx.audit_exports().find(name)?.is_some() {
        return Ok(());
    }
    let (last, now) = (tx.audit().find_last()?, tx.now());
    tx.audit_exports().insert(name, last, now)
}
