//! The audit log leaves the server as it is written: to a collector of syslog, and to a webhook.

mod collector;

use std::collections::BTreeSet;
use std::fs;

use eddyline_auth::WebhookSecret;
use eddyline_client::Json;
use eddyline_tests::{Backend, Certificate, Patience, Server, eddyline, note_secret, run_plain};
use regex::Regex;
use tempfile::TempDir;

use self::collector::{Collector, id, record};
use crate::mail::dead_port;
use crate::metrics::{scrape, value};
use crate::receiver::{Answer, Receiver, Request, status, with_headers};

const SECRET: &str = "whsec_c2l4dGVlbiBieXRlcyBhcmUgbm90IGVub3VnaA==";

/// Makes tests of these functions, on each database, which start servers with options of their own.
macro_rules! on_each_database {
    ($($test:ident),+ $(,)?) => {
        $(
            mod $test {
                #[test]
                fn sqlite() {
                    super::run_plain(super::$test(super::Backend::Sqlite));
                }

                #[test]
                fn postgres() {
                    super::run_plain(super::$test(super::Backend::Postgres));
                }
            }
        )+
    };
}

on_each_database![
    records_reach_both_destinations_in_order_and_once,
    nothing_is_lost_while_a_collector_is_down_or_the_server_is_killed,
];

#[test]
fn a_collector_with_tls_has_to_prove_who_it_is() {
    run_plain(a_certificate_is_checked());
}

#[test]
fn of_two_servers_one_sends() {
    run_plain(one_sends());
}

/// Makes so many records.
fn act(server: &Server, times: usize, name: &str) {
    for number in 0..times {
        let name = format!("{name} {number}");
        server.admin(&["org", "create", "--name", &name]);
    }
}

/// All records, the oldest first.
fn recorded(server: &Server) -> Vec<Json> {
    let answer = server.admin(&["audit", "--limit", "1000"]);
    let newest = answer["records"].as_array().unwrap();
    newest.iter().rev().cloned().collect()
}

fn ids(records: &[Json]) -> BTreeSet<i64> {
    records.iter().map(id).collect()
}

fn is_ascending(records: &[Json]) -> bool {
    records.is_sorted_by(|one, next| id(one) < id(next))
}

async fn records_reach_both_destinations_in_order_and_once(backend: Backend) {
    note_secret(SECRET);
    let (collector, webhook) = (Collector::start(), Receiver::start().await);
    let (syslog, hook) = (
        format!("tcp://127.0.0.1:{}", collector.port()),
        webhook.url("/hook?token=7"),
    );
    // A redirect is no success, and it is not followed.
    webhook.answers(Answer::Text(with_headers(
        "307 Temporary Redirect",
        "Location: /elsewhere\r\n",
    )));
    let options = [
        ["--audit-syslog", &syslog],
        ["--audit-webhook", &hook],
        ["--audit-webhook-secret", SECRET],
        ["--metrics-listen", "127.0.0.1:0"],
    ];
    let Some(server) = Server::start_with(backend, options.as_flattened()) else {
        return;
    };
    act(&server, 3, "Zoë's");
    webhook.is_asked(1).await;
    let of_webhook =
        |name: &str| format!("eddyline_audit_export_{name}{{destination=\"webhook\"}}");
    let patience = Patience::until("the failure is counted");
    let counted = loop {
        let text = scrape(&server).await;
        if value(&text, &of_webhook("failures_total")) > 0.0 {
            break text;
        }
        patience.goes_on().await;
    };
    assert!(value(&counted, &of_webhook("waiting_records")) > 0.0);
    webhook.answers(Answer::Text(status("503 Service Unavailable")));
    let refused = webhook.asked();
    webhook.is_asked(1).await;
    webhook.answers(Answer::Text(status("200 OK")));
    let mut asked = [refused, webhook.asked()].concat();

    let expected = recorded(&server);
    collector.has(&ids(&expected)).await;
    assert_eq!(collector.records(), expected);
    let [messages] = &collector.connections()[..] else {
        panic!("one connection is used");
    };
    let shape = Regex::new(concat!(
        r#"^<110>1 \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z 127\.0\.0\.1 eddyline \d+ organization\.create "#,
        r#"\[origin software="eddyline" swVersion="[0-9.]+"\] \{[ -~]*\}$"#
    ));
    assert!(shape.unwrap().is_match(&messages[0]), "{}", messages[0]);

    let mut taken: Vec<Json> = Vec::new();
    let patience = Patience::until("the webhook has the records");
    while taken.len() < expected.len() {
        patience.goes_on().await;
        let answered = webhook.asked();
        let batches = answered.iter().map(Request::json);
        taken.extend(batches.flat_map(|batch| batch.as_array().unwrap().clone()));
        asked.extend(answered);
    }
    // A batch that was refused comes again with what came meanwhile.
    taken.dedup();
    assert_eq!(taken, expected);
    for request in &asked {
        is_signed(request);
    }

    let patience = Patience::until("nothing waits any more");
    while value(&scrape(&server).await, &of_webhook("waiting_records")) > 0.0 {
        patience.goes_on().await;
    }
    let status = server.command(&["status", "--json"]).output().unwrap();
    let status: Json = serde_json::from_slice(&status.stdout).unwrap();
    let exports = status["audit_exports"].as_array().unwrap();
    assert_eq!(exports.len(), 2, "{status}");
    assert!(
        exports.iter().all(|export| export["records_waiting"] == 0),
        "{status}"
    );
    assert!(!server.log().contains("token=7"), "the address is a secret");
}

