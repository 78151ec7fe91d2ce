use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use eddyline_files::{FileKey, Files};
use eddyline_storage::Store;
use eddyline_storage::copy::{Load, Table};
use ring::digest::{Context, SHA256};
use tokio::runtime::Handle;

use crate::archive::{ArchiveReader, Identities, Manifest, Part, Parts, Summary};
use crate::content::ContentReader;
use crate::spool::{KeepFile, Spool};
use crate::{ArchivePlace, Error, FILES_FOR_A_REPORT, KeyPlace, Progress, Result};

/// How many rows one statement adds.
const ROWS: usize = 500;
/// How many bytes of a file are read at once.
const CHUNK: usize = 64 * 1024;

/// A backup that was restored, or read to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// What stands at its beginning.
    pub manifest: Manifest,
    /// What stands at its end.
    pub summary: Summary,
    /// Whether it has the secret key of its server.
    pub has_secret_key: bool,
}

/// Where an archive is read from.
pub enum ArchiveSource {
    /// A stream, which has a full archive.
    Stream(Box<dyn Read + Send>),
    /// An archive by its name, with the ones before it beside it.
    Named(ArchivePlace, String),
}

impl ArchiveSource {
    /// Opens the archive, after what it needs of earlier ones was read.
    fn open(
        self,
        identities: &Identities,
        folder: Option<&Path>,
        keep_file: KeepFile<'_>,
    ) -> Result<(Box<dyn Read + Send>, Option<Spool>)> {
        match self {
            Self::Stream(source) => Ok((source, None)),
            Self::Named(place, name) => {
                let spool = Spool::gather(&place, &name, identities, folder, keep_file)?;
                Ok((place.open(&name)?, Some(spool)))
            }
        }
    }
}

impl std::fmt::Debug for ArchiveSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Stream(_) => f.write_str("Stream(..)"),
            Self::Named(place, name) => write!(f, "Named({place:?}, {name})"),
        }
    }
}

/// Fills an empty database and a place for files from an archive. The database stays empty unless
/// every byte of the archive is as it was written; files may be left then, and are taken up when the
/// archive is restored once more. Rows of the archives that an incremental one builds on are put
/// aside in the folder `spool`.
///
/// # Errors
///
/// [`Error::Store`] with [`NotEmpty`](eddyline_storage::Error::NotEmpty) when there is a database,
/// and what the archive, the database and the place for files run into.
pub async fn restore(
    source: ArchiveSource,
    identities: Identities,
    url: &str,
    spool: PathBuf,
    files: Files,
    key_place: KeyPlace,
    mut progress: impl FnMut(Progress) + Send + 'static,
) -> Result<Restored> {
    let url = url.to_owned();
    let place = FilePlace {
        files,
        runtime: Handle::current(),
    };
    let work = tokio::task::spawn_blocking(move || {
        // An occupied place is refused before files are copied to it.
        if !Store::is_empty(&url)? {
            return Err(eddyline_storage::Error::NotEmpty.into());
        }
        let (source, mut spool) =
            source.open(&identities, Some(&spool), &mut |key, size, bytes| {
                place.keep(key, size, bytes)
            })?;
        let mut archive = ArchiveReader::open(source, &identities)?;
        let (manifest, mut parts) = archive.read()?;
        let has_secret_key = Store::load(&url, &manifest.schema, &manifest.sequences, |load| {
            let mut target = RestoreTarget::Load {
                load,
                place: &place,
                key_place: &key_place,
            };
            read_parts(
                &manifest,
                &mut parts,
                &mut spool,
                &mut target,
                &mut progress,
            )
        })?;
        Ok(Restored {
            manifest,
            summary: parts.into_summary(),
            has_secret_key,
        })
    });
    work.await.map_err(std::io::Error::other)?
}

/// Reads an archive to its end and writes nothing.
///
/// # Errors
///
/// [`Error::Damaged`], and what reading it runs into.
pub async fn verify(
    source: ArchiveSource,
    identities: Identities,
    mut progress: impl FnMut(Progress) + Send + 'static,
) -> Result<Restored> {
    let work = tokio::task::spawn_blocking(move || {
        let (source, mut spool) =
            source.open(&identities, None, &mut |_, _, bytes| drain(bytes))?;
        let mut archive = ArchiveReader::open(source, &identities)?;
        let (manifest, mut parts) = archive.read()?;
        let has_secret_key = read_parts(
            &manifest,
            &mut parts,
            &mut spool,
            &mut RestoreTarget::Nowhere,
            &mut progress,
        )?;
        Ok(Restored {
            manifest,
            summary: parts.into_summary(),
            has_secret_key,
        })
    });
    work.await.map_err(std::io::Error::other)?
}

enum RestoreTarget<'a, 'c> {
    Load {
        load: &'a mut Load<'c>,
        place: &'a FilePlace,
        key_place: &'a KeyPlace,
    },
    Nowhere,
}

