//! A connection's socket, plain or encrypted.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio_rustls::server::TlsStream;

/// After this long without a word the system asks whether the other end still lives, so that who
/// vanished without closing does not stay for ever.
const PROBE_AFTER: Duration = Duration::from_secs(60);
const PROBE_INTERVAL: Duration = Duration::from_secs(20);

/// What the system may hold for a connection beyond what is on its way. By default it is megabytes.
/// A client that reads a stream slowly would fill them with frames, and could read on when it has
/// lost the right to; and of an answer, the system would take the next bytes only when a third of
/// those megabytes has left, so that the rate of a slow client could not be measured.
#[cfg(target_os = "linux")]
const UNSENT_BYTES: u32 = 64 * 1024;

pub(super) enum Socket {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// How many connections may wait to be accepted. When a server comes back all its streams do so at
/// once; a client that finds no room tries again after a second, and then after longer ones. The
/// system has a bound of its own (`net.core.somaxconn`).
const BACKLOG: u32 = 16 * 1024;

/// Listens on an address, with room for a crowd. To be called inside of a runtime.
///
/// # Errors
///
/// As the system has it: the address is in use, or is not one of this machine.
pub fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    // A port can be taken again at once by the next process.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Sets what all our connections have in common. A system that refuses an option serves without.
pub(super) fn prepare(tcp: &TcpStream) {
    let probes = TcpKeepalive::new()
        .with_time(PROBE_AFTER)
        .with_interval(PROBE_INTERVAL);
    let set = tcp
        .set_nodelay(true)
        .and_then(|()| SockRef::from(tcp).set_tcp_keepalive(&probes));
    #[cfg(target_os = "linux")]
    let set = set.and_then(|()| SockRef::from(tcp).set_tcp_notsent_lowat(UNSENT_BYTES));
    if let Err(error) = set {
        tracing::debug!(%error, "cannot set an option of a socket");
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_read(cx, buffer),
            Self::Tls(tls) => Pin::new(tls).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_write(cx, data),
            Self::Tls(tls) => Pin::new(tls).poll_write(cx, data),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_write_vectored(cx, data),
            Self::Tls(tls) => Pin::new(tls).poll_write_vectored(cx, data),
        }
    }

    /// Both kinds take several pieces at once.
    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_flush(cx),
            Self::Tls(tls) => Pin::new(tls).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_shutdown(cx),
            Self::Tls(tls) => Pin::new(tls).poll_shutdown(cx),
        }
    }
}
