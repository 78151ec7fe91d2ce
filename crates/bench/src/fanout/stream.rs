//! Opening a stream of events.

use std::net::SocketAddr;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::Result;
use crate::connection::{Connection, read};

const HEAD_END: &[u8] = b"\r\n\r\n";

/// A stream that has begun.
pub(crate) struct Stream {
    /// Its socket.
    pub(crate) socket: TcpStream,
    /// What came with the head already.
    pub(crate) rest: Vec<u8>,
}

/// Asks for a stream and waits until it begins. An opening request, if there is one, is answered on
/// the same connection before.
pub(crate) async fn open(
    address: SocketAddr,
    opening: Option<&[u8]>,
    request: Vec<u8>,
) -> Result<Stream> {
    let mut connection = Connection::open(address).await?;
    if let Some(opening) = opening {
        connection.exchange(opening).await?;
    }
    let mut socket = connection.into_socket();
    socket.write_all(&request).await?;
    let mut head = Vec::new();
    loop {
        let length = head.len();
        read(&mut socket, |bytes| head.extend_from_slice(bytes)).await?;
        if head.len() == length {
            return Err("a stream was closed before it began".into());
        }
        if let Some(at) = memchr::memmem::find(&head, HEAD_END) {
            if !head.starts_with(b"HTTP/1.1 200 ") {
                let line = String::from_utf8_lossy(&head)
                    .lines()
                    .next()
                    .unwrap_or_default()
                    .to_owned();
                return Err(format!("a stream was refused: {line}").into());
            }
            return Ok(Stream {
                socket,
                rest: head.split_off(at + HEAD_END.len()),
            });
        }
    }
}
