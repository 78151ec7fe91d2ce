//! Being one of several processes on one database: showing that one lives, and waiting until all
//! have seen a change.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use eddyline_model::{EventId, Seq, Timestamp};
use eddyline_storage::SILENCE_MILLIS;

use crate::Result;
use crate::core::Core;
use crate::core::transaction::NoCaller;

/// A process that has not known for so long whether it is up to date asks the database instead of
/// its memory.
const TRUST_MILLIS: i64 = 2_000;
/// A wait for another process lasts no longer than that process trusts its memory.
const PATIENCE: Duration = Duration::from_millis(2_500);
/// A process that showed no sign of life for so long is taken off the list.
pub(crate) const FORGOTTEN_MILLIS: i64 = 10 * SILENCE_MILLIS;
const POLL: Duration = Duration::from_millis(15);

impl Core {
    /// Whether what this process remembers may be believed.
    pub(crate) fn caches_current(&self) -> bool {
        let age = self.now().0 - self.synced_at.load(Ordering::Relaxed);
        (0..TRUST_MILLIS).contains(&age)
    }

    /// Notes that this process knew at a time all that had been committed by then.
    pub(crate) fn mark_synced(&self, at: Timestamp) {
        self.synced_at.store(at.0, Ordering::Relaxed);
        self.store()
            .credential_epoch()
            .rely_until(at.plus_millis(TRUST_MILLIS));
    }

    /// Whether this process runs a feed. Without one it has no memory of its own to wait for.
    fn runs_feed(&self) -> bool {
        self.synced_at.load(Ordering::Relaxed) > 0
    }

    /// Waits until the feed has read the log up to a position.
    async fn fed_through(&self, seq: Seq) {
        let mut fed = self.fed.subscribe();
        let _ = fed.wait_for(|at| at.seq >= seq).await;
    }

    /// Waits until the feed has read what this process has answered writes with so far: afterwards
    /// the ring shows no text any more that a caller knows to be edited away or deleted.
    pub(crate) async fn wait_until_fed(&self) {
        if self.runs_feed() {
            let seq = self.store().last_acknowledged();
            if tokio::time::timeout(PATIENCE, self.fed_through(seq))
                .await
                .is_err()
            {
                tracing::debug!(seq = seq.0, "the feed did not catch up in time");
            }
        }
    }

    /// Waits until every process has acted upon the log up to a position: afterwards nobody
    /// believes what was true before.
    ///
    /// A process that does not confirm in time has stopped believing its memory by itself.
    /// Processes confirm at once only what told a control; a write of messages alone is not to be
    /// waited for.
    #[expect(
        clippy::disallowed_methods,
        reason = "polls; other processes only store how far they have read"
    )]
    pub(crate) async fn wait_until_applied(&self, event: Option<EventId>) {
        let Some(event) = event else { return };
        let waiting = async {
            if self.runs_feed() {
                self.fed_through(event.seq).await;
                // Other processes confirm by a write, which follows their posts that were under
                // way.
                self.store().credential_epoch().drained().await;
            }
            while !self.others_have_read(event.seq).await.unwrap_or(false) {
                tokio::time::sleep(POLL).await;
            }
        };
        let began = Instant::now();
        let is_confirmed = tokio::time::timeout(PATIENCE, waiting).await.is_ok();
        self.revocations.note(began.elapsed(), is_confirmed);
        if !is_confirmed {
            // The time may have run out in this process, in another one, or in the database.
            tracing::debug!(seq = event.seq.0, "a change was not confirmed in time");
        }
    }

    /// Like `wait_until_applied`, after a request to end a credential or a grant. When there was
    /// nothing left to end, another request may have ended it a moment ago, and other processes may
    /// not have read that yet.
    pub(crate) async fn wait_until_end_applied(&self, event: Option<EventId>) -> Result<()> {
        let event = match event {
            Some(event) => Some(event),
            None => {
                self.store()
                    .read(|reader| reader.log().find_last_end())
                    .await?
            }
        };
        self.wait_until_applied(event).await;
        Ok(())
    }

    /// Waits until every process has read the whole present log: for a request that found its work
    /// done already, by a change that other processes may not have read yet.
    pub(crate) async fn wait_until_all_applied(&self) -> Result<()> {
        let head = self.store().read(|reader| reader.log().find_head()).await?;
        self.wait_until_applied(Some(head)).await;
        Ok(())
    }

    async fn others_have_read(&self, seq: Seq) -> Result<bool> {
        let since = self.now().plus_millis(-SILENCE_MILLIS);
        Ok(self
            .store()
            .read(move |reader| reader.nodes().have_all_read(seq, since))
            .await?)
    }

    /// Shows once that this process lives, and how far it has read. Returns whether there are
    /// others.
    pub(crate) async fn record_heartbeat(&self) -> Result<bool> {
        let (node, seq) = (self.node.clone(), self.position());
        let (has_others, _) = self
            .store()
            .write(NoCaller::Process, move |tx| {
                let now = tx.now();
                tx.nodes().upsert_heartbeat(&node, now, seq)?;
                tx.nodes()
                    .has_others(&node, now.plus_millis(-SILENCE_MILLIS))
            })
            .await?;
        Ok(has_others)
    }

    /// Takes this process off the list of those that are waited for.
    pub(crate) async fn leave(&self) {
        let node = self.node.clone();
        let gone = self.store().write(NoCaller::Process, move |tx| {
            let since = tx.now().plus_millis(-FORGOTTEN_MILLIS);
            tx.nodes().delete(&node, since)
        });
        if let Err(error) = gone.await {
            tracing::debug!(%error, "this process could not be taken off the list");
        }
    }
}
