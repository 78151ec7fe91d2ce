//! What a connection is doing, as seen from both sides of hyper: from the socket below it and from
//! the service above it.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};

use super::handoff::Handoff;
use super::phase_timer::{ConnectionSnapshot, Phase};
use super::socket::Socket;
use super::unauthenticated::UnauthenticatedConnection;
use super::watched_socket::WatchedSocket;

/// The state of one connection. Only the connection's own task touches it, so that the order of
/// memory accesses is no concern.
pub(super) struct ConnectionState {
    /// A request has come, and its answer has not been handed to hyper to its end.
    answering: AtomicBool,
    /// Requests that have come so far.
    requests: AtomicU64,
    /// Bytes were read since the last response.
    received: AtomicBool,
    /// hyper has written since its last flush.
    unflushed: AtomicBool,
    /// Bytes written so far.
    written: AtomicU64,
    /// The request that is being answered only reads, so that it can be given up at any time.
    reading: AtomicBool,
    /// The client of such a request has closed its side.
    hung_up: AtomicBool,
    /// The body of the request that is being answered has not been read to its end.
    unread: AtomicBool,
    /// The next answer is the last one.
    ending: AtomicBool,
    /// A stream that is to have the socket.
    handoff: Mutex<Option<Handoff>>,
    watched_socket: Mutex<WatchedSocket>,
}

impl ConnectionState {
    pub(super) fn new(
        socket: Socket,
        unknown: Option<Arc<UnauthenticatedConnection>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            answering: AtomicBool::new(false),
            requests: AtomicU64::new(0),
            // A new connection is in the phase `Head`, so that the time for a head applies and not
            // that for keep-alive.
            received: AtomicBool::new(true),
            unflushed: AtomicBool::new(false),
            written: AtomicU64::new(0),
            reading: AtomicBool::new(false),
            hung_up: AtomicBool::new(false),
            unread: AtomicBool::new(false),
            ending: AtomicBool::new(false),
            handoff: Mutex::default(),
            watched_socket: Mutex::new(WatchedSocket::new(socket, unknown)),
        })
    }

    pub(super) fn status(&self) -> ConnectionSnapshot {
        let (requests, written) = (self.requests.load(Relaxed), self.written.load(Relaxed));
        ConnectionSnapshot {
            phase: self.phase(),
            requests,
            written,
        }
    }

    fn phase(&self) -> Phase {
        if self.unflushed.load(Relaxed) {
            Phase::Writing
        } else if self.answering.load(Relaxed) {
            if self.hung_up.load(Relaxed) {
                Phase::HungUp
            } else {
                Phase::Working
            }
        } else if self.received.load(Relaxed) {
            Phase::Head
        } else {
            Phase::Idle
        }
    }

    fn only_reads(&self) {
        self.reading.store(true, Relaxed);
    }

    pub(super) fn request_came(&self, only_reads: bool) {
        self.answering.store(true, Relaxed);
        self.reading.store(only_reads, Relaxed);
        self.unread.store(false, Relaxed);
        self.watched_socket().end_head();
        self.requests.fetch_add(1, Relaxed);
    }

    fn answered(&self) {
        self.answering.store(false, Relaxed);
        self.hung_up.store(false, Relaxed);
        self.received.store(false, Relaxed);
    }

    /// Notices when the client hangs up while a request that only reads is being worked on. hyper
    /// does not read meanwhile.
    pub(super) fn watch_client(&self, cx: &mut Context<'_>) {
        if self.phase() == Phase::Working
            && self.reading.load(Relaxed)
            && self.watched_socket().poll_closed(cx).is_ready()
        {
            self.hung_up.store(true, Relaxed);
        }
    }

    pub(super) fn watched_socket(&self) -> MutexGuard<'_, WatchedSocket> {
        self.watched_socket
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a request has come, and its answer has not been handed to hyper to its end.
    pub(super) fn is_answering(&self) -> bool {
        self.answering.load(Relaxed)
    }

    pub(super) fn set_unread(&self, unread: bool) {
        self.unread.store(unread, Relaxed);
    }

    /// Whether something of the present request's body has not been read.
    pub(super) fn is_unread(&self) -> bool {
        self.unread.load(Relaxed)
    }

    pub(super) fn set_ending(&self) {
        self.ending.store(true, Relaxed);
    }

    /// Whether the next answer is the last one.
    pub(super) fn is_ending(&self) -> bool {
        self.ending.load(Relaxed)
    }

    pub(super) fn has_received(&self) {
        self.received.store(true, Relaxed);
    }

    pub(super) fn has_written(&self, bytes: usize) {
        self.unflushed.store(true, Relaxed);
        self.written.fetch_add(bytes as u64, Relaxed);
    }

    pub(super) fn has_flushed(&self) {
        self.unflushed.store(false, Relaxed);
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
        self.handoff
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}

/// An extension of requests that may change something. Others are given up when their clients hang
/// up.
#[derive(Clone)]
pub struct HangUpWatch(pub(super) Arc<ConnectionState>);

impl HangUpWatch {
    /// Gives the request up, from now on, when its client hangs up: it may end between any two
    /// steps. Its handler calls this after the body was read.
    pub fn begin(&self) {
        self.0.only_reads();
    }
}

/// The body of an answer. hyper drops it when it has taken all of it.
pub(super) struct TrackedBody {
    body: Body,
    state: Arc<ConnectionState>,
}

impl TrackedBody {
    pub(super) fn new(body: Body, state: Arc<ConnectionState>) -> Self {
        Self { body, state }
    }
}

impl Drop for TrackedBody {
    fn drop(&mut self) {
        self.state.answered();
    }
}

impl http_body::Body for TrackedBody {
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
