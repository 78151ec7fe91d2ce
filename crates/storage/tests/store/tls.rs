//! TLS to PostgreSQL: who is believed to be the database, and that everything goes that way.

use std::path::Path;

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
        Some(Self { database: cluster.database(), folder })
    }

    /// The address of the database at this host, with these parameters; `FOLDER` is that of the authority.
    fn url(&self, host: &str, parameters: &str) -> String {
        let parameters = parameters.replace("FOLDER", &self.folder.path().to_string_lossy());
        format!("{}?{parameters}", self.database.url().replacen("127.0.0.1", host, 1))
    }

    fn refused(&self, host: &str, parameters: &str) -> String {
        match Store::open(&self.url(host, parameters)) {
            Err(Error::Unavailable(text) | Error::Url(text)) => text,
            Err(other) => panic!("{parameters}: {other}"),
            Ok(_) => panic!("{parameters}: it is not refused"),
        }
    }

    /// Of the connections with this application name, how many are encrypted, how many are not, and how many of those
    /// that are encrypted listen for notifications.
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
    let Some(server) = Encrypted::start() else { return };
    for (host, parameters) in [
        ("127.0.0.1", "sslmode=prefer"),
        ("127.0.0.1", "sslmode=require"),
        ("127.0.0.1", "sslmode=verify-ca&sslrootcert=FOLDER/ca.pem"),
        ("localhost", "sslmode=verify-full&sslrootcert=FOLDER/ca.pem"),
        ("localhost", "sslmode=verify-full&sslrootcert=FOLDER/ca.pem&hostaddr=127.0.0.1"),
    ] {
        let name = format!("{host} {}", parameters.split('&').next().unwrap_or_default());
        let store = Store::open(&self::named(&server.url(host, parameters), &name));
        let store = store.unwrap_or_else(|error| panic!("{host} {parameters}: {error}"));
        let [encrypted, plain, _] = server.connections(&name);
        assert!(encrypted > 0 && plain == 0, "{host} {parameters}: {encrypted} {plain}");
        drop(store);
    }
}

fn named(url: &str, name: &str) -> String {
    format!("{url}&application_name={}", name.replace(' ', "%20").replace('=', "%3D"))
}

#[test]
fn a_wrong_certificate_is_refused_and_the_error_says_what_is_wrong() {
    let Some(server) = Encrypted::start() else { return };
    authority(&server.folder.path().join("other.pem"), "another");
    authority(&server.folder.path().join("same-name.pem"), "ours");
    for (host, parameters, reason) in [
        ("localhost", "sslmode=verify-full&sslrootcert=FOLDER/other.pem", "of no authority that is trusted"),
        ("localhost", "sslmode=verify-ca&sslrootcert=FOLDER/other.pem", "of no authority that is trusted"),
        (
            "localhost",
            "sslmode=verify-ca&sslrootcert=FOLDER/same-name.pem",
            "of no authority that is trusted",
        ),
        ("localhost", "sslmode=require&sslrootcert=FOLDER/other.pem", "of no authority that is trusted"),
        ("127.0.0.1", "sslmode=verify-full&sslrootcert=FOLDER/ca.pem", "for another name"),
        ("localhost", "sslmode=verify-full&sslrootcert=FOLDER/none.pem", "none.pem"),
        ("localhost", "sslmode=allow", "sslmode"),
    ] {
        let text = server.refused(host, parameters);
        assert!(text.contains(reason), "{parameters}: {text}");
        assert!(!text.contains("socket"), "{text}");
    }
}

#[test]
fn a_server_without_tls_is_refused_where_tls_is_demanded() {
    let Some(database) = eddyline_testing::postgres::database() else { return };
    let error =
        Store::open(&format!("{}?sslmode=require", database.url())).err().map(|error| error.to_string());
    assert!(error.as_ref().is_some_and(|text| text.contains("does not offer TLS")), "{error:?}");
    Store::open(&format!("{}?sslmode=prefer", database.url())).expect("it does without");
}

#[tokio::test(flavor = "multi_thread")]
async fn reading_writing_and_listening_go_through_tls() {
    let Some(server) = Encrypted::start() else { return };
    let url = named(&server.url("localhost", "sslmode=verify-full&sslrootcert=FOLDER/ca.pem"), "ours");
    let world = World::in_store(open_at(&url, 64)).await;
    let notifier = world.store.change_notifier();
    while server.connections("ours")[2] == 0 {
        notifier.changed_elsewhere().await;
    }
    let text = "a message of 100 kB".repeat(5_000);
    world.store.post(chat(world.main, world.ann, &text)).await.expect("it is posted");
    assert_eq!(world.find(MessageQuery::default()).await.len(), 1);
    let [encrypted, plain, listening] = server.connections("ours");
    assert!(encrypted > 2 && plain == 0 && listening == 1, "{encrypted} {plain} {listening}");
}
