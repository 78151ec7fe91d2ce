//! `eddyline healthcheck`: asks a server whether it is ready, for containers that hold no other
//! program.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use http::Uri;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::CommandError;
use crate::config::Settings;

/// `/readyz` takes some seconds while the database cannot be reached.
const PATIENCE: Duration = Duration::from_secs(10);
/// What is asked for where the address has no path.
const READY: &str = "/readyz";

/// Asks the server at an address, or the one of this configuration.
pub(crate) async fn run(settings: &Settings, url: Option<Uri>) -> Result<(), CommandError> {
    let question = match url {
        Some(url) => Question::of(&url)?,
        None => Question::configured(settings.listen, settings.speaks_tls()),
    };
    let asked = tokio::time::timeout(PATIENCE, question.ask()).await;
    match asked.map_err(|_| format!("{} does not answer", question.authority))?? {
        200 => Ok(()),
        status => Err(format!("{} answers {status}", question.authority).into()),
    }
}

/// Where a server is, and what it is asked for.
#[derive(Debug, PartialEq, Eq)]
struct Question {
    tls: bool,
    authority: String,
    host: String,
    path: String,
}

impl Question {
    fn of(url: &Uri) -> Result<Self, CommandError> {
        let tls = match url.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(format!("{url}: an address begins with http:// or https://").into()),
        };
        let host = url.host().unwrap_or_default();
        let port = url.port_u16().unwrap_or(if tls { 443 } else { 80 });
        Ok(Self {
            tls,
            authority: format!("{host}:{port}"),
            host: host.trim_matches(['[', ']']).to_owned(),
            path: match url.path() {
                "" | "/" => READY.to_owned(),
                path => path.to_owned(),
            },
        })
    }

    /// A server that listens everywhere is asked on loopback.
    fn configured(listen: SocketAddr, tls: bool) -> Self {
        let ip = match listen.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        Self {
            tls,
            authority: SocketAddr::new(ip, listen.port()).to_string(),
            host: ip.to_string(),
            path: READY.to_owned(),
        }
    }

    /// The status of the answer.
    async fn ask(&self) -> Result<u16, CommandError> {
        let stream = TcpStream::connect(&self.authority)
            .await
            .map_err(|error| format!("cannot connect to {}: {error}", self.authority))?;
        if !self.tls {
            return self.ask_on(stream).await;
        }
        let name = ServerName::try_from(self.host.clone())?;
        let connector = TlsConnector::from(Arc::new(unverified()?));
        self.ask_on(connector.connect(name, stream).await?).await
    }

    async fn ask_on(
        &self,
        mut stream: impl AsyncRead + AsyncWrite + Unpin,
    ) -> Result<u16, CommandError> {
        let (path, host) = (&self.path, &self.authority);
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        stream.flush().await?;
        let mut start = [0; "HTTP/1.1 200".len()];
        stream.read_exact(&mut start).await?;
        let status = std::str::from_utf8(&start)
            .ok()
            .and_then(|start| start.strip_prefix("HTTP/1.1 ")?.parse().ok());
        Ok(status.ok_or_else(|| format!("{host} does not speak HTTP"))?)
    }
}

/// TLS with any certificate: that of a server is for its public name, not for loopback, and the
/// request has nothing secret.
fn unverified() -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
        .with_no_client_auth();
    Ok(config)
}

#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str) -> Result<Question, CommandError> {
        Question::of(&url.parse().unwrap())
    }

    #[test]
    fn an_address_without_a_path_is_asked_whether_it_is_ready() {
        let question = of("http://db.internal").unwrap();
        assert_eq!(
            (question.authority, question.path),
            ("db.internal:80".into(), READY.into())
        );
        let question = of("https://[::1]:8443/healthz").unwrap();
        assert_eq!(
            question,
            Question {
                tls: true,
                authority: "[::1]:8443".into(),
                host: "::1".into(),
                path: "/healthz".into(),
            }
        );
        assert!(of("127.0.0.1:8080").is_err());
        assert!(of("ftp://127.0.0.1").is_err());
    }

    #[test]
    fn a_server_that_listens_everywhere_is_asked_on_loopback() {
        for (listen, authority) in [
            ("0.0.0.0:80", "127.0.0.1:80"),
            ("[::]:80", "[::1]:80"),
            ("10.0.0.5:8080", "10.0.0.5:8080"),
        ] {
            let question = Question::configured(listen.parse().unwrap(), false);
            assert_eq!(question.authority, authority);
        }
    }
}
