//! TLS to PostgreSQL with a password: which certificates are taken, and that everything goes that
//! way.

use std::path::Path;
use std::time::Duration;

use eddyline_model::messages::MessageQuery;
use eddyline_storage::{Error, Store};
use eddyline_testing::postgres::{Cluster, Database};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use tempfile::TempDir;

use crate::home::open_at;
use crate::world::{World, chat};

/// A server with a certificate for `localhost`, and the file of the authority that signed it.
struct Encrypted {
    database: Database,
    folder: TempDir,
}

/// Makes an authority of this name, and writes its certificate to a file.
fn authority(file: &Path, name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key");
    let authority = CertifiedIssuer::self_signed(params, key).expect("a certificate");
    std::fs::write(file, authority.pem()).expect("a file");
    authority
}

impl Encrypted {
    /// `None` where there is no PostgreSQL.
    fn start() -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let authority = authority(&folder.path().join("ca.pem"), "ours");
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new(["localhost".to_owned()]).expect("a name");
        let certificate = params.signed_by(&key, &authority).expect("a certificate");
        let cluster = Cluster::with_tls(&certificate.pem(), &key.serialize_pem())?;
        Some(Self {
            database: cluster.database(),
            folder,
        })
    }

    /// A server with a certificate that it signed itself, and that says it is an authority's.
    fn self_signed() -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let mut params = CertificateParams::new(["localhost".to_owned()]).expect("a name");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.self_signed(&key).expect("a certificate");
        std::fs::write(folder.path().join("ca.pem"), certificate.pem()).expect("a file");
        let cluster = Cluster::with_tls(&certificate.pem(), &key.serialize_pem())?;
        Some(Self {
            database: cluster.database(),
            folder,
        })
    }

    /// The address of the database at this host, with these parameters; `FOLDER` is that of the
    /// authority.
    fn url(&self, host: &str, parameters: &str) -> String {
        let parameters = parameters.replace("FOLDER", &self.folder.path().to_string_lossy());
        format!(
            "{}?{parameters}",
            self.database.url().replacen("127.0.0.1", host, 1)
        )
    }

    fn refused(&self, host: &str, parameters: &str) -> String {
        match Store::open(&self.url(host, parameters)) {
            Err(Error::Unavailable(text) | Error::Url(text)) => text,
            Err(other) => panic!("{parameters}: {other}"),
            Ok(_) => panic!("{parameters}: it is not refused"),
        }
    }

    /// Of the connections with this application name, how many are encrypted, how many are not, and
    /// how many of those that are encrypted listen for notifications.
    fn connections(&self, name: &str) -> [usize; 3] {
        let sql = format!(
            "select ssl, query ilike 'listen%' from pg_stat_ssl join pg_stat_activity using (pid) \
             where application_name = '{name}'"
        );
        let lines = self.database.run(&sql).expect("PostgreSQL answers");
        let count = |begin: &str| lines.lines().filter(|line| line.starts_with(begin)).count();
        [count("t|"), count("f|"), count("t|t")]
    }
}

#[test]
fn a_certificate_is_judged_as_the_mode_says() {
    let Some(server) = Encrypted::start() else {
        return;
    };
    let rows = [
        ("127.0.0.1", "sslmode=prefer"),
        ("127.0.0.1", "sslmode=require"),
        ("127.0.0.1", "sslmode=verify-ca&sslrootcert=FOLDER/ca.pem"),
        ("localhost", "sslmode=verify-full&sslrootcert=FOLDER/ca.pem"),
        (
            "localhost",
            "hostaddr=127.0.0.1&sslmode=verify-full&sslrootcert=FOLDER/ca.pem",
        ),
    ];
    for (row, (host, parameters)) in rows.into_iter().enumerate() {
        let name = format!("row {row}");
        let store = Store::open(&self::named(&server.url(host, parameters), &name));
        let store = store.unwrap_or_else(|error| panic!("{host} {parameters}: {error}"));
        let [encrypted, plain, _] = server.connections(&name);
        assert!(
            encrypted > 0 && plain == 0,
            "{host} {parameters}: {encrypted} {plain}"
        );
        drop(store);
    }
}

fn named(url: &str, name: &str) -> String {
    format!(
        "{url}&application_name={}",
        name.replace(' ', "%20")
            .replace('=', "%3D")
            .replace('&', "%26")
    )
}

