//! The metrics of the application.

use prometheus_client::registry::Registry;

use crate::App;

impl App {
    /// Adds the metrics of the application and of its store to a registry, whose prefix the names get:
    /// `streams`, and those of [`StoreMetrics`](eddyline_storage::StoreMetrics).
    pub fn register_metrics(&self, registry: &mut Registry) {
        self.core().store().metrics().register(registry);
        self.streams().register_metrics(registry);
    }
}
