//! A request whose body comes slowly: what happens between its head and its end is the test's.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::Page;

/// How long a test waits for bytes that must come.
const PATIENCE: Duration = Duration::from_secs(60);

/// A request whose head the server has read, and whose body it waits for.
pub struct SlowRequest {
    socket: TcpStream,
    rest: Vec<u8>,
}

impl SlowRequest {
    /// Sends the head of a request with these lines, and all of the body but its last byte. The
    /// server has looked at the credentials in the head when this answers: it has asked for the
    /// body.
    ///
    /// # Panics
    ///
    /// When the server answers without waiting for the body, or the body is empty.
    pub async fn open(host: &str, method: &str, path: &str, lines: &[String], body: &[u8]) -> Self {
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
        for line in lines {
            head += &format!("{line}\r\n");
        }
        head += &format!(
            "Expect: 100-continue\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let mut socket = TcpStream::connect(host).await.unwrap();
        socket.write_all(head.as_bytes()).await.unwrap();
        let mut asked = [0; 25];
        let read = timeout(PATIENCE, socket.read_exact(&mut asked))
            .await
            .expect("the server asks in time");
        assert!(
            read.is_ok() && asked == *b"HTTP/1.1 100 Continue\r\n\r\n",
            "{method} {path}: {}",
            {
                let mut rest = asked.to_vec();
                let _ = socket.read_to_end(&mut rest).await;
                String::from_utf8_lossy(&rest).into_owned()
            }
        );
        let (last, first) = body.split_last().expect("there is a body");
        socket.write_all(first).await.unwrap();
        Self {
            socket,
            rest: vec![*last],
        }
    }

    /// Sends the rest, and gives the answer.
    pub async fn finish(mut self) -> Page {
        self.socket.write_all(&self.rest).await.unwrap();
        let mut answer = Vec::new();
        let read = timeout(PATIENCE, self.socket.read_to_end(&mut answer)).await;
        read.expect("the answer comes in time").unwrap();
        Page::parse(&String::from_utf8_lossy(&answer))
    }
}
