#![doc = include_str!("../README.md")]
//!
//! An [`Outbound`] resolves the host once, refuses addresses that are not public ([`is_public`]),
//! and connects to exactly the addresses that were checked, with the host's own name for TLS. It
//! follows no redirects, takes no proxy from the environment, keeps no connections, and bounds the
//! time and the size of every answer. A look-up that takes longer than the request may cannot be
//! ended; what counts requests is kept for as long as that goes on ([`OutboundRequest::held`]).
//!
//! The crate knows no other crate of ours, and nothing of what is asked for.

mod error;
mod exchange;
mod guard;
mod target;
mod tls;

use std::any::Any;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use tokio_rustls::TlsConnector;

pub use crate::error::Error;
pub use crate::guard::is_public;
use crate::target::{Lookup, Target};
pub use crate::target::{check_url, is_private_host};

/// The bounds of every request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Whether addresses that are not public may be reached, too: for tests, and for networks whose
    /// users may reach everything in them anyway. Off by default.
    pub allow_private: bool,
    /// One address that may be reached although it is not public: that of an integration which
    /// runs beside the server. None by default.
    pub private_exception: Option<SocketAddr>,
    /// The longest time a request may take, from looking up the host to the last byte of the
    /// answer; 10 s by default.
    pub timeout: Duration,
    /// The most bytes that the body of an answer may have; 64 KiB by default.
    pub max_response: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            allow_private: false,
            private_exception: None,
            timeout: Duration::from_secs(10),
            max_response: 64 * 1024,
        }
    }
}

impl Config {
    /// Whether requests may go to this address.
    fn allows(&self, address: SocketAddr) -> bool {
        self.allow_private || is_public(address.ip()) || self.private_exception == Some(address)
    }
}

/// What is sent. It has no `Debug`, since its headers may hold secrets.
#[derive(Clone)]
pub struct OutboundRequest {
    /// The method.
    pub method: Method,
    /// The address as somebody wrote it, `http:` or `https:`, without a user name in it.
    pub url: String,
    /// The headers. `Host`, `Connection`, `Content-Length` and `Transfer-Encoding` are not for the
    /// caller: they are replaced.
    pub headers: HeaderMap,
    /// The body, which may be empty.
    pub body: Bytes,
    /// What is dropped when nothing goes on for this request any more, such as its turn among
    /// others. A look-up of its host may outlast the answer, and a caller who waits for none.
    pub held: Option<Arc<dyn Any + Send + Sync>>,
}

impl OutboundRequest {
    /// A `POST` without headers of its own.
    #[must_use]
    pub fn post(url: impl Into<String>, body: impl Into<Bytes>) -> Self {
        let (url, body) = (url.into(), body.into());
        Self {
            method: Method::POST,
            url,
            headers: HeaderMap::new(),
            body,
            held: None,
        }
    }
}

/// What came back, whatever its status is: a redirect is an answer like any other.
#[derive(Clone, Debug)]
pub struct Response {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, as it was sent.
    pub body: Bytes,
}

/// Sends requests. Clones share everything.
#[derive(Clone)]
pub struct Outbound {
    config: Config,
    tls: TlsConnector,
    lookup: Lookup,
}

impl Outbound {
    /// With these bounds, and the authorities that browsers trust.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self::with_tls(config, tls::public_web())
    }

    /// With a TLS configuration of one's own: other authorities, for one. Its ALPN is replaced.
    #[must_use]
    pub fn with_tls(config: Config, mut tls: rustls::ClientConfig) -> Self {
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        Self {
            config,
            tls: Arc::new(tls).into(),
            lookup: target::by_system(),
        }
    }

    /// Sends a request, once, and reads the whole answer.
    ///
    /// # Errors
    ///
    /// [`Error`]. After [`Error::Timeout`], [`Error::TooLarge`] and [`Error::Broken`] the other
    /// side may have done what it was asked.
    pub async fn send(&self, request: OutboundRequest) -> Result<Response, Error> {
        self.run(request, Some(self.config.max_response)).await
    }

    /// Sends a request, once, for its answer's status and headers. The body is not waited for, and
    /// is empty in what comes back.
    ///
    /// # Errors
    ///
    /// As [`Outbound::send`].
    pub async fn send_for_head(&self, request: OutboundRequest) -> Result<Response, Error> {
        self.run(request, None).await
    }

    /// Connects to the host of an address, with TLS where the address says so, and sends nothing.
    ///
    /// # Errors
    ///
    /// [`Error`]: that the host cannot be connected to.
    pub async fn connect(&self, url: &str) -> Result<(), Error> {
        let target = Target::parse(url)?;
        let connecting = async {
            let addresses = target.resolve(&self.config, &self.lookup, None).await?;
            let stream = target.connect(&addresses, self.config.timeout).await?;
            if let Some(name) = target.server_name()? {
                let connected = self.tls.connect(name, stream).await;
                connected.map_err(Error::connect)?;
            }
            Ok(())
        };
        tokio::time::timeout(self.config.timeout, connecting)
            .await
            .map_err(|_| Error::Timeout)?
    }

    async fn run(&self, request: OutboundRequest, max: Option<usize>) -> Result<Response, Error> {
        let target = Target::parse(&request.url)?;
        // Until the end of this, and of a look-up that lasts longer.
        let held = request.held.clone();
        let answer = async {
            let addresses = target
                .resolve(&self.config, &self.lookup, held.clone())
                .await?;
            let stream = target.connect(&addresses, self.config.timeout).await?;
            match target.server_name()? {
                Some(name) => {
                    let stream = self
                        .tls
                        .connect(name, stream)
                        .await
                        .map_err(Error::connect)?;
                    exchange::run(stream, &target, request, max).await
                }
                None => exchange::run(stream, &target, request, max).await,
            }
        };
        tokio::time::timeout(self.config.timeout, answer)
            .await
            .map_err(|_| Error::Timeout)?
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, mpsc};

    use super::*;

    #[tokio::test]
    async fn what_counts_a_request_is_kept_while_its_host_is_still_looked_up() {
        let (answer, answered) = mpsc::channel::<()>();
        let answered = Mutex::new(answered);
        let lookup: Lookup = Arc::new(move |_, _| {
            let _ = answered.lock().unwrap().recv();
            Ok(Vec::new())
        });
        let config = Config {
            timeout: Duration::from_millis(1),
            ..Config::default()
        };
        let outbound = Outbound {
            lookup,
            ..Outbound::new(config)
        };
        let (turn, ended) = tokio::sync::oneshot::channel::<()>();
        let turn = Arc::new(turn);
        let left = Arc::downgrade(&turn);
        let request = OutboundRequest {
            held: Some(turn),
            ..OutboundRequest::post("https://slow.example/", "")
        };
        assert!(matches!(
            outbound.send_for_head(request).await,
            Err(Error::Timeout)
        ));
        assert!(left.upgrade().is_some(), "the look-up goes on");
        drop(answer);
        assert!(ended.await.is_err(), "dropped, and not sent");
    }
}
