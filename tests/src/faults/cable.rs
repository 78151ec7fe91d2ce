//! The cable between a server and its PostgreSQL, or between a browser and a server, which a test
//! may cut.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
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

/// What a request for a stream has in its head.
const STREAM: &[u8] = b"text/event-stream";

/// What stands before the event after which a stream goes on.
const PLACE: &[u8] = b"last-event-id: ";

/// Bytes carried at once.
const SPACE: usize = 16 * 1024;

/// What a cable does with bytes and connections.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Condition {
    Whole,
    /// Questions pass, and answers are lost.
    Deaf,
    /// Connections stay open, and no bytes pass.
    Mute,
    /// New connections are ended at once.
    Unplugged,
}

#[derive(Clone, Copy)]
struct State {
    condition: Condition,
    /// How often it was cut. A connection ends at the first cut after its beginning.
    cuts: usize,
    /// How often the streams fell silent. One carries nothing more after the first time since its
    /// beginning.
    silences: usize,
    /// How often connections were lost. One carries nothing after the first loss since its beginning.
    losses: usize,
}

/// Passes connections on to another address until they are cut. It ends with this value.
pub struct Cable {
    address: SocketAddr,
    states: watch::Sender<State>,
    /// Whether the next stream shall go on after an event that never was.
    misleads: Arc<AtomicBool>,
    /// What a request has in its head that ends its connection.
    refused: Arc<Mutex<Option<&'static str>>>,
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
            silences: 0,
            losses: 0,
        });
        let misleads = Arc::new(AtomicBool::new(false));
        let refused = Arc::new(Mutex::new(None));
        let carrier = Carrier {
            target: target.to_owned(),
            hold,
            states: states.subscribe(),
            misleads: Arc::clone(&misleads),
            refused: Arc::clone(&refused),
        };
        let task = tokio::spawn(carrier.accept(listener));
        Self {
            address,
            states,
            misleads,
            refused,
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

    /// Carries nothing from now on and keeps the connections, until the cable is cut, unplugged or
    /// plugged in.
    pub fn fall_silent(&self) {
        self.states
            .send_modify(|state| state.condition = Condition::Mute);
    }

    /// Carries new connections again. Those from before stay open, and nothing passes in them.
    pub fn carry_new_ones(&self) {
        self.states.send_modify(|state| {
            state.condition = Condition::Whole;
            state.losses += 1;
        });
    }

    /// Keeps the streams of events that are open, and carries nothing more in them. All else passes.
    pub fn silence_streams(&self) {
        self.states.send_modify(|state| state.silences += 1);
    }

    /// Has the next stream that goes on after an event ask for one of another history, as if the
    /// server had been given an older backup meanwhile.
    pub fn mislead(&self) {
        self.misleads.store(true, Ordering::Relaxed);
    }

    /// Ends the connections of requests with this in their head, or of none any more.
    pub fn refuse(&self, part: Option<&'static str>) {
        *self.refused.lock().unwrap() = part;
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

/// What each connection of a cable is carried by.
#[derive(Clone)]
struct Carrier {
    target: String,
    hold: Duration,
    states: watch::Receiver<State>,
    misleads: Arc<AtomicBool>,
    refused: Arc<Mutex<Option<&'static str>>>,
}

impl Carrier {
    async fn accept(mut self, listener: TcpListener) {
        let mut connections = JoinSet::new();
        while let Ok((near, _)) = listener.accept().await {
            let now = *self.states.borrow_and_update();
            let far = match now.condition {
                Condition::Unplugged => None,
                _ => TcpStream::connect(&self.target).await.ok(),
            };
            let Some(far) = far else {
                let _ = near.set_zero_linger();
                continue;
            };
            let carrier = self.clone();
            connections.spawn(async move {
                let (mut near, mut far) = (near, far);
                let mut states = carrier.states.clone();
                let cut = tokio::select! {
                    _ = states.wait_for(|state| state.cuts != now.cuts) => true,
                    _ = carrier.pass_on(&mut near, &mut far, now.losses) => false,
                };
                if cut {
                    // Both ends get to know at once, whatever is on its way.
                    let _ = (near.set_zero_linger(), far.set_zero_linger());
                }
            });
        }
    }

    /// Passes bytes on both ways until one end closes, as long as no more connections were lost.
    async fn pass_on(
        &self,
        near: &mut TcpStream,
        far: &mut TcpStream,
        losses: usize,
    ) -> io::Result<()> {
        let _ = (near.set_nodelay(true), far.set_nodelay(true));
        let ((mut from_near, mut to_near), (mut from_far, mut to_far)) =
            (near.split(), far.split());
        let committing = AtomicBool::new(false);
        // How often streams had fallen silent when this connection became one.
        let silences = AtomicUsize::new(usize::MAX);
        let there = async {
            let mut space = vec![0; SPACE];
            loop {
                let bytes = read(&mut from_near, &mut space).await?;
                let state = *self.states.borrow();
                if state.condition == Condition::Mute || state.losses != losses {
                    continue;
                }
                let refused = *self.refused.lock().unwrap();
                if refused.is_some_and(|part| has(bytes, part.as_bytes())) {
                    return Err(io::ErrorKind::ConnectionReset.into());
                }
                if has(bytes, HELD_UP) {
                    committing.store(true, Ordering::Relaxed);
                    sleep(self.hold).await;
                }
                if has(bytes, STREAM) {
                    silences.store(state.silences, Ordering::Relaxed);
                    self.mislead(bytes);
                }
                to_far.write_all(bytes).await?;
            }
        };
        let back = async {
            let mut space = vec![0; SPACE];
            loop {
                let bytes = read(&mut from_far, &mut space).await?;
                if committing.swap(false, Ordering::Relaxed) {
                    sleep(self.hold).await;
                }
                let state = *self.states.borrow();
                let is_silent =
                    silences.load(Ordering::Relaxed) < state.silences || state.losses != losses;
                if is_silent || matches!(state.condition, Condition::Deaf | Condition::Mute) {
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

    /// Changes the last letter of the event after which the stream goes on, if that shall be.
    fn mislead(&self, head: &mut [u8]) {
        let is_place = |window: &[u8]| window.eq_ignore_ascii_case(PLACE);
        let Some(at) = head.windows(PLACE.len()).position(is_place) else {
            return;
        };
        let end = head[at..].iter().position(|byte| *byte == b'\r');
        if let Some(end) = end.filter(|_| self.misleads.swap(false, Ordering::Relaxed)) {
            let last = &mut head[at + end - 1];
            *last = if *last == b'0' { b'1' } else { b'0' };
        }
    }
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

async fn read<'a>(from: &mut ReadHalf<'_>, space: &'a mut [u8]) -> io::Result<&'a mut [u8]> {
    match from.read(space).await? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        count => Ok(&mut space[..count]),
    }
}
