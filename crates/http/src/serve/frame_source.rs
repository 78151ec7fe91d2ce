//! Where a stream's bytes come from.

use std::task::{Context, Poll};

use bytes::Buf;

/// Where a stream's bytes come from. It is dropped as soon as the client is gone, also when there
/// is nothing to write.
///
/// All its methods are called by one task, and leave that task's waker behind.
pub trait FrameSource: Send + Unpin + 'static {
    /// Whole frames, written in as few calls as possible and never split by us.
    type Batch: Buf + Send + Unpin + 'static;

    /// Has the following batches hold whole chunks of HTTP/1.1 (RFC 9112, section 7.1), of one
    /// frame or several each. Called before the first of them.
    fn use_chunks(&mut self);

    /// Waits for something to write; `None` ends the stream. It is asked again only when all of
    /// the last batch has been written.
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Self::Batch>>;

    /// Waits for the stream to lose rights. Polled while a batch is being written, which may take
    /// long.
    fn poll_rights_lost(&mut self, cx: &mut Context<'_>) -> Poll<()>;

    /// Cuts out of a batch what may not be told any more; `false` when the stream is to end at
    /// once. Called when rights were lost, with what is not written yet, which may be nothing.
    fn retain_allowed(&mut self, batch: &mut Self::Batch) -> bool;
}
