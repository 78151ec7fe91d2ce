//! The backups that servers take by themselves.

use std::future::Future;
use std::time::Duration;

use eddyline_backup::{
    ArchivePlace, BackupSource, Encryption, NamedBackup, next_kind, prune, take_into,
};
use eddyline_files::Files;
use eddyline_storage::Store;

use super::place::open_place;
use super::state::{BackupFailure, BackupState};
use crate::CommandError;
use crate::config::{BackupRecipient, Settings};
use crate::secret_key;

/// How long a server that takes a backup keeps others from beginning; it renews that meanwhile.
const LEASE: Duration = Duration::from_secs(600);
const RENEWAL: Duration = Duration::from_secs(120);
/// When a backup that failed is tried again, unless the next one is due before.
const RETRY_MILLIS: i64 = 3_600_000;
/// How often a server looks whether another one has moved the next backup.
const LOOK: Duration = Duration::from_secs(60);

/// The backups that the settings ask for.
#[derive(Clone)]
pub(crate) struct BackupSchedule {
    settings: Settings,
    place: ArchivePlace,
    encryption: Encryption,
    store: Store,
    files: Files,
}

impl BackupSchedule {
    /// `None` when the settings name no place for backups.
    pub(crate) fn new(
        settings: &Settings,
        store: &Store,
        files: &Files,
    ) -> Result<Option<Self>, CommandError> {
        let Some(place) = &settings.backup_to else {
            return Ok(None);
        };
        let keys = settings
            .backup_recipient
            .iter()
            .map(BackupRecipient::as_str);
        Ok(Some(Self {
            place: open_place(settings, place)?,
            encryption: Encryption::recipients(keys)?,
            settings: settings.clone(),
            store: store.clone(),
            files: files.clone(),
        }))
    }

    /// Takes backups when they are due, until it is dropped. Of several servers of a database one
    /// takes each.
    #[expect(clippy::disallowed_methods, reason = "a schedule waits for a time")]
    pub(crate) async fn run(self) {
        loop {
            match self.claim().await {
                Ok(true) => self.take_and_note().await,
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, "whether a backup is due cannot be read"),
            }
            tokio::time::sleep(self.pause().await).await;
        }
    }

    /// How long to wait until the next look.
    async fn pause(&self) -> Duration {
        let state = BackupState::read(&self.store).await.unwrap_or_default();
        let now = self.store.now();
        let next = state.next_at.map_or(LOOK, |next| {
            Duration::from_millis(next.saturating_sub(now.0).try_into().unwrap_or_default())
        });
        next.min(LOOK).max(Duration::from_millis(100))
    }

    async fn claim(&self) -> Result<bool, CommandError> {
        let store = self.store.clone();
        let claimed = BackupState::update(&self.store, move |state| {
            let now = store.now();
            let is_due = state.is_due(now);
            state.next_at = is_due
                .then(|| now.plus_millis(LEASE.as_millis() as i64).0)
                .or(state.next_at);
            is_due
        });
        Ok(claimed.await?)
    }

    async fn take_and_note(&self) {
        match self.while_claimed(self.take(|_| ())).await {
            Ok(kept) => {
                let summary = &kept.taken.summary;
                tracing::info!(
                    archive = %kept.name,
                    files = summary.files,
                    log_position = kept.taken.manifest.log_position,
                    "a backup was taken"
                );
                for key in summary.missing.iter().chain(&summary.damaged) {
                    tracing::warn!(key, "a file could not be backed up as it was sent");
                }
            }
            Err(error) => {
                tracing::error!(%error, "a backup failed");
                self.note_failure(error.to_string()).await;
            }
        }
    }

    /// Renews the claim while work is done.
    async fn while_claimed<T>(&self, work: impl Future<Output = T>) -> T {
        let mut renewal = tokio::time::interval(RENEWAL);
        renewal.tick().await;
        tokio::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return done,
                _ = renewal.tick() => {
                    let until = self.store.now().plus_millis(LEASE.as_millis() as i64);
                    let renewed = BackupState::update(&self.store, move |state| {
                        state.next_at = Some(until.0);
                        true
                    });
                    if let Err(error) = renewed.await {
                        tracing::warn!(%error, "another server may begin a backup as well");
                    }
                }
            }
        }
    }

    /// Takes one now: a full or an incremental one, as it is the turn. Then removes those that are
    /// kept no longer.
    pub(crate) async fn take(
        &self,
        progress: impl FnMut(eddyline_backup::Progress) + Send + 'static,
    ) -> Result<NamedBackup, CommandError> {
        let place = self.place.clone();
        let archives = tokio::task::spawn_blocking(move || place.archives()).await??;
        let now = self.store.now();
        let kind = next_kind(&archives, now, self.settings.backup_full_interval.millis());
        let source = BackupSource {
            store: self.store.clone(),
            files: self.files.clone(),
            secret_key: secret_key::for_backup(&self.settings, &self.store).await?,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let kept = take_into(
            self.place.clone(),
            source,
            kind,
            self.encryption.clone(),
            secret_key::for_indexes(&self.settings, &self.store).await?,
            progress,
        )
        .await?;
        let (noted, interval) = (kept.clone(), self.settings.backup_interval.millis());
        BackupState::update(&self.store, move |state| {
            state.note(&noted, interval);
            true
        })
        .await?;
        self.prune().await;
        Ok(kept)
    }

    async fn prune(&self) {
        let kept_millis = self.settings.backup_keep.millis();
        match prune(self.place.clone(), self.store.now(), kept_millis).await {
            Ok(removed) => {
                for archive in removed {
                    tracing::info!(%archive, "an old backup was removed");
                }
            }
            Err(error) => tracing::warn!(%error, "old backups were not removed"),
        }
    }

    async fn note_failure(&self, reason: String) {
        let now = self.store.now();
        let again = self.settings.backup_interval.millis().min(RETRY_MILLIS);
        let noted = BackupState::update(&self.store, move |state| {
            state.next_at = Some(now.plus_millis(again).0);
            state.failure = Some(BackupFailure {
                at: now.0,
                reason: reason.clone(),
            });
            true
        });
        if let Err(error) = noted.await {
            tracing::warn!(%error, "the failure was not noted");
        }
    }
}
