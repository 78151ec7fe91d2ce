//! One keep-alive connection that asks and waits for the answer.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Poll, ready};

use tokio::io::{AsyncRead as _, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;

use crate::response::{Response, Scanner};
use crate::{BenchError, Result};

/// A connection.
pub(crate) struct Connection {
    stream: TcpStream,
    scanner: Scanner,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            scanner: Scanner::default(),
        })
    }

    /// The socket, for what is not request and response.
    pub(crate) fn into_socket(self) -> TcpStream {
        self.stream
    }

    /// Sends a request and waits until its response has come whole.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> Result<Response> {
        self.stream.write_all(request).await?;
        loop {
            let scanner = &mut self.scanner;
            let response = read(&mut self.stream, |bytes| match bytes {
                [] => Err("the connection was closed".into()),
                bytes => scanner.feed(bytes).map_err(BenchError::from),
            });
            match response.await?? {
                // Nobody should have to open another one.
                Some(Response { closes: true, .. }) => {
                    return Err("the connection was given up".into());
                }
                Some(response) => return Ok(response),
                None => {}
            }
        }
    }
}

thread_local! {
    /// All sockets are read into this, since each is looked at before the next is read.
    static SCRATCH: RefCell<Vec<u8>> = RefCell::new(vec![0; 256 * 1024]);
}

/// Waits for bytes and lets somebody look at them. No bytes mean that the connection is at its end.
pub(crate) async fn read<R>(
    stream: &mut TcpStream,
    mut look: impl FnMut(&[u8]) -> R,
) -> io::Result<R> {
    poll_fn(|cx| {
        SCRATCH.with_borrow_mut(|scratch| {
            let mut buffer = ReadBuf::new(scratch);
            // Unlike `try_read`, this knows from a short read that there is no more, and saves a
            // call.
            ready!(Pin::new(&mut *stream).poll_read(cx, &mut buffer))?;
            Poll::Ready(Ok(look(buffer.filled())))
        })
    })
    .await
}
