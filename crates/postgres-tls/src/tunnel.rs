//! Sockets in a private folder, behind each of which is a connection with TLS to a server.

use std::fs::Permissions;
use std::net::SocketAddr;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
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

use crate::address::{Mode, ServerAddress};
use crate::host::Host;
use crate::{Error, verify};

/// How long the servers of a name may take to accept a connection and TLS on it, where the address
/// does not say.
const CONNECT_TIME: Duration = Duration::from_secs(60);
/// How much sooner the tunnel gives up than its client, so that the client gets the reason.
const AHEAD: Duration = Duration::from_secs(1);
/// How long a client may take to read why it is refused.
const REFUSAL_TIME: Duration = Duration::from_secs(5);
/// How long sent data may stay unacknowledged before the connection counts as lost.
const SILENCE: Duration = Duration::from_secs(10);
/// Bytes read at once in each direction, as much as a record of TLS holds.
const BUFFER: usize = 16 * 1024;
/// The most bytes of a message that is read as a whole. Servers refuse a longer first message, too.
const MAX_MESSAGE: u32 = 10_000;

/// The request for TLS: its length, and a number that no version of the protocol has.
const TLS_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];
/// The kind of the messages by which a server says how its client may authenticate.
const AUTHENTICATION: u8 = b'R';
/// The kinds of messages that may come before: about the version of the protocol, and notices.
const BEFORE_AUTHENTICATION: [u8; 2] = [b'v', b'N'];
/// The number of `AuthenticationSASL`.
const SASL: [u8; 4] = [0, 0, 0, 10];

/// How the names of the folders begin, for [`crate::without_socket`].
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
    /// How long a connection may take until TLS is on it.
    time: Duration,
    tls: TlsConnector,
}

/// A connection to a server, with TLS or without.
trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

impl Tunnel {
    /// Opens sockets for all hosts of the address.
    #[expect(
        clippy::disallowed_methods,
        reason = "the tunnel's runtime ends its tasks"
    )]
    pub(crate) fn open(address: &ServerAddress, mode: Mode) -> Result<Self, Error> {
        let tls = TlsConnector::from(Arc::new(verify::config(address, mode)?));
        let time = address
            .connect_seconds
            .map_or(CONNECT_TIME, Duration::from_secs);
        let time = time.saturating_sub(AHEAD).max(AHEAD);
        let remotes = address.hosts.iter().map(|host| {
            let name = ServerName::try_from(host.name.clone()).map_err(|_| Error::Hosts)?;
            Ok(Arc::new(Remote {
                host: host.clone(),
                name,
                mode,
                time,
                tls: tls.clone(),
            }))
        });
        let remotes: Vec<_> = remotes.collect::<Result<_, Error>>()?;
        let folder = folder().map_err(Error::Socket)?;
        // What fails from here on drops the runtime as a part of the tunnel: by itself it must not
        // be dropped in a task.
        let tunnel = Self {
            runtime: Some(runtime().map_err(Error::Socket)?),
            folder,
        };
        let entered = tunnel.runtime.as_ref().map(Runtime::enter);
        let owner = tunnel
            .folder
            .path()
            .metadata()
            .map_err(Error::Socket)?
            .uid();
        for (remote, number) in remotes.into_iter().zip(1..) {
            let path = tunnel.folder.path().join(format!(".s.PGSQL.{number}"));
            let listener = UnixListener::bind(path).map_err(Error::Socket)?;
            tokio::spawn(accept(listener, owner, remote));
        }
        drop(entered);
        Ok(tunnel)
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

/// A runtime of the tunnel's own, since a store is opened on threads without one as well. It has a
/// thread for each direction of one busy connection.
fn runtime() -> std::io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("postgres-tls")
        .enable_all()
        .build()
}

