//! A connection without a client library, for what such a library hides: the very bytes.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How long a test waits for bytes that must come.
const PATIENCE: Duration = Duration::from_secs(60);

/// One connection with one request.
pub struct Raw {
    socket: TcpStream,
    received: Vec<u8>,
}

impl Raw {
    /// Connects to the host of the URL and sends a GET request for the path with these header
    /// lines, and with an API token as Basic credentials.
    pub async fn get(url: &str, path: &str, token: &str, headers: &[&str]) -> Self {
        Self::send(url, "GET", path, token, headers, "").await
    }

    /// As [`Raw::get`], with any method and a body.
    pub async fn send(
        url: &str,
        method: &str,
        path: &str,
        token: &str,
        headers: &[&str],
        body: &str,
    ) -> Self {
        let credentials = format!("Authorization: Basic {}", basic(token, ""));
        let headers = [&[&*credentials], headers].concat();
        Self::without_credentials(url, method, path, &headers, body).await
    }

    /// As [`Raw::send`], with nothing in the head but the host and these lines.
    pub async fn without_credentials(
        url: &str,
        method: &str,
        path: &str,
        headers: &[&str],
        body: &str,
    ) -> Self {
        let host = url.split('/').nth(2).expect("an address has a host");
        let mut socket = TcpStream::connect(host).await.unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n");
        for line in headers {
            head += &format!("{line}\r\n");
        }
        if !body.is_empty() {
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        socket
            .write_all(format!("{head}\r\n{body}").as_bytes())
            .await
            .unwrap();
        Self {
            socket,
            received: Vec::new(),
        }
    }

    /// The head of the answer, without its last empty line.
    pub async fn head(&mut self) -> String {
        self.through(b"\r\n\r\n").await
    }

    /// What comes up to and including these bytes.
    pub async fn through(&mut self, end: &[u8]) -> String {
        timeout(PATIENCE, self.find(end))
            .await
            .expect("the bytes come in time")
    }

    async fn find(&mut self, end: &[u8]) -> String {
        loop {
            if let Some(at) = self
                .received
                .windows(end.len())
                .position(|window| window == end)
            {
                let rest = self.received.split_off(at + end.len());
                let taken = std::mem::replace(&mut self.received, rest);
                return String::from_utf8(taken).unwrap();
            }
            assert!(
                self.read().await > 0,
                "the connection ended early: {:?}",
                self.received.escape_ascii().to_string()
            );
        }
    }

    /// This many bytes.
    pub async fn exactly(&mut self, count: usize) -> String {
        while self.received.len() < count {
            assert!(self.read().await > 0, "the connection ended early");
        }
        let rest = self.received.split_off(count);
        String::from_utf8(std::mem::replace(&mut self.received, rest)).unwrap()
    }

    /// The data of the next chunk of an answer in chunks. It is empty at the end.
    pub async fn chunk(&mut self) -> String {
        let line = self.through(b"\r\n").await;
        let data = self
            .exactly(usize::from_str_radix(line.trim_end(), 16).expect("a length"))
            .await;
        assert_eq!(self.exactly(2).await, "\r\n");
        data
    }

    /// Everything up to the end of the connection.
    pub async fn to_end(&mut self) -> String {
        while self.read().await > 0 {}
        String::from_utf8(std::mem::take(&mut self.received)).unwrap()
    }

    async fn read(&mut self) -> usize {
        let mut buffer = [0; 4096];
        let read = timeout(PATIENCE, self.socket.read(&mut buffer))
            .await
            .expect("bytes come in time");
        // A server that was killed resets the connection, which is an end as well.
        let count = read.unwrap_or(0);
        self.received.extend_from_slice(&buffer[..count]);
        count
    }
}

/// Encodes credentials for the header `Authorization: Basic`.
pub fn basic(name: &str, password: &str) -> String {
    STANDARD.encode(format!("{name}:{password}"))
}
