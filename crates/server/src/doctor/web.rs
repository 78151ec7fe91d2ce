//! Requests to the server by the addresses that clients use, through whatever proxies are there.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use http::header::{CONNECTION, HOST, USER_AGENT};
use http::{Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Empty};
use hyper::Response;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::authorities::client_config;

/// The most bytes of an answer that are read.
const MOST_BYTES: usize = 256 * 1024;

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum WebFailure {
    /// Nobody listens at the address, or its name is not known.
    Connect(String),
    /// The certificate is not good for the address, or there is no TLS.
    Tls(String),
    /// What came is no HTTP, or broke off.
    Broken(String),
}

impl fmt::Display for WebFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(why) => write!(f, "no connection: {why}"),
            Self::Tls(why) => write!(f, "no TLS: {why}"),
            Self::Broken(why) => write!(f, "no answer: {why}"),
        }
    }
}

impl WebFailure {
    /// What to do, where the address is that of `option`.
    pub(super) fn advice(&self, option: &str) -> String {
        match self {
            Self::Connect(_) => format!(
                "Start the server, and the proxy in front of it; make sure that {option} names the address at which they are reached."
            ),
            Self::Tls(_) => format!(
                "Install a certificate that is valid for the host in {option}, with the certificates that lead to its authority."
            ),
            Self::Broken(_) => {
                format!("Look into the log of the proxy or of the server at {option}.")
            }
        }
    }
}

/// Asks for an address, without credentials. The body comes as it arrives.
pub(super) async fn get(url: &str) -> Result<Response<Incoming>, WebFailure> {
    let uri: Uri = url
        .parse()
        .map_err(|error| WebFailure::Connect(format!("{url}: {error}")))?;
    let host = uri.host().unwrap_or_default();
    let is_tls = uri.scheme_str() == Some("https");
    let port = uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
    let bare = host.trim_matches(['[', ']']);
    let stream = TcpStream::connect((bare, port))
        .await
        .map_err(|error| WebFailure::Connect(format!("{host}:{port}: {error}")))?;
    if !is_tls {
        return ask(stream, &uri).await;
    }
    let failed = |error: &dyn fmt::Display| WebFailure::Tls(format!("{host}:{port}: {error}"));
    let name = ServerName::try_from(bare.to_owned()).map_err(|error| failed(&error))?;
    let connector = TlsConnector::from(Arc::new(
        client_config(None).map_err(|error| failed(&error))?,
    ));
    let stream = connector.connect(name, stream).await;
    ask(stream.map_err(|error| failed(&error))?, &uri).await
}

async fn ask<S>(stream: S, uri: &Uri) -> Result<Response<Incoming>, WebFailure>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| broken(&error))?;
    #[expect(
        clippy::disallowed_methods,
        reason = "the connection ends with its answer, and with the command"
    )]
    tokio::spawn(connection);
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    let request = Request::get(path)
        .header(HOST, authority)
        .header(USER_AGENT, concat!("eddyline/", env!("CARGO_PKG_VERSION")))
        .header(CONNECTION, "close")
        .body(Empty::<Bytes>::new())
        .map_err(|error| WebFailure::Broken(error.to_string()))?;
    sender
        .send_request(request)
        .await
        .map_err(|error| broken(&error))
}

/// The status of an answer with its body, of which so much is read as a doctor looks at.
pub(super) async fn read(answer: Response<Incoming>) -> Result<(StatusCode, String), WebFailure> {
    let status = answer.status();
    let mut body = answer.into_body();
    let mut read = Vec::new();
    while let Some(bytes) = next(&mut body).await? {
        read.extend_from_slice(&bytes);
        if read.len() > MOST_BYTES {
            break;
        }
    }
    Ok((status, String::from_utf8_lossy(&read).into_owned()))
}

/// The next bytes of a body; `None` at its end.
pub(super) async fn next(body: &mut Incoming) -> Result<Option<Bytes>, WebFailure> {
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame.map_err(|error| broken(&error))?.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

fn broken(error: &(dyn Error + 'static)) -> WebFailure {
    WebFailure::Broken(crate::output::Causes(error).to_string())
}
