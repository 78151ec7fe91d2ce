//! The metrics of the application.

mod caches;
mod delivery;

use prometheus_client::registry::Registry;

pub(crate) use self::caches::{CacheLookups, LookupCounts};
pub(crate) use self::delivery::{DeliveryFailure, DeliveryMetrics};
use crate::App;

impl App {
    /// Adds the metrics of the application and of its store to a registry, whose prefix the names get:
    /// `streams`, those that begin with `log_`, `revocation`, `mails_`, `push_messages_`, `files_`,
    /// `thumbnails_`, `retention_`, `audit_export_` and `cache_`, and those of [`Store`](eddyline_storage::Store::register_metrics).
    ///
    /// The registry keeps the application alive.
    pub fn register_metrics(&self, registry: &mut Registry) {
        self.core().store().register_metrics(registry);
        self.core().register_metrics(registry);
        self.streams().register_metrics(registry);
        self.mail().register_metrics(registry);
        self.notifications().register_metrics(registry);
        self.files().register_metrics(registry);
        self.retention().register_metrics(registry);
        self.audit_export().register_metrics(registry);
        registry.register_collector(Box::new(caches::CacheCollector::new(self)));
    }
}
