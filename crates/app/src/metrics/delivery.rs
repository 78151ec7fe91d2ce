//! What became of mails and of push messages.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// Why a message was not delivered by an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeliveryFailure {
    /// It is tried again.
    Postponed,
    /// It is never tried again.
    GivenUp,
    /// Its receiver has left.
    Gone,
}

impl DeliveryFailure {
    const fn labels(self) -> Failed {
        let outcome = match self {
            Self::Postponed => "postponed",
            Self::GivenUp => "given_up",
            Self::Gone => "gone",
        };
        Failed { outcome }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Failed {
    outcome: &'static str,
}

/// Attempts to deliver messages of one kind. Clones count together.
#[derive(Clone, Debug)]
pub(crate) struct DeliveryMetrics {
    sent: Counter,
    failed: Family<Failed, Counter>,
}

impl DeliveryMetrics {
    /// Counters for a kind of message that can fail in these ways. All begin with 0, since a rate
    /// misses the first increase of a counter that was not there before it.
    pub(crate) fn new(failures: &[DeliveryFailure]) -> Self {
        let failed = Family::default();
        for failure in failures {
            let _: Counter = failed.get_or_create_owned(&failure.labels());
        }
        Self {
            sent: Counter::default(),
            failed,
        }
    }

    /// Adds `NAME_sent_total` and `NAME_failed_total`, by `outcome`.
    pub(crate) fn register(&self, name: &str, sent: &str, failed: &str, registry: &mut Registry) {
        registry.register(format!("{name}_sent"), sent, self.sent.clone());
        registry.register(format!("{name}_failed"), failed, self.failed.clone());
    }

    pub(crate) fn note_sent(&self) {
        self.sent.inc();
    }

    pub(crate) fn note_failed(&self, failure: DeliveryFailure) {
        self.failed.get_or_create(&failure.labels()).inc();
    }
}
