//! Files in a store that speaks S3.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::signer::{SignedUrlOptions, Signer as _};
use object_store::{
    ClientOptions, GetOptions, GetRange, GetResult, MultipartUpload, ObjectStore as _,
    ObjectStoreExt as _, PutPayload, RetryConfig,
};
use reqwest::Method;
use url::Url;

use crate::{CHUNK, Content, Error, FileKey, aside};

/// How much is sent at once. Stores take parts of 5 MiB and more.
const PART: u64 = 8 << 20;

/// Stores take 10,000 parts of one file.
const MAX_PARTS: u64 = 9_000;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the store may be silent while it is waited for.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// How often a request is made again that failed for no fault of its own, and for how long.
const RETRIES: (usize, Duration) = (3, Duration::from_secs(30));

/// Which store, and how to prove that it may be used.
#[derive(Clone)]
pub struct S3Config {
    /// The bucket, which must be there. Nobody needs to read it but with these keys. It should have
    /// a rule that ends unfinished multipart uploads after some days, for those of a server that
    /// died.
    pub bucket: String,
    /// The region, such as `us-east-1`. Stores without regions take any.
    pub region: String,
    /// Where the store is, such as `https://minio.example.org:9000`; `None` for AWS. A browser that
    /// follows a link must reach it as well. The bucket is named in the path.
    pub endpoint: Option<String>,
    /// The access key's id.
    pub access_key: String,
    /// The access key's secret.
    pub secret_key: String,
    /// Whether the endpoint may be without TLS.
    pub allow_http: bool,
    /// Where uploads are put aside until they are whole, in files without names; `None` for the
    /// system's temporary folder.
    pub spool: Option<PathBuf>,
}

/// Without the secret.
impl fmt::Debug for S3Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("S3Config")
            .field("bucket", &self.bucket)
            .field("region", &self.region)
            .field("endpoint", &self.endpoint)
            .field("access_key", &self.access_key)
            .field("secret_key", &"[redacted]")
            .field("allow_http", &self.allow_http)
            .field("spool", &self.spool)
            .finish()
    }
}

pub(crate) struct S3 {
    store: Arc<AmazonS3>,
    bucket: String,
    spool: PathBuf,
}

/// A client for the bucket of a store. It asks for nothing yet.
pub(crate) fn client(config: &S3Config) -> Result<Arc<AmazonS3>, Error> {
    // It fails when the process has installed a provider already, which serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let options = ClientOptions::new()
        .with_allow_http(config.allow_http)
        .with_connect_timeout(CONNECT_TIMEOUT)
        .with_timeout_disabled()
        .with_read_timeout(READ_TIMEOUT);
    let (max_retries, retry_timeout) = RETRIES;
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(&config.bucket)
        .with_region(&config.region)
        .with_access_key_id(&config.access_key)
        .with_secret_access_key(&config.secret_key)
        .with_virtual_hosted_style_request(false)
        .with_client_options(options)
        .with_retry(RetryConfig {
            max_retries,
            retry_timeout,
            ..RetryConfig::default()
        });
    if let Some(endpoint) = &config.endpoint {
        builder = builder.with_endpoint(endpoint);
    }
    Ok(Arc::new(builder.build()?))
}

impl S3 {
    pub(crate) fn new(config: &S3Config) -> Result<Self, Error> {
        let spool = config.spool.clone().unwrap_or_else(std::env::temp_dir);
        std::fs::create_dir_all(&spool)?;
        Ok(Self {
            store: client(config)?,
            bucket: config.bucket.clone(),
            spool,
        })
    }

    /// An empty file without a name. Blocks.
    pub(crate) fn put_aside(&self) -> io::Result<File> {
        tempfile::tempfile_in(&self.spool)
    }

    pub(crate) async fn put(&self, key: &FileKey, bytes: Bytes) -> Result<(), Error> {
        let unfinished = Unfinished::new(&self.store, path(key));
        let sent = self
            .store
            .put(&unfinished.path, bytes.into())
            .await
            .map(drop)
            .map_err(unwritten);
        unfinished.end(sent).await
    }

    /// Sends a file of so many bytes.
    pub(crate) async fn upload(&self, key: &FileKey, file: File, size: u64) -> Result<(), Error> {
        let mut unfinished = Unfinished::new(&self.store, path(key));
        let sent = self.send(&mut unfinished, file, size).await;
        unfinished.end(sent).await
    }

    async fn send(
        &self,
        unfinished: &mut Unfinished,
        mut file: File,
        size: u64,
    ) -> Result<(), Error> {
        file = aside(move || file.seek(SeekFrom::Start(0)).map(|_| file)).await??;
        if size <= PART {
            let (_, payload) = aside(move || read(file, size)).await??;
            self.store
                .put(&unfinished.path, payload)
                .await
                .map_err(unwritten)?;
            return Ok(());
        }
        let part = PART.max(size.div_ceil(MAX_PARTS));
        let upload = unfinished.upload.insert(
            self.store
                .put_multipart(&unfinished.path)
                .await
                .map_err(unwritten)?,
        );
        let mut left = size;
        while left > 0 {
            let length = part.min(left);
            let payload;
            (file, payload) = aside(move || read(file, length)).await??;
            upload.put_part(payload).await.map_err(unwritten)?;
            left -= length;
        }
        upload.complete().await.map_err(unwritten)?;
        unfinished.upload = None;
        Ok(())
    }

