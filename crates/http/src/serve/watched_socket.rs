//! The socket of a connection, and what was read from it ahead of hyper.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use eddyline_app::Permit;
use hyper::rt::{Read, ReadBufCursor};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead as _, ReadBuf};

use super::socket::Socket;
use super::unauthenticated::UnauthenticatedConnection;

/// How much of what a client sends ahead is kept while its request is being worked on. A client
/// that sends more is not watched any more until then.
const AHEAD_BYTES: usize = 4 * 1024;

/// How much is read at once from an unknown client. It is less than hyper's smallest buffer, which
/// therefore stays as small as it is.
const UNKNOWN_READ_BYTES: usize = 4 * 1024;

/// The longest head that every unknown client may send. Only some of them may send longer ones at a
/// time, since hyper's buffer then grows, and stays so.
const UNKNOWN_HEAD_BYTES: usize = 16 * 1024;

/// A socket, and what was read from it while it was watched.
pub(super) struct WatchedSocket {
    /// There until the connection gives it away.
    socket: Option<TokioIo<Socket>>,
    /// What hyper is to read first.
    ahead: Vec<u8>,
    /// Nothing more comes.
    closed: bool,
    unknown: Option<Arc<UnauthenticatedConnection>>,
    /// What has been read of a request's head.
    head_bytes: usize,
    /// Allows an unknown client a long head.
    long_head: Option<Permit>,
}

impl WatchedSocket {
    pub(super) fn new(socket: Socket, unknown: Option<Arc<UnauthenticatedConnection>>) -> Self {
        Self {
            socket: Some(TokioIo::new(socket)),
            ahead: Vec::new(),
            closed: false,
            unknown,
            head_bytes: 0,
            long_head: None,
        }
    }

    /// A request's head has come to its end.
    pub(super) fn end_head(&mut self) {
        self.head_bytes = 0;
    }

    /// Takes the socket, when hyper is done with it.
    pub(super) fn take(&mut self) -> Option<Socket> {
        self.socket.take().map(TokioIo::into_inner)
    }

    /// Ready when the client has closed its side, or the connection is broken.
    pub(super) fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut space = [MaybeUninit::uninit(); 1024];
        while !self.closed {
            if self.ahead.len() >= AHEAD_BYTES {
                return Poll::Pending;
            }
            let Some(socket) = &mut self.socket else {
                break;
            };
            let mut buffer = ReadBuf::uninit(&mut space);
            let read = ready!(Pin::new(socket.inner_mut()).poll_read(cx, &mut buffer));
            self.closed = read.is_err() || buffer.filled().is_empty();
            self.ahead.extend_from_slice(buffer.filled());
        }
        Poll::Ready(())
    }

    pub(super) fn socket(&mut self) -> io::Result<Pin<&mut TokioIo<Socket>>> {
        self.socket
            .as_mut()
            .map(Pin::new)
            .ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    pub(super) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
        in_head: bool,
    ) -> Poll<io::Result<()>> {
        if self.ahead.is_empty() {
            if self
                .unknown
                .as_ref()
                .is_some_and(|unknown| unknown.is_unauthenticated())
            {
                return self.poll_read_unknown(cx, buffer, in_head);
            }
            self.long_head = None;
            return self.socket()?.poll_read(cx, buffer);
        }
        let count = self.ahead.len().min(buffer.remaining());
        buffer.put_slice(&self.ahead[..count]);
        self.ahead.drain(..count);
        if self.ahead.is_empty() {
            // It would hold its memory.
            self.ahead = Vec::new();
        }
        Poll::Ready(Ok(()))
    }
}

impl WatchedSocket {
    /// Reads little at once, and long heads only for as many clients as may send them.
    fn poll_read_unknown(
        &mut self,
        cx: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
        in_head: bool,
    ) -> Poll<io::Result<()>> {
        let mut space = [MaybeUninit::uninit(); UNKNOWN_READ_BYTES];
        let wanted = buffer.remaining().min(UNKNOWN_READ_BYTES);
        let mut read = ReadBuf::uninit(&mut space[..wanted]);
        let mut socket = self.socket()?;
        ready!(Pin::new(socket.inner_mut()).poll_read(cx, &mut read))?;
        buffer.put_slice(read.filled());
        if in_head {
            self.head_bytes += read.filled().len();
        }
        if self.head_bytes > UNKNOWN_HEAD_BYTES && self.long_head.is_none() {
            self.long_head = self
                .unknown
                .as_ref()
                .and_then(|unknown| unknown.allow_long_head());
            if self.long_head.is_none() {
                return Poll::Ready(Err(io::Error::other(
                    "too many long heads of unknown clients",
                )));
            }
        }
        Poll::Ready(Ok(()))
    }
}
