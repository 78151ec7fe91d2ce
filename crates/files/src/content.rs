//! Bytes on their way out.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::BoxStream;

use crate::Error;

/// The bytes of a file, or of a range of it, as a stream of chunks. It ends with an error when they
/// cannot be read to the end.
pub struct Content {
    size: u64,
    chunks: BoxStream<'static, Result<Bytes, Error>>,
}

impl Content {
    pub(crate) fn new(size: u64, chunks: BoxStream<'static, Result<Bytes, Error>>) -> Self {
        Self { size, chunks }
    }

    /// How many bytes the whole file has, also when only a range was asked for.
    #[must_use]
    pub fn file_size(&self) -> u64 {
        self.size
    }
}

impl Stream for Content {
    type Item = Result<Bytes, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.chunks.as_mut().poll_next(cx)
    }
}

impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Content(of {} bytes)", self.size)
    }
}
