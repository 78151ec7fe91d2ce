use std::io::Write;
use std::time::Duration;

use eddyline_files::{FileKey, Files};
use eddyline_storage::Store;
use eddyline_storage::copy::{Dump, DumpedObject};
use tokio::runtime::Handle;

use crate::archive::{ArchiveWriter, FORMAT, Manifest, Seal, Summary};
use crate::content::ContentReader;
use crate::{Error, Progress, Result};

/// For how long servers remove no bytes of deleted files, unless the backup says again that it runs.
const POSTPONED_MILLIS: i64 = 600_000;
const POSTPONED_AGAIN: Duration = Duration::from_secs(120);
/// How many rows there are between two reports on a table.
const ROWS_FOR_A_REPORT: u64 = 100_000;
/// How many files there are between two reports.
const FILES_FOR_A_REPORT: u64 = 1_000;

/// A backup that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// What stands at its beginning.
    pub manifest: Manifest,
    /// What stands at its end.
    pub summary: Summary,
}

/// Writes an archive of a database and of its files, while servers use both: every table as it is
/// at one moment, and the bytes of every file that is kept at that moment. Files that are deleted
/// meanwhile keep their bytes until the archive has them.
///
/// `secret_key` belongs to the archive when the operator does not keep it elsewhere. Returns what
/// was written with, flushed.
///
/// A file that cannot be read does not end the backup; the [`Summary`] names it.
///
/// # Errors
///
/// [`Error::Store`], [`Error::Io`], and [`Error::Files`] when a file ends while it is read.
pub async fn take<W: Write + Send + 'static>(
    store: &Store,
    files: &Files,
    secret_key: Option<Vec<u8>>,
    version: &str,
    out: W,
    seal: Seal,
    progress: impl FnMut(Progress) + Send + 'static,
) -> Result<(Taken, W)> {
    postpone_deletions(store).await?;
    let source = BackupSource {
        store: store.clone(),
        files: files.clone(),
        secret_key,
        version: version.to_owned(),
        runtime: Handle::current(),
    };
    let mut work = tokio::task::spawn_blocking(move || source.copy(out, &seal, progress));
    let mut again = tokio::time::interval(POSTPONED_AGAIN);
    again.tick().await;
    let taken = loop {
        tokio::select! {
            taken = &mut work => break taken,
            _ = again.tick() => {
                if let Err(error) = postpone_deletions(store).await {
                    tracing::warn!(%error, "servers may remove files that were deleted meanwhile");
                }
            }
        }
    };
    taken.map_err(std::io::Error::other)?
}

async fn postpone_deletions(store: &Store) -> Result<()> {
    let until = store.now().plus_millis(POSTPONED_MILLIS);
    store
        .write(move |tx| tx.files().postpone_deletions(until))
        .await?;
    Ok(())
}

struct BackupSource {
    store: Store,
    files: Files,
    secret_key: Option<Vec<u8>>,
    version: String,
    runtime: Handle,
}

impl BackupSource {
    fn copy<W: Write>(
        &self,
        out: W,
        seal: &Seal,
        mut progress: impl FnMut(Progress),
    ) -> Result<(Taken, W)> {
        let (manifest, mut archive, objects) = self.store.dump(|dump| {
            let manifest = self.manifest(dump)?;
            let mut archive = ArchiveWriter::begin(out, seal, &manifest)?;
            if let Some(key) = &self.secret_key {
                archive.secret_key(key)?;
            }
            copy_tables(dump, &mut archive, &mut progress)?;
            Ok::<_, Error>((manifest, archive, dump.objects()?))
        })?;
        for object in &objects {
            self.copy_file(object, &mut archive)?;
            let Summary { files, bytes, .. } = *archive.summary();
            if files.is_multiple_of(FILES_FOR_A_REPORT) {
                progress(Progress::Files { done: files, bytes });
            }
        }
        let (summary, out) = archive.finish()?;
        progress(Progress::Files {
            done: summary.files,
            bytes: summary.bytes,
        });
        Ok((Taken { manifest, summary }, out))
    }

    fn manifest(&self, dump: &mut Dump<'_>) -> Result<Manifest> {
        let tables = dump.tables().into_iter();
        Ok(Manifest {
            format: FORMAT,
            version: self.version.clone(),
            created_at: self.store.now().to_string(),
            schema: dump.schema()?,
            log_position: dump.log_position()?,
            tables: tables.map(|table| (table.name, table.columns)).collect(),
            sequences: dump.sequences()?,
        })
    }

    fn copy_file<W: Write>(
        &self,
        object: &DumpedObject,
        archive: &mut ArchiveWriter<W>,
    ) -> Result<()> {
        let key = &object.key;
        let size = object.size.unsigned_abs();
        let content =
            FileKey::parse(key).map(|key| self.runtime.block_on(self.files.open(&key, None)));
        let content = match content {
            Some(Ok(content)) if content.file_size() == size => content,
            Some(Err(error)) if !matches!(error, eddyline_files::Error::NotFound) => {
                return Err(error.into());
            }
            _ => {
                archive.note_missing(key);
                return Ok(());
            }
        };
        let mut content = ContentReader::new(content, self.runtime.clone());
        archive.file(key, size, &mut content)?;
        if content.digest() != object.digest {
            archive.note_damaged(key);
        }
        Ok(())
    }
}

fn copy_tables<W: Write>(
    dump: &mut Dump<'_>,
    archive: &mut ArchiveWriter<W>,
    progress: &mut impl FnMut(Progress),
) -> Result<()> {
    for table in dump.tables() {
        let mut rows = 0;
        let mut report = |rows| {
            progress(Progress::Rows {
                table: table.name.clone(),
                rows,
            });
        };
        dump.rows(&table.name, |row| {
            rows += 1;
            if rows % ROWS_FOR_A_REPORT == 0 {
                report(rows);
            }
            archive.row(&table.name, &row)
        })?;
        report(rows);
    }
    archive.end_table()
}
