//! Clearing away: bytes that no message has any more, or never had.

use std::time::Duration;

use eddyline_files::FileKey;
use eddyline_model::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::core::transaction::NoCaller;
use crate::jobs::Ticker;
use crate::{Files, Result};

const EVERY: Duration = Duration::from_secs(5);
/// How many are removed before they are forgotten.
const BATCH: i64 = 100;
/// A process that has shown no sign of life for so long will post nothing of what it took in.
const DEAD_MILLIS: i64 = 30_000;

/// When what could not be removed is tried again.
const LATER_MILLIS: i64 = 600_000;

impl Files {
    /// Clears away every few seconds, and whenever this process gave an upload up.
    pub(crate) async fn run_file_cleaning(self, stop: CancellationToken) {
        if self.core.config().files.place.is_none() {
            return;
        }
        let mut ticker = Ticker::new(EVERY, stop);
        while ticker.tick_or(self.upload_abandoned.notified()).await {
            if let Err(error) = self.clear_away().await {
                tracing::debug!(%error, "files that nobody has could not be cleared away");
            }
        }
    }

    async fn clear_away(&self) -> Result<()> {
        let since = self.core.now().plus_millis(-DEAD_MILLIS);
        if self
            .core
            .store()
            .read(move |reader| reader.files().has_abandoned_objects(since))
            .await?
        {
            let marked = self.core.store().write(NoCaller::Process, move |tx| {
                let now = tx.now();
                tx.files().mark_abandoned_objects(since, now)
            });
            let (count, _) = marked.await?;
            tracing::info!(
                count,
                "found uploads of a process that ended before they were posted"
            );
        }
        loop {
            let now = self.core.now();
            let marked = self
                .core
                .store()
                .read(move |reader| reader.files().list_objects_marked_for_deletion(now, BATCH))
                .await?;
            let found = marked.len();
            let removed = self.remove(marked, now).await?;
            let was_all = i64::try_from(found).is_ok_and(|found| found < BATCH);
            if was_all || removed < found {
                return Ok(());
            }
        }
    }

    /// Removes the bytes of all files that were deleted, and gives how many are left since they
    /// cannot be removed now: a backup needs them, or the place refuses.
    ///
    /// # Errors
    ///
    /// [`Error::unavailable`](crate::Error::unavailable) when this process keeps no files.
    pub async fn remove_deleted(&self) -> Result<i64> {
        self.files()?;
        self.clear_away().await?;
        let left = self
            .core
            .store()
            .read(|reader| reader.files().count_objects_marked_for_deletion());
        Ok(left.await?)
    }

    /// Removes the bytes under these keys, which were found marked for deletion at this time, and
    /// forgets them. What cannot be removed is tried again later.
    async fn remove(&self, keys: Vec<String>, found_at: Timestamp) -> Result<usize> {
        let files = self.files()?;
        let (mut removed, mut kept) = (Vec::with_capacity(keys.len()), Vec::new());
        for text in keys {
            let gone = match FileKey::parse(&text) {
                Some(key) => files.remove(&key).await,
                None => Ok(()),
            };
            match gone {
                Ok(()) => removed.push(text),
                Err(error) => {
                    tracing::warn!(%error, key = text, "a file could not be removed");
                    kept.push(text);
                }
            }
        }
        if !kept.is_empty() {
            // Others have their turn first.
            let later = self.core.store().write(NoCaller::Process, move |tx| {
                let until = tx.now().plus_millis(LATER_MILLIS);
                tx.files().postpone_objects(&kept, until)
            });
            later.await?;
        }
        let count = removed.len();
        if count > 0 {
            self.core
                .store()
                .write(NoCaller::Process, move |tx| {
                    tx.files().delete_objects(&removed, found_at)
                })
                .await?;
        }
        Ok(count)
    }
}
