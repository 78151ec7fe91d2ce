//! The socket as hyper sees it: each call notes the progress of the connection.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};

use super::connection_state::ConnectionState;

/// The socket, as hyper sees it.
pub(super) struct TrackedIo(Arc<ConnectionState>);

impl TrackedIo {
    pub(super) fn new(state: Arc<ConnectionState>) -> Self {
        Self(state)
    }

    fn wrote(&self, result: &Poll<io::Result<usize>>) {
        self.0.has_written(if let Poll::Ready(Ok(count)) = result {
            *count
        } else {
            0
        });
    }
}

impl Read for TrackedIo {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let result = self
            .0
            .watched_socket()
            .poll_read(cx, buffer, !self.0.is_answering());
        if result.is_ready() {
            self.0.has_received();
        }
        result
    }
}

impl Write for TrackedIo {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = self.0.watched_socket().socket()?.poll_write(cx, data);
        self.wrote(&result);
        result
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = self
            .0
            .watched_socket()
            .socket()?
            .poll_write_vectored(cx, data);
        self.wrote(&result);
        result
    }

    /// Both kinds of sockets take several pieces at once.
    fn is_write_vectored(&self) -> bool {
        true
    }

    /// hyper flushes what is below it only when its own buffer is empty.
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = self.0.watched_socket().socket()?.poll_flush(cx);
        if result.is_ready() {
            self.0.has_flushed();
        }
        result
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.watched_socket().socket()?.poll_shutdown(cx)
    }
}
