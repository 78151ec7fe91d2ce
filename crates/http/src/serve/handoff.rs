//! A response that goes on, and how its connection is taken from hyper.
//!
//! A connection costs hyper more than 10 KiB, mostly for what it reads. A stream reads nothing. So
//! on our own listeners it takes the socket, and hyper goes. Where the response is answered by
//! another server, with our router nested in it, the same source is an ordinary body.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::SystemTime;

use axum::body::Body;
use axum::response::Response;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use http::header::{CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, DATE, TRANSFER_ENCODING};
use http::{HeaderMap, StatusCode, Version};
use http_body::Frame;

use super::frame_source::FrameSource;
use super::listener_context::BoxFuture;
use super::socket::Socket;
use super::streaming::Streaming;

/// A response with status 200 that goes on for as long as its source does. The caller adds its
/// headers; the length and the connection's state are not among them.
///
/// On a [`Server`](super::Server) the stream has the connection to itself and ends with it
/// (`Connection: close`); its frames come as chunks, except to clients of HTTP/1.0. Loss of rights
/// acts in the midst of a write. As a body in another server it acts when that server asks for the
/// next bytes.
pub fn stream<S: FrameSource>(source: S) -> Response {
    let slot = Slot(Arc::new(Mutex::new(Some(
        Box::new(source) as Box<dyn AnySource>
    ))));
    let mut response = Response::new(Body::new(SourceBody(slot.clone())));
    response.extensions_mut().insert(slot);
    response
}

/// A stream, and the head of the response that it begins with.
pub(super) struct Handoff {
    source: Box<dyn AnySource>,
    head: Bytes,
    chunked: bool,
}

impl Handoff {
    /// Takes the source of a response that is a stream, to a request of this version.
    pub(super) fn of(response: &Response, version: Version) -> Option<Self> {
        let slot = response.extensions().get::<Slot>()?;
        // A layer has made something else of it.
        if response.status() != StatusCode::OK || response.headers().contains_key(CONTENT_ENCODING)
        {
            return None;
        }
        let source = slot.source().take()?;
        let chunked = version >= Version::HTTP_11;
        Some(Self {
            source,
            head: head(response.headers(), chunked),
            chunked,
        })
    }

    /// Writes the stream to the end of it, or of the connection.
    pub(super) fn serve(self, socket: Socket) -> BoxFuture<()> {
        self.source.serve(socket, self.head, self.chunked)
    }
}

/// The head of a response with which the connection ends. Without chunks that is the only sign of
/// its end.
fn head(headers: &HeaderMap, chunked: bool) -> Bytes {
    let mut head = BytesMut::with_capacity(512);
    head.put_slice(b"HTTP/1.1 200 OK\r\n");
    for (name, value) in headers {
        if [CONNECTION, CONTENT_LENGTH, DATE, TRANSFER_ENCODING].contains(name) {
            continue;
        }
        for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
            head.put_slice(part);
        }
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "the Date header is the time of the machine"
    )]
    let date = httpdate::fmt_http_date(SystemTime::now());
    let coding = if chunked {
        "transfer-encoding: chunked\r\n"
    } else {
        ""
    };
    for part in [coding, "connection: close\r\ndate: ", &date, "\r\n\r\n"] {
        head.put_slice(part.as_bytes());
    }
    head.freeze()
}

/// Any source, for those who only pass it on.
trait AnySource: Send {
    fn serve(self: Box<Self>, socket: Socket, head: Bytes, chunked: bool) -> BoxFuture<()>;
    fn poll_bytes(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>>;
}

impl<S: FrameSource> AnySource for S {
    fn serve(self: Box<Self>, socket: Socket, head: Bytes, chunked: bool) -> BoxFuture<()> {
        Box::pin(Streaming::new(socket, head, *self, chunked))
    }

    fn poll_bytes(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.poll_next(cx)
            .map(|batch| batch.map(|mut batch| batch.copy_to_bytes(batch.remaining())))
    }
}

/// Holds the source for whichever comes first: the connection, by the response's extension, or who
/// polls the response's body.
#[derive(Clone)]
struct Slot(Arc<Mutex<Option<Box<dyn AnySource>>>>);

impl Slot {
    fn source(&self) -> MutexGuard<'_, Option<Box<dyn AnySource>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct SourceBody(Slot);

impl http_body::Body for SourceBody {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let mut slot = self.0.source();
        let Some(source) = slot.as_mut() else {
            return Poll::Ready(None);
        };
        let next = source.poll_bytes(cx);
        if matches!(next, Poll::Ready(None)) {
            *slot = None;
        }
        next.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}
