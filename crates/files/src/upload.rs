//! Bytes on their way in.

use bytes::{Bytes, BytesMut};
use tokio::runtime::Handle;

use crate::folder::PartialFile;
use crate::look::look;
use crate::sink::Sink;
use crate::{CHUNK, Error, FileBackend, FileKey, Files, PictureInfo, aside};

/// A file that is being taken in. Dropped before [`Upload::finish`] has answered, it soon leaves
/// nothing behind; see there for a store.
pub struct Upload {
    files: Files,
    key: FileKey,
    limit: u64,
    /// How many bytes came.
    size: u64,
    /// Those that were not written yet.
    buffer: BytesMut,
    /// `None` while it is written to, and after that went wrong.
    sink: Option<Sink>,
    /// Of a file in the folder.
    entry: Option<PartialFile>,
}

/// A file that is kept, and what was found out of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The SHA-256 of its bytes.
    pub digest: [u8; 32],
    /// How many bytes it has.
    pub size: u64,
    /// The media type of a PNG, JPEG, GIF or WebP picture, by its first bytes; `None` for anything
    /// else.
    pub content_type: Option<&'static str>,
    /// What is to be said of a picture; `None` also for one whose head is damaged.
    pub picture: Option<PictureInfo>,
}

impl Upload {
    pub(crate) async fn begin(files: Files, key: FileKey, limit: u64) -> Result<Self, Error> {
        let (file, entry) = match &files.place {
            FileBackend::Folder(folder) => {
                let (folder, key) = (folder.clone(), key.clone());
                let (file, entry) = aside(move || folder.create(&key)).await??;
                (file, Some(entry))
            }
            #[cfg(feature = "s3")]
            FileBackend::S3(store) => {
                let store = store.clone();
                (aside(move || store.put_aside()).await??, None)
            }
        };
        let sink = Some(Sink::new(file));
        Ok(Self {
            files,
            key,
            limit,
            size: 0,
            buffer: BytesMut::new(),
            sink,
            entry,
        })
    }

    /// The key that the file will be kept under.
    #[must_use]
    pub fn key(&self) -> &FileKey {
        &self.key
    }

    /// Takes more bytes. They are written in larger chunks, so most calls return at once.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] from the byte on that is one too many, [`Error::Full`], [`Error::Io`].
    /// After the latter, and after this future was dropped while it waited, the upload is
    /// [`Error::Broken`].
    pub async fn write(&mut self, mut bytes: Bytes) -> Result<(), Error> {
        self.size = self.size.saturating_add(bytes.len() as u64);
        self.check_size()?;
        while !bytes.is_empty() {
            let room = CHUNK - self.buffer.len();
            let part = bytes.split_to(room.min(bytes.len()));
            self.buffer.extend_from_slice(&part);
            if self.buffer.len() == CHUNK {
                self.flush().await?;
            }
        }
        Ok(())
    }

    fn check_size(&self) -> Result<(), Error> {
        if self.size > self.limit {
            Err(Error::TooLarge)
        } else {
            Ok(())
        }
    }

    async fn flush(&mut self) -> Result<(), Error> {
        let chunk = self.buffer.split().freeze();
        let mut sink = self.sink.take().ok_or(Error::Broken)?;
        let written = aside(move || sink.write(&chunk).map(|()| sink)).await?;
        let sink = written.map_err(|error| match &self.entry {
            Some(entry) => entry.named(error),
            None => error,
        })?;
        self.sink = Some(sink);
        Ok(())
    }

    /// Keeps the file: when this has answered, a power failure does not take it away again. Then
    /// the caller is the one who removes it.
    ///
    /// A store is given the file only now. When this future is dropped halfway, what the store has
    /// is removed in the background as far as possible; so note the key before and have it removed
    /// some time later all the same.
    ///
    /// `reserve` is asked for as many bytes of memory as making a thumbnail takes, before it is
    /// made. What it answers is held until then; with `None` the file is kept without a thumbnail.
    ///
    /// # Errors
    ///
    /// [`Error::Full`], [`Error::Io`], [`Error::Store`], and [`Error::TooLarge`] or
    /// [`Error::Broken`] after an earlier error. Nothing is kept then, as after dropping it.
    pub async fn finish<R: Send + 'static>(
        mut self,
        reserve: impl AsyncFnOnce(u64) -> Option<R>,
    ) -> Result<Stored, Error> {
        self.check_size()?;
        self.flush().await?;
        let sink = self.sink.take().ok_or(Error::Broken)?;
        let (file, digest, size) = sink.end();
        let (file, format, picture) = look(file, size, reserve).await?;
        let stored = Stored {
            digest,
            size,
            content_type: format.map(eddyline_pictures::Format::content_type),
            picture,
        };
        match &self.files.place {
            FileBackend::Folder(_) => {
                let entry = self.entry.take().ok_or(Error::Broken)?;
                let entry = aside(move || entry.sync(&file).map(|()| entry)).await??;
                entry.keep();
            }
            #[cfg(feature = "s3")]
            FileBackend::S3(store) => store.upload(&self.key, file, size).await?,
        }
        Ok(stored)
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        let (entry, sink) = (self.entry.take(), self.sink.take());
        if entry.is_none() && sink.is_none() {
            return;
        }
        // The name goes while the file is open, and closing it then may have to free a lot.
        let leave = move || {
            drop(entry);
            drop(sink);
        };
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(leave)),
            Err(_) => leave(),
        }
    }
}

impl std::fmt::Debug for Upload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Upload({}, {} of at most {} bytes)",
            self.key, self.size, self.limit
        )
    }
}
