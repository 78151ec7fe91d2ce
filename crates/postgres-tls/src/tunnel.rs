//! Sockets in a private folder, behind each of which is a connection with TLS to a server.

use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use socket2::{SockRef, TcpKeepalive};
use tempfile::TempDir;
use tokio::io::{
    AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, copy_bidirectional_with_sizes,
};
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::runtime::Runtime;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::address::{Address, Host, Mode};
use crate::{Error, verify};

/// How long a server may take to accept a connection and TLS on it. libpq gives up sooner and tries again.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long what was sent to a server may stay without an answer of its system, before the connection counts as lost.
const SILENCE: Duration = Duration::from_secs(10);
/// Bytes read at once in each direction, as much as a record of TLS holds.
const BUFFER: usize = 16 * 1024;
/// The most bytes of a first message that are read before a refusal. libpq reads none longer either.
const FIRST_MESSAGE: u64 = 10_000;

/// The request for TLS: its length, and a number that no version of the protocol has.
const TLS_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// How messages begin that came through [`refuse`], for [`crate::without_socket`].
pub(crate) const FOLDER_PREFIX: &str = "eddyline-postgres-";

/// An open tunnel. Its connections end with it.
#[derive(Debug)]
pub(crate) struct Tunnel {
    /// Taken only when it is dropped.
    runtime: Option<Runtime>,
    folder: TempDir,
}

/// The far end of a socket.
struct Remote {
    host: Host,
    name: ServerName<'static>,
    mode: Mode,
    tls: TlsConnector,
}

/// A connection to a server, with TLS or without.
trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

impl Tunnel {
    /// Opens sockets for all hosts of the address.
    pub(crate) fn open(address: &Address, mode: Mode) -> Result<Self, Error> {
        let tls = TlsConnector::from(Arc::new(verify::config(address, mode)?));
        // Only its owner may enter it.
        let folder = tempfile::Builder::new().prefix(FOLDER_PREFIX).tempdir().map_err(Error::Socket)?;
        // One of its own, since a store is opened from threads without one as well. It has a thread for each direction
        // of a busy connection, the writer's.
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("postgres-tls")
            .enable_all()
            .build()
            .map_err(Error::Socket)?;
        for (number, host) in address.hosts.iter().enumerate() {
            let name = ServerName::try_from(host.name.clone()).map_err(|_| Error::Address)?;
            let remote = Arc::new(Remote { host: host.clone(), name, mode, tls: tls.clone() });
            let _guard = runtime.enter();
            let path = folder.path().join(format!(".s.PGSQL.{}", number + 1));
            let listener = UnixListener::bind(path).map_err(Error::Socket)?;
            runtime.spawn(accept(listener, remote));
        }
        Ok(Self { runtime: Some(runtime), folder })
    }

    /// The folder of its sockets.
    pub(crate) fn folder(&self) -> String {
        self.folder.path().to_string_lossy().into_owned()
    }
}

impl Drop for Tunnel {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Waiting would panic in a task of another runtime.
            runtime.shutdown_background();
        }
    }
}

async fn accept(listener: UnixListener, remote: Arc<Remote>) {
    loop {
        match listener.accept().await {
            Ok((local, _)) => {
                tokio::spawn(serve(local, remote.clone()));
            }
            Err(error) => {
                tracing::warn!(%error, "a connection to the database could not begin");
                // Descriptors have run out, most likely; some will be closed.
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Carries one connection to its end.
async fn serve(mut local: UnixStream, remote: Arc<Remote>) {
    let connected = timeout(CONNECT_TIMEOUT, remote.connect()).await;
    let connected = connected.unwrap_or_else(|_| Err(format!("{} does not answer", remote.host.name)));
    match connected {
        // An error is the end of the connection, which both ends see.
        Ok(mut stream) => {
            let _ = copy_bidirectional_with_sizes(&mut local, &mut *stream, BUFFER, BUFFER).await;
        }
        Err(text) => {
            let _ = timeout(CONNECT_TIMEOUT, refuse(local, &text)).await;
        }
    }
}

impl Remote {
    async fn connect(&self) -> Result<Box<dyn Stream>, String> {
        let Host { name, address, port } = &self.host;
        let target = address.as_ref().unwrap_or(name);
        let failed = |error: std::io::Error| format!("no connection to {target}, port {port}: {error}");
        let mut stream = TcpStream::connect((target.as_str(), *port)).await.map_err(failed)?;
        prepare(&stream).map_err(failed)?;
        stream.write_all(&TLS_REQUEST).await.map_err(failed)?;
        match stream.read_u8().await.map_err(failed)? {
            b'S' => match self.tls.connect(self.name.clone(), stream).await {
                Ok(stream) => Ok(Box::new(stream)),
                Err(error) => Err(match error.get_ref().and_then(|inner| inner.downcast_ref()) {
                    Some(error) => verify::explain(name, error),
                    None => failed(error),
                }),
            },
            b'N' if self.mode == Mode::Prefer => Ok(Box::new(stream)),
            b'N' => Err(format!("the server at {target} does not offer TLS, which sslmode demands")),
            _ => Err(format!("{target}, port {port}, does not speak as PostgreSQL does")),
        }
    }
}

/// Lets the system find out that a server has vanished without a word.
fn prepare(stream: &TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let socket = SockRef::from(stream);
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(SILENCE).with_interval(SILENCE / 4))?;
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(SILENCE))?;
    Ok(())
}

/// Answers the first message as a server does that refuses a connection.
async fn refuse(mut local: UnixStream, text: &str) -> std::io::Result<()> {
    let length = u64::from(local.read_u32().await?).saturating_sub(4);
    let mut first = Vec::new();
    (&mut local).take(length.min(FIRST_MESSAGE)).read_to_end(&mut first).await?;
    local.write_all(&refusal(text)).await?;
    local.shutdown().await
}

/// A message of the kind `ErrorResponse`: the connection could not be established (SQLSTATE 08001).
fn refusal(text: &str) -> Vec<u8> {
    let fields: String = [('S', "FATAL"), ('V', "FATAL"), ('C', "08001"), ('M', text)]
        .map(|(field, value)| format!("{field}{}\0", value.replace('\0', " ")))
        .concat();
    let length = u32::try_from(fields.len() + 5).unwrap_or(u32::MAX);
    [b"E", &length.to_be_bytes()[..], fields.as_bytes(), b"\0"].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_a_message_of_the_protocol() {
        let message = refusal("no");
        assert_eq!(message, b"E\0\0\0\x1eSFATAL\0VFATAL\0C08001\0Mno\0\0");
        assert_eq!(message.len(), 1 + 0x1e);
    }
}