/// A folder that only its owner may enter: where systemd has one for the service, or else among the
/// temporary files.
fn folder() -> std::io::Result<TempDir> {
    // systemd separates several by colons.
    let of_service =
        std::env::var_os("RUNTIME_DIRECTORY").and_then(|list| std::env::split_paths(&list).next());
    let parent = of_service.unwrap_or_else(std::env::temp_dir);
    tempfile::Builder::new()
        .prefix(FOLDER_PREFIX)
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(parent)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the tunnel's runtime ends its tasks; a pause while there are no free descriptors"
)]
async fn accept(listener: UnixListener, owner: u32, remote: Arc<Remote>) {
    loop {
        match listener.accept().await {
            // The permissions of the folder keep others out already, but for root.
            Ok((local, _)) if local.peer_cred().is_ok_and(|peer| peer.uid() == owner) => {
                tokio::spawn(serve(local, remote.clone()));
            }
            Ok(_) => tracing::warn!(
                "a process of another user was refused the connection to the database"
            ),
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
    let connected = timeout(remote.time, remote.connect()).await;
    let connected = connected.unwrap_or_else(|_| {
        Err(TunnelError::unreachable(
            "it does not answer in time",
            &remote.host,
        ))
    });
    match connected {
        Ok(mut stream) => {
            if let Err(error) = carry(&mut local, &mut *stream).await {
                tracing::debug!(%error, host = remote.host.name, "a connection to the database broke off");
            }
        }
        Err(refusal) => {
            tracing::debug!(
                text = refusal.text,
                "a connection to the database is refused"
            );
            let _ = timeout(REFUSAL_TIME, refuse(local, &refusal)).await;
        }
    }
}

/// Carries bytes in both directions, once the server has said how its client may authenticate.
async fn carry(local: &mut UnixStream, remote: &mut dyn Stream) -> std::io::Result<()> {
    let first = read_body(local).await?;
    remote.write_all(&first).await?;
    loop {
        let Ok(kind) = remote.read_u8().await else {
            return local.shutdown().await;
        };
        let body = read_body(remote).await?;
        local.write_u8(kind).await?;
        if kind == AUTHENTICATION {
            local.write_all(&without_channel_binding(&body)).await?;
        } else {
            local.write_all(&body).await?;
        }
        if !BEFORE_AUTHENTICATION.contains(&kind) {
            break;
        }
    }
    copy_bidirectional_with_sizes(local, remote, BUFFER, BUFFER)
        .await
        .map(drop)
}

/// Reads the length of a message and what it counts, itself included.
async fn read_body(stream: &mut (impl AsyncRead + Unpin + ?Sized)) -> std::io::Result<Vec<u8>> {
    let length = stream.read_u32().await?;
    if !(4..=MAX_MESSAGE).contains(&length) {
        return Err(std::io::Error::other(
            "a message of a length that no beginning of a session has",
        ));
    }
    let mut body = length.to_be_bytes().to_vec();
    body.resize(length as usize, 0);
    stream.read_exact(&mut body[4..]).await?;
    Ok(body)
}

/// A message `AuthenticationSASL` without the mechanisms with channel binding. The client sees no
/// TLS, and ends the connection when a server offers them without TLS. Other messages stay as they
/// are.
fn without_channel_binding(body: &[u8]) -> Vec<u8> {
    let Some(mechanisms) = body.get(8..).filter(|_| body[4..8] == SASL) else {
        return body.to_vec();
    };
    let kept: Vec<&[u8]> = mechanisms
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty() && !name.ends_with(b"-PLUS"))
        .collect();
    let kept: Vec<u8> = kept
        .iter()
        .flat_map(|name| [name, &b"\0"[..]].concat())
        .chain([0])
        .collect();
    let length = u32::try_from(kept.len() + 8).unwrap_or(u32::MAX);
    [&length.to_be_bytes()[..], &SASL, &kept].concat()
}

/// Why a client gets no connection.
struct TunnelError {
    /// SQLSTATE.
    code: &'static str,
    text: String,
}

impl TunnelError {
    /// A host to which there is no connection. A client with other hosts tries the next after this
    /// code.
    fn unreachable(why: impl std::fmt::Display, host: &Host) -> Self {
        let target = host.address.as_ref().unwrap_or(&host.name);
        Self {
            code: "57P03",
            text: format!("no connection to {target}, port {}: {why}", host.port),
        }
    }

    /// A host that may not be who it says it is. Another host must not hide that.
    fn distrusted(text: String) -> Self {
        Self {
            code: "08001",
            text,
        }
    }
}

impl Remote {
    async fn connect(&self) -> Result<Box<dyn Stream>, TunnelError> {
        let failed = |error: std::io::Error| TunnelError::unreachable(error, &self.host);
        let mut stream = self.connect_tcp().await.map_err(failed)?;
        stream.write_all(&TLS_REQUEST).await.map_err(failed)?;
        match stream.read_u8().await.map_err(failed)? {
            b'S' => match self.tls.connect(self.name.clone(), stream).await {
                Ok(stream) => Ok(Box::new(stream)),
                Err(error) => Err(
                    match error.get_ref().and_then(|inner| inner.downcast_ref()) {
                        Some(error) => {
                            TunnelError::distrusted(verify::explain(&self.host.name, error))
                        }
                        None => failed(error),
                    },
                ),
            },
            b'N' if self.mode == Mode::Prefer => Ok(Box::new(stream)),
            b'N' => Err(TunnelError::distrusted(format!(
                "the server at {} does not offer TLS, which sslmode demands",
                self.host.name
            ))),
            _ => Err(TunnelError::unreachable(
                "it does not speak as PostgreSQL does",
                &self.host,
            )),
        }
    }

    /// A connection to the first address of the host that takes one. Each gets its share of the
    /// time.
    async fn connect_tcp(&self) -> std::io::Result<TcpStream> {
        let target = self.host.address.as_ref().unwrap_or(&self.host.name);
        let addresses: Vec<SocketAddr> = tokio::net::lookup_host((target.as_str(), self.host.port))
            .await?
            .collect();
        let share = self.time / u32::try_from(addresses.len().max(1)).unwrap_or(u32::MAX);
        let mut last = std::io::Error::other("the name has no address");
        for address in addresses {
            match timeout(share, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => {
                    prepare(&stream)?;
                    return Ok(stream);
                }
                Ok(Err(error)) => last = error,
                Err(_) => last = std::io::Error::other("it does not answer in time"),
            }
        }
        Err(last)
    }
}

/// Has the system end the connection when the server does not acknowledge what was sent.
fn prepare(stream: &TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let socket = SockRef::from(stream);
    socket.set_tcp_keepalive(
        &TcpKeepalive::new()
            .with_time(SILENCE)
            .with_interval(SILENCE / 4),
    )?;
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(SILENCE))?;
    Ok(())
}

