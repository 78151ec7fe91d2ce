//! The metrics of mail.

use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::Mail;
use crate::metrics::{DeliveryFailure, DeliveryMetrics};

/// The length of the queue of mail, and the outcomes of deliveries. Clones share the metrics.
#[derive(Clone, Debug)]
pub(super) struct MailMetrics {
    /// Set by the worker, which looks into the queue anyway, so that reading the metrics causes no
    /// query.
    pub(super) waiting: Gauge,
    pub(super) deliveries: DeliveryMetrics,
}

impl Default for MailMetrics {
    fn default() -> Self {
        let failures = [DeliveryFailure::Postponed, DeliveryFailure::GivenUp];
        Self {
            waiting: Gauge::default(),
            deliveries: DeliveryMetrics::new(&failures),
        }
    }
}

impl Mail {
    /// Adds the metrics of mail to a registry.
    pub(crate) fn register_metrics(&self, registry: &mut Registry) {
        registry.register(
            "mails_waiting",
            "Mails in the queue when the worker last looked",
            self.metrics.waiting.clone(),
        );
        self.metrics.deliveries.register(
            "mails",
            "Mails that were sent",
            "Attempts to send a mail that failed",
            registry,
        );
    }
}
