//! What files promise, wherever they are kept.

#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

#[cfg(feature = "s3")]
mod bucket;
mod folder;
mod keeping;
mod pictures;
#[cfg(feature = "s3")]
mod s3;

use std::ops::Range;

use bytes::Bytes;
use eddyline_files::{Error, FileKey, Files, Stored};
use futures_util::TryStreamExt;
use tempfile::TempDir;

/// More than any file here has.
const LIMIT: u64 = 64 << 20;

/// A place for files, which goes when this is dropped.
struct Store {
    files: Files,
    folder: TempDir,
    #[cfg(feature = "s3")]
    server: Option<eddyline_testing::s3::S3Server>,
}

impl Store {
    fn folder() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            files: Files::in_folder(folder.path()).unwrap(),
            folder,
            #[cfg(feature = "s3")]
            server: None,
        }
    }

    #[cfg(feature = "s3")]
    fn s3() -> Self {
        let server = eddyline_testing::s3::S3Server::start();
        let folder = tempfile::tempdir().unwrap();
        let config = s3::config(&server, folder.path());
        Self {
            files: Files::in_s3(&config).unwrap(),
            folder,
            server: Some(server),
        }
    }

    /// One of each kind there is.
    fn all() -> Vec<Self> {
        vec![
            Self::folder(),
            #[cfg(feature = "s3")]
            Self::s3(),
        ]
    }

    /// What is kept, by key, in order. For a store, only after it is made sure that nothing is left
    /// in the folder for what is put aside.
    fn kept(&self) -> Vec<String> {
        #[cfg(feature = "s3")]
        if let Some(server) = &self.server {
            assert_eq!(self.folder.path().read_dir().unwrap().count(), 0);
            assert_eq!(server.parts(), 0);
            return server.objects();
        }
        let parts = self
            .folder
            .path()
            .read_dir()
            .unwrap()
            .map(|part| part.unwrap().path());
        let files = parts.flat_map(|part| part.read_dir().unwrap());
        let mut names: Vec<String> = files
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    async fn upload(&self, key: &FileKey, bytes: impl Into<Bytes>) -> Result<Stored, Error> {
        let mut upload = self.files.begin(key, LIMIT).await?;
        upload.write(bytes.into()).await?;
        upload.finish(async |_| Some(())).await
    }

    async fn read(&self, key: &FileKey, range: Option<Range<u64>>) -> Result<Vec<u8>, Error> {
        let chunks: Vec<Bytes> = self.files.open(key, range).await?.try_collect().await?;
        Ok(chunks.concat())
    }
}

/// So many bytes, of which no two neighbourhoods are alike.
fn bytes(length: usize) -> Vec<u8> {
    (0..length.div_ceil(8) as u64)
        .flat_map(|n| (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes())
        .take(length)
        .collect()
}
