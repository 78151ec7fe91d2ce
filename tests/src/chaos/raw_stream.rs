//! A stream read from the bare socket: little memory for each, and as slowly as one likes.

use std::collections::VecDeque;
use std::io::{self, BufRead as _};
use std::net::SocketAddr;

use eddyline_client::Json;
use eddyline_model::EventId;
use serde::Deserialize;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpSocket, TcpStream};

use crate::raw::basic;

/// Where a stream is, and whose it is.
#[derive(Clone, Debug)]
pub struct Address {
    host: SocketAddr,
    authorization: String,
}

impl Address {
    /// The server with this streaming URL, as the user with this token.
    pub fn new(stream_url: &str, token: &str) -> Self {
        let host = stream_url.split('/').nth(2).expect("an address has a host");
        Self {
            host: host.parse().expect("a test's server has an IP address"),
            authorization: basic(token, ""),
        }
    }
}

/// An event: its id, and its number in the room if it has one.
pub type RawEvent = (EventId, Option<i64>);

/// An open stream of events.
pub struct RawStream {
    socket: TcpStream,
    /// Received and not yet taken apart.
    received: Vec<u8>,
    in_head: bool,
    id: Option<EventId>,
    number: Option<i64>,
}

#[derive(Deserialize)]
struct Numbered {
    #[serde(default)]
    id: Json,
}

impl RawStream {
    /// Connects and asks for the stream, after the last event or from now on; `receive_buffer` is
    /// what the system may hold for us, in bytes. The server's answer is read with the events.
    ///
    /// # Errors
    /// When there is no connection.
    pub async fn open(
        address: &Address,
        last: Option<EventId>,
        receive_buffer: Option<u32>,
    ) -> io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        if let Some(bytes) = receive_buffer {
            socket.set_recv_buffer_size(bytes)?;
        }
        let mut socket = socket.connect(address.host).await?;
        let mut request = format!(
            "GET /flows/acme/main HTTP/1.1\r\nHost: {}\r\nAuthorization: Basic {}\r\nAccept: text/event-stream\r\n",
            address.host, address.authorization
        );
        if let Some(id) = last {
            request += &format!("Last-Event-ID: {id}\r\n");
        }
        socket
            .write_all(format!("{request}\r\n").as_bytes())
            .await?;
        Ok(Self {
            socket,
            received: Vec::new(),
            in_head: true,
            id: None,
            number: None,
        })
    }

    /// Ends the connection as a broken network does, without the waiting that an orderly end leaves
    /// behind in the system.
    pub fn cut(self) {
        let _ = self.socket.set_zero_linger();
    }

    /// Whether the server has granted the stream.
    pub fn is_granted(&self) -> bool {
        !self.in_head
    }

    /// Waits for bytes, takes at most so many, and appends the events that they complete.
    ///
    /// # Errors
    /// When the connection ends, or the server refuses the stream.
    pub async fn read(&mut self, most: usize, events: &mut VecDeque<RawEvent>) -> io::Result<()> {
        loop {
            self.socket.readable().await?;
            match self.read_now(most) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => return self.take_lines(events),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Not async, so that the memory is borrowed for this moment only: there are thousands of us.
    fn read_now(&mut self, most: usize) -> io::Result<usize> {
        let mut space = [0; 16 * 1024];
        let most = most.min(space.len());
        let count = self.socket.try_read(&mut space[..most])?;
        self.received.extend_from_slice(&space[..count]);
        Ok(count)
    }

    fn take_lines(&mut self, events: &mut VecDeque<RawEvent>) -> io::Result<()> {
        let received = std::mem::take(&mut self.received);
        let mut rest = received.as_slice();
        loop {
            let before = rest;
            let length = rest.skip_until(b'\n')?;
            let Some(line) = before[..length].strip_suffix(b"\n") else {
                self.received = before.to_vec();
                return Ok(());
            };
            self.take_line(line.strip_suffix(b"\r").unwrap_or(line), events)?;
        }
    }

    fn take_line(&mut self, line: &[u8], events: &mut VecDeque<RawEvent>) -> io::Result<()> {
        let text = std::str::from_utf8(line).map_err(io::Error::other)?;
        if self.in_head {
            if text.starts_with("HTTP/1.1 ") && !text.starts_with("HTTP/1.1 200 ") {
                return Err(io::Error::other(text.to_owned()));
            }
            self.in_head = !text.is_empty();
        } else if let Some(id) = text.strip_prefix("id: ") {
            self.id = Some(id.parse().map_err(io::Error::other)?);
        } else if let Some(data) = text.strip_prefix("data: ") {
            let numbered: Numbered = serde_json::from_str(data).map_err(io::Error::other)?;
            self.number = numbered.id.as_i64();
        } else if text.is_empty()
            && let Some(id) = self.id.take()
        {
            events.push_back((id, self.number.take()));
        }
        Ok(())
    }
}