/// A request of the webhook is one that its receiver can check.
fn is_signed(request: &Request) {
    assert_eq!(
        (&*request.method, &*request.path),
        ("POST", "/hook?token=7")
    );
    let header = |name: &str| &*request.headers[name];
    assert_eq!(header("content-type"), "application/json");
    let records = request.json();
    let records = records.as_array().unwrap();
    let (first, last) = (id(&records[0]), id(records.last().unwrap()));
    let id = header("webhook-id");
    assert!(id.starts_with(&format!("audit-{first}-{last}-2")), "{id}");
    let timestamp = header("webhook-timestamp").parse().unwrap();
    let secret = WebhookSecret::parse(SECRET).unwrap();
    let signature = secret.sign(header("webhook-id"), timestamp, &request.body);
    assert_eq!(header("webhook-signature"), signature);
}

async fn nothing_is_lost_while_a_collector_is_down_or_the_server_is_killed(backend: Backend) {
    let collector = Collector::start();
    let syslog = format!("tcp://127.0.0.1:{}", collector.port());
    let Some(mut server) = Server::start_with(backend, &["--audit-syslog", &syslog]) else {
        return;
    };
    act(&server, 2, "Before");
    collector.has(&ids(&recorded(&server))).await;

    // A restart of the collector: what was written to the connection before may come again.
    let collector = collector.restarted();
    act(&server, 2, "Between");
    collector.has(&ids(&recorded(&server)[2..])).await;

    let port = collector.port();
    collector.stop();
    act(&server, 1, "Down");
    let patience = Patience::until("the failure is in the log");
    let failing = "the audit log cannot be sent; trying again";
    while !server.log().contains(failing) {
        patience.goes_on().await;
    }
    server.kill9();
    server.restart();
    act(&server, 20, "Killed");
    let collector = Collector::start_on(port, None);
    let expected = ids(&recorded(&server)[4..]);
    collector.has(&expected).await;
    for messages in collector.connections() {
        let records: Vec<Json> = messages.iter().map(|message| record(message)).collect();
        assert!(is_ascending(&records), "{messages:#?}");
    }

    // A server that stops gracefully has noted what was sent, and the next one goes on behind that.
    assert!(server.terminate().success());
    let collector = collector.restarted();
    server.restart();
    act(&server, 1, "After");
    let all = recorded(&server);
    collector.has(&ids(&all[all.len() - 1..])).await;
    assert_eq!(collector.records(), all[all.len() - 1..]);
}