/// Answers the first message as a server does that refuses a connection.
async fn refuse(mut local: UnixStream, refusal: &TunnelError) -> std::io::Result<()> {
    read_body(&mut local).await?;
    local.write_all(&message_of(refusal)).await?;
    local.shutdown().await
}

/// A refusal as a message of the kind `ErrorResponse`.
fn message_of(refusal: &TunnelError) -> Vec<u8> {
    let fields: String = [
        ('S', "FATAL"),
        ('V', "FATAL"),
        ('C', refusal.code),
        ('M', &refusal.text),
    ]
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
        let message = message_of(&TunnelError::distrusted("no".to_owned()));
        assert_eq!(message, b"E\0\0\0\x1eSFATAL\0VFATAL\0C08001\0Mno\0\0");
        assert_eq!(message.len(), 1 + 0x1e);
    }

    #[test]
    fn mechanisms_with_channel_binding_are_not_offered() {
        let offered = b"\0\0\0\x2a\0\0\0\x0aSCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0";
        assert_eq!(
            without_channel_binding(offered),
            b"\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0"
        );
        let trusted = b"\0\0\0\x08\0\0\0\0";
        assert_eq!(without_channel_binding(trusted), trusted);
    }

    #[test]
    fn only_its_owner_enters_the_folder() {
        let folder = folder().unwrap();
        assert_eq!(folder.path().metadata().unwrap().mode() & 0o777, 0o700);
    }
}