#[test]
fn a_wrong_certificate_is_refused_and_the_error_says_what_is_wrong() {
    let Some(server) = Encrypted::start() else {
        return;
    };
    authority(&server.folder.path().join("other.pem"), "another");
    authority(&server.folder.path().join("same-name.pem"), "ours");
    for (host, parameters, reason) in [
        (
            "localhost",
            "sslmode=verify-full&sslrootcert=FOLDER/other.pem",
            "of no authority that is trusted",
        ),
        (
            "localhost",
            "sslmode=verify-ca&sslrootcert=FOLDER/other.pem",
            "of no authority that is trusted",
        ),
        (
            "localhost",
            "sslmode=verify-ca&sslrootcert=FOLDER/same-name.pem",
            "of no authority that is trusted",
        ),
        (
            "localhost",
            "sslmode=require&sslrootcert=FOLDER/other.pem",
            "of no authority that is trusted",
        ),
        (
            "127.0.0.1",
            "sslmode=verify-full&sslrootcert=FOLDER/ca.pem",
            "for another name",
        ),
        (
            "localhost",
            "sslmode=verify-full&sslrootcert=FOLDER/none.pem",
            "none.pem",
        ),
        ("localhost", "sslmode=allow", "sslmode"),
    ] {
        let text = server.refused(host, parameters);
        assert!(text.contains(reason), "{parameters}: {text}");
        assert!(!text.contains("socket"), "{text}");
    }
}

#[test]
fn a_server_without_tls_is_refused_where_tls_is_demanded() {
    let Some(database) = eddyline_testing::postgres::database() else {
        return;
    };
    let error = Store::open(&format!("{}?sslmode=require", database.url()))
        .err()
        .map(|error| error.to_string());
    assert!(
        error
            .as_ref()
            .is_some_and(|text| text.contains("does not offer TLS")),
        "{error:?}"
    );
    Store::open(&format!("{}?sslmode=prefer", database.url())).expect("it does without");
}

#[tokio::test(flavor = "multi_thread")]
async fn reading_writing_and_listening_go_through_tls() {
    let Some(server) = Encrypted::start() else {
        return;
    };
    let url = named(
        &server.url("localhost", "sslmode=verify-full&sslrootcert=FOLDER/ca.pem"),
        "ours",
    );
    let world = World::in_store(open_at(&url, 65_536)).await;
    let notifier = world.store.change_notifier();
    let listening = async {
        while server.connections("ours")[2] == 0 {
            notifier.changed_elsewhere().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), listening)
        .await
        .expect("it listens");
    let text = "a message of 100 kB".repeat(5_000);
    world
        .store
        .post(chat(world.main, world.ann, &text))
        .await
        .expect("it is posted");
    assert_eq!(world.find(MessageQuery::default()).await.len(), 1);
    let [encrypted, plain, listening] = server.connections("ours");
    assert!(
        encrypted > 2 && plain == 0 && listening == 1,
        "{encrypted} {plain} {listening}"
    );
}

#[test]
fn a_certificate_that_a_server_signed_itself_is_trusted_where_it_is_named() {
    let Some(server) = Encrypted::self_signed() else {
        return;
    };
    for parameters in ["sslmode=verify-ca", "sslmode=verify-full"] {
        let url = server.url(
            "localhost",
            &format!("{parameters}&sslrootcert=FOLDER/ca.pem"),
        );
        Store::open(&url).unwrap_or_else(|error| panic!("{parameters}: {error}"));
    }
    let text = server.refused("127.0.0.1", "sslmode=verify-full&sslrootcert=FOLDER/ca.pem");
    assert!(text.contains("for another name"), "{text}");
    authority(&server.folder.path().join("other.pem"), "another");
    let text = server.refused(
        "localhost",
        "sslmode=verify-full&sslrootcert=FOLDER/other.pem",
    );
    assert!(text.contains("certificate of localhost"), "{text}");
}

#[test]
fn the_next_host_is_tried_when_one_is_away_and_not_when_one_is_a_stranger() {
    let Some(server) = Encrypted::start() else {
        return;
    };
    let closed = std::net::TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
    let closed = closed.expect("a free port").port();
    let url = server.url("localhost", "sslmode=verify-full&sslrootcert=FOLDER/ca.pem");
    let (user, host) = url.split_once('@').expect("a user");
    Store::open(&format!("{user}@localhost:{closed},{host}")).expect("the second takes it");
    let stranger = server.url("127.0.0.1", "sslmode=verify-full&sslrootcert=FOLDER/ca.pem");
    let port = stranger
        .split_once("127.0.0.1:")
        .and_then(|(_, rest)| rest.split_once('/'))
        .expect("a port")
        .0;
    let error = Store::open(&format!("{user}@127.0.0.1:{port},{host}"))
        .expect_err("it is refused")
        .to_string();
    assert!(error.contains("for another name"), "{error}");
    let error = Store::open(&format!("{user}@localhost:{closed}/x?sslmode=require"))
        .expect_err("nobody is there");
    let text = error.to_string();
    assert!(
        text.contains("no connection to localhost") && !text.contains("socket"),
        "{text}"
    );
}

#[tokio::test]
async fn a_way_that_is_refused_is_an_error_also_within_a_runtime() {
    for parameters in [
        "sslmode=verify-full&sslrootcert=/nowhere/ca.pem",
        "sslmode=require&sslcrl=x",
    ] {
        let opened = Store::open(&format!("postgres://me@localhost/chat?{parameters}"));
        assert!(matches!(opened, Err(Error::Url(_))), "{parameters}");
    }
}
