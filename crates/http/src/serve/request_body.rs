//! The body of a request, as its handler reads it, and what of it the handler leaves.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tokio::time::timeout;

use super::connection_state::ConnectionState;
use super::unauthenticated::UnauthenticatedConnection;

/// The most bytes that are read for nothing, so that the connection can take another request.
const MAX_DRAINED_BYTES: u64 = 64 * 1024;
/// How long that may take.
const DRAIN_TIME: Duration = Duration::from_secs(1);

/// Notes whether the body has been read to its end, and when its client is waited for.
pub(super) struct RequestBody {
    /// `None` once it is dropped.
    body: Option<Incoming>,
    rest: Rest,
    state: Arc<ConnectionState>,
    unknown: Option<Arc<UnauthenticatedConnection>>,
}

/// What a handler left of a body.
#[derive(Clone, Default)]
pub(super) struct Rest(Arc<Mutex<Option<Incoming>>>);

impl Rest {
    /// Reads the rest, if it is short and comes soon. Then the connection can take another request
    /// (RFC 9112, section 9.3).
    pub(super) async fn drain(
        &self,
        state: &ConnectionState,
        unknown: Option<&UnauthenticatedConnection>,
    ) {
        let Some(mut body) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take() else {
            return;
        };
        let mut left = MAX_DRAINED_BYTES;
        if body.size_hint().lower() > left {
            return;
        }
        if let Some(unknown) = unknown {
            // The client is waited for, so that others may have its connection.
            unknown.set_busy(false);
            if unknown.is_closing() {
                return;
            }
        }
        let reading = async {
            while let Some(frame) = body.frame().await {
                let length = frame.ok()?.data_ref().map_or(0, |data| data.len() as u64);
                left = left.checked_sub(length)?;
            }
            Some(())
        };
        if let Ok(Some(())) = timeout(DRAIN_TIME, reading).await {
            state.set_unread(false);
        }
    }
}

impl RequestBody {
    pub(super) fn new(
        body: Incoming,
        rest: Rest,
        state: Arc<ConnectionState>,
        unknown: Option<Arc<UnauthenticatedConnection>>,
    ) -> Self {
        state.set_unread(true);
        Self {
            body: Some(body),
            rest,
            state,
            unknown,
        }
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        if self.state.is_unread() {
            *self.rest.0.lock().unwrap_or_else(PoisonError::into_inner) = self.body.take();
        }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Some(body) = &mut self.body else {
            return Poll::Ready(None);
        };
        let polled = Pin::new(&mut *body).poll_frame(cx);
        let ended = matches!(polled, Poll::Ready(None)) || body.is_end_stream();
        if matches!(polled, Poll::Ready(Some(Err(_)))) {
            // Nothing can be read of it any more: it stays unread.
            self.body = None;
        }
        if let Some(unknown) = &self.unknown {
            unknown.set_busy(polled.is_ready());
        }
        if ended {
            self.state.set_unread(false);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Incoming::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body
            .as_ref()
            .map_or_else(|| SizeHint::with_exact(0), Incoming::size_hint)
    }
}
