//! The cable between a server and its PostgreSQL, which a test may cut.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::ReadHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::sleep;

/// What is held up on its way, and the answer to it too, so that most cuts hit a commit: before it
/// has arrived, or when it has and nobody is told.
const HELD_UP: &[u8] = b"COMMIT";

/// Bytes carried at once.
const SPACE: usize = 16 * 1024;

/// Passes connections on to another address until they are cut. It ends with this value.
pub struct Cable {
    address: SocketAddr,
    cuts: watch::Sender<usize>,
    task: JoinHandle<()>,
}

impl Cable {
    /// A cable to this address (`host:port`) that holds up commits for so long, each way.
    pub async fn to(target: &str, hold: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, cuts) = (listener.local_addr().unwrap(), watch::Sender::new(0));
        let task = tokio::spawn(accept(listener, target.to_owned(), hold, cuts.subscribe()));
        Self {
            address,
            cuts,
            task,
        }
    }

    /// Where it begins, as `host:port`.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// Ends all connections as a broken network does. New ones are passed on.
    pub fn cut(&self) {
        self.cuts.send_modify(|count| *count += 1);
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(
    listener: TcpListener,
    target: String,
    hold: Duration,
    cuts: watch::Receiver<usize>,
) {
    let mut connections = JoinSet::new();
    while let Ok((near, _)) = listener.accept().await {
        let Ok(far) = TcpStream::connect(&target).await else {
            continue;
        };
        let mut cuts = cuts.clone();
        cuts.mark_unchanged();
        connections.spawn(async move {
            let (mut near, mut far) = (near, far);
            let cut = tokio::select! {
                _ = cuts.changed() => true,
                _ = pass_on(&mut near, &mut far, hold) => false,
            };
            if cut {
                // Both ends get to know at once, whatever is on its way.
                let _ = (near.set_zero_linger(), far.set_zero_linger());
            }
        });
    }
}

/// Passes bytes on both ways until one end closes.
async fn pass_on(near: &mut TcpStream, far: &mut TcpStream, hold: Duration) -> io::Result<()> {
    let _ = (near.set_nodelay(true), far.set_nodelay(true));
    let ((mut from_near, mut to_near), (mut from_far, mut to_far)) = (near.split(), far.split());
    let committing = AtomicBool::new(false);
    let there = async {
        let mut space = vec![0; SPACE];
        loop {
            let bytes = read(&mut from_near, &mut space).await?;
            if bytes.windows(HELD_UP.len()).any(|window| window == HELD_UP) {
                committing.store(true, Ordering::Relaxed);
                sleep(hold).await;
            }
            to_far.write_all(bytes).await?;
        }
    };
    let back = async {
        let mut space = vec![0; SPACE];
        loop {
            let bytes = read(&mut from_far, &mut space).await?;
            if committing.swap(false, Ordering::Relaxed) {
                sleep(hold).await;
            }
            to_near.write_all(bytes).await?;
        }
    };
    tokio::select! {
        ended = there => ended,
        ended = back => ended,
    }
}

async fn read<'a>(from: &mut ReadHalf<'_>, space: &'a mut [u8]) -> io::Result<&'a [u8]> {
    match from.read(space).await? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        count => Ok(&space[..count]),
    }
}
