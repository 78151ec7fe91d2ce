//! An authority that issues certificates by ACME: pebble, that of Let's Encrypt for tests.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use serde_json::json;
use tempfile::TempDir;

use crate::certificate::{Certificate, client_config};
use crate::patience::Patience;
use crate::ports::free_address;

const PEBBLE: &str = "pebble";
const NAMES: &str = "pebble-challtestsrv";

/// A running authority, and the names that it can look up: each is one address.
pub struct CertificateAuthority {
    directory: TempDir,
    address: String,
    management: String,
    processes: Vec<Child>,
}

impl CertificateAuthority {
    /// Starts an authority that checks names on this port, and to which each name is this address of
    /// the machine. Without the program the test is passed over, unless `EDDYLINE_TEST_REQUIRE` names
    /// `pebble`.
    pub async fn start(checked_port: u16, each_name_is: Ipv4Addr) -> Option<Self> {
        if is_missing() {
            return None;
        }
        let directory = TempDir::new().unwrap();
        Certificate::new("127.0.0.1").write(directory.path());
        let [address, management, names, unused] = std::array::from_fn(|_| free_address());
        let path = |name: &str| directory.path().join(name);
        let configuration = json!({"pebble": {
            "listenAddress": address,
            "managementListenAddress": management,
            "certificate": path("cert.pem"),
            "privateKey": path("key.pem"),
            "httpPort": 1,
            "tlsPort": checked_port,
        }});
        fs::write(path("pebble.json"), configuration.to_string()).unwrap();
        let log = File::create(path("log")).unwrap();
        let spawn = |command: &mut Command| {
            command
                .stdin(Stdio::null())
                .stdout(log.try_clone().unwrap())
                .stderr(log.try_clone().unwrap())
                .spawn()
                .unwrap()
        };
        let off = ["http01", "https01", "tlsalpn01"].map(|of| format!("-{of}="));
        let resolver = spawn(
            Command::new(NAMES)
                .args(["-dns01", &names, "-defaultIPv6", ""])
                .args(["-defaultIPv4", &each_name_is.to_string()])
                // With none it would take port 80.
                .args(["-management", &unused])
                .args(off),
        );
        let pebble = spawn(
            Command::new(PEBBLE)
                .args(["-dnsserver", &names, "-config"])
                .arg(path("pebble.json"))
                // It would wait for up to 15 s before each check.
                .env("PEBBLE_VA_NOSLEEP", "1"),
        );
        let authority = Self {
            directory,
            address,
            management,
            processes: vec![resolver, pebble],
        };
        let patience = Patience::until("pebble listens");
        while TcpStream::connect(&authority.management).is_err() {
            patience.goes_on().await;
        }
        Some(authority)
    }

    /// Ends it. What it has issued stays good.
    pub fn stop(&mut self) {
        for process in &mut self.processes {
            // It may have ended by itself.
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// URL of the directory.
    pub fn url(&self) -> String {
        format!("https://{}/dir", self.address)
    }

    /// A PEM file of what the directory's own certificate is from.
    pub fn own_certificate(&self) -> PathBuf {
        self.directory.path().join("cert.pem")
    }

    /// A configuration of a client that trusts what this authority issues, and nothing else.
    pub fn trusting(&self) -> ClientConfig {
        let output = Command::new("curl")
            .args(["--silent", "--fail", "--cacert"])
            .arg(self.own_certificate())
            .arg(format!("https://{}/roots/0", self.management))
            .output()
            .unwrap();
        let mut roots = RootCertStore::empty();
        roots
            .add(CertificateDer::from_pem_slice(&output.stdout).unwrap())
            .unwrap();
        client_config(roots)
    }
}

impl Drop for CertificateAuthority {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = fs::read_to_string(self.directory.path().join("log"));
            let mut error = io::stderr().lock();
            let _ = writeln!(error, "--- pebble ---\n{}", log.unwrap_or_default());
        }
        self.stop();
    }
}

/// The certificate that a server shows for a name, if the client takes it.
///
/// # Errors
///
/// When the server is not there, shows none, or shows one that the client does not trust.
pub fn certificate_shown(
    trusting: &ClientConfig,
    server: SocketAddr,
    name: &str,
) -> io::Result<Vec<u8>> {
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let mut connection = ClientConnection::new(Arc::new(trusting.clone()), name).unwrap();
    let mut socket = TcpStream::connect(server)?;
    while connection.is_handshaking() {
        connection.complete_io(&mut socket)?;
    }
    let chain = connection.peer_certificates().unwrap();
    Ok(chain[0].to_vec())
}

fn is_missing() -> bool {
    let in_path = |program: &str| {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&folders).any(|folder: PathBuf| Path::is_file(&folder.join(program)))
    };
    let is_missing = !in_path(PEBBLE) || !in_path(NAMES);
    if is_missing {
        crate::faults::passed_over(PEBBLE, "pebble is not installed");
    }
    is_missing
}
