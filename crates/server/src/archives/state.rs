//! The state of the backups of a database, which its processes share: when the next is due, which
//! process takes one now, and how the last one ended.

use eddyline_backup::{BackupSeries, NamedBackup};
use eddyline_model::Timestamp;
use eddyline_storage::{BACKUPS_SETTING, Result as StoreResult, Store};
use serde::{Deserialize, Serialize};

/// How long a claim holds. Its holder renews it meanwhile.
pub(super) const CLAIM_MILLIS: i64 = 600_000;
/// When a backup that failed is tried again, unless the next one is due before.
pub(super) const RETRY_MILLIS: i64 = 3_600_000;

/// The state of the backups. A dump leaves it out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BackupState {
    /// The id in the names of the archives.
    pub(crate) series: String,
    /// When the next backup is due, in milliseconds, in the place where the last one went.
    pub(crate) next_at: Option<i64>,
    pub(crate) place: Option<String>,
    pub(crate) claim: Option<BackupClaim>,
    /// The last that was taken.
    pub(crate) last: Option<LastBackup>,
    /// The last that failed, if none was taken since.
    pub(crate) failure: Option<BackupFailure>,
}

/// The process that takes a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BackupClaim {
    pub(crate) holder: String,
    pub(crate) until: i64,
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
        let find =
            |reader: &mut eddyline_storage::Reader<'_>| reader.settings().find(BACKUPS_SETTING);
        let text = store.read(find).await?;
        Ok(Self::parse(&text.unwrap_or_default()))
    }

    fn parse(text: &[u8]) -> Self {
        serde_json::from_slice(text).unwrap_or_default()
    }

    /// Changes it, and says whether `change` did so.
    pub(super) async fn update(
        store: &Store,
        change: impl Fn(&mut Self) -> bool + Clone + Send + 'static,
    ) -> StoreResult<bool> {
        loop {
            let change = change.clone();
            let (outcome, _) = store
                .write(move |tx| {
                    let found = tx.settings().insert_or_find(BACKUPS_SETTING, b"{}")?;
                    let mut state = Self::parse(&found);
                    if state.series.is_empty() {
                        state.series = BackupSeries::new_id();
                    }
                    if !change(&mut state) {
                        return Ok(Some(false));
                    }
                    let text = serde_json::to_vec(&state).unwrap_or_default();
                    let is_set = tx
                        .settings()
                        .set_unchanged(BACKUPS_SETTING, &found, &text)?;
                    Ok(is_set.then_some(true))
                })
                .await?;
            // Otherwise another process has changed it at the same time.
            if let Some(changed) = outcome {
                return Ok(changed);
            }
        }
    }

    /// Whether a backup into this place is due. One that is announced for later than it can be, by a
    /// clock that was wrong or an interval that was longer, is due now.
    pub(super) fn is_due(&self, now: Timestamp, place: &str, interval: i64) -> bool {
        let latest = now.plus_millis(interval.max(RETRY_MILLIS)).0;
        self.place.as_deref() != Some(place)
            || self
                .next_at
                .is_none_or(|next| next <= now.0 || next > latest)
    }

    /// How many milliseconds a server waits until it looks again whether a backup is due. Nothing is
    /// to be done while another process takes one.
    pub(super) fn pause(&self, now: Timestamp, longest: i64) -> i64 {
        let is_claimed = self.claim.as_ref().is_some_and(|claim| claim.until > now.0);
        match self.next_at {
            Some(next) if !is_claimed => (next - now.0).clamp(0, longest),
            _ => longest,
        }
    }

    /// Notes that this process takes a backup, unless another one does. A claim for longer than one
    /// holds was made by a clock that was wrong.
    pub(super) fn claim(&mut self, holder: &str, now: Timestamp) -> bool {
        let until = now.plus_millis(CLAIM_MILLIS).0;
        let is_taken = self.claim.as_ref().is_some_and(|claim| {
            claim.holder != holder && claim.until > now.0 && claim.until <= until
        });
        if !is_taken {
            self.claim = Some(BackupClaim {
                holder: holder.to_owned(),
                until,
            });
        }
        !is_taken
    }

    pub(super) fn is_claimed_by(&self, holder: &str) -> bool {
        let claim = self.claim.as_ref();
        claim.is_some_and(|claim| claim.holder == holder)
    }

    /// Gives the claim of this process up.
    pub(super) fn release(&mut self, holder: &str) -> bool {
        let is_ours = self.is_claimed_by(holder);
        if is_ours {
            self.claim = None;
        }
        is_ours
    }

    /// Notes how a backup went that was claimed, and when the next is due. A process whose claim has
    /// passed to another one changes nothing.
    pub(super) fn end(
        &mut self,
        holder: &str,
        now: Timestamp,
        place: &str,
        interval: i64,
        outcome: &Result<NamedBackup, String>,
    ) -> bool {
        if !self.release(holder) {
            return false;
        }
        self.place = Some(place.to_owned());
        let pause = match outcome {
            Ok(taken) => {
                self.last = Some(LastBackup::of(taken));
                self.failure = None;
                interval
            }
            Err(reason) => {
                let (at, reason) = (now.0, reason.clone());
                self.failure = Some(BackupFailure { at, reason });
                interval.min(RETRY_MILLIS)
            }
        };
        self.next_at = Some(now.plus_millis(pause).0);
        true
    }
}

