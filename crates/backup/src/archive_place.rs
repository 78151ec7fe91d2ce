//! Where archives are kept: a folder, or a bucket of a store that speaks S3.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

#[cfg(feature = "s3")]
use bytes::{Buf as _, Bytes};
#[cfg(feature = "s3")]
use eddyline_files::{Bucket, BucketUpload, Content};
use eddyline_model::Timestamp;
#[cfg(feature = "s3")]
use futures_util::StreamExt as _;
use tempfile::NamedTempFile;
#[cfg(feature = "s3")]
use tokio::runtime::Handle;

use crate::{ArchiveName, Error, Result};

/// What the name of a file begins with that is not whole yet.
const UNFINISHED_PREFIX: &str = ".eddyline-backup-";
/// How long nothing was written to such a file when its process has died.
const UNFINISHED_AGE: Duration = Duration::from_secs(24 * 3600);

/// Where archives are kept. Its functions block; for a bucket they need the context of a tokio
/// runtime, as [`tokio::task::spawn_blocking`] gives it.
#[derive(Clone, Debug)]
pub struct ArchivePlace(PlaceKind);

#[derive(Clone, Debug)]
enum PlaceKind {
    Folder(PathBuf),
    #[cfg(feature = "s3")]
    Bucket(Bucket),
}

impl ArchivePlace {
    /// A folder, which must be there.
    #[must_use]
    pub fn folder(path: &Path) -> Self {
        Self(PlaceKind::Folder(path.to_owned()))
    }

    /// A bucket.
    #[cfg(feature = "s3")]
    #[must_use]
    pub fn bucket(bucket: Bucket) -> Self {
        Self(PlaceKind::Bucket(bucket))
    }

    /// The archives there, ordered by their time. Other files and objects are passed over.
    ///
    /// # Errors
    ///
    /// [`Error::Place`].
    pub fn archives(&self) -> Result<Vec<ArchiveName>> {
        let names = match &self.0 {
            PlaceKind::Folder(folder) => {
                let entries = fs::read_dir(folder).map_err(|error| self.failed(&error))?;
                let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into()));
                let names: io::Result<Vec<String>> = names.collect();
                names.map_err(|error| self.failed(&error))?
            }
            #[cfg(feature = "s3")]
            PlaceKind::Bucket(bucket) => {
                let objects = Handle::current().block_on(bucket.list());
                let objects = objects.map_err(|error| self.failed(&error))?;
                objects.into_iter().map(|object| object.name).collect()
            }
        };
        let mut archives: Vec<ArchiveName> =
            names.iter().filter_map(|name| name.parse().ok()).collect();
        archives.sort();
        Ok(archives)
    }

    /// The archives of a series, ordered by their time.
    ///
    /// # Errors
    ///
    /// [`Error::Place`].
    pub fn archives_of(&self, series: &str) -> Result<Vec<ArchiveName>> {
        let mut archives = self.archives()?;
        archives.retain(|archive| archive.series == series);
        Ok(archives)
    }

    /// Opens what has this name.
    ///
    /// # Errors
    ///
    /// [`Error::NoArchive`] and [`Error::Place`].
    pub fn open(&self, name: &str) -> Result<Box<dyn Read + Send>> {
        match &self.0 {
            PlaceKind::Folder(folder) => {
                let file = File::open(folder.join(name)).map_err(|error| match error.kind() {
                    io::ErrorKind::NotFound => Error::NoArchive(self.named(name)),
                    _ => self.failed_with(name, &error),
                })?;
                Ok(Box::new(BufReader::new(file)))
            }
            #[cfg(feature = "s3")]
            PlaceKind::Bucket(bucket) => {
                let runtime = Handle::current();
                let content = runtime.block_on(bucket.open(name));
                let content = content.map_err(|error| match error {
                    eddyline_files::Error::NotFound => Error::NoArchive(self.named(name)),
                    error => self.failed_with(name, &error),
                })?;
                Ok(Box::new(BucketReader {
                    content,
                    chunk: Bytes::new(),
                    runtime,
                }))
            }
        }
    }

    /// Begins to write an archive or an index. It gets its name when it is finished; in a folder
    /// nothing may have that name yet.
    ///
    /// # Errors
    ///
    /// [`Error::Occupied`] and [`Error::Place`].
    pub fn begin(&self, name: &str) -> Result<PlaceWriter> {
        match &self.0 {
            PlaceKind::Folder(folder) => {
                let path = folder.join(name);
                if path.exists() {
                    return Err(Error::Occupied(path));
                }
                let made = tempfile::Builder::new()
                    .prefix(UNFINISHED_PREFIX)
                    .tempfile_in(folder);
                let unfinished = made.map_err(|error| self.failed_with(name, &error))?;
                Ok(PlaceWriter::File { unfinished, path })
            }
            #[cfg(feature = "s3")]
            PlaceKind::Bucket(bucket) => Ok(PlaceWriter::Object {
                upload: bucket.begin(name),
                runtime: Handle::current(),
            }),
        }
    }

    /// Writes a small file.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let mut out = self.begin(name)?;
        let written = out.write_all(bytes).and_then(|()| out.finish());
        written.map_err(|error| self.failed_with(name, &error))
    }

    /// Removes an archive and its index.
    pub(crate) fn remove(&self, archive: &ArchiveName) -> Result<()> {
        // The archive last: as long as it is listed, this is tried again.
        for name in [archive.index(), archive.to_string()] {
            match &self.0 {
                PlaceKind::Folder(folder) => match fs::remove_file(folder.join(&name)) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        return Err(self.failed_with(&name, &error));
                    }
                    _ => {}
                },
                #[cfg(feature = "s3")]
                PlaceKind::Bucket(bucket) => {
                    let removed = Handle::current().block_on(bucket.remove(&name));
                    removed.map_err(|error| self.failed_with(&name, &error))?;
                }
            }
        }
        Ok(())
    }

    /// Removes what processes left that died while they wrote. For a bucket the operator sets a
    /// rule that ends unfinished uploads.
    pub(crate) fn remove_unfinished(&self, now: Timestamp) {
        let now = UNIX_EPOCH + Duration::from_millis(now.0.unsigned_abs());
        let folder = match &self.0 {
            PlaceKind::Folder(folder) => folder,
            #[cfg(feature = "s3")]
            PlaceKind::Bucket(_) => return,
        };
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_unfinished = name.to_string_lossy().starts_with(UNFINISHED_PREFIX);
            let written = entry.metadata().and_then(|metadata| metadata.modified());
            let is_old = written.is_ok_and(|at| at + UNFINISHED_AGE < now);
            if is_unfinished && is_old {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn failed(&self, reason: &dyn std::error::Error) -> Error {
        Error::Place(self.to_string(), reason.to_string())
    }

    pub(crate) fn failed_with(&self, name: &str, reason: &dyn std::error::Error) -> Error {
        Error::Place(self.named(name), reason.to_string())
    }

    fn named(&self, name: &str) -> String {
        match &self.0 {
            PlaceKind::Folder(folder) => folder.join(name).display().to_string(),
            #[cfg(feature = "s3")]
            PlaceKind::Bucket(_) => format!("{self}/{name}"),
        }
    }
}

impl std::fmt::Display for ArchivePlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            PlaceKind::Folder(folder) => folder.display().fmt(f),
            #[cfg(feature = "s3")]
            PlaceKind::Bucket(bucket) => bucket.fmt(f),
        }
    }
}

