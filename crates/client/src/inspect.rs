//! Showing a program each exchange of its client.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};

/// A request and its whole answer, as [`ClientBuilder::inspect`](crate::ClientBuilder::inspect)
/// shows them.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<'a> {
    /// The request as it was sent, with its credentials.
    pub request: &'a Request<Bytes>,
    /// Status of the answer.
    pub status: StatusCode,
    /// Headers of the answer.
    pub headers: &'a HeaderMap,
    /// Body of the answer.
    pub body: &'a Bytes,
}

/// What looks at exchanges.
pub(crate) type Inspector = Arc<dyn Fn(&Exchange<'_>) + Send + Sync>;

/// The request that an answer answers, among the extensions of the answer.
#[derive(Clone)]
pub(crate) struct Sent(pub(crate) Request<Bytes>);
