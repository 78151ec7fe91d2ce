//! The body of a request, as its handler reads it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use super::progress::Progress;
use super::unknown::Unknown;

/// Notes whether the body has been read to its end, and when its client is waited for.
pub(super) struct RequestBody {
    body: Incoming,
    progress: Arc<Progress>,
    unknown: Option<Arc<Unknown>>,
}

impl RequestBody {
    pub(super) fn new(body: Incoming, progress: Arc<Progress>, unknown: Option<Arc<Unknown>>) -> Self {
        progress.set_unread(true);
        Self { body, progress, unknown }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if let Some(unknown) = &self.unknown {
            unknown.set_busy(polled.is_ready());
        }
        if matches!(polled, Poll::Ready(None)) || self.body.is_end_stream() {
            self.progress.set_unread(false);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