/// Reads all parts, and says whether the secret key was among them.
fn read_parts(
    manifest: &Manifest,
    parts: &mut Parts<'_, '_>,
    spool: &mut Option<Spool>,
    target: &mut RestoreTarget<'_, '_>,
    progress: &mut impl FnMut(Progress),
) -> Result<bool> {
    let mut secret_key = None;
    let mut rows_of = BTreeMap::<String, u64>::new();
    let (mut done, mut bytes) = (0, 0);
    if spool.is_none() && !manifest.bases.is_empty() {
        return Err(Error::Incremental);
    }
    let mut insert = |target: &mut RestoreTarget<'_, '_>, table: String, rows: &[String]| {
        let columns = manifest.tables.get(&table).cloned();
        let columns =
            columns.ok_or_else(|| Error::Damaged(format!("the table {table} has no columns")))?;
        let count = rows_of.entry(table.clone()).or_default();
        *count += rows.len() as u64;
        let rows_so_far = *count;
        let table = Table {
            name: table,
            columns,
        };
        target.insert(&table, rows)?;
        Ok::<_, Error>(Progress::Rows {
            table: table.name,
            rows: rows_so_far,
        })
    };
    while let Some(part) = parts.next()? {
        match part {
            Part::SecretKey(key) => secret_key = Some(key),
            Part::Rows { table, rows, .. } => progress(insert(target, table, &rows)?),
            Part::RowsReferences { table, references } => {
                let spool = spool.as_mut().ok_or(Error::Incremental)?;
                for reference in references {
                    let rows = spool.rows(&reference)?;
                    progress(insert(target, table.clone(), &rows)?);
                }
            }
            // They were kept while the earlier archives were read.
            Part::FileReferences(references) => {
                done += references.len() as u64;
                let sizes = references.iter().map(|reference| reference.size);
                bytes = sizes.fold(bytes, u64::saturating_add);
            }
            Part::File {
                key,
                size,
                bytes: mut content,
            } => {
                target.keep_file(&key, size, &mut content)?;
                done += 1;
                bytes = u64::saturating_add(bytes, size);
                if done % FILES_FOR_A_REPORT == 0 {
                    progress(Progress::Files { done, bytes });
                }
            }
        }
    }
    progress(Progress::Files { done, bytes });
    if let Some(key) = &secret_key {
        target.keep_key(key)?;
    }
    Ok(secret_key.is_some())
}

impl RestoreTarget<'_, '_> {
    fn keep_key(&mut self, key: &[u8]) -> Result<()> {
        match self {
            Self::Load {
                load, key_place, ..
            } => key_place.keep(load, key),
            Self::Nowhere => Ok(()),
        }
    }

    fn insert(&mut self, table: &Table, rows: &[String]) -> Result<()> {
        if let Self::Load { load, .. } = self {
            for part in rows.chunks(ROWS) {
                load.insert(table, part)?;
            }
        }
        Ok(())
    }

    fn keep_file(&mut self, key: &str, size: u64, bytes: &mut impl Read) -> Result<()> {
        match self {
            Self::Load { place, .. } => place.keep(key, size, bytes),
            Self::Nowhere => drain(bytes),
        }
    }
}

fn drain(bytes: &mut (impl Read + ?Sized)) -> Result<()> {
    std::io::copy(bytes, &mut std::io::sink()).map_err(Error::of_reading)?;
    Ok(())
}

/// Where the files of an archive go.
struct FilePlace {
    files: Files,
    runtime: Handle,
}

impl FilePlace {
    fn keep(&self, name: &str, size: u64, bytes: &mut (impl Read + ?Sized)) -> Result<()> {
        let key = FileKey::parse(name)
            .ok_or_else(|| Error::Damaged(format!("{name} is no key of a file")))?;
        if self.has(&key, name, size)? {
            return self.compare(&key, name, bytes);
        }
        let mut upload = self
            .runtime
            .block_on(self.files.begin(&key, size))
            .map_err(|error| Error::of_file(name, error))?;
        let mut buffer = vec![0; CHUNK];
        loop {
            let count = bytes.read(&mut buffer).map_err(Error::of_reading)?;
            if count == 0 {
                break;
            }
            let chunk = Bytes::copy_from_slice(&buffer[..count]);
            self.runtime
                .block_on(upload.write(chunk))
                .map_err(|error| Error::of_file(name, error))?;
        }
        // Thumbnails are files of the archive, too.
        self.runtime
            .block_on(upload.finish(async |_| None::<()>))
            .map_err(|error| Error::of_file(name, error))?;
        Ok(())
    }

    /// Whether an attempt before this one has brought the file. What it left of one that it did not
    /// bring to its end is removed.
    fn has(&self, key: &FileKey, name: &str, size: u64) -> Result<bool> {
        let kept = match self.runtime.block_on(self.files.open(key, None)) {
            Err(eddyline_files::Error::NotFound) => return Ok(false),
            opened => opened.map_err(|error| Error::of_file(name, error))?,
        };
        let is_whole = kept.file_size() >= size;
        if !is_whole {
            self.runtime
                .block_on(self.files.remove(key))
                .map_err(|error| Error::of_file(name, error))?;
        }
        Ok(is_whole)
    }

    fn compare(&self, key: &FileKey, name: &str, bytes: &mut (impl Read + ?Sized)) -> Result<()> {
        let kept = self
            .runtime
            .block_on(self.files.open(key, None))
            .map_err(|error| Error::of_file(name, error))?;
        let kept = digest_of(&mut ContentReader::new(kept, self.runtime.clone()))?;
        if digest_of(bytes)? == kept {
            Ok(())
        } else {
            Err(Error::OtherFile(name.to_owned()))
        }
    }
}

fn digest_of(bytes: &mut (impl Read + ?Sized)) -> Result<Vec<u8>> {
    let mut digest = Context::new(&SHA256);
    let mut buffer = vec![0; CHUNK];
    loop {
        match bytes.read(&mut buffer).map_err(Error::of_reading)? {
            0 => return Ok(digest.finish().as_ref().to_vec()),
            count => digest.update(&buffer[..count]),
        }
    }
}
