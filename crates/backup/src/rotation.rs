//! Backups that follow each other in a place.

use std::io::{BufWriter, IntoInnerError};

use eddyline_model::Timestamp;
use eddyline_random::hex;

use crate::archive_name::SERIES_DIGITS;
use crate::chain::{expired, newest};
use crate::index::ChainIndex;
use crate::kept_files::while_files_are_kept;
use crate::{
    ArchiveName, ArchivePlace, BackupKind, BackupSource, Encryption, Error, IndexKey, Progress,
    Result, Taken,
};

/// The backups of one database. Several databases may have a place in common: none builds on an
/// archive of another, and none removes one.
#[derive(Clone, Debug)]
pub struct BackupSeries {
    /// The id in the names of its archives: eight hexadecimal digits.
    pub id: String,
    /// The key of its indexes.
    pub key: IndexKey,
}

impl BackupSeries {
    /// An id for a new series.
    #[must_use]
    pub fn new_id() -> String {
        hex::<{ SERIES_DIGITS / 2 }>()
    }
}

/// A backup with a name in a place for archives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedBackup {
    /// Its name there.
    pub name: ArchiveName,
    /// What it has.
    pub taken: Taken,
}

impl NamedBackup {
    /// How many files are not in it as they were sent.
    #[must_use]
    pub fn defective_files(&self) -> u64 {
        let summary = &self.taken.summary;
        (summary.missing.len() + summary.damaged.len()) as u64
    }
}

/// As [`take`](crate::take), an archive with a name in a place. An incremental one leaves out what
/// the newest chain of the series has, by the indexes beside the archives. Where an index is missing
/// or damaged, or is of another key or for other public keys, a full one is written instead.
///
/// The caller makes sure that no other backup of the series is taken meanwhile.
///
/// # Errors
///
/// [`Error::Place`], [`Error::Store`] and [`Error::Io`].
pub async fn take_into(
    place: ArchivePlace,
    source: BackupSource,
    series: BackupSeries,
    kind: BackupKind,
    encryption: Encryption,
    mut progress: impl FnMut(Progress) + Send + 'static,
) -> Result<NamedBackup> {
    let store = source.store.clone();
    while_files_are_kept(&store, move || {
        tokio::task::spawn_blocking(move || {
            let archives = place.archives_of(&series.id)?;
            let index = match kind {
                BackupKind::Full => None,
                BackupKind::Incremental => {
                    of_newest_chain(&place, &archives, &series.key, &encryption)?
                }
            };
            let kind = index.as_ref().map_or(BackupKind::Full, |_| kind);
            let name = next_name(&archives, source.store.now(), series.id, kind, &encryption);
            let index = match index {
                Some(index) => index,
                None => ChainIndex::new(series.key, &encryption.recipients_text())?,
            };
            let out = BufWriter::new(place.begin(&name.to_string())?);
            let (taken, finished) = source.copy(out, &encryption, Some(index), &mut progress)?;
            let out = finished.out.into_inner();
            let out = out.map_err(IntoInnerError::into_error)?;
            if let Some(index) = finished.index {
                // Before the archive has its name, so that the next backup finds both.
                if let Err(error) = place.put(&name.index(), &index) {
                    tracing::warn!(%error, "the next backup will be a full one");
                }
            }
            out.finish()
                .map_err(|error| place.failed_with(&name.to_string(), &error))?;
            Ok(NamedBackup { name, taken })
        })
    })
    .await
}

/// The name of the next archive. Names of a series ascend, also when the clock was set back.
fn next_name(
    archives: &[ArchiveName],
    now: Timestamp,
    series: String,
    kind: BackupKind,
    encryption: &Encryption,
) -> ArchiveName {
    let newest = archives.last().map(|newest| newest.taken_at.plus_millis(1));
    if let Some(newest) = archives.last().filter(|newest| newest.taken_at > now) {
        tracing::warn!(archive = %newest, "the clock was set back: the archive is of the future");
    }
    ArchiveName {
        taken_at: newest.map_or(now, |newest| newest.max(now)),
        kind,
        is_encrypted: matches!(encryption, Encryption::Recipients(_)),
        series,
    }
}

/// What the newest chain has; `None` when nothing can build on it.
fn of_newest_chain(
    place: &ArchivePlace,
    archives: &[ArchiveName],
    key: &IndexKey,
    encryption: &Encryption,
) -> Result<Option<ChainIndex>> {
    let chain = newest(archives);
    let mut index = ChainIndex::new(key.clone(), &encryption.recipients_text())?;
    for archive in chain {
        let is_base = match place.open(&archive.index()) {
            Ok(source) => index.add_base(&archive.to_string(), source)?,
            Err(Error::NoArchive(_)) => false,
            Err(error) => return Err(error),
        };
        if !is_base {
            tracing::warn!(
                %archive,
                "the backup is a full one: the archive has no index, or one for other keys"
            );
            return Ok(None);
        }
    }
    Ok((!chain.is_empty()).then_some(index))
}

/// Removes the archives of a series that are older than so many milliseconds, and answers with their
/// names. A chain goes as a whole, when its newest archive has that age, and the newest chain stays.
///
/// # Errors
///
/// [`Error::Place`].
pub async fn prune(
    place: ArchivePlace,
    series: &str,
    now: Timestamp,
    kept_millis: i64,
) -> Result<Vec<ArchiveName>> {
    let series = series.to_owned();
    let work = tokio::task::spawn_blocking(move || {
        place.remove_unfinished(now);
        let mut expired = expired(&place.archives_of(&series)?, now, kept_millis);
        // The newest first: what is left of a chain can be restored if this is interrupted.
        expired.reverse();
        for archive in &expired {
            place.remove(archive)?;
        }
        Ok(expired)
    });
    work.await.map_err(std::io::Error::other)?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_ascend_when_the_clock_is_set_back() {
        let next = |archives: &[ArchiveName], now| {
            let kind = BackupKind::Full;
            let series = BackupSeries::new_id();
            next_name(
                archives,
                Timestamp(now),
                series,
                kind,
                &Encryption::Unencrypted,
            )
        };
        let first = next(&[], 1_000);
        assert_eq!(first.taken_at, Timestamp(1_000));
        assert_eq!(first.to_string().parse(), Ok(first.clone()));
        let archives = [first];
        assert_eq!(next(&archives, 2_000).taken_at, Timestamp(2_000));
        assert_eq!(next(&archives, 500).taken_at, Timestamp(1_001));
    }
}
