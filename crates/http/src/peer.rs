//! The other end of a connection.

use std::net::SocketAddr;

/// The other end of the connection that a request came by. A [`Server`](crate::serve::Server) adds
/// it to the extensions of every request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The address of the socket's other end, which may be a proxy's.
    pub addr: SocketAddr,
    /// Whether the connection is encrypted between there and here.
    pub tls: bool,
}
