use std::io::Write;

use eddyline_files::Files;
use eddyline_storage::Store;
use eddyline_storage::copy::{Dump, DumpedObject};
use tokio::runtime::Handle;

use crate::archive::{ArchiveWriter, Encryption, FORMAT, Manifest, Summary};
use crate::content::open;
use crate::kept_files::while_files_are_kept;
use crate::{Error, FILES_FOR_A_REPORT, Progress, Result};

/// How many rows there are between two reports on a table.
const ROWS_FOR_A_REPORT: u64 = 100_000;

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
/// [`Error::Store`] and [`Error::Io`].
pub async fn take<W: Write + Send + 'static>(
    store: &Store,
    files: &Files,
    secret_key: Option<Vec<u8>>,
    version: &str,
    out: W,
    encryption: Encryption,
    progress: impl FnMut(Progress) + Send + 'static,
) -> Result<(Taken, W)> {
    let source = BackupSource {
        store: store.clone(),
        files: files.clone(),
        secret_key,
        version: version.to_owned(),
        runtime: Handle::current(),
    };
    while_files_are_kept(store, move || {
        tokio::task::spawn_blocking(move || source.copy(out, &encryption, progress))
    })
    .await
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
        encryption: &Encryption,
        mut progress: impl FnMut(Progress),
    ) -> Result<(Taken, W)> {
        let (manifest, mut archive, objects) = self.store.dump(|dump| {
            let manifest = self.manifest(dump)?;
            let mut archive = ArchiveWriter::begin(out, encryption, &manifest)?;
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
        let Some(mut content) = open(&self.files, object, &self.runtime) else {
            archive.note_missing(key);
            return Ok(());
        };
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
