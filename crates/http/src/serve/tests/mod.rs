//! A server on real sockets, and clients that write bytes.

#![allow(
    clippy::disallowed_methods,
    reason = "the tasks of a test end with its runtime"
)]

mod hang_up;
mod requests;
mod stopping;
mod streams;
mod tls;
mod unauthenticated;

use std::collections::VecDeque;
use std::future::Future;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use bytes::Bytes;
use eddyline_app::QuotaSubject;
use eddyline_model::{OrganizationId, UserId};
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;

use super::*;

/// Whose credentials the requests of these tests show.
const ADA: QuotaSubject = QuotaSubject {
    user: Some(UserId(1)),
    organization: Some(OrganizationId(1)),
};

/// A time that never comes in a test.
const NEVER: Duration = Duration::from_secs(3600);
const SOON: Duration = Duration::from_millis(100);

/// Fails rather than to hang.
async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(30), future)
        .await
        .expect("something hangs")
}

/// A rate that no transfer over a network reaches.
fn unreachable_rate() -> MinimumRate {
    MinimumRate {
        bytes_per_second: NonZeroU32::MAX,
        grace: SOON,
    }
}

/// Nothing is ever too slow, unless a test says so.
fn patient() -> Limits {
    Limits {
        unknown_safe_time: NEVER,
        head_time: NEVER,
        keep_alive: NEVER,
        write_rate: MinimumRate {
            grace: NEVER,
            ..MinimumRate::default()
        },
        hang_up_time: NEVER,
        handshake_time: NEVER,
        linger: NEVER,
        drain: NEVER,
        ..Limits::default()
    }
}

/// What the handlers share with the test.
#[derive(Clone, Default)]
struct App(Arc<Shared>);

#[derive(Default)]
struct Shared {
    count: AtomicUsize,
    body: Mutex<BodyLimit>,
    sources: Mutex<VecDeque<(TestSource, Option<Duration>)>>,
    /// A request has come to `/wait`.
    waiting: Notify,
    /// Lets it go on.
    go_on: Notify,
    /// The future of a request to `/wait` or `/work` was dropped.
    dropped: Notify,
}

impl App {
    /// A stream for the next who asks for one.
    fn source(&self) -> Remote {
        self.source_with(None)
    }

    /// The same, for a stream with so much time from when it opens.
    fn source_with(&self, time: Option<Duration>) -> Remote {
        let (frames, frames_receiver) = mpsc::unbounded_channel();
        let (revoke, revoked) = oneshot::channel();
        let (alive, gone) = oneshot::channel();
        let source = TestSource {
            frames: frames_receiver,
            chunked: false,
            revoked: Some(revoked),
            _alive: alive,
        };
        self.0.sources.lock().unwrap().push_back((source, time));
        Remote {
            frames: Some(frames),
            revoke: Some(revoke),
            gone,
        }
    }

    fn router(&self) -> Router {
        Router::new()
            .route("/hello", get(async || "hello"))
            .route(
                "/peer",
                get(async |Extension(peer): Extension<Peer>| peer.tls.to_string()),
            )
            .route(
                "/count",
                get(async |State(app): State<App>| {
                    (app.0.count.fetch_add(1, Ordering::SeqCst) + 1).to_string()
                }),
            )
            .route("/large", get(async || vec![b'x'; 32 << 20]))
            .route("/echo", post(echo))
            .route(
                "/wait",
                get(async |State(app): State<App>| {
                    let _dropped = NotifyOnDrop(app.clone());
                    app.0.waiting.notify_one();
                    app.0.go_on.notified().await;
                    "done"
                }),
            )
            .route(
                "/work",
                post(async |State(app): State<App>| {
                    let _dropped = NotifyOnDrop(app.clone());
                    app.0.waiting.notify_one();
                    app.0.go_on.notified().await;
                    app.0.count.fetch_add(1, Ordering::SeqCst);
                    "done"
                }),
            )
            .route(
                "/watched",
                post(
                    async |State(app): State<App>, Extension(watch): Extension<HangUpWatch>| {
                        let _dropped = NotifyOnDrop(app.clone());
                        watch.begin();
                        app.0.waiting.notify_one();
                        app.0.go_on.notified().await;
                        "done"
                    },
                ),
            )
            .route("/unread", post(async || "not interested"))
            .route(
                "/sign-in",
                get(async |request: Request<Body>| {
                    mark_authenticated(request.extensions(), ADA);
                    "welcome"
                }),
            )
            .route(
                "/stream",
                get(async |State(app): State<App>| {
                    let (source, time) =
                        app.0.sources.lock().unwrap().pop_front().expect("a source");
                    let mut response = stream(WithDeadline::new(source, time));
                    response
                        .headers_mut()
                        .insert("x-kind", "live".parse().unwrap());
                    response
                }),
            )
            .with_state(self.clone())
    }
}

struct NotifyOnDrop(App);

impl Drop for NotifyOnDrop {
    fn drop(&mut self) {
        self.0.0.dropped.notify_one();
    }
}

async fn echo(State(app): State<App>, body: Body) -> Response {
    let limit = *app.0.body.lock().unwrap();
    match read_body(body, limit).await {
        Ok(bytes) => bytes.into_response(),
        Err(error) => crate::error::response(&error.into()),
    }
}

