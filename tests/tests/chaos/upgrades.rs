//! Servers are replaced under load by newer ones: no request is refused, and a stream ends only to be
//! opened again.
//!
//! `EDDYLINE_TEST_UPGRADE_FROM` names the binary of an older version, from which
//! [`two_servers_behind_a_proxy_are_replaced_one_after_the_other`] then upgrades. Without it both are
//! of this build, as in the other tests: a version that takes no sockets cannot be in these.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use eddyline_testing::postgres;
use eddyline_tests::chaos::{Cast, Run, plan};
use eddyline_tests::{Backend, Patience, Server, Setting};
use tempfile::TempDir;
use tokio::task::block_in_place;

/// Every request is answered, while streams end with their servers.
fn answered() -> Cast {
    Cast {
        streams_end: true,
        ..Cast::default()
    }
}

/// A server on a socket that stays open when it ends. `None` where there is no such database.
fn on_a_passed_socket(backend: Backend) -> Option<Server> {
    let database = match backend {
        Backend::Sqlite => None,
        Backend::Postgres => Some(postgres::database()?),
    };
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let base_url = format!("http://{}", socket.local_addr().unwrap());
    let setting = Setting {
        database,
        socket: Some(socket),
        ..Setting::default()
    };
    // With it, streams are at the address of the API.
    Some(Server::start_in(setting, &["--base-url", &base_url]))
}

fn on_both_databases(name: &str, test: impl AsyncFn(Server, String)) {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        crate::in_turn(|| {
            let server = on_a_passed_socket(backend)?;
            Some(test(server, format!("{name}, {backend:?}")))
        });
    }
}

#[test]
fn a_restart_on_a_passed_socket_refuses_nobody() {
    on_both_databases("restart on a passed socket", async |mut server, name| {
        let mut rounds = plan().rounds(3, 0.05);
        let mut run = Run::begin(&name, &[&server], answered()).await;
        while rounds.another() {
            run.a_while(40).await;
            let status = block_in_place(|| server.terminate());
            assert!(status.success(), "{status}");
            block_in_place(|| server.restart());
        }
        run.a_while(20).await;
        run.end(rounds.done(), String::new()).await;
    });
}

#[test]
fn a_standby_serves_while_the_server_is_replaced() {
    on_both_databases("restart beside a standby", async |mut server, name| {
        let mut rounds = plan().rounds(2, 0.05);
        let mut run = Run::begin(&name, &[&server], answered()).await;
        while rounds.another() {
            run.a_while(20).await;
            let mut standby = block_in_place(|| {
                server.another_node("standby", &["--base-url", server.base_url()])
            });
            block_in_place(|| server.terminate());
            // Only the standby answers.
            run.a_while(20).await;
            block_in_place(|| server.restart());
            block_in_place(|| standby.terminate());
        }
        run.a_while(20).await;
        run.end(rounds.done(), String::new()).await;
    });
}

/// nginx in front of servers, of which it passes over those that do not run.
struct Proxy {
    process: Child,
    base_url: String,
    _directory: TempDir,
}

impl Proxy {
    async fn start(address: &str, servers: &[&str]) -> Self {
        let directory = TempDir::new().unwrap();
        let at = directory.path().display();
        let mut upstream = String::new();
        for server in servers {
            write!(upstream, "server {server} max_fails=0; ").unwrap();
        }
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|name| format!("{name}_temp_path {at}/{name};"))
            .join(" ");
        let text = format!(
            "daemon off; master_process off; pid {at}/nginx.pid; error_log {at}/errors; \
             events {{ worker_connections 1024; }} \
             http {{ access_log off; {temporary} upstream eddyline {{ {upstream} }} \
             server {{ listen {address}; client_max_body_size 102m; keepalive_requests 1000000; \
             location / {{ proxy_pass http://eddyline; proxy_http_version 1.1; \
             proxy_set_header Connection \"\"; proxy_set_header Host $http_host; proxy_read_timeout 90s; \
             proxy_next_upstream error timeout non_idempotent; }} }} }}"
        );
        let file = directory.path().join("nginx.conf");
        fs::write(&file, text).unwrap();
        let process = Command::new("nginx")
            .args(["-e", "stderr", "-c"])
            .arg(&file)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let patience = Patience::until("the proxy listens");
        while TcpStream::connect(address).is_err() {
            patience.goes_on().await;
        }
        Self {
            process,
            base_url: format!("http://{address}"),
            _directory: directory,
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Whether nginx is installed. Without it the test is passed over, and says so; where
/// `EDDYLINE_TEST_REQUIRE` names `proxies` it fails.
fn has_proxy() -> bool {
    let found = Command::new("nginx").arg("-v").output().is_ok();
    let required = env::var("EDDYLINE_TEST_REQUIRE").is_ok_and(|list| list.contains("proxies"));
    assert!(found || !required, "nginx is required and was not found");
    if !found {
        let _ = writeln!(
            std::io::stderr(),
            "eddyline tests: nginx is not installed; the upgrade behind a proxy is passed over"
        );
    }
    found
}

#[test]
fn two_servers_behind_a_proxy_are_replaced_one_after_the_other() {
    if !has_proxy() {
        return;
    }
    crate::in_turn(|| {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap().to_string();
        drop(socket);
        let setting = Setting {
            database: Some(postgres::database()?),
            binary: env::var_os("EDDYLINE_TEST_UPGRADE_FROM").map(Into::into),
            ..Setting::default()
        };
        let base_url = format!("http://{address}");
        let options = ["--base-url", &base_url, "--trusted-proxy", "127.0.0.1/32"];
        let one = Server::start_in(setting, &options);
        let other = one.another_node("node-2", &options);
        Some(replaced_behind_a_proxy(one, other, address))
    });
}

async fn replaced_behind_a_proxy(mut one: Server, mut other: Server, address: String) {
    let proxy = Proxy::start(&address, &[one.listen_address(), other.listen_address()]).await;
    assert_eq!(one.base_url(), proxy.base_url);
    let name = "two servers replaced behind a proxy";
    let mut run = Run::begin(name, &[&one], answered()).await;
    let mut rounds = plan().rounds(1, 0.05);
    while rounds.another() {
        for server in [&mut one, &mut other] {
            run.a_while(60).await;
            server.upgrade();
            let status = block_in_place(|| server.terminate());
            assert!(status.success(), "{status}");
            run.a_while(60).await;
            block_in_place(|| server.restart());
        }
    }
    run.a_while(60).await;
    run.end(rounds.done(), String::new()).await;
}
