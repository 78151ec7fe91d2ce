//! What a connection is doing, as seen from both sides of hyper: from the socket below it and from
//! the service above it.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;

use super::handoff::Handoff;
use super::patience::{Phase, Status};
use super::socket::Socket;

/// The state of one connection. Only the connection's own task touches it, so that the order of
/// memory accesses is no concern.
pub(super) struct Progress {
    /// A request has come, and its answer has not been handed to hyper to its end.
    answering: AtomicBool,
    /// Requests that have come so far.
    requests: AtomicU64,
    /// Something came in since the last answer.
    received: AtomicBool,
    /// Something was written, and may not have reached the socket wholly.
    unflushed: AtomicBool,
    /// Bytes written so far.
    written: AtomicU64,
    /// A stream that is to have the socket.
    handoff: Mutex<Option<Handoff>>,
}

impl Progress {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            answering: AtomicBool::new(false),
            requests: AtomicU64::new(0),
            // Who opens a connection means to send a request.
            received: AtomicBool::new(true),
            unflushed: AtomicBool::new(false),
            written: AtomicU64::new(0),
            handoff: Mutex::default(),
        })
    }

    pub(super) fn status(&self) -> Status {
        let (requests, written) = (self.requests.load(Relaxed), self.written.load(Relaxed));
        Status { phase: self.phase(), requests, written }
    }

    fn phase(&self) -> Phase {
        if self.unflushed.load(Relaxed) {
            Phase::Writing
        } else if self.answering.load(Relaxed) {
            Phase::Working
        } else if self.received.load(Relaxed) {
            Phase::Head
        } else {
            Phase::Idle
        }
    }

    pub(super) fn request_came(&self) {
        self.answering.store(true, Relaxed);
        self.requests.fetch_add(1, Relaxed);
    }

    fn answered(&self) {
        self.answering.store(false, Relaxed);
        self.received.store(false, Relaxed);
    }

    pub(super) fn hand_off(&self, handoff: Handoff) {
        *self.handoff.lock().unwrap_or_else(PoisonError::into_inner) = Some(handoff);
    }

    /// The stream that is to have the socket, as soon as the answers to earlier requests have left
    /// hyper's buffer.
    pub(super) fn take_handoff(&self) -> Option<Handoff> {
        if self.unflushed.load(Relaxed) {
            return None;
        }
        self.handoff.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The socket, as hyper sees it.
pub(super) struct Observed {
    io: TokioIo<Socket>,
    progress: Arc<Progress>,
}

impl Observed {
    pub(super) fn new(socket: Socket, progress: Arc<Progress>) -> Self {
        Self { io: TokioIo::new(socket), progress }
    }

    pub(super) fn into_socket(self) -> Socket {
        self.io.into_inner()
    }

    fn wrote(&self, result: &Poll<io::Result<usize>>) {
        self.progress.unflushed.store(true, Relaxed);
        if let Poll::Ready(Ok(count)) = result {
            self.progress.written.fetch_add(*count as u64, Relaxed);
        }
    }
}

impl Read for Observed {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.io).poll_read(cx, buffer);
        if result.is_ready() {
            self.progress.received.store(true, Relaxed);
        }
        result
    }
}

impl Write for Observed {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.io).poll_write(cx, data);
        self.wrote(&result);
        result
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.io).poll_write_vectored(cx, data);
        self.wrote(&result);
        result
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    /// hyper flushes what is below it only when its own buffer is empty.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.io).poll_flush(cx);
        if result.is_ready() {
            self.progress.unflushed.store(false, Relaxed);
        }
        result
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

/// The body of an answer. hyper drops it when it has taken all of it.
pub(super) struct Answer {
    body: Body,
    progress: Arc<Progress>,
}

impl Answer {
    pub(super) fn new(body: Body, progress: Arc<Progress>) -> Self {
        Self { body, progress }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.progress.answered();
    }
}

impl http_body::Body for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
