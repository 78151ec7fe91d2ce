//! A connection to a collector.

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use rustls::ClientConfig;
use rustls_pki_types::ServerName;
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// What connecting may take, and what writing may.
const IO_TIMEOUT: Duration = Duration::from_secs(10);
/// For how long data may be on its way without a confirmation of the collector's machine, before the
/// operating system ends the connection.
pub const UNCONFIRMED: Duration = Duration::from_secs(30);
/// What ending a connection may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// How many bytes the operating system keeps that the collector's machine has not confirmed.
const SEND_BUFFER: usize = 64 << 10;
/// How many addresses of a host are tried.
const ADDRESSES: usize = 8;
/// How many reads of what a collector sends, which means nothing, are made at once.
const READS: usize = 16;

/// Why nothing was sent, or maybe nothing arrived.
#[derive(Debug, thiserror::Error)]
pub enum SyslogError {
    /// There is no such host, or it does not take the connection.
    #[error("the collector cannot be connected to: {0}")]
    Connect(#[source] io::Error),
    /// The collector cannot prove who it is, or does not speak TLS.
    #[error("no TLS with the collector: {0}")]
    Tls(#[source] io::Error),
    /// The connection broke.
    #[error("the connection to the collector broke: {0}")]
    Broken(#[source] io::Error),
    /// It took more than ten seconds.
    #[error("the collector took too long")]
    Timeout,
}

/// A program that collects messages.
#[derive(Clone)]
pub struct Collector {
    host: String,
    port: u16,
    tls: Option<Arc<ClientConfig>>,
}

/// Without the authorities.
impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls.is_some() { "tls" } else { "tcp" };
        write!(f, "{scheme}://{}:{}", self.host, self.port)
    }
}

impl Collector {
    /// A collector on a host, which is a name or an address; an IPv6 address may be in brackets. With
    /// `tls` it has to prove that it is this host.
    #[must_use]
    pub fn new(host: &str, port: u16, tls: Option<ClientConfig>) -> Self {
        Self {
            host: host.trim_matches(['[', ']']).to_owned(),
            port,
            tls: tls.map(Arc::new),
        }
    }

    /// Connects, within ten seconds.
    ///
    /// # Errors
    ///
    /// [`SyslogError`].
    pub async fn connect(&self) -> Result<SyslogConnection, SyslogError> {
        timeout(IO_TIMEOUT, self.connect_slowly())
            .await
            .unwrap_or(Err(SyslogError::Timeout))
    }

    async fn connect_slowly(&self) -> Result<SyslogConnection, SyslogError> {
        let tcp = self.connect_to_any().await.map_err(SyslogError::Connect)?;
        set_socket_options(&tcp).map_err(SyslogError::Connect)?;
        let stream: Box<dyn Stream> = match &self.tls {
            None => Box::new(tcp),
            Some(config) => {
                let name = ServerName::try_from(self.host.clone())
                    .map_err(|error| SyslogError::Tls(io::Error::other(error)))?;
                let connector = TlsConnector::from(config.clone());
                let connected = connector.connect(name, tcp).await;
                Box::new(connected.map_err(SyslogError::Tls)?)
            }
        };
        Ok(SyslogConnection { stream })
    }

    /// Connects to the first address of the host that answers. Each has a share of the time, so that
    /// a silent one leaves some for the next.
    async fn connect_to_any(&self) -> io::Result<TcpStream> {
        let found = lookup_host((&*self.host, self.port)).await?;
        let addresses: Vec<_> = found.take(ADDRESSES).collect();
        let share = IO_TIMEOUT / u32::try_from(addresses.len().max(1)).unwrap_or(1);
        let mut failure = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
        for address in addresses {
            failure = match timeout(share, TcpStream::connect(address)).await {
                Ok(Ok(tcp)) => return Ok(tcp),
                Ok(Err(error)) => error,
                Err(_) => io::ErrorKind::TimedOut.into(),
            };
        }
        Err(failure)
    }
}

/// Lets the operating system end the connection when the collector's machine is silent, and keep little
/// of what a slow collector has not read.
fn set_socket_options(tcp: &TcpStream) -> io::Result<()> {
    let socket = SockRef::from(tcp);
    socket.set_send_buffer_size(SEND_BUFFER)?;
    let probes = TcpKeepalive::new().with_time(UNCONFIRMED);
    socket.set_tcp_keepalive(&probes)?;
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(UNCONFIRMED))?;
    tcp.set_nodelay(true)
}

trait Stream: AsyncRead + AsyncWrite + Send + Sync + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Sync + Unpin> Stream for S {}

/// An open connection to a collector.
pub struct SyslogConnection {
    stream: Box<dyn Stream>,
}

impl fmt::Debug for SyslogConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SyslogConnection")
    }
}

impl SyslogConnection {
    /// Writes frames ([`SyslogMessage::frame`](crate::SyslogMessage::frame)) and hands them to the
    /// operating system, within ten seconds. That they arrive is not known then.
    ///
    /// # Errors
    ///
    /// [`SyslogError::Broken`] and [`SyslogError::Timeout`]; some of the frames may have arrived, and
    /// the connection is not to be used again.
    pub async fn send(&mut self, frames: &[u8]) -> Result<(), SyslogError> {
        let writing = async {
            self.stream.write_all(frames).await?;
            self.stream.flush().await
        };
        timeout(IO_TIMEOUT, writing)
            .await
            .map_err(|_| SyslogError::Timeout)?
            .map_err(SyslogError::Broken)
    }

    /// Whether the connection is open, as far as it is known. Does not wait.
    pub async fn is_open(&mut self) -> bool {
        let mut scratch = [0; 512];
        poll_fn(|context| {
            for _ in 0..READS {
                let mut read = ReadBuf::new(&mut scratch);
                match Pin::new(&mut self.stream).poll_read(context, &mut read) {
                    Poll::Pending => return Poll::Ready(true),
                    Poll::Ready(Ok(())) if !read.filled().is_empty() => {}
                    Poll::Ready(_) => return Poll::Ready(false),
                }
            }
            Poll::Ready(true)
        })
        .await
    }

    /// Ends the connection. What was written before still arrives.
    pub async fn close(mut self) {
        // With unread data it would be reset, and the collector might lose what it has not read.
        if self.is_open().await {
            let _ = timeout(CLOSE_TIMEOUT, self.stream.shutdown()).await;
        }
    }
}