impl LastBackup {
    fn of(taken: &NamedBackup) -> Self {
        let summary = &taken.taken.summary;
        Self {
            archive: taken.name.to_string(),
            taken_at: taken.name.taken_at.0,
            messages: summary.rows.get("messages").copied().unwrap_or_default(),
            files: summary.files,
            defective_files: taken.defective_files(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 24 * 3_600_000;
    const NOW: Timestamp = Timestamp(1_000 * DAY);

    fn failed(state: &mut BackupState, now: Timestamp) -> bool {
        state.end("a", now, "/backup", DAY, &Err("no room".to_owned()))
    }

    #[test]
    fn one_process_takes_a_backup_at_a_time() {
        let mut state = BackupState::default();
        assert!(state.claim("a", NOW));
        assert!(!state.claim("b", NOW));
        assert!(state.claim("a", NOW), "its holder renews it");
        assert!(!state.claim("b", NOW.plus_millis(CLAIM_MILLIS - 1)));
        // Its holder has died.
        assert!(state.claim("b", NOW.plus_millis(CLAIM_MILLIS)));
        assert!(!failed(&mut state, NOW), "the claim is no longer its own");
        assert_eq!(state.failure, None);
        assert!(state.is_claimed_by("b"));
        // It was made when the clock was ahead.
        assert!(state.claim("c", NOW.plus_millis(-DAY)));
    }

    #[test]
    fn a_server_looks_when_the_next_is_due_and_rarely_while_another_takes_it() {
        let mut state = BackupState::default();
        assert_eq!(state.pause(NOW, 60_000), 60_000);
        for (next, pause) in [(-1, 0), (5_000, 5_000), (DAY, 60_000)] {
            state.next_at = Some(NOW.0 + next);
            assert_eq!(state.pause(NOW, 60_000), pause);
        }
        state.next_at = Some(NOW.0);
        assert!(state.claim("another", NOW));
        assert_eq!(state.pause(NOW, 60_000), 60_000);
        assert_eq!(state.pause(NOW.plus_millis(CLAIM_MILLIS), 60_000), 0);
    }

    #[test]
    fn a_backup_is_due_after_the_interval_and_one_that_failed_after_an_hour() {
        let mut state = BackupState::default();
        assert!(state.is_due(NOW, "/backup", DAY));
        assert!(state.claim("a", NOW) && failed(&mut state, NOW));
        assert_eq!(state.claim, None);
        assert!(!state.is_due(NOW, "/backup", DAY));
        assert!(state.is_due(NOW.plus_millis(RETRY_MILLIS), "/backup", DAY));
        state.next_at = Some(NOW.plus_millis(DAY).0);
        assert!(!state.is_due(NOW, "/backup", DAY));
        assert!(state.is_due(NOW, "/elsewhere", DAY));
        assert!(
            state.is_due(NOW, "/backup", DAY / 2),
            "the interval was longer"
        );
        assert!(
            state.is_due(NOW.plus_millis(-1), "/backup", DAY),
            "the clock was ahead"
        );
    }
}