/// A stream that says what the test tells it to.
struct TestSource {
    frames: mpsc::UnboundedReceiver<Bytes>,
    chunked: bool,
    revoked: Option<oneshot::Receiver<()>>,
    _alive: oneshot::Sender<()>,
}

/// A chunk of HTTP.
fn chunk(data: &[u8]) -> Bytes {
    [format!("{:x}\r\n", data.len()).as_bytes(), data, b"\r\n"]
        .concat()
        .into()
}

/// The test's end of a [`TestSource`].
struct Remote {
    frames: Option<mpsc::UnboundedSender<Bytes>>,
    revoke: Option<oneshot::Sender<()>>,
    gone: oneshot::Receiver<()>,
}

impl Remote {
    fn say(&self, frame: impl Into<Bytes>) {
        self.frames
            .as_ref()
            .expect("not ended")
            .send(frame.into())
            .expect("the stream is open");
    }

    fn end(&mut self) {
        self.frames = None;
    }

    fn revoke(&mut self) {
        self.revoke
            .take()
            .expect("not revoked")
            .send(())
            .expect("the stream is open");
    }

    /// Waits for the server to let the source go.
    async fn gone(self) {
        within(self.gone).await.expect_err("nothing is sent");
    }
}

impl FrameSource for TestSource {
    type Batch = Bytes;

    fn use_chunks(&mut self) {
        self.chunked = true;
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.poll_rights_lost(cx).is_ready() {
            return Poll::Ready(None);
        }
        let chunked = self.chunked;
        self.frames
            .poll_recv(cx)
            .map(|frame| frame.map(|frame| if chunked { chunk(&frame) } else { frame }))
    }

    fn poll_rights_lost(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(revoked) = &mut self.revoked else {
            return Poll::Ready(());
        };
        match Pin::new(revoked).poll(cx) {
            Poll::Ready(Ok(())) => {
                self.revoked = None;
                Poll::Ready(())
            }
            _ => Poll::Pending,
        }
    }

    fn retain_allowed(&mut self, _: &mut Bytes) -> bool {
        false
    }
}

/// A server that is up.
struct Running {
    addr: SocketAddr,
    app: App,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<()>,
}

impl Running {
    async fn start(limits: Limits) -> Self {
        Self::start_with(limits, None).await
    }

    async fn start_with(limits: Limits, tls: Option<Arc<ServerConfig>>) -> Self {
        let mut server = Server::new(limits);
        if let Some(tls) = tls {
            server = server.tls(tls);
        }
        Self::start_server(server).await
    }

    async fn start_server(server: Server) -> Self {
        let app = App::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let server = server.listen(listener, app.router());
        let (stop, stopped) = oneshot::channel();
        let ended = tokio::spawn(server.run(async {
            let _ = stopped.await;
        }));
        Self {
            addr,
            app,
            stop,
            ended,
        }
    }

    async fn client(&self) -> Client<TcpStream> {
        Client::new(TcpStream::connect(self.addr).await.unwrap())
    }

    /// A client of another network.
    async fn client_elsewhere(&self) -> Client<TcpStream> {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
        Client::new(socket.connect(self.addr).await.unwrap())
    }
}

/// Writes bytes and reads answers.
struct Client<T> {
    socket: T,
    read: Vec<u8>,
}

impl<T: AsyncRead + AsyncWrite + Unpin> Client<T> {
    fn new(socket: T) -> Self {
        Self {
            socket,
            read: Vec::new(),
        }
    }

    async fn send(&mut self, text: &str) {
        self.socket.write_all(text.as_bytes()).await.unwrap();
        self.socket.flush().await.unwrap();
    }

    /// Everything up to and including `end`.
    async fn until(&mut self, end: &str) -> String {
        loop {
            if let Some(at) = self
                .read
                .windows(end.len())
                .position(|window| window == end.as_bytes())
            {
                return String::from_utf8(self.read.drain(..at + end.len()).collect()).unwrap();
            }
            assert_ne!(
                within(self.socket.read_buf(&mut self.read)).await.unwrap(),
                0,
                "ended early"
            );
        }
    }

    async fn exactly(&mut self, count: usize) -> String {
        while self.read.len() < count {
            assert_ne!(
                within(self.socket.read_buf(&mut self.read)).await.unwrap(),
                0,
                "ended early"
            );
        }
        String::from_utf8(self.read.drain(..count).collect()).unwrap()
    }

    /// The next answer: its head in lower case, and its body.
    async fn answer(&mut self) -> (String, String) {
        let head = self.until("\r\n\r\n").await.to_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        let body = self
            .exactly(length.map_or(0, |length| length.parse().unwrap()))
            .await;
        (head, body)
    }

    /// The data of the next chunk, which is empty at the end of the response.
    async fn chunk(&mut self) -> String {
        let line = self.until("\r\n").await;
        let length = usize::from_str_radix(line.trim_end(), 16).unwrap();
        let data = self.exactly(length).await;
        assert_eq!(self.exactly(2).await, "\r\n");
        data
    }

    /// What comes until the server closes, in whatever way.
    async fn rest(&mut self) -> String {
        while within(self.socket.read_buf(&mut self.read))
            .await
            .is_ok_and(|count| count > 0)
        {}
        String::from_utf8(std::mem::take(&mut self.read)).unwrap()
    }
}
