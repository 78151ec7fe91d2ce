//! `eddyline doctor`: a sound installation has no findings, and each fault that is planted in it has
//! one.

mod installation;
mod nginx;
mod stopped;

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::{fs, thread};

use eddyline_tests::faults::SmallDisk;
use eddyline_tests::{Backend, run_plain};

use self::installation::Installation;
use self::nginx::{Buffering, Nginx};
use crate::documents::proxies::is_installed;
use crate::mail::dead_port;

/// Of age, whose identity nobody needs.
const RECIPIENT: &str = "age1jersunee65a6gpq29hv4jfttgcp2gxvz0q5v02das8mh00ydnyaqtz5d6g";

#[test]
fn each_planted_fault_is_found_sqlite() {
    run_plain(each_planted_fault_is_found(Backend::Sqlite));
}

#[test]
fn each_planted_fault_is_found_postgres() {
    run_plain(each_planted_fault_is_found(Backend::Postgres));
}

async fn each_planted_fault_is_found(backend: Backend) {
    if !is_installed("nginx") {
        return;
    }
    let Some(installation) = Installation::start(backend).await else {
        return;
    };
    let sound = installation.consult(&[], None).join().unwrap();
    assert_eq!(
        (sound.faults(), sound.status()),
        (vec![], Some(0)),
        "{sound:#?}"
    );
    assert!(sound.passed() >= 9, "{sound:#?}");

    faults_around_the_server(&installation);
    faults_of_the_proxy(&installation).await;
    faults_of_the_database(&installation, backend);
    fault_of_the_identity_provider(&installation);
}

/// Clock, mail, store, disk and open files.
fn faults_around_the_server(installation: &Installation) {
    let late = late_server(installation.option("--base-url"));
    let stream = format!("{}/stream", installation.option("--base-url"));
    let nowhere = format!("http://127.0.0.1:{}", dead_port());
    let closed = dead_port().to_string();
    let wrong_authority = installation.folder().join("other.pem");
    let other = eddyline_tests::Certificate::new("localhost");
    fs::write(&wrong_authority, other.certificate_pem()).unwrap();
    let small = SmallDisk::mount(8 << 20);

    let consult = |instead: &[(&str, &str)]| installation.consult(instead, None);
    let clock = consult(&[("--base-url", &late), ("--stream-url", &stream)]);
    let password = consult(&[("--smtp-password", "wrong")]);
    let unreachable = consult(&[("--smtp-port", &closed)]);
    let untrusted = consult(&[("--smtp-ca", wrong_authority.to_str().unwrap())]);
    let secret = consult(&[("--files-s3-secret-key", "wrong")]);
    let access_key = consult(&[("--files-s3-access-key", "unknown")]);
    let no_store = consult(&[("--files-s3-endpoint", &nowhere)]);
    let unserved = consult(&[("--base-url", &nowhere), ("--stream-url", &stream)]);
    let open_files = installation.consult(&[], Some(256));
    let disk = small.as_ref().map(|disk| {
        let place = disk.path().to_str().unwrap();
        consult(&[("--backup-to", place), ("--backup-recipient", RECIPIENT)])
    });

    for (consulted, checks, words) in [
        (clock, &["clock_of_server"], "seconds ahead of"),
        (password, &["mail"], "smtp_password"),
        (unreachable, &["mail"], "smtp_port"),
        (untrusted, &["mail"], "smtp_ca"),
        (secret, &["files"], "files_s3_secret_key"),
        (access_key, &["files"], "files_s3_access_key"),
        (no_store, &["files"], "files_s3_endpoint"),
        (unserved, &["server"], "no connection"),
        (open_files, &["open_files"], "256 files"),
    ] {
        consulted.join().unwrap().shows(checks, "error", words);
    }
    if let Some(disk) = disk {
        disk.join()
            .unwrap()
            .shows(&["disk_space"], "error", "8.0 MiB are free");
    }
}

/// A proxy that holds streams back, one that the server does not trust, and a server that was
/// started with another address.
async fn faults_of_the_proxy(installation: &Installation) {
    let port = nginx::port();
    let _holding = Nginx::start(port, installation.server.listen(), Buffering::On).await;
    let held = format!("http://127.0.0.1:{port}/stream");
    let direct = format!("http://{}", installation.server.listen());
    let buffering = installation.consult(&[("--stream-url", &held)], None);
    let past = installation.consult(&[("--stream-url", &format!("{direct}/stream"))], None);
    let renamed = installation.consult(
        &[
            ("--base-url", &direct),
            (
                "--stream-url",
                &format!("{}/stream", installation.option("--base-url")),
            ),
        ],
        None,
    );
    let buffering = buffering.join().unwrap();
    buffering.shows(&["proxy_buffering"], "error", "proxy_buffering off");
    let past = past.join().unwrap();
    past.shows(&["proxy_headers"], "warning", "X-Forwarded-For");
    let renamed = renamed.join().unwrap();
    renamed.shows(&["sign_in_discovery"], "error", "base_url");
}

fn faults_of_the_database(installation: &Installation, backend: Backend) {
    match backend {
        Backend::Sqlite => {
            let file = installation.server.data_directory().join("eddyline.db");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
            let open = installation.consult(&[], None).join().unwrap();
            open.shows(&["database_permissions"], "warning", "chmod 600");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        }
        Backend::Postgres => {
            alter_database(installation, "set synchronous_commit = off");
            alter_database(installation, "set idle_session_timeout = '1min'");
            alter_database(installation, "connection limit 5");
            let found = installation.consult(&[], None).join().unwrap();
            found.shows(
                &[
                    "database_connections",
                    "database_durability",
                    "database_timeouts",
                ],
                "error",
                "of 5 that PostgreSQL has",
            );
            alter_database(installation, "reset all");
            alter_database(installation, "connection limit -1");
        }
    }
}

fn alter_database(installation: &Installation, how: &str) {
    let how = how.replace('\'', "''");
    let statement = format!(
        "do $$ begin execute format('alter database %I {how}', current_database()); end $$"
    );
    installation
        .server
        .database()
        .unwrap()
        .run(&statement)
        .unwrap();
}

fn fault_of_the_identity_provider(installation: &Installation) {
    installation
        .server
        .admin(&["scim", "enable", "--org", "acme"]);
    let found = installation.consult(&[], None).join().unwrap();
    let checks = ["identity_provider", "identity_provider_domains"];
    found.shows(&checks, "error", "https only");
}

/// The address of a server whose clock is an hour ahead. It answers everything alike, and calls
/// itself by its address.
fn late_server(like: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    assert_ne!(address, like);
    let body = format!("{{\"issuer\":\"{address}\"}}");
    let date = std::process::Command::new("date")
        .env("LC_ALL", "C")
        .args(["-u", "-d", "1 hour", "+%a, %d %b %Y %H:%M:%S GMT"])
        .output()
        .unwrap();
    let date = String::from_utf8(date.stdout).unwrap();
    thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let mut asked = [0; 1024];
            let _ = connection.read(&mut asked);
            let _ = write!(
                connection,
                "HTTP/1.1 200 OK\r\nDate: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                date.trim(),
                body.len()
            );
        }
    });
    address
}
