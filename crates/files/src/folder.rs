//! Files in a folder.
//!
//! A key's first two digits are the name of a folder in it, so that none has too many entries.

use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream;

use crate::{CHUNK, Content, Error, FileKey, aside};

pub(crate) struct Folder {
    root: PathBuf,
    /// Of which parts it is known that they would be there after a power failure.
    durable: [AtomicBool; 256],
}

impl Folder {
    pub(crate) fn new(root: &Path) -> io::Result<Self> {
        make_durable(root)?;
        Ok(Self {
            root: root.to_owned(),
            durable: [const { AtomicBool::new(false) }; 256],
        })
    }

    fn path(&self, key: &FileKey) -> PathBuf {
        self.root.join(key.part().1).join(key.as_str())
    }

    /// Makes an empty file for a key.
    pub(crate) fn create(&self, key: &FileKey) -> io::Result<(File, PartialFile)> {
        let (part, name) = key.part();
        if !self.durable[part].load(Ordering::Acquire) {
            self.make_part(part, name)?;
        }
        let path = self.path(key);
        let file = match private_file().open(&path) {
            // Somebody has tidied up.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.make_part(part, name)?;
                private_file().open(&path).map_err(at(&path))?
            }
            opened => opened.map_err(at(&path))?,
        };
        Ok((
            file,
            PartialFile {
                path,
                is_kept: false,
            },
        ))
    }

    fn make_part(&self, part: usize, name: &str) -> io::Result<()> {
        let path = self.root.join(name);
        match private_folder().create(&path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(at(&path)(error)),
            _ => {}
        }
        sync(&self.root)?;
        self.durable[part].store(true, Ordering::Release);
        Ok(())
    }
}

impl fmt::Debug for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.root.display())
    }
}

/// A file's place in the folder. Dropped before it is kept, it removes the file.
pub(crate) struct PartialFile {
    path: PathBuf,
    is_kept: bool,
}

impl PartialFile {
    /// Puts the file and its name on the disk for good. Blocks.
    pub(crate) fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all().map_err(at(&self.path))?;
        sync(self.path.parent().unwrap_or(&self.path))
    }

    /// Has an error say which file it is about.
    pub(crate) fn named(&self, error: io::Error) -> io::Error {
        at(&self.path)(error)
    }

    pub(crate) fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(%error, path = %self.path.display(), "an unfinished upload was left behind");
        }
    }
}

pub(crate) async fn put(folder: Arc<Folder>, key: FileKey, bytes: Bytes) -> Result<(), Error> {
    let entry = aside(move || {
        let (mut file, entry) = folder.create(&key)?;
        file.write_all(&bytes).map_err(at(&entry.path))?;
        entry.sync(&file)?;
        io::Result::Ok(entry)
    })
    .await??;
    entry.keep();
    Ok(())
}

pub(crate) async fn open(
    folder: Arc<Folder>,
    key: FileKey,
    range: Option<Range<u64>>,
) -> Result<Content, Error> {
    let (file, size, left) = aside(move || {
        let path = folder.path(&key);
        let mut file = File::open(&path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => Error::NotFound,
            _ => at(&path)(error).into(),
        })?;
        let size = file.metadata()?.len();
        let range = range.unwrap_or(0..size);
        // Nothing but an empty file has an empty whole.
        if (range.is_empty() || range.start >= size) && range != (0..size) {
            return Err(Error::Range);
        }
        file.seek(SeekFrom::Start(range.start))?;
        Ok((file, size, range.end.min(size) - range.start))
    })
    .await??;
    let chunks = stream::try_unfold((file, left), |(file, left)| async move {
        if left == 0 {
            return Ok(None);
        }
        let (file, chunk) = aside(move || read(file, left)).await??;
        let left = left - chunk.len() as u64;
        Ok(Some((chunk, (file, left))))
    });
    Ok(Content::new(size, chunks.boxed()))
}

fn read(mut file: File, left: u64) -> io::Result<(File, Bytes)> {
    let length = usize::try_from(left).unwrap_or(CHUNK).min(CHUNK);
    let mut chunk = vec![0; length];
    file.read_exact(&mut chunk)?;
    Ok((file, chunk.into()))
}

pub(crate) async fn remove(folder: Arc<Folder>, key: FileKey) -> Result<(), Error> {
    aside(move || {
        let path = folder.path(&key);
        match fs::remove_file(&path) {
            // A caller that forgets the key must not find the file again after a power failure.
            Ok(()) => sync(path.parent().unwrap_or(&path)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(at(&path)(error)),
        }
    })
    .await??;
    Ok(())
}

/// Makes a folder, and those it is in, for good. Of one that is there already nothing is done.
fn make_durable(folder: &Path) -> io::Result<()> {
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let missing: Vec<&Path> = folder.ancestors().take_while(is_missing).collect();
    private_folder().recursive(true).create(folder)?;
    for made in missing {
        match made.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => sync(parent)?,
            // It was named from where this process is.
            _ => sync(Path::new("."))?,
        }
    }
    Ok(())
}

/// Has an error say what it is about; its kind stays.
fn at(path: &Path) -> impl FnOnce(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Puts the names in a folder on the disk for good.
fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(at(folder))
}

/// For the eyes of this user only.
fn private_folder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// A new file, for the eyes of this user only.
fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
