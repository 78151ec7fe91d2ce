//! How much of everything a client may take.

use std::time::Duration;

use super::MinimumRate;

/// The bounds within which a [`Server`](super::Server) serves. The bounds of a request's body are
/// set where it is read, see [`BodyLimit`](super::BodyLimit).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections of one listener at a time, streams included. While there are so many, further
    /// ones wait in the system's queue. At least 1; 20,000 unless said otherwise.
    pub connections: usize,
    /// Bytes of a request's line and headers, 8,192 at least. More is answered with 431. 64 KiB
    /// unless said otherwise.
    pub head_bytes: usize,
    /// The time in which a request's line and headers must arrive, counted from the opening of the
    /// connection or, on one that is kept alive, from their first byte. 15 seconds unless said
    /// otherwise.
    pub head_time: Duration,
    /// How long a connection is kept for the next request. 75 seconds unless said otherwise.
    pub keep_alive: Duration,
    /// How slowly a client may take an answer that is ready for it. It does not count for streams:
    /// slow readers of those are waited for.
    pub write_rate: MinimumRate,
    /// The time for the handshake of TLS. 10 seconds unless said otherwise.
    pub handshake_time: Duration,
    /// How long a connection is read on after its last answer, so that a client which is still
    /// sending gets to see the answer before the connection is closed. 2 seconds unless said
    /// otherwise.
    pub linger: Duration,
    /// How long requests that are being answered when the server is to stop may still take.
    /// 8 seconds unless said otherwise.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 20_000,
            head_bytes: 64 * 1024,
            head_time: Duration::from_secs(15),
            keep_alive: Duration::from_secs(75),
            write_rate: MinimumRate::default(),
            handshake_time: Duration::from_secs(10),
            linger: Duration::from_secs(2),
            drain: Duration::from_secs(8),
        }
    }
}

/// The least that hyper's buffer can be.
const LEAST_HEAD_BYTES: usize = 8192;

impl Limits {
    pub(super) fn buffer_bytes(&self) -> usize {
        self.head_bytes.max(LEAST_HEAD_BYTES)
    }
}