/// What is written to an [`ArchivePlace`]. Nothing has the name before [`PlaceWriter::finish`].
#[derive(Debug)]
pub enum PlaceWriter {
    /// A file without its name.
    File {
        /// The file.
        unfinished: NamedTempFile,
        /// Its name.
        path: PathBuf,
    },
    /// An object.
    #[cfg(feature = "s3")]
    Object {
        /// What sends it.
        upload: BucketUpload,
        /// Where it is sent.
        runtime: Handle,
    },
}

impl PlaceWriter {
    /// Gives it its name, now that it is whole.
    ///
    /// # Errors
    ///
    /// What the file system or the store says.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Self::File { unfinished, path } => {
                unfinished.as_file().sync_all()?;
                unfinished.persist_noclobber(&path)?;
                // The name, too, outlives a power cut.
                let folder = path
                    .parent()
                    .filter(|folder| !folder.as_os_str().is_empty());
                File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
            }
            #[cfg(feature = "s3")]
            Self::Object { upload, runtime } => {
                runtime.block_on(upload.finish()).map_err(of_the_store)
            }
        }
    }
}

impl Write for PlaceWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File { unfinished, .. } => unfinished.write(bytes),
            #[cfg(feature = "s3")]
            Self::Object { upload, runtime } => {
                let sent = runtime.block_on(upload.write(Bytes::copy_from_slice(bytes)));
                sent.map(|()| bytes.len()).map_err(of_the_store)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File { unfinished, .. } => unfinished.flush(),
            #[cfg(feature = "s3")]
            Self::Object { .. } => Ok(()),
        }
    }
}

/// An object that is read on a thread that may block.
#[cfg(feature = "s3")]
struct BucketReader {
    content: Content,
    chunk: Bytes,
    runtime: Handle,
}

#[cfg(feature = "s3")]
impl Read for BucketReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.chunk.is_empty() {
            match self.runtime.block_on(self.content.next()) {
                Some(chunk) => self.chunk = chunk.map_err(of_the_store)?,
                None => return Ok(0),
            }
        }
        let count = self.chunk.len().min(buffer.len());
        self.chunk.copy_to_slice(&mut buffer[..count]);
        Ok(count)
    }
}

/// An error of a kind that is not taken for a damaged archive.
#[cfg(feature = "s3")]
fn of_the_store(error: eddyline_files::Error) -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, error)
}
