//! `eddyline healthcheck` against a server.

use std::net::TcpListener;
use std::process::Output;

use eddyline_tests::{Backend, Certificate, Server, eddyline, on_both_databases, run};
use tempfile::TempDir;

on_both_databases![a_server_that_is_ready_is_well];

fn ask(url: &str) -> Output {
    eddyline().args(["healthcheck", url]).output().unwrap()
}

fn is_well(url: &str) {
    let output = ask(url);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{url}: {said}");
}

/// Gives what is said.
fn is_not_well(url: &str) -> String {
    let output = ask(url);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{url}: {said}");
    said
}

async fn a_server_that_is_ready_is_well(mut server: Server) {
    let url = server.base_url().to_owned();
    is_well(&url);
    is_well(server.stream_url());
    is_well(&format!("{url}/healthz"));
    // The configuration says where it is.
    let address = url.strip_prefix("http://").unwrap();
    let output = eddyline()
        .arg("healthcheck")
        .env("EDDYLINE_LISTEN", address)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(is_not_well(&format!("{url}/nothing-is-here")).contains("answers 404"));
    server.terminate();
    assert!(is_not_well(&url).contains("cannot connect"));
}

#[test]
fn a_server_with_a_certificate_is_asked_by_tls() {
    let files = TempDir::new().unwrap();
    // Not for the address that is asked.
    Certificate::new("chat.example.org").write(files.path());
    let path = |name: &str| files.path().join(name).to_str().unwrap().to_owned();
    let (chain, key) = (path("cert.pem"), path("key.pem"));
    let options = ["--tls-cert", &chain, "--tls-key", &key];
    run(Backend::Sqlite, &options, async |server| {
        is_well(server.base_url());
        let plain = server.base_url().replace("https://", "http://");
        is_not_well(&plain);
    });
}

#[test]
fn what_is_no_server_is_not_well() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let other = std::thread::spawn(move || {
        use std::io::Write as _;
        let (mut connection, _) = silent.accept().unwrap();
        let _ = connection.write_all(b"220 mail.example.org ESMTP\r\n");
    });
    assert!(is_not_well(&format!("http://{address}")).contains("does not speak HTTP"));
    other.join().unwrap();
    assert!(is_not_well("chat.example.org").contains("http:// or https://"));
}
