//! Servers that answer every request with the same bytes, as good or bad as a test wants them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use rustls_pki_types::PrivateKeyDer;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::Mutex;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio_rustls::TlsAcceptor;

#[derive(Clone)]
pub(crate) enum Answer {
    /// These, and the end of the connection.
    Bytes(Vec<u8>),
    /// These, and then nothing.
    BytesAndSilence(Vec<u8>),
    /// Nothing at all.
    Silence,
    /// A beginning, and then the same until nobody wants it any more.
    Endless(&'static str, &'static [u8]),
}

impl Answer {
    pub(crate) fn and_silence(self) -> Self {
        match self {
            Self::Bytes(bytes) => Self::BytesAndSilence(bytes),
            other => other,
        }
    }
}

pub(crate) struct Server {
    pub(crate) port: u16,
    connections: Arc<AtomicUsize>,
    requests: Mutex<UnboundedReceiver<String>>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    pub(crate) async fn start(answer: Answer) -> Self {
        Self::listen(answer, None).await
    }

    /// With a certificate for this name, and what a client needs to trust it.
    pub(crate) async fn start_tls(name: &str, answer: Answer) -> (Self, ClientConfig) {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed([name.to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let server = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(cert.der().clone()).unwrap();
        let client = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        (
            Self::listen(answer, Some(Arc::new(server).into())).await,
            client,
        )
    }

    async fn listen(answer: Answer, tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicUsize::new(0));
        let (sender, requests) = mpsc::unbounded_channel();
        let counter = connections.clone();
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                counter.fetch_add(1, Ordering::Relaxed);
                let (answer, sender) = (answer.clone(), sender.clone());
                match &tls {
                    None => drop(tokio::spawn(serve(stream, answer, sender))),
                    // A client that does not trust us leaves; that is its right.
                    Some(tls) => {
                        if let Ok(stream) = tls.accept(stream).await {
                            tokio::spawn(serve(stream, answer, sender));
                        }
                    }
                }
            }
        });
        Self {
            port,
            connections,
            requests: Mutex::new(requests),
            task,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// The next request, as it came.
    pub(crate) async fn request(&self) -> String {
        self.requests.lock().await.recv().await.unwrap()
    }
}

async fn serve(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    answer: Answer,
    sender: UnboundedSender<String>,
) {
    let mut request = Vec::new();
    while !is_whole(&request) {
        match stream.read_buf(&mut request).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
    }
    let _ = sender.send(String::from_utf8_lossy(&request).into_owned());
    // The client may leave in the middle of it.
    let _ = match answer {
        Answer::Bytes(bytes) => match stream.write_all(&bytes).await {
            Ok(()) => stream.shutdown().await,
            failed => failed,
        },
        Answer::BytesAndSilence(bytes) => {
            let written = stream.write_all(&bytes).await;
            std::future::pending::<()>().await;
            written
        }
        Answer::Silence => std::future::pending().await,
        Answer::Endless(head, rest) => {
            let mut written = stream.write_all(head.as_bytes()).await;
            while written.is_ok() {
                written = stream.write_all(rest).await;
            }
            written
        }
    };
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_ascii_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    body.len() >= length.map_or(0, |length| length.parse().unwrap())
}

/// The address of a port where nobody listens.
pub(crate) async fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    format!("http://{}/", listener.local_addr().unwrap())
}
