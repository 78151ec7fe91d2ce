//! One connection, from its first byte to its last, or until it is a stream.

use std::convert::Infallible;
use std::future::{pending, poll_fn};
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

use axum::body::Body;
use http::header::{CONNECTION, EXPECT};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::server::conn::http1::Builder;
use tokio::io::{AsyncWriteExt, copy, sink};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::connection_state::{ConnectionState, HangUpWatch, TrackedBody};
use super::draining::Draining;
use super::handoff::Handoff;
use super::listener_context::{BoxFuture, ListenerContext, ListenerService};
use super::phase_timer::PhaseTimer;
use super::request_body::{RequestBody, Rest};
use super::socket::{self, Socket};
use super::tracked_io::TrackedIo;
use super::unauthenticated::{Registration, UnauthenticatedConnection, UnauthenticatedHandle};
use crate::peer::Peer;

/// How the exchange of requests and answers came to its end.
enum End {
    /// hyper is done, whether well or not. It has flushed what it had to say.
    Done,
    /// The client kept us waiting for too long, or others need its place.
    Cut,
    /// The last answer is a stream.
    Stream(Handoff),
}

/// Serves requests until the connection ends, or has become the stream that is given back.
pub(super) async fn serve(
    context: Arc<ListenerContext>,
    tcp: TcpStream,
    addr: SocketAddr,
    registration: Option<Registration>,
    mut draining: Draining,
) -> Option<BoxFuture<()>> {
    socket::prepare(&tcp);
    let unknown = registration.as_ref().map(Registration::connection);
    let displaced =
        || poll_fn(|cx| unknown.map_or(Poll::Pending, |unknown| unknown.poll_closing(cx)));
    let socket = tokio::select! {
        socket = open(&context, tcp) => socket?,
        () = displaced() => return None,
        () = draining.begun_for(context.limits.linger) => return None,
    };
    let peer = Peer {
        addr,
        tls: matches!(socket, Socket::Tls(_)),
    };
    let (socket, end) = exchange(&context, socket, peer, unknown, draining.clone()).await;
    let socket = socket?;
    match end {
        End::Stream(handoff) => return Some(handoff.serve(socket)),
        End::Cut => {}
        End::Done => tokio::select! {
            _ = timeout(context.limits.linger, lingering_close(socket)) => {}
            () = displaced() => {}
            () = draining.begun() => {}
        },
    }
    None
}

/// The protocol of an authority that checks the server's name: the handshake is all that it wants
/// (RFC 8737, section 3).
const ACME_CHALLENGE: &[u8] = b"acme-tls/1";

/// Shakes hands where TLS is spoken.
async fn open(context: &ListenerContext, tcp: TcpStream) -> Option<Socket> {
    let Some(config) = &context.tls else {
        return Some(Socket::Plain(tcp));
    };
    let handshake = TlsAcceptor::from(Arc::clone(config)).accept(tcp);
    match timeout(context.limits.handshake_time, handshake).await {
        Ok(Ok(tls)) if tls.get_ref().1.alpn_protocol() == Some(ACME_CHALLENGE) => None,
        Ok(Ok(tls)) => Some(Socket::Tls(Box::new(tls))),
        Ok(Err(error)) => {
            tracing::debug!(%error, "a handshake failed");
            None
        }
        Err(_) => None,
    }
}

