//! An HTTP/1 server on top of hyper, with its limits.
//!
//! hyper parses requests and writes responses. This module enforces timeouts, memory and connection
//! limits, TLS, graceful shutdown, and the handoff of long-lived streams: no client can hold the
//! server up, and an idle stream costs little more than its socket.
//!
//! - [`Server`] and `listener`: accepting, the bound on connections, draining;
//! - `connection`: one connection from its first byte to its end; `watched_socket` and
//!   `tracked_io`: its socket; `phase_timer` and `connection_state`: what it is doing, and for how
//!   long it may;
//! - `unauthenticated`: connections without valid credentials, and which of them make room for
//!   others;
//! - [`stream`] in `handoff`: a response that goes on, and how its socket is taken from hyper;
//!   `streaming`: the small task that such a connection becomes; `with_deadline`: one whose end is
//!   known;
//! - [`read_body`]: the body of a request within bounds of size and time; [`BodyBudget`]: of memory
//!   for all unknown callers; `rate`: the least rate of what is sent and taken;
//! - [`Certificates`], [`load_tls`]: certificates; `socket`: plain or encrypted, and the options of
//!   TCP.
//!
//! Nothing here knows a route, or what is told on a stream.

mod body;
mod body_budget;
mod connection;
mod connection_state;
mod draining;
mod frame_source;
mod handoff;
mod limits;
mod listener;
mod listener_context;
mod phase_timer;
mod rate;
mod request_body;
mod socket;
mod streaming;
mod tls;
mod tracked_io;
mod unauthenticated;
mod watched_socket;
mod with_deadline;

#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::response::IntoResponse;
use futures_util::future::{join, join_all};
use http::Request;
use rustls::ServerConfig;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tower::{Service, ServiceExt};

use crate::TrustedProxies;

pub use crate::peer::Peer;
pub use body::{BodyError, BodyLimit, read_body, read_long_body};
pub use body_budget::{BodyBudget, BodyReservation};
pub use connection_state::HangUpWatch;
pub use frame_source::FrameSource;
pub use handoff::stream;
pub use limits::Limits;
pub use rate::{MinimumRate, RateMeter, TooSlow};
pub use socket::bind;
pub use tls::{Certificates, TlsError, load_tls};
pub use unauthenticated::mark_authenticated;
pub(crate) use with_deadline::WithDeadline;

use draining::Draining;
use listener_context::{ListenerContext, ListenerService};

/// Serves requests on one or more listeners until it is told to stop.
///
/// ```no_run
/// # use axum::Router;
/// # use eddyline_http::serve::{Limits, Server, bind};
/// # async fn example(api: Router, streams: Router) -> std::io::Result<()> {
/// let main = bind("127.0.0.1:8080".parse().unwrap())?;
/// let stream = bind("127.0.0.1:8081".parse().unwrap())?;
/// let server = Server::new(Limits::default()).listen(main, api).listen(stream, streams);
/// server.run(async { tokio::signal::ctrl_c().await.unwrap_or_default() }).await;
/// # Ok(())
/// # }
/// ```
pub struct Server {
    limits: Limits,
    tls: Option<Arc<ServerConfig>>,
    proxies: TrustedProxies,
    listeners: Vec<(TcpListener, ListenerService)>,
}

impl Server {
    /// A server without listeners.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            tls: None,
            proxies: TrustedProxies::default(),
            listeners: Vec::new(),
        }
    }

    /// Speaks TLS on all listeners. See [`load_tls`]; the configuration must offer no protocol but
    /// `http/1.1`, and `acme-tls/1` for an authority that checks the server's name (RFC 8737). Its
    /// connections end after the handshake.
    #[must_use]
    pub fn tls(mut self, config: Arc<ServerConfig>) -> Self {
        self.tls = Some(config);
        self
    }

    /// Names the proxies whose connections are shared by many clients: these need not show
    /// credentials to be treated as known ones.
    #[must_use]
    pub fn trust(mut self, proxies: TrustedProxies) -> Self {
        self.proxies = proxies;
        self
    }

    /// Answers what comes in by `listener` with `service`, which may be a `Router`. The extension
    /// [`Peer`] tells it where a request comes from.
    #[must_use]
    pub fn listen<S>(mut self, listener: TcpListener, service: S) -> Self
    where
        S: Service<Request<Body>, Error = Infallible> + Clone + Send + Sync + 'static,
        S::Response: IntoResponse,
        S::Future: Send + 'static,
    {
        let handler: ListenerService = Arc::new(move |request| {
            let answer = service.clone().oneshot(request);
            Box::pin(async move {
                match answer.await {
                    Ok(response) => response.into_response(),
                    Err(never) => match never {},
                }
            })
        });
        self.listeners.push((listener, handler));
        self
    }

    /// Serves until `shutdown` is ready, and then until everything begun has ended: no connection
    /// is accepted any more, requests that are being answered get their answer within
    /// [`Limits::drain`], what is left then is cut off. Streams go on for as long as their sources
    /// do, so end these first. When the future is dropped, everything is cut off at once.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let (begin, draining) = watch::channel(false);
        let draining = Draining::new(draining);
        let accepting = self.listeners.into_iter().map(|(listener, handler)| {
            let context = ListenerContext {
                handler,
                tls: self.tls.clone(),
                limits: self.limits.clone(),
                proxies: self.proxies.clone(),
            };
            listener::serve(context, listener, draining.clone())
        });
        let signal = async {
            shutdown.await;
            begin.send_replace(true);
        };
        join(join_all(accepting), signal).await;
    }
}
