//! Which posts may still be committed: those whose sender's credential has not ended since it was
//! checked.
//!
//! The application checks a credential before a post is queued, and counts in the *epoch* each time
//! it learns that credentials have ended. A post names the epoch under which its sender was
//! checked. The writer compares the two when it commits, in memory, so that no post costs another
//! query. A use case that ends a credential waits until every process has read of it
//! ([`CredentialEpoch::advance`]), and then until the posts that were admitted before are committed
//! ([`CredentialEpoch::drained`]): no other follows.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use eddyline_model::Timestamp;
use eddyline_model::messages::Draft;
use tokio::sync::{Mutex, MutexGuard};

/// Shared by the writer and the application.
#[derive(Debug, Default)]
pub struct CredentialEpoch {
    epoch: AtomicU64,
    /// In milliseconds since 1970.
    known_until: AtomicI64,
    /// Held from the comparison to the commit.
    committing: Mutex<()>,
}

impl CredentialEpoch {
    /// The present epoch.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::SeqCst)
    }

    /// Credentials have ended: posts that were checked before are to be checked again.
    pub fn advance(&self) {
        self.epoch.fetch_add(1, Ordering::SeqCst);
    }

    /// This process knows of every credential that ended until now, and the epoch may be relied on
    /// until this time.
    pub fn rely_until(&self, time: Timestamp) {
        self.known_until.store(time.0, Ordering::SeqCst);
    }

    /// Waits until the posts that are being committed now are committed.
    pub async fn drained(&self) {
        drop(self.committing.lock().await);
    }

    /// Blocks: for the writer's thread.
    pub(crate) fn enter(&self) -> MutexGuard<'_, ()> {
        self.committing.blocking_lock()
    }

    /// Whether a draft may be committed at this time.
    pub(crate) fn admits(&self, draft: &Draft, now: Timestamp) -> bool {
        draft.credential_epoch.is_none_or(|epoch| {
            epoch == self.epoch() && now.0 < self.known_until.load(Ordering::SeqCst)
        })
    }
}
