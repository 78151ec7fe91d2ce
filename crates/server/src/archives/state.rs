//! What the servers of a database know of its backups: when the next is due, and how the last went.

use eddyline_backup::NamedBackup;
use eddyline_model::Timestamp;
use eddyline_storage::{Result as StoreResult, Store};
use serde::{Deserialize, Serialize};

/// The setting that has it, as JSON.
const SETTING: &str = "backups";

/// Of the backups in the configured place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BackupState {
    /// When the next one is due, in milliseconds. A server that takes one moves it on meanwhile, so
    /// that no other begins.
    pub(crate) next_at: Option<i64>,
    /// The last that was taken.
    pub(crate) last: Option<LastBackup>,
    /// The last that failed, if none was taken since.
    pub(crate) failure: Option<BackupFailure>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LastBackup {
    pub(crate) archive: String,
    pub(crate) taken_at: i64,
    pub(crate) messages: u64,
    pub(crate) files: u64,
    /// How many files could not be read as they were sent.
    pub(crate) defective_files: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BackupFailure {
    pub(crate) at: i64,
    pub(crate) reason: String,
}

impl BackupState {
    pub(crate) async fn read(store: &Store) -> StoreResult<Self> {
        let text = store.read(|reader| reader.settings().find(SETTING)).await?;
        Ok(Self::parse(&text.unwrap_or_default()))
    }

    fn parse(text: &[u8]) -> Self {
        serde_json::from_slice(text).unwrap_or_default()
    }

    /// Changes it, and says whether `change` did so.
    pub(super) async fn update(
        store: &Store,
        change: impl Fn(&mut Self) -> bool + Send + 'static,
    ) -> StoreResult<bool> {
        let (changed, _) = store
            .write(move |tx| {
                let found = tx.settings().insert_or_find(SETTING, b"{}")?;
                let mut state = Self::parse(&found);
                if !change(&mut state) {
                    return Ok(false);
                }
                let text = serde_json::to_vec(&state).unwrap_or_default();
                tx.settings().set_unchanged(SETTING, &found, &text)
            })
            .await?;
        Ok(changed)
    }

    pub(super) fn note(&mut self, kept: &NamedBackup, interval: i64) {
        let summary = &kept.taken.summary;
        self.last = Some(LastBackup {
            archive: kept.name.to_string(),
            taken_at: kept.name.taken_at.0,
            messages: summary.rows.get("messages").copied().unwrap_or_default(),
            files: summary.files,
            defective_files: (summary.missing.len() + summary.damaged.len()) as u64,
        });
        self.failure = None;
        self.next_at = Some(kept.name.taken_at.plus_millis(interval).0);
    }

    /// Whether a backup is due.
    pub(super) fn is_due(&self, now: Timestamp) -> bool {
        self.next_at.is_none_or(|next| next <= now.0)
    }
}
