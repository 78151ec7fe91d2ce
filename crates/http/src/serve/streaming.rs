//! The small task that a connection becomes when it is a stream.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use super::frame_source::FrameSource;
use super::socket::Socket;

/// As many pieces as hyper passes to the system at once, too.
const PIECES: usize = 64;

/// The end of a response in chunks (RFC 9112, section 7.1).
const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// How much is read at once of what a client says.
const READ_BYTES: usize = 4 * 1024;

/// How much a client may say while it has a stream. Nothing of it has a meaning; requests that were
/// sent ahead of the stream's answer are the most that a client has a reason for.
const MAX_SAID_BYTES: u32 = 16 * 1024;

/// How long a client that said too much keeps the stream. Nothing more is read meanwhile, so that a
/// client that talks without end does not keep the server busy with connections.
const SILENCE: Duration = Duration::from_secs(1);

/// Writes a stream until the source ends, the client disconnects, or the listener loses the right
/// to listen.
///
/// It is polled by hand because it waits for three things at once, and its size is the memory
/// that an idle stream takes.
pub(super) struct Streaming<S: FrameSource> {
    socket: Socket,
    /// What is left to write of the response's head.
    head: Bytes,
    source: S,
    /// What is being written. It stays until the socket has taken all of it.
    batch: Option<S::Batch>,
    /// Bytes that the client has said.
    said: u32,
    /// Set when the client has said too much: then the stream ends.
    end: Option<Pin<Box<Sleep>>>,
    /// Whether what is written comes in chunks.
    chunked: bool,
}

impl<S: FrameSource> Streaming<S> {
    pub(super) fn new(socket: Socket, head: Bytes, mut source: S, chunked: bool) -> Self {
        if chunked {
            source.use_chunks();
        }
        Self {
            socket,
            head,
            source,
            batch: None,
            said: 0,
            end: None,
            chunked,
        }
    }

    /// What ends the response, unless a chunk was begun and may be written in part: without its end
    /// the client sees that the stream broke off.
    fn last_chunk(&self) -> Bytes {
        if self.chunked && self.batch.is_none() {
            Bytes::from_static(LAST_CHUNK)
        } else {
            Bytes::new()
        }
    }

    /// Ready when the client is gone, or has said too much. What it says has no meaning any more
    /// and is passed over.
    #[expect(
        clippy::disallowed_methods,
        reason = "closes a stream this long after its client sent too much"
    )]
    fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(end) = &mut self.end {
            return end.as_mut().poll(cx);
        }
        let mut space = [MaybeUninit::uninit(); READ_BYTES];
        loop {
            let mut buffer = ReadBuf::uninit(&mut space);
            let read = ready!(Pin::new(&mut self.socket).poll_read(cx, &mut buffer));
            let count = buffer.filled().len();
            self.said = self
                .said
                .saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
            if read.is_err() || count == 0 {
                return Poll::Ready(());
            }
            if self.said > MAX_SAID_BYTES {
                return self.end.insert(Box::pin(sleep(SILENCE))).as_mut().poll(cx);
            }
        }
    }

    /// Ready when the stream is at its end.
    fn poll_frames(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            let Some(batch) = &mut self.batch else {
                match self.source.poll_next(cx) {
                    Poll::Ready(Some(batch)) => self.batch = Some(batch),
                    Poll::Ready(None) => return Poll::Ready(Ok(())),
                    // The client is to know at once that the stream is open.
                    Poll::Pending => {
                        ready!(poll_write(
                            &mut self.socket,
                            &mut self.head,
                            &mut Bytes::new(),
                            cx
                        ))?;
                        return Poll::Pending;
                    }
                }
                continue;
            };
            if self.source.poll_rights_lost(cx).is_ready() && !self.source.retain_allowed(batch) {
                return Poll::Ready(Ok(()));
            }
            ready!(poll_write(&mut self.socket, &mut self.head, batch, cx))?;
            self.batch = None;
        }
    }
}

impl<S: FrameSource> Future for Streaming<S> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        if this.poll_gone(cx).is_ready() {
            return Poll::Ready(());
        }
        if ready!(this.poll_frames(cx)).is_ok() {
            // Ends the stream in order, without waiting for a client that does not read. A stream
            // that ended before its first frame was still answered.
            let mut last = this.last_chunk();
            let _ = poll_write(&mut this.socket, &mut this.head, &mut last, cx);
            let _ = Pin::new(&mut this.socket).poll_shutdown(cx);
        }
        Poll::Ready(())
    }
}

/// Ready when all of `head` and `batch` has left for the client.
fn poll_write(
    socket: &mut Socket,
    head: &mut Bytes,
    batch: &mut impl Buf,
    cx: &mut Context<'_>,
) -> Poll<io::Result<()>> {
    let mut all = (&mut *head).chain(batch);
    while all.has_remaining() {
        let mut pieces = [IoSlice::new(&[]); PIECES];
        let written = match all.chunks_vectored(&mut pieces) {
            // Most often, and a little cheaper.
            1 => ready!(Pin::new(&mut *socket).poll_write(cx, &pieces[0]))?,
            count => ready!(Pin::new(&mut *socket).poll_write_vectored(cx, &pieces[..count]))?,
        };
        if written == 0 {
            return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
        }
        all.advance(written);
    }
    // Written, it would still hold its memory.
    *head = Bytes::new();
    Pin::new(socket).poll_flush(cx)
}
