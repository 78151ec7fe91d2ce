//! A collector of syslog messages on this machine.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use eddyline_client::Json;
use eddyline_tests::{Certificate, Patience};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// It takes messages until it is stopped.
pub(super) struct Collector {
    port: u16,
    tls: Option<Arc<ServerConfig>>,
    shared: Arc<Shared>,
    listening: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    /// Each connection with its messages.
    connections: Mutex<Vec<Vec<String>>>,
    open: Mutex<Vec<TcpStream>>,
    is_stopped: AtomicBool,
}

impl Collector {
    pub(super) fn start() -> Self {
        Self::start_on(0, None)
    }

    /// One with TLS, which shows this certificate.
    pub(super) fn with_tls(certificate: &Certificate) -> Self {
        Self::start_on(0, Some(server_config(certificate)))
    }

    /// One on a port where none is.
    pub(super) fn start_on(port: u16, tls: Option<Arc<ServerConfig>>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
        let mut collector = Self {
            port: listener.local_addr().unwrap().port(),
            tls,
            shared: Arc::default(),
            listening: None,
        };
        let (shared, tls) = (Arc::clone(&collector.shared), collector.tls.clone());
        let listening = thread::spawn(move || {
            for socket in listener.incoming() {
                if shared.is_stopped.load(Ordering::SeqCst) {
                    return;
                }
                let (shared, tls) = (Arc::clone(&shared), tls.clone());
                let socket = socket.unwrap();
                thread::spawn(move || shared.take(socket, tls));
            }
        });
        collector.listening = Some(listening);
        collector
    }

    /// Ends it with its connections, and starts another one on its port.
    pub(super) fn restarted(self) -> Self {
        let (port, tls) = (self.port, self.tls.clone());
        self.stop();
        Self::start_on(port, tls)
    }

    /// Ends it with its connections.
    pub(super) fn stop(self) {
        drop(self);
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// The messages of each connection that had any.
    pub(super) fn connections(&self) -> Vec<Vec<String>> {
        let connections = self.shared.connections.lock().unwrap();
        let used = connections.iter().filter(|messages| !messages.is_empty());
        used.cloned().collect()
    }

    /// All records that have come.
    pub(super) fn records(&self) -> Vec<Json> {
        let messages = self.connections().into_iter().flatten();
        messages.map(|message| record(&message)).collect()
    }

    /// Waits until these records have come.
    pub(super) async fn has(&self, ids: &BTreeSet<i64>) {
        let patience = Patience::until("the collector has the records");
        while !ids.is_subset(&self.records().iter().map(id).collect()) {
            patience.goes_on().await;
        }
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.shared.is_stopped.store(true, Ordering::SeqCst);
        // So that the thread looks, and closes the listener.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        let _ = self.listening.take().map(JoinHandle::join);
        for socket in self.shared.open.lock().unwrap().drain(..) {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }
}

impl Shared {
    fn take(&self, socket: TcpStream, tls: Option<Arc<ServerConfig>>) {
        self.open.lock().unwrap().push(socket.try_clone().unwrap());
        let number = {
            let mut connections = self.connections.lock().unwrap();
            connections.push(Vec::new());
            connections.len() - 1
        };
        // Either ends as the other side, or the test, ends it.
        let _ = match tls {
            None => self.read_all(socket, number),
            Some(config) => {
                let connection = ServerConnection::new(config).unwrap();
                self.read_all(StreamOwned::new(connection, socket), number)
            }
        };
    }

    fn read_all(&self, mut stream: impl Read, number: usize) -> io::Result<()> {
        loop {
            let message = read_frame(&mut stream)?;
            self.connections.lock().unwrap()[number].push(message);
        }
    }
}

/// A message with its length before it.
fn read_frame(stream: &mut impl Read) -> io::Result<String> {
    let mut length = 0;
    loop {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        match byte[0] {
            b' ' => break,
            digit @ b'0'..=b'9' => length = length * 10 + usize::from(digit - b'0'),
            other => panic!("{other} in the length of a message"),
        }
    }
    let mut message = vec![0; length];
    stream.read_exact(&mut message)?;
    Ok(String::from_utf8(message).unwrap())
}

/// The record in a message.
pub(super) fn record(message: &str) -> Json {
    let (_, json) = message.split_once("] ").expect("structured data");
    serde_json::from_str(json).unwrap()
}

pub(super) fn id(record: &Json) -> i64 {
    record["id"].as_i64().expect("the number of a record")
}

fn server_config(certificate: &Certificate) -> Arc<ServerConfig> {
    let chain = CertificateDer::from_pem_slice(certificate.certificate_pem().as_bytes()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(certificate.key_pem().as_bytes()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![chain], key);
    Arc::new(config.unwrap())
}
