//! A throw-away store that speaks S3, in this process.
//!
//! It is s3s-fs, which checks signatures and keeps its objects in a folder. What it lacks of S3 and
//! Eddyline's links ask for, that a link names the type and the disposition of the answer, is added
//! here.
//!
//! ```no_run
//! use eddyline_testing::s3::S3Server;
//!
//! let store = S3Server::start();
//! // … have objects put into store.bucket() at store.endpoint() …
//! assert_eq!(store.objects(), ["readme.txt"]);
//! ```

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::thread::{self, JoinHandle};
use std::{fs, io};

use hyper::body::Incoming;
use hyper::header::{CONTENT_DISPOSITION, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

const BUCKET: &str = "files";

/// A store with one bucket, on a port of loopback. It stops when this is dropped, and its objects
/// go.
pub struct S3Server {
    address: SocketAddr,
    folder: TempDir,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl S3Server {
    /// Starts a store.
    ///
    /// # Panics
    ///
    /// When there is no port or no folder for it.
    #[must_use]
    pub fn start() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(folder.path().join(BUCKET)).expect("an empty folder");
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        listener.set_nonblocking(true).expect("a socket of our own");
        let address = listener.local_addr().expect("a socket of our own");
        let service = service(folder.path());
        let (stop, stopped) = oneshot::channel();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async {
                let listener = TcpListener::from_std(listener).expect("it does not block");
                tokio::select! {
                    () = serve(&listener, &service) => {}
                    _ = stopped => {}
                }
            });
        });
        Self {
            address,
            folder,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Where it listens, as `http://127.0.0.1:<port>`.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The name of its bucket.
    #[must_use]
    pub fn bucket(&self) -> &'static str {
        BUCKET
    }

    /// The name of the region, which it does not look at.
    #[must_use]
    pub fn region(&self) -> &'static str {
        "us-east-1"
    }

    /// The key that requests must name.
    #[must_use]
    pub fn access_key(&self) -> &'static str {
        "test-access-key"
    }

    /// The key that requests must be signed with.
    #[must_use]
    pub fn secret_key(&self) -> &'static str {
        "test-secret-key"
    }

    /// The names of the objects in the bucket, in order. An object's name holds no slash here.
    #[must_use]
    pub fn objects(&self) -> Vec<String> {
        names(&self.folder.path().join(BUCKET))
    }

    /// The names of the objects below a prefix, without it, in order; none where nothing has it.
    #[must_use]
    pub fn objects_below(&self, prefix: &str) -> Vec<String> {
        let folder = self.folder.path().join(BUCKET).join(prefix);
        if folder.is_dir() {
            names(&folder)
        } else {
            Vec::new()
        }
    }

    /// How many parts of unfinished uploads it holds.
    #[must_use]
    pub fn parts(&self) -> usize {
        names(self.folder.path())
            .iter()
            .filter(|name| name.starts_with(".upload_id-"))
            .count()
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let mut names: Vec<String> = entries
        .expect("a folder of our own")
        .into_iter()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn service(folder: &Path) -> S3Service {
    let files = s3s_fs::FileSystem::new(folder).expect("a folder of our own");
    let mut builder = S3ServiceBuilder::new(files);
    builder.set_auth(SimpleAuth::from_single(
        "test-access-key",
        "test-secret-key",
    ));
    builder.build()
}

async fn serve(listener: &TcpListener, service: &S3Service) {
    // Dropped with this future, and all connections with it.
    let mut connections = JoinSet::new();
    while let Ok((socket, _)) = listener.accept().await {
        let service = service.clone();
        let answer = service_fn(move |request| answer(service.clone(), request));
        connections.spawn(http1::Builder::new().serve_connection(TokioIo::new(socket), answer));
        while connections.try_join_next().is_some() {}
    }
}

async fn answer(
    service: S3Service,
    request: Request<Incoming>,
) -> Result<Response<s3s::Body>, s3s::HttpError> {
    let uri = request.uri().clone();
    let mut response = service.call(request.map(s3s::Body::from)).await?;
    if matches!(
        response.status(),
        StatusCode::OK | StatusCode::PARTIAL_CONTENT
    ) {
        for (name, header) in [
            ("response-content-type", CONTENT_TYPE),
            ("response-content-disposition", CONTENT_DISPOSITION),
        ] {
            if let Some(value) =
                parameter(&uri, name).and_then(|value| HeaderValue::from_bytes(&value).ok())
            {
                response.headers_mut().insert(header, value);
            }
        }
    }
    Ok(response)
}

/// The value of a parameter in the query, without its percent signs.
fn parameter(uri: &Uri, name: &str) -> Option<Vec<u8>> {
    let pairs = uri
        .query()?
        .split('&')
        .filter_map(|pair| pair.split_once('='));
    let value = pairs.into_iter().find(|(found, _)| *found == name)?.1;
    let mut bytes = Vec::new();
    let mut rest = value.bytes();
    while let Some(byte) = rest.next() {
        let mut digit = || char::from(rest.next()?).to_digit(16);
        bytes.push(if byte == b'%' {
            (digit()? * 16 + digit()?) as u8
        } else {
            byte
        });
    }
    Some(bytes)
}