/// Has hyper serve the connection, and takes the socket back.
async fn exchange(
    context: &ListenerContext,
    socket: Socket,
    peer: Peer,
    unknown: Option<&Arc<UnauthenticatedConnection>>,
    mut draining: Draining,
) -> (Option<Socket>, End) {
    let state = ConnectionState::new(socket, unknown.cloned());
    let calls = Calls {
        handler: context.handler.clone(),
        peer,
        state: Arc::clone(&state),
        unknown: unknown.cloned(),
    };
    let io = TrackedIo::new(Arc::clone(&state));
    let mut connection = Builder::new()
        // hyper would give up every request whose client has closed its side, also those that
        // change something. `ConnectionState::watch_client` does that for those that only read.
        .half_close(true)
        .max_buf_size(context.limits.buffer_bytes())
        // hyper's own clock does not tell a head that comes slowly from a connection at rest.
        .header_read_timeout(None)
        .serve_connection(io, calls);
    let mut rest = draining.clone();
    let mut phase_timer = PhaseTimer::new(
        &context.limits,
        unknown.map(|unknown| &**unknown),
        state.status(),
    );
    let mut last_request = pin!(draining.begun());
    let mut stop = pin!(rest.begun_for(context.limits.drain_idle));
    let mut stopping = false;
    let end = poll_fn(|cx| {
        if !state.is_ending() && last_request.as_mut().poll(cx).is_ready() {
            state.set_ending();
        }
        if !stopping && stop.as_mut().poll(cx).is_ready() {
            stopping = true;
            Pin::new(&mut connection).graceful_shutdown();
        }
        if let Poll::Ready(result) = Pin::new(&mut connection).poll(cx) {
            if let Err(error) = result {
                tracing::debug!(%error, "a connection failed");
            }
            return Poll::Ready(End::Done);
        }
        if let Some(handoff) = state.take_handoff() {
            return Poll::Ready(End::Stream(handoff));
        }
        if unknown.is_some_and(|unknown| unknown.poll_closing(cx).is_ready() && !unknown.is_busy())
        {
            return Poll::Ready(End::Cut);
        }
        state.watch_client(cx);
        phase_timer.poll(state.status(), cx).map(|()| End::Cut)
    })
    .await;
    // What is being worked on ends with it.
    drop(connection);
    let socket = state.watched_socket().take();
    (socket, end)
}

/// Closes the connection such that the client sees the last answer. Were it closed while the
/// client is still sending, the system would tell it so at once, and what is on its way would be
/// thrown away.
async fn lingering_close(mut socket: Socket) {
    let _ = socket.shutdown().await;
    let _ = copy(&mut socket, &mut sink()).await;
}

/// What hyper calls with each request.
struct Calls {
    handler: ListenerService,
    peer: Peer,
    state: Arc<ConnectionState>,
    unknown: Option<Arc<UnauthenticatedConnection>>,
}

impl hyper::service::Service<Request<Incoming>> for Calls {
    type Response = Response<TrackedBody>;
    type Error = Infallible;
    type Future = BoxFuture<Result<Self::Response, Infallible>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let only_reads = matches!(*request.method(), Method::GET | Method::HEAD);
        self.state.request_came(only_reads);
        let unknown = self
            .unknown
            .as_ref()
            .filter(|unknown| unknown.is_unauthenticated())
            .cloned();
        let state = Arc::clone(&self.state);
        let mut rest = None;
        // A client that waits for `100 Continue` has sent no body that could be read away.
        let waits = request.headers().contains_key(EXPECT);
        let mut request = request.map(|body| match body.is_end_stream() {
            true => Body::empty(),
            false => {
                let rest = rest.insert(Rest::default()).clone();
                Body::new(RequestBody::new(
                    body,
                    rest,
                    Arc::clone(&state),
                    unknown.clone(),
                ))
            }
        });
        request.extensions_mut().insert(self.peer);
        if !only_reads {
            let watch = HangUpWatch(Arc::clone(&self.state));
            request.extensions_mut().insert(watch);
        }
        if let Some(unknown) = &unknown {
            unknown.set_busy(true);
            request
                .extensions_mut()
                .insert(UnauthenticatedHandle(Arc::clone(unknown)));
        }
        let (wants_body, version) = (request.method() != Method::HEAD, request.version());
        let answer = (self.handler)(request);
        Box::pin(async move {
            let mut response = answer.await;
            if let Some(rest) =
                rest.filter(|_| !waits && response.status() != StatusCode::REQUEST_TIMEOUT)
            {
                rest.drain(&state, unknown.as_deref()).await;
            }
            let displaced = unknown.is_some_and(|unknown| {
                unknown.answered();
                unknown.is_closing()
            });
            if wants_body && let Some(handoff) = Handoff::of(&response, version) {
                state.hand_off(handoff);
                // The connection is about to take the socket, and this future goes with hyper.
                return pending().await;
            }
            // The rest of a body is not waited for. hyper closes without announcing it.
            if displaced || state.is_unread() || state.is_ending() {
                response
                    .headers_mut()
                    .insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok(response.map(|body| TrackedBody::new(body, state)))
        })
    }
}