    pub(crate) async fn open(
        &self,
        key: &FileKey,
        range: Option<Range<u64>>,
    ) -> Result<Content, Error> {
        if range.as_ref().is_some_and(Range::is_empty) {
            return Err(Error::Range);
        }
        let path = path(key);
        let start = range.as_ref().map(|range| range.start);
        let range = range.map(|range| {
            // Not all stores read numbers that no file reaches.
            if i64::try_from(range.end).is_ok() {
                GetRange::Bounded(range)
            } else {
                GetRange::Offset(range.start)
            }
        });
        let options = GetOptions {
            range,
            ..GetOptions::default()
        };
        let found = match self.store.get_opts(&path, options).await {
            Err(error) => {
                // What a store says of a range that begins too late is not told apart.
                return match (start, self.store.head(&path).await) {
                    (Some(start), Ok(found)) if start >= found.size => Err(Error::Range),
                    _ => Err(error.into()),
                };
            }
            Ok(found) => found,
        };
        Ok(content(found))
    }

    pub(crate) async fn link(
        &self,
        key: &FileKey,
        lifetime: Duration,
        content_type: &str,
        content_disposition: &str,
    ) -> Result<Url, Error> {
        let options = SignedUrlOptions::default().with_query([
            ("response-content-type", content_type),
            ("response-content-disposition", content_disposition),
        ]);
        Ok(self
            .store
            .signed_url_opts(Method::GET, &path(key), lifetime, &options)
            .await?)
    }

    pub(crate) async fn remove(&self, key: &FileKey) -> Result<(), Error> {
        remove(&self.store, &path(key)).await
    }
}

impl fmt::Debug for S3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bucket {}", self.bucket)
    }
}

/// What a store may have of a file that it shall have whole or not at all.
pub(crate) struct Unfinished {
    store: Arc<AmazonS3>,
    pub(crate) path: Path,
    pub(crate) upload: Option<Box<dyn MultipartUpload>>,
    is_over: bool,
}

impl Unfinished {
    pub(crate) fn new(store: &Arc<AmazonS3>, path: Path) -> Self {
        Self {
            store: Arc::clone(store),
            path,
            upload: None,
            is_over: false,
        }
    }

    /// Removes what is there, if it did not go well.
    pub(crate) async fn end<E: Into<Error>>(mut self, sent: Result<(), E>) -> Result<(), Error> {
        if let Err(error) = sent {
            self.is_over = true;
            clear(&self.store, &self.path, self.upload.take()).await;
            return Err(error.into());
        }
        self.is_over = true;
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        if !self.is_over {
            let (store, path, upload) = (
                Arc::clone(&self.store),
                self.path.clone(),
                self.upload.take(),
            );
            runtime.spawn(async move { clear(&store, &path, upload).await });
        }
    }
}

async fn clear(store: &AmazonS3, path: &Path, upload: Option<Box<dyn MultipartUpload>>) {
    let aborted = match upload {
        Some(mut upload) => upload.abort().await.map_err(Error::from),
        None => Ok(()),
    };
    if let Err(error) = aborted.and(remove(store, path).await) {
        tracing::warn!(%error, key = %path, "an unfinished upload was left behind");
    }
}

pub(crate) async fn remove(store: &AmazonS3, path: &Path) -> Result<(), Error> {
    match store.delete(path).await {
        Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

pub(crate) fn content(found: GetResult) -> Content {
    let size = found.meta.size;
    let chunks = found.into_stream().map(|chunk| chunk.map_err(Error::from));
    Content::new(size, chunks.boxed())
}

fn path(key: &FileKey) -> Path {
    Path::from(key.as_str())
}

/// The next bytes of a file, in chunks that need no large piece of memory.
fn read(mut file: File, length: u64) -> io::Result<(File, PutPayload)> {
    let mut chunks = Vec::new();
    let mut left = length;
    while left > 0 {
        let mut chunk = vec![0; usize::try_from(left).unwrap_or(CHUNK).min(CHUNK)];
        file.read_exact(&mut chunk)?;
        left -= chunk.len() as u64;
        chunks.push(Bytes::from(chunk));
    }
    Ok((file, chunks.into_iter().collect()))
}

/// What went wrong with a write: that a bucket is not there says nothing of a file.
pub(crate) fn unwritten(error: object_store::Error) -> Error {
    Error::Store(Box::new(error))
}

impl From<object_store::Error> for Error {
    fn from(error: object_store::Error) -> Self {
        match error {
            object_store::Error::NotFound { .. } => Self::NotFound,
            error => Self::Store(Box::new(error)),
        }
    }
}
