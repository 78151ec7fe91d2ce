//! The client: addresses, credentials and the pool of connections.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_rustls::{ConfigBuilderExt, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::time::timeout;

use crate::credentials::Credentials;
use crate::error::Error;
use crate::inspect::{Exchange, Inspector, Sent};
use crate::oauth::OAuthSession;

type Pool = hyper_util::client::legacy::Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// A client of one server, speaking as one caller. Cloning is cheap and shares the connections.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
    credentials: Credentials,
}

struct Shared {
    base_url: String,
    stream_url: String,
    timeout: Duration,
    inspector: Option<Inspector>,
    pool: Pool,
}

impl Client {
    /// Starts a client for the server whose REST address is `base_url`, such as
    /// `https://api.example.org`.
    pub fn builder(base_url: impl Into<String>) -> ClientBuilder {
        ClientBuilder {
            base_url: base_url.into(),
            stream_url: None,
            credentials: Credentials::None,
            timeout: Duration::from_secs(30),
            inspector: None,
            tls: None,
        }
    }

    /// The same server and the same connections, as another caller.
    #[must_use]
    pub fn with_credentials(&self, credentials: Credentials) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            credentials,
        }
    }

    /// The REST address, without a slash at the end.
    pub fn base_url(&self) -> &str {
        &self.shared.base_url
    }

    /// The streaming address, without a slash at the end.
    pub fn stream_url(&self) -> &str {
        &self.shared.stream_url
    }

    pub(crate) fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// Gives up when this takes longer than the client's time limit.
    pub(crate) async fn in_time<T>(
        &self,
        answer: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let limit = self.shared.timeout;
        timeout(limit, answer)
            .await
            .unwrap_or(Err(Error::Timeout(limit)))
    }

    pub(crate) async fn send(&self, request: Request<Bytes>) -> Result<Response<Incoming>, Error> {
        let sent = self
            .shared
            .inspector
            .is_some()
            .then(|| Sent(request.clone()));
        let mut answer = self
            .shared
            .pool
            .request(request.map(Full::new))
            .await
            .map_err(Error::Transport)?;
        if let Some(sent) = sent {
            answer.extensions_mut().insert(sent);
        }
        Ok(answer)
    }

    /// Shows the inspector, if there is one, a whole answer.
    pub(crate) fn inspect(&self, head: &http::response::Parts, body: &Bytes) {
        if let (Some(inspector), Some(Sent(request))) =
            (&self.shared.inspector, head.extensions.get())
        {
            inspector(&Exchange {
                request,
                status: head.status,
                headers: &head.headers,
                body,
            });
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("base_url", &self.shared.base_url)
            .field("credentials", &self.credentials)
            .finish_non_exhaustive()
    }
}

/// Settings of a [`Client`] to be.
#[must_use]
pub struct ClientBuilder {
    base_url: String,
    stream_url: Option<String>,
    credentials: Credentials,
    timeout: Duration,
    inspector: Option<Inspector>,
    tls: Option<rustls::ClientConfig>,
}

impl ClientBuilder {
    /// Sets the streaming address. The default is `/stream` under the REST address, which is also
    /// the default of the server.
    pub fn stream_url(mut self, url: impl Into<String>) -> Self {
        self.stream_url = Some(url.into());
        self
    }

    /// Sets the caller.
    pub fn credentials(mut self, credentials: Credentials) -> Self {
        self.credentials = credentials;
        self
    }

    /// Speaks as the user with this e-mail address and password.
    pub fn basic(self, email: impl Into<String>, password: impl Into<String>) -> Self {
        self.credentials(Credentials::Basic {
            email: email.into(),
            password: password.into(),
        })
    }

    /// Speaks as the user to whom this API token belongs.
    pub fn api_token(self, token: impl Into<String>) -> Self {
        self.credentials(Credentials::ApiToken(token.into()))
    }

    /// Speaks as the flow or source to which this token belongs.
    pub fn flow_token(self, token: impl Into<String>) -> Self {
        self.credentials(Credentials::FlowToken(token.into()))
    }

    /// Speaks with this OAuth access token.
    pub fn bearer(self, token: impl Into<String>) -> Self {
        self.credentials(Credentials::Bearer(token.into()))
    }

    /// Speaks with these OAuth tokens, and renews them when they expire.
    pub fn oauth(self, session: OAuthSession) -> Self {
        self.credentials(Credentials::OAuth(session))
    }

    /// Limits the time from sending a request to the end of its answer; 30 s unless set. For a
    /// stream it limits the time to the answer's head.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    /// Calls this with every answer that was read as a whole, before its caller gets it: to log, to
    /// count, to check. Streams are left out.
    pub fn inspect(mut self, look: impl Fn(&Exchange<'_>) + Send + Sync + 'static) -> Self {
        self.inspector = Some(Arc::new(look));
        self
    }

    /// Uses this TLS configuration, for instance one that trusts a private authority. Without it
    /// the certificates trusted by Mozilla are trusted.
    pub fn tls(mut self, config: rustls::ClientConfig) -> Self {
        self.tls = Some(config);
        self
    }

    /// Makes the client. No connection is opened yet.
    ///
    /// # Errors
    /// [`Error::Request`] when an address is not a URL.
    pub fn build(self) -> Result<Client, Error> {
        let base_url = checked(&self.base_url)?;
        let stream_url = match &self.stream_url {
            Some(url) => checked(url)?,
            None => format!("{base_url}/stream"),
        };
        let tls = match self.tls {
            Some(config) => config,
            None => public_web().map_err(Error::Tls)?,
        };
        let shared = Shared {
            base_url,
            stream_url,
            timeout: self.timeout,
            inspector: self.inspector,
            pool: pool(tls),
        };
        Ok(Client {
            shared: Arc::new(shared),
            credentials: self.credentials,
        })
    }
}

fn pool(tls: rustls::ClientConfig) -> Pool {
    let mut tcp = HttpConnector::new();
    // The connector must let https through to the TLS layer above it.
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    let connector = HttpsConnectorBuilder::new()
        .with_tls_config(tls)
        .https_or_http()
        .enable_http1()
        .wrap_connector(tcp);
    hyper_util::client::legacy::Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .build(connector)
}

fn public_web() -> Result<rustls::ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    Ok(rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_webpki_roots()
        .with_no_client_auth())
}

/// The address without its last slashes, once it is known to be one.
fn checked(url: &str) -> Result<String, Error> {
    let parts = http::Uri::try_from(url)
        .map_err(|e| Error::Request(e.into()))?
        .into_parts();
    if parts.scheme.is_none() {
        // Building from parts tells in http's own words what is missing.
        http::Uri::builder()
            .path_and_query("/")
            .authority(url)
            .build()
            .map_err(Error::Request)?;
    }
    Ok(url.trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_needs_its_scheme() {
        assert!(Client::builder("localhost:8080").build().is_err());
        assert!(Client::builder("not an address").build().is_err());
        let client = Client::builder("http://localhost:8080/").build().unwrap();
        assert_eq!(client.base_url(), "http://localhost:8080");
        assert_eq!(client.stream_url(), "http://localhost:8080/stream");
    }
}
