//! Objects of a bucket that have names, such as backups. Files of users have keys instead.

use std::mem;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use object_store::aws::AmazonS3;
use object_store::path::Path;
use object_store::{ObjectStore as _, ObjectStoreExt as _};

use crate::s3::{Unfinished, client, content, remove, unwritten};
use crate::{Content, Error, S3Config};

/// How much is sent at once. Stores take 10,000 parts, so an object has 312 GiB at most.
const PART: usize = 32 << 20;

/// A bucket, or the part of it whose names have a prefix. It is cheap to clone.
#[derive(Clone)]
pub struct Bucket {
    store: Arc<AmazonS3>,
    name: String,
    prefix: Path,
}

/// An object of a [`Bucket`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedObject {
    /// Its name, without the prefix of the bucket.
    pub name: String,
    /// How many bytes it has.
    pub size: u64,
}

impl Bucket {
    /// A bucket of a store, with a prefix that may be empty. The store is not asked for anything
    /// yet. No use is made of the configuration's `spool`.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] when the configuration makes no sense.
    pub fn new(config: &S3Config, prefix: &str) -> Result<Self, Error> {
        let prefix = Path::parse(prefix).map_err(|error| Error::Store(Box::new(error)))?;
        Ok(Self {
            store: client(config)?,
            name: config.bucket.clone(),
            prefix,
        })
    }

    fn path(&self, name: &str) -> Path {
        self.prefix.clone().join(name)
    }

    /// The objects under the prefix, ordered by their names, without those that have a further `/`.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub async fn list(&self) -> Result<Vec<NamedObject>, Error> {
        let found: Vec<_> = self.store.list(Some(&self.prefix)).try_collect().await?;
        let named = found.into_iter().filter_map(|object| {
            let mut rest = object.location.prefix_match(&self.prefix)?;
            let name = rest.next()?.as_ref().to_owned();
            let size = object.size;
            rest.next().is_none().then_some(NamedObject { name, size })
        });
        let mut objects: Vec<_> = named.collect();
        objects.sort();
        Ok(objects)
    }

    /// Opens an object.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] and [`Error::Store`].
    pub async fn open(&self, name: &str) -> Result<Content, Error> {
        Ok(content(self.store.get(&self.path(name)).await?))
    }

    /// Begins to write an object, which is there once it is whole. The name must be a new one: when
    /// it does not come to its end, what has the name is removed.
    #[must_use]
    pub fn begin(&self, name: &str) -> BucketUpload {
        BucketUpload {
            store: Arc::clone(&self.store),
            unfinished: Unfinished::new(&self.store, self.path(name)),
            part: Vec::new(),
            length: 0,
        }
    }

    /// Removes an object, if there is one.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub async fn remove(&self, name: &str) -> Result<(), Error> {
        remove(&self.store, &self.path(name)).await
    }
}

/// As an address: `s3://BUCKET/PREFIX`.
impl std::fmt::Display for Bucket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "s3://{}", self.name)?;
        match self.prefix.as_ref() {
            "" => Ok(()),
            prefix => write!(f, "/{prefix}"),
        }
    }
}

impl std::fmt::Debug for Bucket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Bucket({self})")
    }
}

/// An object on its way into a [`Bucket`]. When it is dropped before its end, what was sent is
/// removed, in a task of the runtime.
pub struct BucketUpload {
    store: Arc<AmazonS3>,
    unfinished: Unfinished,
    part: Vec<Bytes>,
    length: usize,
}

impl BucketUpload {
    /// Adds bytes. They are in memory until there are 32 MiB.
    ///
    /// # Errors
    ///
    /// [`Error::Store`]; the upload cannot go on then.
    pub async fn write(&mut self, bytes: Bytes) -> Result<(), Error> {
        self.length += bytes.len();
        self.part.push(bytes);
        if self.length >= PART {
            self.send_part().await?;
        }
        Ok(())
    }

    async fn send_part(&mut self) -> Result<(), Error> {
        if self.unfinished.upload.is_none() {
            let begun = self.store.put_multipart(&self.unfinished.path).await;
            self.unfinished.upload = Some(begun.map_err(unwritten)?);
        }
        let part = mem::take(&mut self.part).into_iter().collect();
        self.length = 0;
        match &mut self.unfinished.upload {
            Some(upload) => upload.put_part(part).await.map_err(unwritten),
            None => Ok(()),
        }
    }

    /// Ends the object: from now on it is there.
    ///
    /// # Errors
    ///
    /// [`Error::Store`]; then nothing is there.
    pub async fn finish(mut self) -> Result<(), Error> {
        let sent = self.send_rest().await;
        self.unfinished.end(sent).await
    }

    async fn send_rest(&mut self) -> Result<(), Error> {
        if self.unfinished.upload.is_none() {
            let whole = mem::take(&mut self.part).into_iter().collect();
            let sent = self.store.put(&self.unfinished.path, whole).await;
            return sent.map(drop).map_err(unwritten);
        }
        if self.length > 0 {
            self.send_part().await?;
        }
        if let Some(upload) = &mut self.unfinished.upload {
            upload.complete().await.map_err(unwritten)?;
        }
        self.unfinished.upload = None;
        Ok(())
    }
}

impl std::fmt::Debug for BucketUpload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BucketUpload({})", self.unfinished.path)
    }
}
