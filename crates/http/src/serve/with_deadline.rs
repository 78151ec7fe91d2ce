//! A stream whose end is known when it begins.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Sleep, sleep};

use super::frame_source::FrameSource;

/// A source that ends when its time is over, also in the midst of a write.
pub(crate) struct WithDeadline<S> {
    source: S,
    /// Apart, since most streams have none and an idle one should stay small.
    end: Option<Pin<Box<Sleep>>>,
}

impl<S> WithDeadline<S> {
    /// The source, which has this much time left from now on; without one it ends by itself.
    #[expect(clippy::disallowed_methods, reason = "the timer of the deadline")]
    pub(crate) fn new(source: S, left: Option<Duration>) -> Self {
        Self {
            source,
            end: left.map(|left| Box::pin(sleep(left))),
        }
    }

    fn poll_over(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.end
            .as_mut()
            .map_or(Poll::Pending, |end| end.as_mut().poll(cx))
    }
}

impl<S: FrameSource> FrameSource for WithDeadline<S> {
    type Batch = S::Batch;

    fn use_chunks(&mut self) {
        self.source.use_chunks();
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<S::Batch>> {
        if self.poll_over(cx).is_ready() {
            return Poll::Ready(None);
        }
        self.source.poll_next(cx)
    }

    fn poll_rights_lost(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.poll_over(cx).is_ready() {
            return Poll::Ready(());
        }
        self.source.poll_rights_lost(cx)
    }

    fn retain_allowed(&mut self, batch: &mut S::Batch) -> bool {
        let over = self.end.as_ref().is_some_and(|end| end.is_elapsed());
        !over && self.source.retain_allowed(batch)
    }
}
