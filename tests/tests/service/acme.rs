//! Certificates by ACME, from an authority of another program (pebble). Without it these tests are
//! passed over, and say so; where `EDDYLINE_TEST_REQUIRE` names `pebble` they fail.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use eddyline_tests::{CertificateAuthority, Patience, Server, Setting, certificate_shown};
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use rustls::ClientConfig;

use crate::metrics::{scrape, value};

const NAME: &str = "chat.example.test";
const SECOND: &str = "talk.example.test";
/// An address of this machine on which no server of the tests listens.
const ELSEWHERE: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// A server whose names an authority can check.
struct Site {
    authority: CertificateAuthority,
    server: Server,
    address: SocketAddr,
}

impl Site {
    /// Starts both, with an authority to which each name is this address.
    async fn start(each_name_is: Ipv4Addr, names: &[&str]) -> Option<Self> {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        let authority = CertificateAuthority::start(address.port(), each_name_is).await?;
        let own = authority.own_certificate();
        let url = authority.url();
        let names = names.join(",");
        let options = [
            "--acme-domain",
            &names,
            "--acme-directory",
            &url,
            "--acme-ca",
            own.to_str().unwrap(),
            "--acme-contact",
            "admin@example.test",
            "--metrics-listen",
            "127.0.0.1:0",
        ];
        let setting = Setting {
            socket: Some(socket),
            ..Setting::default()
        };
        let server = Server::start_in(setting, &options);
        Some(Self {
            authority,
            server,
            address,
        })
    }

    /// Waits until a certificate of the authority is shown for a name, and gives it.
    async fn shown(&self, trusting: &ClientConfig, name: &str) -> Vec<u8> {
        let patience = Patience::until("the server shows a certificate of the authority");
        loop {
            match certificate_shown(trusting, self.address, name) {
                Ok(shown) => return shown,
                Err(_) => patience.goes_on().await,
            }
        }
    }

    /// The folder of the account and the certificate.
    fn folder(&self) -> PathBuf {
        let folders = fs::read_dir(self.server.data_directory().join("acme")).unwrap();
        let folders: Vec<_> = folders.map(|entry| entry.unwrap().path()).collect();
        assert_eq!(folders.len(), 1, "{folders:?}");
        folders[0].clone()
    }
}

fn on_runtime(test: impl Future<Output = Option<()>>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(test);
}

const EXPIRY: &str = "eddyline_tls_certificate_expiry_timestamp_seconds";
const FAILED: &str = "eddyline_acme_orders_failed_total";

#[test]
fn a_server_orders_its_certificate_and_keeps_it() {
    on_runtime(async {
        let Site {
            mut authority,
            mut server,
            address,
        } = ordered().await?;
        let trusting = authority.trusting();
        let shown = certificate_shown(&trusting, address, NAME).unwrap();
        // A client that speaks HTTP without naming the server is served as well.
        assert!(
            server.base_url().starts_with("https://"),
            "{}",
            server.base_url()
        );
        let metrics = scrape(&server).await;
        assert!(value(&metrics, EXPIRY) > 1.7e9, "{metrics}");
        assert_eq!(value(&metrics, FAILED), 0.0);
        // From its folder, at once and without the authority.
        authority.stop();
        server.restart();
        assert_eq!(certificate_shown(&trusting, address, NAME).unwrap(), shown);
        Some(())
    });
}

/// A server that has ordered its certificate.
async fn ordered() -> Option<Site> {
    let site = Site::start(Ipv4Addr::LOCALHOST, &[NAME]).await?;
    site.shown(&site.authority.trusting(), NAME).await;
    Some(site)
}

#[test]
fn only_the_owner_reads_account_and_key() {
    on_runtime(async {
        let site = ordered().await?;
        let folder = site.folder();
        let mode = |name: &str| {
            let path = folder.join(name);
            fs::metadata(path).unwrap().permissions().mode() & 0o777
        };
        assert_eq!(mode(""), 0o700);
        for name in ["account.json", "certificate.pem"] {
            assert_eq!(mode(name), 0o600, "{name}");
        }
        let kept = fs::read_to_string(folder.join("certificate.pem")).unwrap();
        let key = kept.lines().nth(1).unwrap();
        assert!(!site.server.log().contains(key), "the log has the key");
        Some(())
    });
}

#[test]
fn a_certificate_that_is_due_is_renewed() {
    on_runtime(async {
        let mut site = ordered().await?;
        let trusting = site.authority.trusting();
        site.server.kill9();
        let path = site.folder().join("certificate.pem");
        let account = fs::read(site.folder().join("account.json")).unwrap();
        fs::write(&path, expired()).unwrap();
        site.server.restart();
        site.shown(&trusting, NAME).await;
        let renewed = fs::read_to_string(&path).unwrap();
        assert_ne!(renewed, expired());
        let now = fs::read(site.folder().join("account.json")).unwrap();
        assert!(now == account, "another account was made");
        Some(())
    });
}

/// A key and its certificate for [`NAME`], of long ago.
fn expired() -> String {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new([NAME.to_owned()]).unwrap();
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2020, 4, 1);
    let certificate = params.self_signed(&key).unwrap();
    key.serialize_pem() + &certificate.pem()
}

#[test]
fn one_certificate_is_for_all_names() {
    on_runtime(async {
        let site = Site::start(Ipv4Addr::LOCALHOST, &[NAME, SECOND]).await?;
        let trusting = site.authority.trusting();
        let shown = site.shown(&trusting, NAME).await;
        assert_eq!(site.shown(&trusting, SECOND).await, shown);
        Some(())
    });
}

#[test]
fn a_refused_order_is_logged_and_counted_and_the_server_goes_on() {
    on_runtime(async {
        let site = Site::start(ELSEWHERE, &[NAME]).await?;
        let patience = Patience::until("the order fails");
        while value(&scrape(&site.server).await, FAILED) < 1.0 {
            patience.goes_on().await;
        }
        let log = site.server.log();
        let refusal = format!("the authority could not check {NAME}: ");
        assert!(log.contains(&refusal), "{log}");
        assert!(log.contains("minutes_to_next_try=1"), "{log}");
        let metrics = scrape(&site.server).await;
        assert_eq!(value(&metrics, EXPIRY), 0.0);
        let trusting = site.authority.trusting();
        assert!(certificate_shown(&trusting, site.address, NAME).is_err());
        Some(())
    });
}
