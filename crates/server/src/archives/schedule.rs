//! Takes backups into places: by the schedule of the server, and by command.

use std::future::Future;
use std::time::Duration;

use eddyline_backup::{
    ArchivePlace, BackupKind, BackupSeries, BackupSource, Encryption, NamedBackup, Progress,
    next_kind, prune, take_into,
};
use eddyline_files::Files;
use eddyline_model::audit::{AuditAction, AuditEntry, actor};
use eddyline_storage::Store;
use serde_json::json;

use super::metrics::BackupMetrics;
use super::place::open_place;
use super::state::BackupState;
use crate::CommandError;
use crate::config::{BackupPlace, BackupRecipient, Settings};
use crate::secret_key;

/// How often a process that takes a backup renews its claim.
const RENEWAL: Duration = Duration::from_secs(120);
/// How often a server looks at least whether a backup is due: another one may have failed to take it.
const LOOK_MILLIS: i64 = 60_000;
/// How long it waits at least after each attempt.
const REST: Duration = Duration::from_millis(100);

/// Takes the backups of a database, one at a time among all its processes.
#[derive(Clone)]
pub(crate) struct BackupTaker {
    settings: Settings,
    store: Store,
    files: Files,
    /// The id of this process in claims.
    holder: String,
    metrics: BackupMetrics,
}

impl BackupTaker {
    pub(crate) fn new(settings: &Settings, store: &Store, files: &Files) -> Self {
        Self {
            settings: settings.clone(),
            store: store.clone(),
            files: files.clone(),
            holder: BackupSeries::new_id(),
            metrics: BackupMetrics::default(),
        }
    }

    /// What it counts.
    pub(crate) fn metrics(&self) -> &BackupMetrics {
        &self.metrics
    }

