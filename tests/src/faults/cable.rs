//! The cable between a server and its PostgreSQL, or between a browser and a server, which a test
//! may cut.

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

/// What a cable does with bytes and connections.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Condition {
    Whole,
    /// Questions pass, and answers are lost.
    Deaf,
    /// New connections are ended at once.
    Unplugged,
}

#[derive(Clone, Copy)]
struct State {
    condition: Condition,
    /// How often it was cut. A connection ends at the first cut after its beginning.
    cuts: usize,
}

/// Passes connections on to another address until they are cut. It ends with this value.
pub struct Cable {
    address: SocketAddr,
    states: watch::Sender<State>,
    task: JoinHandle<()>,
}

impl Cable {
    /// A cable to this address (`host:port`) that holds up commits for so long, each way.
    pub async fn to(target: &str, hold: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let states = watch::Sender::new(State {
            condition: Condition::Whole,
            cuts: 0,
        });
        let seen = states.subscribe();
        let task = tokio::spawn(accept(listener, target.to_owned(), hold, seen));
        Self {
            address,
            states,
            task,
        }
    }

    /// Where it begins, as `host:port`.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// Ends all connections as a broken network does. New ones are passed on.
    pub fn cut(&self) {
        self.end_connections(Condition::Whole);
    }

    /// Loses all answers from now on, until the cable is cut, unplugged or plugged in.
    pub fn lose_answers(&self) {
        self.states
            .send_modify(|state| state.condition = Condition::Deaf);
    }

    /// Ends all connections, and new ones too, until the cable is plugged in.
    pub fn unplug(&self) {
        self.end_connections(Condition::Unplugged);
    }

    /// Carries again. Connections from before are ended.
    pub fn plug_in(&self) {
        self.end_connections(Condition::Whole);
    }

    fn end_connections(&self, condition: Condition) {
        self.states.send_modify(|state| {
            state.condition = condition;
            state.cuts += 1;
        });
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
    states: watch::Receiver<State>,
) {
    let mut connections = JoinSet::new();
    while let Ok((near, _)) = listener.accept().await {
        let mut states = states.clone();
        let now = *states.borrow_and_update();
        let far = match now.condition {
            Condition::Unplugged => None,
            _ => TcpStream::connect(&target).await.ok(),
        };
        let Some(far) = far else {
            let _ = near.set_zero_linger();
            continue;
        };
        connections.spawn(async move {
            let (mut near, mut far) = (near, far);
            let seen = states.clone();
            let cut = tokio::select! {
                _ = states.wait_for(|state| state.cuts != now.cuts) => true,
                _ = pass_on(&mut near, &mut far, hold, seen) => false,
            };
            if cut {
                // Both ends get to know at once, whatever is on its way.
                let _ = (near.set_zero_linger(), far.set_zero_linger());
            }
        });
    }
}

/// Passes bytes on both ways until one end closes.
async fn pass_on(
    near: &mut TcpStream,
    far: &mut TcpStream,
    hold: Duration,
    states: watch::Receiver<State>,
) -> io::Result<()> {
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
            if states.borrow().condition == Condition::Deaf {
                continue;
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
