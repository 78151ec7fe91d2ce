//! How much of everything a client may take.

use std::time::Duration;

use eddyline_app::Quota;

use super::MinimumRate;

/// The bounds within which a [`Server`](super::Server) serves. The bounds of a request's body are
/// set where it is read, see [`BodyLimit`](super::BodyLimit).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections of one listener at a time, streams included. While there are so many, newcomers
    /// displace idle ones on which nothing has shown valid credentials; where there is none, they
    /// wait in the system's queue. While fewer than an eighth of them are free, a network makes room
    /// for its own newcomers beyond a sixteenth of them without valid credentials, and beyond 64. At
    /// least 1; 20,000 unless said otherwise.
    pub connections: usize,
    /// How long a connection without valid credentials need not make room for others after it was
    /// opened or answered. 1 second unless set otherwise.
    pub unknown_safe_time: Duration,
    /// The most of `head_time` and `keep_alive` for connections without valid credentials while
    /// fewer than an eighth of all connections are free. 5 seconds unless set otherwise.
    pub scarce_time: Duration,
    /// Bytes of a request's line and headers, 8,192 at least. More is answered with 431. 64 KiB
    /// unless set otherwise; of more than 16 KiB only on 256 connections without valid credentials
    /// at a time.
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
    /// How long a request that only reads (GET, HEAD) is worked on when its client has closed its
    /// side of the connection, which mostly means that it has gone. A client that closes its side
    /// only because it has sent everything is answered if the answer takes no longer. Requests that
    /// change something are always worked on to the end. 250 milliseconds unless said otherwise.
    pub hang_up_time: Duration,
    /// The time for the handshake of TLS. 10 seconds unless said otherwise.
    pub handshake_time: Duration,
    /// How long a connection is read on after its last answer, so that a client which is still
    /// sending gets to see the answer before the connection is closed. 2 seconds unless said
    /// otherwise.
    pub linger: Duration,
    /// How long a connection at rest is kept when the server is to stop, so that a request which is on
    /// its way is answered; its client learns that it was the last one (`Connection: close`).
    /// 250 milliseconds unless said otherwise.
    pub drain_idle: Duration,
    /// How long requests that are being answered when the server is to stop may still take.
    /// 8 seconds unless said otherwise.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 20_000,
            unknown_safe_time: Duration::from_secs(1),
            scarce_time: Duration::from_secs(5),
            head_bytes: 64 * 1024,
            head_time: Duration::from_secs(15),
            keep_alive: Duration::from_secs(75),
            write_rate: MinimumRate::default(),
            hang_up_time: Duration::from_millis(250),
            handshake_time: Duration::from_secs(10),
            linger: Duration::from_secs(2),
            drain_idle: Duration::from_millis(250),
            drain: Duration::from_secs(8),
        }
    }
}

/// How many connections without valid credentials every network may have.
const LEAST_UNKNOWN_SHARE: usize = 64;

/// The least that hyper's buffer can be.
const LEAST_HEAD_BYTES: usize = 8192;

impl Limits {
    /// Returns the number of connections without valid credentials that one network may have while
    /// connections are scarce.
    pub(super) fn unknown_share(&self) -> usize {
        (self.connections / 16).max(LEAST_UNKNOWN_SHARE)
    }

    /// Returns the quota of connections with valid credentials that are safe from displacement: a
    /// sixteenth of all, half of that for one organization and a quarter of it for one caller.
    /// Those beyond count as unknown ones. Streams are not among them; they leave an eighth of all
    /// connections to others ([`eddyline_app::stream_quota`]), so that a sixteenth is left for
    /// newcomers.
    pub(super) fn known_quota(&self) -> Quota {
        let total = (self.connections as u64 / 16).max(1);
        Quota::new(total, total.div_ceil(2), total.div_ceil(4))
    }

    pub(super) fn buffer_bytes(&self) -> usize {
        self.head_bytes.max(LEAST_HEAD_BYTES)
    }
}
