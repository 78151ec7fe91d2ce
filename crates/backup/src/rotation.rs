//! Backups that follow each other in a place.

use std::io::{BufWriter, IntoInnerError};

use eddyline_model::Timestamp;

use crate::chain::{expired, newest};
use crate::index::ChainIndex;
use crate::kept_files::while_files_are_kept;
use crate::{
    ArchiveName, ArchivePlace, BackupKind, BackupSource, Encryption, Error, IndexKey, Progress,
    Result, Taken,
};

/// A backup with a name in a place for archives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedBackup {
    /// Its name there.
    pub name: ArchiveName,
    /// What it has.
    pub taken: Taken,
}

/// As [`take`](crate::take), an archive with a name in a place. An incremental one has what
/// the newest chain there has not, by the indexes beside the archives; where they are missing, or
/// are those of another key, a full one is written instead.
///
/// # Errors
///
/// [`Error::Place`], [`Error::Store`] and [`Error::Io`].
pub async fn take_into(
    place: ArchivePlace,
    source: BackupSource,
    kind: BackupKind,
    encryption: Encryption,
    key: IndexKey,
    mut progress: impl FnMut(Progress) + Send + 'static,
) -> Result<NamedBackup> {
    let store = source.store.clone();
    while_files_are_kept(&store, move || {
        tokio::task::spawn_blocking(move || {
            let index = match kind {
                BackupKind::Full => None,
                BackupKind::Incremental => of_newest_chain(&place, &key)?,
            };
            let name = ArchiveName {
                taken_at: source.store.now(),
                kind: index.as_ref().map_or(BackupKind::Full, |_| kind),
                is_encrypted: matches!(encryption, Encryption::Recipients(_)),
            };
            let index = match index {
                Some(index) => index,
                None => ChainIndex::new(key)?,
            };
            let out = BufWriter::new(place.begin(&name.to_string())?);
            let (taken, finished) = source.copy(out, &encryption, Some(index), &mut progress)?;
            let out = finished.out.into_inner();
            let kept = out.map_err(IntoInnerError::into_error)?.finish();
            kept.map_err(|error| place.failed_with(&name.to_string(), &error))?;
            // An archive without an index is whole; only none builds on it.
            if let Some(index) = finished.index {
                place.put(&name.index(), &index)?;
            }
            Ok(NamedBackup { name, taken })
        })
    })
    .await
}

/// What the newest chain has; `None` when nothing can build on it.
fn of_newest_chain(place: &ArchivePlace, key: &IndexKey) -> Result<Option<ChainIndex>> {
    let archives = place.archives()?;
    let chain = newest(&archives);
    let mut index = ChainIndex::new(key.clone())?;
    for archive in chain {
        let is_base = match place.open(&archive.index()) {
            Ok(source) => index.add_base(&archive.to_string(), source)?,
            Err(Error::Place(..)) => false,
            Err(error) => return Err(error),
        };
        if !is_base {
            tracing::warn!(
                %archive,
                "the archive has no index that can be used, so the backup is a full one"
            );
            return Ok(None);
        }
    }
    Ok((!chain.is_empty()).then_some(index))
}

/// Removes the archives of a place that are older than so many milliseconds, and answers with
/// their names. A chain goes as a whole, when its newest archive has that age, and the newest chain
/// stays.
///
/// # Errors
///
/// [`Error::Place`].
pub async fn prune(
    place: ArchivePlace,
    now: Timestamp,
    kept_millis: i64,
) -> Result<Vec<ArchiveName>> {
    let work = tokio::task::spawn_blocking(move || {
        place.remove_unfinished(now);
        let mut expired = expired(&place.archives()?, now, kept_millis);
        // The newest first: what is left of a chain can be restored if this is interrupted.
        expired.reverse();
        for archive in &expired {
            place.remove(archive)?;
        }
        Ok(expired)
    });
    work.await.map_err(std::io::Error::other)?
}