    /// Takes backups when they are due, until it is dropped. Of several servers of a database one
    /// takes each.
    #[expect(clippy::disallowed_methods, reason = "a schedule waits for a time")]
    pub(crate) async fn run(&self, place: &BackupPlace) {
        loop {
            match self.claim_due(place).await {
                Ok(true) => self.take_due(place).await,
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, "whether a backup is due cannot be read"),
            }
            tokio::time::sleep(self.pause().await).await;
        }
    }

    /// How long to wait until the next look.
    async fn pause(&self) -> Duration {
        let state = BackupState::read(&self.store).await.unwrap_or_default();
        self.metrics.show(&state);
        let millis = state.pause(self.store.now(), LOOK_MILLIS);
        Duration::from_millis(millis.unsigned_abs()).max(REST)
    }

    async fn claim_due(&self, place: &BackupPlace) -> Result<bool, CommandError> {
        let (holder, store) = (self.holder.clone(), self.store.clone());
        let (place, interval) = (place.to_string(), self.settings.backup_interval.millis());
        let claimed = BackupState::update(&self.store, move |state| {
            let now = store.now();
            state.is_due(now, &place, interval) && state.claim(&holder, now)
        });
        Ok(claimed.await?)
    }

    async fn take_due(&self, place: &BackupPlace) {
        let entry = match self.while_claimed(self.take_next(place, |_| ())).await {
            Ok(taken) => {
                tracing::info!(
                    archive = %taken.name,
                    files = taken.taken.summary.files,
                    log_position = taken.taken.manifest.log_position,
                    "a backup was taken"
                );
                let unreadable = taken.defective_files();
                let detail =
                    json!({"archive": taken.name.to_string(), "unreadable_files": unreadable});
                AuditEntry::new(AuditAction::BackupTake, None).with(&detail)
            }
            Err(error) => {
                self.metrics.count_failure();
                tracing::error!(%error, "a backup failed");
                let detail = json!({"error": error.to_string()});
                AuditEntry::new(AuditAction::BackupFail, None).with(&detail)
            }
        };
        self.note(entry.by(actor::SERVER)).await;
    }

    /// Writes a record into the audit log. The backup is as it is also where that fails.
    async fn note(&self, entry: AuditEntry) {
        let noted = self.store.write(move |tx| tx.audit().insert(&entry));
        if let Err(error) = noted.await {
            tracing::warn!(%error, "the audit log has no record of a backup");
        }
    }

    /// Takes a backup now, as the schedule would, unless another process takes one.
    pub(crate) async fn take_scheduled(
        &self,
        place: &BackupPlace,
        progress: impl FnMut(Progress) + Send + 'static,
    ) -> Result<NamedBackup, CommandError> {
        self.claim().await?;
        self.while_claimed(self.take_next(place, progress)).await
    }

    /// Takes a backup of a kind into another place, unless another process takes one.
    pub(crate) async fn take_into(
        &self,
        place: ArchivePlace,
        kind: BackupKind,
        encryption: Encryption,
        progress: impl FnMut(Progress) + Send + 'static,
    ) -> Result<NamedBackup, CommandError> {
        self.claim().await?;
        let work = self.take(place, kind, encryption, progress);
        let taken = self.while_claimed(work).await;
        self.release().await?;
        taken
    }

    /// Gives the claim up, if this process has one: it ends before its backup does.
    pub(crate) async fn release(&self) -> Result<(), CommandError> {
        let holder = self.holder.clone();
        BackupState::update(&self.store, move |state| state.release(&holder)).await?;
        Ok(())
    }

    async fn claim(&self) -> Result<(), CommandError> {
        let (holder, store) = (self.holder.clone(), self.store.clone());
        let claimed = BackupState::update(&self.store, move |state| {
            let now = store.now();
            state.claim(&holder, now)
        });
        match claimed.await? {
            true => Ok(()),
            false => Err("another process takes a backup of this database; try again later".into()),
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
                    let (holder, store) = (self.holder.clone(), self.store.clone());
                    let renewed = BackupState::update(&self.store, move |state| {
                        let now = store.now();
                        state.is_claimed_by(&holder) && state.claim(&holder, now)
                    });
                    if !renewed.await.unwrap_or_default() {
                        tracing::warn!("another process may take a backup at the same time");
                    }
                }
            }
        }
    }

    /// Takes the backup that is due, a full or an incremental one, and notes how it went. Then
    /// removes those that are kept no longer.
    async fn take_next(
        &self,
        place: &BackupPlace,
        progress: impl FnMut(Progress) + Send + 'static,
    ) -> Result<NamedBackup, CommandError> {
        let (opened, taken) = match self.take_kind_due(place, progress).await {
            Ok((opened, taken)) => (Some(opened), Ok(taken)),
            Err(error) => (None, Err(error)),
        };
        let outcome = match &taken {
            Ok(taken) if taken.defective_files() == 0 => Ok(taken.clone()),
            Ok(taken) => Err(unreadable(taken)),
            Err(error) => Err(error.to_string()),
        };
        let (holder, shown) = (self.holder.clone(), place.to_string());
        let (now, interval) = (self.store.now(), self.settings.backup_interval.millis());
        let noted = outcome.clone();
        BackupState::update(&self.store, move |state| {
            state.end(&holder, now, &shown, interval, &noted)
        })
        .await?;
        // Earlier archives may be the only ones with files that are missing now.
        if let (Some(place), Ok(_)) = (opened, &outcome) {
            self.prune(place).await;
        }
        match (taken, outcome) {
            (Ok(taken), Err(reason)) => {
                tracing::error!(archive = %taken.name, "{reason}; old backups are kept");
                Ok(taken)
            }
            (taken, _) => taken,
        }
    }

    async fn take_kind_due(
        &self,
        place: &BackupPlace,
        progress: impl FnMut(Progress) + Send + 'static,
    ) -> Result<(ArchivePlace, NamedBackup), CommandError> {
        let (settings, place) = (self.settings.clone(), place.clone());
        let series = self.series().await?.id;
        // A folder on a network may take long to answer.
        let opened = tokio::task::spawn_blocking(move || {
            let place = open_place(&settings, &place)?;
            let archives = place.archives_of(&series)?;
            Ok::<_, CommandError>((place, archives))
        });
        let (place, archives) = opened.await??;
        let full_interval = self.settings.backup_full_interval.millis();
        let kind = next_kind(&archives, self.store.now(), full_interval);
        let keys = self.settings.backup_recipient.iter();
        let encryption = Encryption::recipients(keys.map(BackupRecipient::as_str))?;
        let taken = self.take(place.clone(), kind, encryption, progress);
        Ok((place, taken.await?))
    }

    async fn take(
        &self,
        place: ArchivePlace,
        kind: BackupKind,
        encryption: Encryption,
        progress: impl FnMut(Progress) + Send + 'static,
    ) -> Result<NamedBackup, CommandError> {
        let (source, series) = (self.source().await?, self.series().await?);
        Ok(take_into(place, source, series, kind, encryption, progress).await?)
    }

    /// The database and the files, with the secret key unless the operator keeps it.
    pub(crate) async fn source(&self) -> Result<BackupSource, CommandError> {
        Ok(BackupSource {
            store: self.store.clone(),
            files: self.files.clone(),
            secret_key: secret_key::for_backup(&self.settings, &self.store).await?,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        })
    }

    async fn series(&self) -> Result<BackupSeries, CommandError> {
        Ok(BackupSeries {
            id: BackupState::read(&self.store).await?.series,
            key: secret_key::for_indexes(&self.settings, &self.store).await?,
        })
    }

    async fn prune(&self, place: ArchivePlace) {
        let pruned = async {
            let series = BackupState::read(&self.store).await?.series;
            let kept_millis = self.settings.backup_keep.millis();
            Ok::<_, CommandError>(prune(place, &series, self.store.now(), kept_millis).await?)
        };
        match pruned.await {
            Ok(removed) => {
                for archive in removed {
                    tracing::info!(%archive, "an old backup was removed");
                }
            }
            Err(error) => tracing::warn!(%error, "old backups were not removed"),
        }
    }
}

/// The message about files that the backup does not have as users sent them.
fn unreadable(taken: &NamedBackup) -> String {
    let summary = &taken.taken.summary;
    let first = summary.missing.iter().chain(&summary.damaged).take(3);
    let first: Vec<_> = first.map(String::as_str).collect();
    format!(
        "{} files could not be backed up as they were sent, such as {}",
        taken.defective_files(),
        first.join(", ")
    )
}
