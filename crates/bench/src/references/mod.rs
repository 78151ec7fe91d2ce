//! What to compare with: as little as could be done in the place of our server.

mod commit;
mod database;
mod hello;
pub(crate) mod raw;

use std::convert::Infallible;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use crate::Result;
use crate::arguments::{Reference, ReferenceKind};
use crate::child::Running;
use crate::process::Family;

type ReferenceResponse = Response<Full<Bytes>>;

/// A reference in a process of its own, so that its processor time can be told from ours.
pub(crate) struct ReferenceServer {
    running: Running,
    /// Its process.
    pub(crate) family: Family,
    /// Where it listens.
    pub(crate) address: SocketAddr,
}

impl ReferenceServer {
    /// Starts the one that only answers.
    pub(crate) fn hello() -> Result<Self> {
        Self::start(Command::new(std::env::current_exe()?).args(["reference", "hello"]))
    }

    /// Starts the one that commits, on a new database.
    pub(crate) fn commit(database: &Path) -> Result<Self> {
        Self::start(
            Command::new(std::env::current_exe()?)
                .args(["reference", "commit"])
                .arg(database),
        )
    }

    fn start(command: &mut Command) -> Result<Self> {
        let (running, line, _) = Running::start_listening(command)?;
        Ok(Self {
            family: running.family()?,
            running,
            address: line.trim().parse()?,
        })
    }

    /// Ends it.
    pub(crate) async fn stop(self) -> Result<()> {
        self.running.stop().await
    }
}

/// Is a reference, until it is ended.
pub(crate) fn serve(reference: &Reference) -> Result<()> {
    // The runtime of our server is of this kind as well.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    match (reference.kind, &reference.database) {
        (ReferenceKind::Hello, _) => runtime.block_on(listen(hello::answer)),
        (ReferenceKind::Commit, Some(path)) => {
            let store = commit::Store::open(path)?;
            runtime.block_on(listen(move |request| store.clone().answer(request)))
        }
        (ReferenceKind::Commit, None) => Err("which database?".into()),
    }
}

async fn listen<F, A>(answer: F) -> Result<()>
where
    F: Fn(Request<Incoming>) -> A + Clone + Send + 'static,
    A: Future<Output = Result<ReferenceResponse>> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    writeln!(
        std::io::stdout().lock(),
        "listening {}",
        listener.local_addr()?
    )?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let answer = answer.clone();
        let service = service_fn(move |request| {
            let answer = answer(request);
            async move { Ok::<_, Infallible>(answer.await.unwrap_or_else(|failure| failed(&*failure))) }
        });
        tokio::spawn(
            hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service),
        );
    }
}

fn failed(failure: &(dyn std::error::Error + Send + Sync)) -> ReferenceResponse {
    let mut answer = ReferenceResponse::new(Full::from(failure.to_string()));
    *answer.status_mut() = hyper::StatusCode::INTERNAL_SERVER_ERROR;
    answer
}
