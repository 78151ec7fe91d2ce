//! Accepting connections, and waiting for their end.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use eddyline_app::Limit;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{sleep, timeout};

use super::connection;
use super::draining::Draining;
use super::listener_context::ListenerContext;
use super::unauthenticated::{Eviction, Registration, UnauthenticatedConnections};

/// How long to wait after the system could not open another connection, mostly because the
/// process has as many files open as it may.
const ACCEPT_PAUSE: Duration = Duration::from_millis(500);

/// How many unknown connections a newcomer displaces when connections are scarce. More than one, so
/// that they become fewer.
const DISPLACED: usize = 2;

/// How long an acceptor waits for a place at least before it looks for another connection to
/// displace.
const MIN_EVICTION_INTERVAL: Duration = Duration::from_millis(10);

/// Accepts until the server is to stop, and then waits for the connections to end.
pub(super) async fn serve(context: ListenerContext, listener: TcpListener, mut draining: Draining) {
    let limits = context.limits.clone();
    let context = Arc::new(context);
    let mut acceptor = Acceptor::new(listener, Arc::clone(&context));
    let mut connections = JoinSet::new();
    loop {
        let Accepted {
            tcp,
            addr,
            place,
            registration,
        } = tokio::select! {
            () = draining.begun() => break,
            Some(ended) = connections.join_next() => {
                log_panic(ended);
                continue;
            }
            accepted = acceptor.next() => accepted,
        };
        // In a box of its own, so that what HTTP needs of memory goes when the connection has
        // become a stream.
        let served = connection::serve(
            Arc::clone(&context),
            tcp,
            addr,
            registration,
            draining.clone(),
        );
        let exchange = Box::pin(served);
        connections.spawn(async move {
            if let Some(stream) = exchange.await {
                stream.await;
            }
            drop(place);
        });
    }
    drop(acceptor);
    let all_ended = async {
        while let Some(ended) = connections.join_next().await {
            log_panic(ended);
        }
    };
    if timeout(limits.drain, all_ended).await.is_err() {
        tracing::warn!(
            connections = connections.len(),
            "cut off connections that did not end"
        );
        connections.shutdown().await;
    }
}

/// A connection that has a place among those of its listener.
struct Accepted {
    tcp: TcpStream,
    addr: SocketAddr,
    place: OwnedSemaphorePermit,
    /// `None` for a connection of a trusted proxy.
    registration: Option<Registration>,
}

/// Accepts connections, and finds places for them.
struct Acceptor {
    listener: TcpListener,
    context: Arc<ListenerContext>,
    places: Arc<Semaphore>,
    /// Connections from here on are scarce.
    scarce: usize,
    unknown: Arc<UnauthenticatedConnections>,
    /// Accepted, but without a place yet.
    newcomer: Option<(TcpStream, SocketAddr)>,
}

impl Acceptor {
    fn new(listener: TcpListener, context: Arc<ListenerContext>) -> Self {
        let limits = &context.limits;
        let connections = limits.connections.clamp(1, Semaphore::MAX_PERMITS);
        let places = Arc::new(Semaphore::new(connections));
        let unknown = UnauthenticatedConnections::new(
            limits.unknown_share(),
            limits.known_quota(),
            limits.unknown_safe_time,
        );
        Self {
            listener,
            places,
            scarce: connections / 8,
            unknown,
            newcomer: None,
            context,
        }
    }

    /// The next connection. Nothing is lost when the future is dropped.
    async fn next(&mut self) -> Accepted {
        loop {
            let addr = match &self.newcomer {
                Some((_, addr)) => *addr,
                None => {
                    let (tcp, addr) = accept(&self.listener).await;
                    self.newcomer = self.admits(addr).then_some((tcp, addr));
                    continue;
                }
            };
            let place = self.place().await;
            let Some((tcp, _)) = self.newcomer.take() else {
                continue;
            };
            let registration = (!self.trusts(addr)).then(|| self.unknown.add(addr.ip()));
            return Accepted {
                tcp,
                addr,
                place,
                registration,
            };
        }
    }

    /// Returns `true` if connections are scarce, and notes it for the unknown ones.
    fn is_scarce(&self) -> bool {
        let is_scarce = self.places.available_permits() <= self.scarce;
        self.unknown.set_scarce(is_scarce);
        is_scarce
    }

    /// Whether the network of a newcomer may have another connection.
    fn admits(&self, addr: SocketAddr) -> bool {
        self.is_scarce();
        let admitted = self.trusts(addr) || self.unknown.admit(addr.ip());
        if !admitted {
            tracing::debug!(%addr, "closed a connection of a network that has its share of unknown ones");
            Limit::Connections.log_refusal();
        }
        admitted
    }

    fn trusts(&self, addr: SocketAddr) -> bool {
        self.context.proxies.trusts(addr.ip().to_canonical())
    }

    /// Waits for a place. Unknown connections make room for a newcomer when places are scarce.
    async fn place(&self) -> OwnedSemaphorePermit {
        let mut eviction = Eviction::NoneLeft;
        for _ in 0..DISPLACED {
            if self.is_scarce() {
                eviction = self.unknown.evict();
            }
        }
        loop {
            let wait = match eviction {
                Eviction::Evicted => self.context.limits.unknown_safe_time,
                Eviction::NotBefore(time) => time,
                Eviction::NoneLeft => Duration::MAX,
            };
            let place = Arc::clone(&self.places).acquire_owned();
            if let Ok(place) = timeout(wait.max(MIN_EVICTION_INTERVAL), place).await {
                return place.expect("the semaphore is never closed");
            }
            eviction = self.unknown.evict();
        }
    }
}

/// The next connection that the system has.
#[expect(
    clippy::disallowed_methods,
    reason = "a pause; the system does not say when descriptors are free"
)]
async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) if is_of_the_connection(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "cannot accept connections");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Whether an error belongs to the connection that was to be accepted, and the next one is fine.
fn is_of_the_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
}

fn log_panic(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "a connection's task panicked");
    }
}
