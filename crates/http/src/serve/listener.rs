//! Accepting connections, and waiting for their end.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{sleep, timeout};

use super::{Handler, Limits, connection};

/// How long to wait after the system could not open another connection, mostly because the
/// process has as many files open as it may.
const ACCEPT_PAUSE: Duration = Duration::from_millis(500);

/// Tells when the server is to stop.
#[derive(Clone)]
pub(super) struct Draining(watch::Receiver<bool>);

impl Draining {
    pub(super) fn new(receiver: watch::Receiver<bool>) -> Self {
        Self(receiver)
    }

    /// Waits for the server to stop. A server that is gone has stopped.
    pub(super) async fn begun(&mut self) {
        let _ = self.0.wait_for(|begun| *begun).await;
    }
}

/// What the connections of one listener share.
pub(super) struct Endpoint {
    pub(super) handler: Handler,
    pub(super) tls: Option<Arc<ServerConfig>>,
    pub(super) limits: Limits,
}

impl Endpoint {
    /// Accepts until the server is to stop, and then waits for the connections to end.
    pub(super) async fn serve(self, listener: TcpListener, mut draining: Draining) {
        let limits = self.limits.clone();
        let endpoint = Arc::new(self);
        let room = Arc::new(Semaphore::new(limits.connections.clamp(1, Semaphore::MAX_PERMITS)));
        let mut connections = JoinSet::new();
        loop {
            let (tcp, addr, place) = tokio::select! {
                () = draining.begun() => break,
                Some(ended) = connections.join_next() => {
                    log_panic(ended);
                    continue;
                }
                accepted = accept(&listener, &room) => accepted,
            };
            // In a box of its own, so that what HTTP needs of memory goes when the connection has
            // become a stream.
            let exchange = Box::pin(connection::serve(Arc::clone(&endpoint), tcp, addr, draining.clone()));
            connections.spawn(async move {
                if let Some(stream) = exchange.await {
                    stream.await;
                }
                drop(place);
            });
        }
        drop(listener);
        let all_ended = async {
            while let Some(ended) = connections.join_next().await {
                log_panic(ended);
            }
        };
        if timeout(limits.drain, all_ended).await.is_err() {
            tracing::warn!(connections = connections.len(), "cut off connections that did not end");
            connections.shutdown().await;
        }
    }
}

/// The next connection, when there is room for it.
async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> (TcpStream, SocketAddr, OwnedSemaphorePermit) {
    let place = Arc::clone(room).acquire_owned().await.expect("the semaphore is never closed");
    loop {
        match listener.accept().await {
            Ok((tcp, addr)) => return (tcp, addr, place),
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
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

fn log_panic(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "a connection's task panicked");
    }
}
