use std::io::Write;

use eddyline_files::Files;
use eddyline_storage::Store;
use eddyline_storage::copy::{Dump, DumpedObject};
use tokio::runtime::Handle;

use crate::archive::{
    ArchiveWriter, Encryption, FORMAT, Finished, INCREMENTAL_FORMAT, Manifest, Summary,
};
use crate::content::open;
use crate::index::ChainIndex;
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
    /// Whether it has the secret key of its server.
    pub has_secret_key: bool,
}

/// Writes an archive of a database and of its files, while servers use both: every table as it is
/// at one moment, and the bytes of every file that is kept at that moment. Files that are deleted
/// meanwhile keep their bytes until the archive has them.
///
/// Returns what was written with, flushed.
///
/// A file that cannot be read does not end the backup; the [`Summary`] names it.
///
/// # Errors
///
/// [`Error::Store`] and [`Error::Io`].
pub async fn take<W: Write + Send + 'static>(
    source: BackupSource,
    out: W,
    encryption: Encryption,
    mut progress: impl FnMut(Progress) + Send + 'static,
) -> Result<(Taken, W)> {
    let store = source.store.clone();
    while_files_are_kept(&store, move || {
        tokio::task::spawn_blocking(move || {
            let (taken, finished) = source.copy(out, &encryption, None, &mut progress)?;
            Ok((taken, finished.out))
        })
    })
    .await
}

/// What a backup is taken of.
#[derive(Clone)]
pub struct BackupSource {
    /// The database.
    pub store: Store,
    /// The place for files.
    pub files: Files,
    /// The secret key of the server, unless the operator keeps it elsewhere.
    pub secret_key: Option<Vec<u8>>,
    /// The version of the server.
    pub version: String,
}

impl BackupSource {
    /// Writes an archive, with what an index does not have yet if there is one. Blocks.
    pub(crate) fn copy<W: Write>(
        &self,
        out: W,
        encryption: &Encryption,
        index: Option<ChainIndex>,
        progress: &mut impl FnMut(Progress),
    ) -> Result<(Taken, Finished<W>)> {
        let runtime = Handle::current();
        let (manifest, mut archive, objects) = self.store.dump(|dump| {
            let mut manifest = self.manifest(dump)?;
            if let Some(index) = &index
                && !index.bases().is_empty()
            {
                manifest.format = INCREMENTAL_FORMAT;
                manifest.bases = index.bases().to_vec();
            }
            let mut archive = ArchiveWriter::begin(out, encryption, &manifest, index)?;
            if let Some(key) = &self.secret_key {
                archive.secret_key(key)?;
            }
            copy_tables(dump, &mut archive, progress)?;
            Ok::<_, Error>((manifest, archive, dump.objects()?))
        })?;
        for object in &objects {
            self.copy_file(object, &mut archive, &runtime)?;
            let Summary { files, bytes, .. } = *archive.summary();
            if files.is_multiple_of(FILES_FOR_A_REPORT) {
                progress(Progress::Files { done: files, bytes });
            }
        }
        let finished = archive.finish()?;
        let summary = finished.summary.clone();
        progress(Progress::Files {
            done: summary.files,
            bytes: summary.bytes,
        });
        let taken = Taken {
            manifest,
            summary,
            has_secret_key: self.secret_key.is_some(),
        };
        Ok((taken, finished))
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
            bases: Vec::new(),
        })
    }

    fn copy_file<W: Write>(
        &self,
        object: &DumpedObject,
        archive: &mut ArchiveWriter<W>,
        runtime: &Handle,
    ) -> Result<()> {
        let key = &object.key;
        let size = object.size.unsigned_abs();
        if archive.refer_to_file(key, size, &object.digest)? {
            return Ok(());
        }
        let Some(mut content) = open(&self.files, object, runtime) else {
            archive.note_missing(key);
            return Ok(());
        };
        archive.file(key, size, &mut content)?;
        if content.digest() == object.digest {
            return archive.note_intact(key);
        }
        archive.note_damaged(key);
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
        archive.end_table()?;
    }
    Ok(())
}
