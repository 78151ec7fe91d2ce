//! What every area of the application stands on.

mod claim;
pub(crate) mod liveness;
mod metrics;
pub(crate) mod provider;
mod result;
pub(crate) mod transaction;

use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use eddyline_model::log::Seq;
use eddyline_model::threads::ThreadIds;
use eddyline_model::{EventId, Timestamp};
use eddyline_streaming::Hub;
use eddyline_wire::Encoder;
use tokio::sync::watch;

pub(crate) use self::metrics::RevocationMetrics;
use crate::Config;
use crate::core::transaction::Database;
use crate::feed_encode::EntryEncoder;
use crate::jobs::Jobs;

/// The configuration, the store, the stream's hub, and how far this process has read the log.
/// Clones share it.
#[derive(Clone)]
pub(crate) struct Core {
    inner: Arc<Inner>,
}

/// The parts of [`Core`].
pub(crate) struct Inner {
    pub(crate) config: Config,
    pub(crate) store: Database,
    pub(crate) hub: Hub,
    pub(crate) encoder: Encoder,
    pub(crate) entry_encoder: EntryEncoder,
    pub(crate) thread_ids: ThreadIds,
    /// How far the feed has come.
    pub(crate) fed: watch::Sender<EventId>,
    /// When the feed last knew that it was up to date, in milliseconds since 1970.
    pub(crate) synced_at: AtomicI64,
    /// The name of this process among those on one database.
    pub(crate) node: String,
    pub(crate) jobs: Jobs,
    pub(crate) revocations: RevocationMetrics,
}

impl std::ops::Deref for Core {
    type Target = Inner;
    fn deref(&self) -> &Inner {
        &self.inner
    }
}

impl Core {
    pub(crate) fn new(inner: Inner) -> Self {
        Self {
            inner: Arc::new(inner),
        }
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    pub(crate) fn store(&self) -> &Database {
        &self.store
    }

    pub(crate) fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.store.now()
    }

    /// How far the feed has read the log.
    pub(crate) fn position(&self) -> Seq {
        self.fed.borrow().seq
    }
}

/// A `Debug` that names the type only: what areas hold are caches and keys.
macro_rules! opaque_debug {
    ($type:ident) => {
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(stringify!($type))
            }
        }
    };
}
pub(crate) use opaque_debug;
