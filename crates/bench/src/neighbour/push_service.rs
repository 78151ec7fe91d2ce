//! A push service for browsers (RFC 8030) that answers at once, or late.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::sleep;

use crate::Result;
use crate::session::Session;

/// The delay of a late answer: less than the ten seconds after which clients commonly give up.
const LATE: Duration = Duration::from_secs(9);
/// The public key of all browsers, on the curve P-256. No message is decrypted.
const BROWSER_KEY: &str =
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";

/// The time at which a push service answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answers {
    AtOnce,
    Late,
}

/// A push service that runs until the runtime it was started in ends.
pub(super) struct PushService {
    address: SocketAddr,
    /// Receives one value for each message that the push service has answered.
    pub(super) messages: mpsc::UnboundedReceiver<()>,
}

impl PushService {
    /// Starts a push service on a port of its own.
    pub(super) async fn start(answers: Answers) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let (arrived, messages) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let arrived = arrived.clone();
                let service = service_fn(move |request| take(request, answers, arrived.clone()));
                let connection = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(socket), service);
                tokio::spawn(connection);
            }
        });
        Ok(Self { address, messages })
    }

    /// Subscribes the browser of a session.
    pub(super) async fn subscribe(&self, api: SocketAddr, session: &Session) -> Result<()> {
        let csrf = &session.csrf;
        let endpoint = format!("http%3A%2F%2F{}%2F{}", self.address, &csrf[..16]);
        let auth = BASE64_URL_SAFE_NO_PAD.encode(&csrf.as_bytes()[..16]);
        let fields = format!("do=subscribe&endpoint={endpoint}&p256dh={BROWSER_KEY}&auth={auth}");
        let mut connection = crate::connection::Connection::open(api).await?;
        let answer = connection
            .exchange(&session.form("/app/-/push", &fields))
            .await?;
        match answer.status {
            204 => Ok(()),
            status => Err(format!("a subscription was answered {status}").into()),
        }
    }
}

async fn take(
    request: Request<Incoming>,
    answers: Answers,
    arrived: mpsc::UnboundedSender<()>,
) -> std::result::Result<Response<Empty<Bytes>>, Infallible> {
    // A sender that gave up has been answered as well as one that has not.
    let _ = request.into_body().collect().await;
    if answers == Answers::Late {
        sleep(LATE).await;
    }
    let _ = arrived.send(());
    let mut response = Response::new(Empty::new());
    *response.status_mut() = StatusCode::CREATED;
    Ok(response)
}