async fn one_sends() {
    let collector = Collector::start();
    let syslog = format!("tcp://127.0.0.1:{}", collector.port());
    let options = ["--audit-syslog", &*syslog];
    let Some(mut one) = Server::start_with(Backend::Postgres, &options) else {
        return;
    };
    let two = one.another_node("node-2", &options);
    act(&one, 3, "Together");
    collector.has(&ids(&recorded(&one))).await;
    // The other one goes on behind it.
    assert!(one.terminate().success());
    act(&two, 3, "Alone");
    collector.has(&ids(&recorded(&two))).await;
    assert_eq!(collector.records(), recorded(&two));
}

async fn a_certificate_is_checked() {
    let folder = TempDir::new().unwrap();
    let (right, wrong) = (Certificate::new("127.0.0.1"), Certificate::new("127.0.0.1"));
    let [right_file, wrong_file] = [("right.pem", &right), ("wrong.pem", &wrong)].map(
        |(name, certificate): (&str, &Certificate)| {
            let path = folder.path().join(name);
            fs::write(&path, certificate.certificate_pem()).unwrap();
            path.to_str().unwrap().to_owned()
        },
    );
    let collector = Collector::with_tls(&right);
    let syslog = format!("tls://127.0.0.1:{}", collector.port());
    let options =
        |file: &str| ["--audit-syslog", &syslog, "--audit-syslog-ca", file].map(str::to_owned);
    let start = |file: &str| {
        let options = options(file);
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        Server::start_with(Backend::Sqlite, &options).unwrap()
    };
    let server = start(&wrong_file);
    act(&server, 1, "Refused");
    let patience = Patience::until("the certificate is refused");
    while !server.log().contains("no TLS with the collector") {
        patience.goes_on().await;
    }
    assert_eq!(collector.records(), Vec::<Json>::new());

    let server = start(&right_file);
    act(&server, 2, "Taken");
    collector.has(&ids(&recorded(&server))).await;
    assert_eq!(collector.records(), recorded(&server));

    let findings = |file: &str| {
        let mut doctor = server.command(&["doctor", "--json"]);
        let output = doctor.args(options(file)).output().unwrap();
        let lines = String::from_utf8(output.stdout).unwrap();
        let findings = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        let ours: Vec<Json> = findings
            .filter(|finding: &Json| finding["check"] == "audit_export")
            .collect();
        ours
    };
    let (found, missed) = (findings(&right_file), findings(&wrong_file));
    assert_eq!(found[0]["severity"], "ok", "{found:?}");
    assert_eq!(missed[0]["severity"], "error", "{missed:?}");
    assert_eq!(missed[0]["subject"], syslog);
}

#[test]
fn wrong_values_are_named() {
    let gone = "/nonexistent/secret";
    let dead = format!("http://127.0.0.1:{}/", dead_port());
    for (options, problem) in [
        (
            vec!["--audit-syslog", "udp://logs.example.org:514"],
            "--audit-syslog: is not an address such as",
        ),
        (
            vec!["--audit-webhook", "http://siem.example.org/s3cret"],
            "--audit-webhook: must be an address that begins with https://",
        ),
        (
            vec!["--audit-webhook", &dead],
            "--audit-webhook: audit_webhook_secret must be given as well",
        ),
        (
            vec!["--audit-webhook-secret", "whsec_c2hvcnQ="],
            "--audit-webhook-secret: must be whsec_ and 24 to 64 random bytes",
        ),
        (
            vec![
                "--audit-webhook",
                &dead,
                "--audit-webhook-secret-file",
                gone,
            ],
            "audit_webhook_secret_file: /nonexistent/secret",
        ),
        (
            vec![
                "--audit-syslog",
                "tcp://127.0.0.1:1",
                "--audit-syslog-ca",
                gone,
            ],
            "--audit-syslog-ca: audit_syslog must begin with tls://",
        ),
        (
            vec![
                "--audit-syslog",
                "tls://127.0.0.1:1",
                "--audit-syslog-ca",
                gone,
            ],
            "audit_syslog_ca: /nonexistent/secret",
        ),
    ] {
        let folder = TempDir::new().unwrap();
        let mut command = eddyline();
        command.args(["admin", "check-config", "--data-dir"]);
        let output = command.arg(folder.path()).args(&options).output().unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        assert!(!output.status.success(), "{options:?}: {told}");
        assert!(told.contains(problem), "{options:?}: {told}");
        assert!(!told.contains("s3cret"), "{told}");
    }
}
