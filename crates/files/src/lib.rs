#![doc = include_str!("../README.md")]
//!
//! [`Files`] stores bytes under random keys ([`FileKey`]). The database of the caller knows which
//! keys exist, which hold equal bytes and which are no longer used: it never lists its
//! store. During an upload it computes the digest and the size, and of pictures the type, the size
//! in pixels and a thumbnail.
//!
//! A file is never in memory as a whole, but for a picture of which a thumbnail is made. How much
//! memory that takes is asked for first, so that the caller can bound the sum over all pictures.
//! All work on disks and with pixels is done on threads that may block, so everything here can be
//! called from an async task of tokio.

#[cfg(feature = "s3")]
mod bucket;
mod content;
mod error;
mod folder;
mod key;
mod look;
#[cfg(feature = "s3")]
mod s3;
mod sink;
mod upload;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ring::digest::{SHA256, digest};
use url::Url;

#[cfg(feature = "s3")]
pub use bucket::{Bucket, BucketUpload, NamedObject};
pub use content::Content;
pub use error::{Error, StoreTrouble};
pub use key::FileKey;
pub use look::{MAX_DECODED_BYTES, MAX_DECODED_PIXELS, PictureInfo, THUMBNAIL_SIDE, Thumbnail};
#[cfg(feature = "s3")]
pub use s3::S3Config;
pub use upload::{Stored, Upload};

use crate::folder::Folder;

/// How many bytes are written or read at once.
const CHUNK: usize = 64 * 1024;

/// The place where files are kept. It is cheap to clone, and all clones are the same place.
#[derive(Clone)]
pub struct Files {
    place: FileBackend,
}

#[derive(Clone)]
enum FileBackend {
    Folder(Arc<Folder>),
    #[cfg(feature = "s3")]
    S3(Arc<s3::S3>),
}

impl Files {
    /// Keeps files in a folder, which is made when there is none. Several processes can share one.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when it cannot be made. Whether it can be written to is found when it is.
    pub fn in_folder(folder: &Path) -> Result<Self, Error> {
        let folder = Folder::new(folder)?;
        Ok(Self {
            place: FileBackend::Folder(Arc::new(folder)),
        })
    }

    /// Keeps files in a bucket of a store that speaks S3. The store is not asked for anything yet.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] when the configuration makes no sense, and [`Error::Io`] when uploads
    /// cannot be put aside on this machine.
    #[cfg(feature = "s3")]
    pub fn in_s3(config: &S3Config) -> Result<Self, Error> {
        let store = s3::S3::new(config)?;
        Ok(Self {
            place: FileBackend::S3(Arc::new(store)),
        })
    }

    /// Begins to take in a file of at most `limit` bytes, to be kept under `key`, where nothing may
    /// be yet.
    ///
    /// # Errors
    ///
    /// [`Error::Occupied`], [`Error::Full`] and [`Error::Io`].
    pub async fn begin(&self, key: &FileKey, limit: u64) -> Result<Upload, Error> {
        Upload::begin(self.clone(), key.clone(), limit).await
    }

    /// Keeps a small file that is in memory already, such as a thumbnail, and returns the SHA-256
    /// of its bytes. It is not looked at.
    ///
    /// # Errors
    ///
    /// Those of [`Files::begin`] and [`Upload::finish`].
    pub async fn put(&self, key: &FileKey, bytes: Bytes) -> Result<[u8; 32], Error> {
        match &self.place {
            FileBackend::Folder(folder) => {
                folder::put(Arc::clone(folder), key.clone(), bytes.clone()).await?;
            }
            #[cfg(feature = "s3")]
            FileBackend::S3(store) => store.put(key, bytes.clone()).await?,
        }
        Ok(sha256(&bytes))
    }

    /// Opens what is kept under `key`: all of it, or the bytes of a range, whose end is cut where
    /// the file ends.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::Range`] for a range that is empty or begins behind the file's
    /// last byte; [`Error::Io`] and [`Error::Store`].
    pub async fn open(&self, key: &FileKey, range: Option<Range<u64>>) -> Result<Content, Error> {
        match &self.place {
            FileBackend::Folder(folder) => {
                folder::open(Arc::clone(folder), key.clone(), range).await
            }
            #[cfg(feature = "s3")]
            FileBackend::S3(store) => store.open(key, range).await,
        }
    }

    /// A link by which anybody can read what is kept under `key` for as long as `lifetime`, whole
    /// seconds and at most seven days, answered with these headers. `None` for a folder, whose
    /// files only this process hands out. Whether anything is kept there is not looked at.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    #[cfg_attr(
        not(feature = "s3"),
        allow(
            unused_variables,
            clippy::unused_async,
            reason = "only an object store signs links"
        )
    )]
    pub async fn link(
        &self,
        key: &FileKey,
        lifetime: Duration,
        content_type: &str,
        content_disposition: &str,
    ) -> Result<Option<Url>, Error> {
        match &self.place {
            FileBackend::Folder(_) => Ok(None),
            #[cfg(feature = "s3")]
            FileBackend::S3(store) => store
                .link(key, lifetime, content_type, content_disposition)
                .await
                .map(Some),
        }
    }

    /// The origin of the addresses that [`Self::link`] gives, such as `https://store.example`.
    /// `None` for a folder.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub async fn origin(&self) -> Result<Option<String>, Error> {
        let any = FileKey::random();
        let link = self.link(&any, Duration::from_secs(1), "", "").await?;
        Ok(link.map(|link| link.origin().ascii_serialization()))
    }

    /// Removes what is kept under `key`. It is no error when nothing is.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] and [`Error::Store`].
    pub async fn remove(&self, key: &FileKey) -> Result<(), Error> {
        match &self.place {
            FileBackend::Folder(folder) => folder::remove(Arc::clone(folder), key.clone()).await,
            #[cfg(feature = "s3")]
            FileBackend::S3(store) => store.remove(key).await,
        }
    }
}

impl std::fmt::Debug for Files {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.place {
            FileBackend::Folder(folder) => write!(f, "Files({folder:?})"),
            #[cfg(feature = "s3")]
            FileBackend::S3(store) => write!(f, "Files({store:?})"),
        }
    }
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    as_digest(digest(&SHA256, bytes))
}

fn as_digest(digest: ring::digest::Digest) -> [u8; 32] {
    digest.as_ref().try_into().expect("a SHA-256 has 32 bytes")
}

/// Does what may block on a thread for that. It is done to its end, also when nobody waits any
/// more.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => Ok(done),
        Err(failure) if failure.is_panic() => std::panic::resume_unwind(failure.into_panic()),
        // The runtime is going down.
        Err(failure) => Err(std::io::Error::other(failure).into()),
    }
}
