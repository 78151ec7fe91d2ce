//! SIGHUP: the server reads its certificate and its log levels again, and goes on.

use std::fs;
use std::process::Command;

use eddyline_client::{Client, Method};
use eddyline_tests::{Backend, Certificate, Patience, Server, run};
use tempfile::TempDir;

/// A client that trusts this certificate alone.
fn client(certificate: &Certificate, server: &Server) -> Client {
    server.client().tls(certificate.trusting()).build().unwrap()
}

async fn is_shown(certificate: &Certificate, server: &Server) -> bool {
    client(certificate, server)
        .request(Method::GET, "/healthz")
        .send()
        .await
        .is_ok()
}

/// Sends SIGHUP and waits until the server has taken notice of this many signals.
async fn hang_up(server: &Server, count: usize) {
    let id = server.process_id().to_string();
    assert!(
        Command::new("kill")
            .args(["-HUP", &id])
            .status()
            .unwrap()
            .success()
    );
    let patience = Patience::until("the server takes notice of a signal");
    while server.log().matches("SIGHUP: ").count() < count {
        patience.goes_on().await;
    }
}

#[test]
fn a_new_certificate_is_shown_and_a_broken_one_is_not() {
    let files = TempDir::new().unwrap();
    let (first, second) = (Certificate::new("127.0.0.1"), Certificate::new("127.0.0.1"));
    first.write(files.path());
    let path = |name: &str| files.path().join(name).to_str().unwrap().to_owned();
    let (cert, key) = (path("cert.pem"), path("key.pem"));
    run(
        Backend::Sqlite,
        &["--tls-cert", &cert, "--tls-key", &key],
        async |server| {
            assert!(is_shown(&first, &server).await && !is_shown(&second, &server).await);
            let open = client(&first, &server);
            assert_eq!(
                open.request(Method::GET, "/healthz")
                    .send()
                    .await
                    .unwrap()
                    .status,
                200
            );
            second.write(files.path());
            hang_up(&server, 1).await;
            assert!(is_shown(&second, &server).await && !is_shown(&first, &server).await);
            assert_eq!(
                open.request(Method::GET, "/healthz")
                    .send()
                    .await
                    .unwrap()
                    .status,
                200,
                "connections stay"
            );
            fs::write(&cert, "no certificate").unwrap();
            hang_up(&server, 2).await;
            assert!(
                server.log().contains("cert.pem holds no certificate"),
                "{}",
                server.log()
            );
            assert!(is_shown(&second, &server).await);
            first.write(files.path());
            hang_up(&server, 3).await;
            assert!(is_shown(&first, &server).await);
        },
    );
}

#[test]
fn new_log_levels_are_logged_and_wrong_ones_are_not() {
    let files = TempDir::new().unwrap();
    let config = files.path().join("config.toml");
    fs::write(&config, "log = \"info\"\n").unwrap();
    let setting = eddyline_tests::Setting::default();
    let server = Server::start_in(setting, &["--config", config.to_str().unwrap()]);
    let ask = || {
        let client = server.client().build().unwrap();
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
            .block_on(async {
                let request = client
                    .request(Method::GET, "/flows")
                    .header("x-request-id", "the-request");
                request.send().await.unwrap();
            });
    };
    let signal = |count| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(hang_up(&server, count));
    };
    let debugged = || server.log().matches(" DEBUG ").count();
    ask();
    assert_eq!(debugged(), 0, "{}", server.log());
    fs::write(&config, "log = \"debug\"\n").unwrap();
    signal(1);
    ask();
    let count = debugged();
    assert!(count > 0, "{}", server.log());
    fs::write(&config, "log = \"loud\"\n").unwrap();
    signal(2);
    assert!(
        server.log().contains("loud"),
        "what is wrong is said: {}",
        server.log()
    );
    ask();
    assert!(debugged() > count, "it stays as it was: {}", server.log());
    fs::write(&config, "log = \"info\"\n").unwrap();
    signal(3);
    let count = debugged();
    ask();
    assert_eq!(debugged(), count, "{}", server.log());
}

#[test]
fn changed_options_that_need_a_restart_are_named() {
    let files = TempDir::new().unwrap();
    let config = files.path().join("config.toml");
    fs::write(&config, "max_body_bytes = 1000\n").unwrap();
    run(
        Backend::Sqlite,
        &["--config", config.to_str().unwrap()],
        async |server| {
            fs::write(&config, "log = \"debug\"\nmax_body_bytes = 1000\n").unwrap();
            hang_up(&server, 1).await;
            assert!(!server.log().contains("need a restart"), "{}", server.log());
            fs::write(&config, "max_body_bytes = 2000\nreaders = 3\n").unwrap();
            hang_up(&server, 2).await;
            assert!(
                server.log().contains("options=\"max_body_bytes, readers\""),
                "{}",
                server.log()
            );
            let certificate = Certificate::new("127.0.0.1");
            certificate.write(files.path());
            let at = |name| files.path().join(name).display().to_string();
            let (cert, key) = (at("cert.pem"), at("key.pem"));
            fs::write(
                &config,
                format!("max_body_bytes = 1000\ntls_cert = '{cert}'\ntls_key = '{key}'\n"),
            )
            .unwrap();
            hang_up(&server, 3).await;
            assert!(
                server.log().contains("options=\"tls_cert, tls_key\""),
                "{}",
                server.log()
            );
        },
    );
}
