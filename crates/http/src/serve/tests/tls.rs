//! Encrypted connections.

use std::fs;
use std::path::{Path, PathBuf};

use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use tempfile::TempDir;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::*;

/// A certificate for `localhost` in a directory.
struct Files {
    directory: TempDir,
    der: CertificateDer<'static>,
}

impl Files {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        fs::write(directory.path().join("cert.pem"), cert.pem()).unwrap();
        fs::write(
            directory.path().join("key.pem"),
            signing_key.serialize_pem(),
        )
        .unwrap();
        Self {
            directory,
            der: cert.der().clone(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path
    }

    fn load(&self) -> Arc<ServerConfig> {
        load_tls(&self.path("cert.pem"), &self.path("key.pem")).unwrap()
    }

    async fn client(
        &self,
        server: &Running,
        protocols: &[&str],
    ) -> std::io::Result<Client<TlsStream<TcpStream>>> {
        let mut roots = RootCertStore::empty();
        roots.add(self.der.clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = protocols
            .iter()
            .map(|protocol| protocol.as_bytes().to_vec())
            .collect();
        let tcp = TcpStream::connect(server.addr).await.unwrap();
        let name = "localhost".try_into().unwrap();
        within(TlsConnector::from(Arc::new(config)).connect(name, tcp))
            .await
            .map(Client::new)
    }
}

/// Shows: 1.1
#[tokio::test]
async fn requests_and_streams_are_served_encrypted() {
    let files = Files::new();
    let server = Running::start_with(patient(), Some(files.load())).await;
    let mut remote = server.app.source();
    let mut client = files.client(&server, &["h2", "http/1.1"]).await.unwrap();
    assert_eq!(
        client.socket.get_ref().1.alpn_protocol(),
        Some(&b"http/1.1"[..])
    );
    client.send("GET /peer HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!(client.answer().await.1, "true");
    client.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n").await;
    client.until("\r\n\r\n").await;
    remote.say(vec![b'x'; 1 << 20]);
    assert_eq!(client.chunk().await.len(), 1 << 20);
    remote.say("last\r\n");
    remote.end();
    client.until("last\r\n\r\n0\r\n\r\n").await;
    let mut byte = [0];
    assert_eq!(
        within(client.socket.read(&mut byte)).await.unwrap(),
        0,
        "the connection was closed in order"
    );
}

#[tokio::test]
async fn an_encrypted_stream_ends_with_its_client_and_with_its_rights() {
    let files = Files::new();
    let server = Running::start_with(patient(), Some(files.load())).await;
    let remote = server.app.source();
    let mut client = files.client(&server, &[]).await.unwrap();
    client.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n").await;
    client.until("\r\n\r\n").await;
    drop(client);
    remote.gone().await;

    let mut remote = server.app.source();
    let mut client = files.client(&server, &[]).await.unwrap();
    client.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n").await;
    remote.say(vec![b'x'; 64 << 20]);
    client.until("\r\n4000000\r\nx").await;
    remote.revoke();
    remote.gone().await;
}

#[tokio::test]
async fn a_client_that_wants_another_protocol_is_refused() {
    let files = Files::new();
    let server = Running::start_with(patient(), Some(files.load())).await;
    assert!(files.client(&server, &["h2"]).await.is_err());
    assert!(files.client(&server, &["http/1.1"]).await.is_ok());
}

#[tokio::test]
async fn a_handshake_that_does_not_end_closes_the_connection() {
    let files = Files::new();
    let limits = Limits {
        handshake_time: SOON,
        ..patient()
    };
    let server = Running::start_with(limits, Some(files.load())).await;
    let mut client = server.client().await;
    assert_eq!(client.rest().await, "");
}

#[tokio::test]
async fn a_handshake_does_not_hold_up_the_end() {
    let files = Files::new();
    let limits = Limits {
        linger: SOON,
        ..patient()
    };
    let server = Running::start_with(limits, Some(files.load())).await;
    let _client = server.client().await;
    server.stop.send(()).unwrap();
    within(server.ended).await.unwrap();
}

#[test]
fn what_cannot_be_used_is_named() {
    let files = Files::new();
    let (certificate, key) = (files.path("cert.pem"), files.path("key.pem"));
    let other = files.write("other.pem", &KeyPair::generate().unwrap().serialize_pem());
    let empty = files.write("empty.pem", "");
    let broken = files.write("broken.pem", "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n");
    let missing = files.path("missing.pem");
    let refused =
        |certificate: &Path, key: &Path| load_tls(certificate, key).unwrap_err().to_string();
    assert!(refused(&missing, &key).contains("missing.pem"));
    assert!(refused(&key, &key).contains("key.pem holds no certificate"));
    assert!(refused(&certificate, &empty).contains("empty.pem holds no private key"));
    assert!(refused(&certificate, &broken).contains("broken.pem holds no private key"));
    assert!(!refused(&certificate, &broken).contains("c2VjcmV0"));
    let mismatch = refused(&certificate, &other);
    assert!(
        mismatch.contains("cert.pem") && mismatch.contains("other.pem"),
        "{mismatch}"
    );
}
