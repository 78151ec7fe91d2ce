//! Each metric moves when what it counts happens.

use std::fs;
use std::process::Command;

use eddyline_client::{Method, StreamRequest};
use eddyline_testing::smtp::{Options, SmtpServer};
use eddyline_tests::{Acme, Backend, Listener, PASSWORD, Patience, Server, on_both_databases, run};
use serde_json::json;
use tempfile::TempDir;

use super::{get, scrape, until, value};
use crate::backup::RECIPIENT;
use crate::files::{PIXEL, fetch, in_json};
use crate::mail::{borrowed, dead_port, invite, on_both_databases_with_mail, plain, wait_for};
use crate::notifications::subscribe;
use crate::receiver::{Answer, Receiver, status};

const METRICS: [&str; 2] = ["--metrics-listen", "127.0.0.1:0"];
const MAIN: &str = "acme/main";
/// What a list of the messages of a flow, by a password, asks for.
const CACHES: [&str; 5] = [
    "accounts",
    "passwords",
    "flow_names",
    "flows",
    "latest_messages",
];

on_both_databases![&["--metrics-listen", "127.0.0.1:0"];
    requests_are_counted_by_endpoint_and_status,
    streams_are_counted_while_they_are_open,
    the_store_counts_what_it_writes,
    the_pool_tells_of_its_connections,
    the_position_of_the_log_moves_with_each_event,
    a_change_of_rights_is_measured,
    mail_into_the_outbox_counts_as_sent,
    files_are_counted_with_their_bytes,
    caches_count_what_they_know_and_what_they_do_not,
];
on_both_databases![
    &["--metrics-listen", "127.0.0.1:0", "--allow-private-targets"];
    push_messages_are_counted_by_what_became_of_them
];

on_both_databases_with_mail![
    mail_waits_while_there_is_no_mail_server,
    mail_that_is_refused_counts_as_given_up,
];

mod backups {
    use super::{Backend, backups_are_counted};

    #[test]
    fn sqlite() {
        backups_are_counted(Backend::Sqlite);
    }

    #[test]
    fn postgres() {
        backups_are_counted(Backend::Postgres);
    }
}

/// With several processes, or with a table that another session holds.
mod on_postgres {
    use super::{Backend, METRICS, run};

    #[test]
    fn another_process_moves_on_with_the_log() {
        run(
            Backend::Postgres,
            &METRICS,
            super::another_process_moves_on_with_the_log,
        );
    }

    #[test]
    fn a_process_that_stands_still_confirms_nothing() {
        run(
            Backend::Postgres,
            &METRICS,
            super::a_process_that_stands_still_confirms_nothing,
        );
    }

    #[test]
    fn the_lag_grows_while_the_log_cannot_be_read() {
        run(
            Backend::Postgres,
            &METRICS,
            super::the_lag_grows_while_the_log_cannot_be_read,
        );
    }
}

fn backups_are_counted(backend: Backend) {
    const TAKEN: &str = "eddyline_backup_last_success_timestamp_seconds";
    const FAILED: &str = "eddyline_backups_failed_total";
    let directory = TempDir::new().unwrap();
    let place = directory.path().join("backups");
    let schedule = [
        "--backup-to",
        place.to_str().unwrap(),
        "--backup-recipient",
        RECIPIENT,
        "--backup-interval",
        "1s",
    ];
    run(
        backend,
        &[&METRICS[..], &schedule].concat(),
        async |server| {
            until(&server, "a backup is taken", |text| {
                value(text, TAKEN) > 0.0
            })
            .await;
            let before = Before::of(&server).await;
            before.moves(TAKEN).await;
            before.moved_by(&[(FAILED, 0.0)]).await;
            // What is no folder any more takes no archive.
            fs::rename(&place, directory.path().join("moved")).unwrap();
            fs::write(&place, "").unwrap();
            before.moves(FAILED).await;
        },
    );
}

/// The metrics at one moment.
struct Before<'s> {
    server: &'s Server,
    text: String,
}

impl<'s> Before<'s> {
    async fn of(server: &'s Server) -> Self {
        let text = scrape(server).await;
        Self { server, text }
    }

    fn moved(&self, after: &str, sample: &str) -> f64 {
        value(after, sample) - value(&self.text, sample)
    }

    /// The samples have moved by these numbers since then.
    async fn moved_by(&self, expected: &[(&str, f64)]) {
        let after = scrape(self.server).await;
        for (sample, by) in expected {
            assert_eq!(self.moved(&after, sample), *by, "{sample}\n{after}");
        }
    }

    /// Waits until a sample has moved by a number.
    async fn moves_by(&self, sample: &'static str, by: f64) {
        until(self.server, sample, |text| self.moved(text, sample) == by).await;
    }

    /// Waits until a sample has moved.
    async fn moves(&self, sample: &'static str) {
        until(self.server, sample, |text| self.moved(text, sample) > 0.0).await;
    }
}

async fn requests_are_counted_by_endpoint_and_status(server: Server) {
    let Acme { ben, .. } = server.acme();
    let before = Before::of(&server).await;
    assert!(before.text.contains("eddyline_build_info{version=\""));
    let missing = ben
        .send(Method::GET, "/flows/acme/none", &json!(null))
        .await;
    assert_eq!(missing.status, 404);
    get(server.base_url(), "/nowhere/at/all").await;
    get(server.base_url(), "/sign-in").await;
    let requests = |endpoint: &str, status: u16| {
        format!("eddyline_http_requests_total{{endpoint=\"{endpoint}\",status=\"{status}\"}}")
    };
    before
        .moved_by(&[
            (&requests("getFlow", 404), 1.0),
            (&requests("none", 404), 1.0),
            (&requests("page", 200), 1.0),
            (
                "eddyline_http_request_duration_seconds_count{endpoint=\"getFlow\"}",
                1.0,
            ),
        ])
        .await;
}

async fn streams_are_counted_while_they_are_open(server: Server) {
    let Acme { ada, .. } = server.acme();
    let before = Before::of(&server).await;
    assert_eq!(value(&before.text, "eddyline_streams"), 0.0);
    let stream = Listener::open(&ada.client, &StreamRequest::new().user()).await;
    before.moved_by(&[("eddyline_streams", 1.0)]).await;
    drop(stream);
    before.moves_by("eddyline_streams", 0.0).await;
}

async fn the_store_counts_what_it_writes(server: Server) {
    let Acme { ben, .. } = server.acme();
    let before = Before::of(&server).await;
    ben.say(MAIN, "hello").await;
    before
        .moved_by(&[
            ("eddyline_store_batch_messages_count", 1.0),
            ("eddyline_store_batch_messages_sum", 1.0),
            ("eddyline_store_failed_transactions_total", 0.0),
        ])
        .await;
    let after = scrape(&server).await;
    for sample in [
        "eddyline_store_transaction_duration_seconds_count",
        "eddyline_store_transaction_duration_seconds_sum",
    ] {
        assert!(before.moved(&after, sample) > 0.0, "{sample}");
    }
    assert!(value(&after, "eddyline_store_writer_connections_total") >= 1.0);
    until(&server, "no write waits", |text| {
        value(text, "eddyline_store_writes_waiting") == 0.0
    })
    .await;
}

async fn the_pool_tells_of_its_connections(server: Server) {
    let text = scrape(&server).await;
    let number = |sample: &str| value(&text, sample);
    let in_use = number("eddyline_store_pool_connections{state=\"in_use\"}");
    let idle = number("eddyline_store_pool_connections{state=\"idle\"}");
    let most = number("eddyline_store_pool_max_connections");
    assert_eq!(most, 8.0, "as `--readers` is by default");
    assert!((1.0..=most).contains(&(in_use + idle)), "{text}");
    assert_eq!(number("eddyline_store_pool_timeouts_total"), 0.0);
    until(&server, "no read waits", |text| {
        value(text, "eddyline_store_reads_waiting") == 0.0
    })
    .await;
}

async fn the_position_of_the_log_moves_with_each_event(server: Server) {
    let Acme { ben, .. } = server.acme();
    let before = Before::of(&server).await;
    ben.say(MAIN, "one").await;
    ben.say(MAIN, "two").await;
    before.moves_by("eddyline_log_position", 2.0).await;
    let lag = value(&scrape(&server).await, "eddyline_log_lag_seconds");
    assert!(lag.is_finite() && lag >= 0.0, "{lag}");
}

async fn a_change_of_rights_is_measured(server: Server) {
    let Acme { ben, .. } = server.acme();
    let before = Before::of(&server).await;
    let path = format!("/flows/{MAIN}/users/{}", ben.id);
    ben.does(Method::DELETE, &path, &json!(null)).await;
    let after = scrape(&server).await;
    for sample in [
        "eddyline_revocation_lag_seconds_count",
        "eddyline_revocation_lag_seconds_sum",
    ] {
        assert!(before.moved(&after, sample) > 0.0, "{sample}\n{after}");
    }
}

async fn mail_into_the_outbox_counts_as_sent(server: Server) {
    let Acme { ada, .. } = server.acme();
    let before = Before::of(&server).await;
    invite(&ada, "grace@hopper.example").await;
    server.letter("grace@hopper.example", 1).await;
    before.moves_by("eddyline_mails_sent_total", 1.0).await;
    before.moves_by("eddyline_mails_waiting", 0.0).await;
}

fn with_metrics(options: Vec<String>) -> Vec<String> {
    let metrics = METRICS.iter().map(|option| (*option).to_owned());
    options.into_iter().chain(metrics).collect()
}

fn mail_waits_while_there_is_no_mail_server(backend: Backend) {
    let options = with_metrics(plain(dead_port()));
    run(backend, &borrowed(&options), async |server: Server| {
        let Acme { ada, .. } = server.acme();
        let before = Before::of(&server).await;
        invite(&ada, "grace@hopper.example").await;
        invite(&ada, "kay@mcnulty.example").await;
        before.moves_by("eddyline_mails_waiting", 2.0).await;
        before
            .moves("eddyline_mails_failed_total{outcome=\"postponed\"}")
            .await;
        before
            .moved_by(&[
                ("eddyline_mails_sent_total", 0.0),
                ("eddyline_mails_failed_total{outcome=\"given_up\"}", 0.0),
            ])
            .await;
    });
}

fn mail_that_is_refused_counts_as_given_up(backend: Backend) {
    let Some(mail) = SmtpServer::start(&Options::default()) else {
        return;
    };
    let options = with_metrics(plain(mail.port()));
    run(backend, &borrowed(&options), async |server: Server| {
        let Acme { ada, .. } = server.acme();
        let before = Before::of(&server).await;
        invite(&ada, "refused@hopper.example").await;
        invite(&ada, "grace@hopper.example").await;
        wait_for(&mail, "grace@hopper.example");
        before.moves_by("eddyline_mails_sent_total", 1.0).await;
        before
            .moves_by("eddyline_mails_failed_total{outcome=\"given_up\"}", 1.0)
            .await;
        before.moves_by("eddyline_mails_waiting", 0.0).await;
    });
}

async fn files_are_counted_with_their_bytes(server: Server) {
    let Acme { ada, ben } = server.acme();
    let before = Before::of(&server).await;
    let message = ben
        .post(MAIN, &in_json("dot.png", "image/png", PIXEL))
        .await;
    let size = PIXEL.len() as f64;
    before
        .moved_by(&[
            ("eddyline_files_uploaded_total", 1.0),
            ("eddyline_files_uploaded_bytes_total", size),
            ("eddyline_thumbnails_made_total", 1.0),
            ("eddyline_files_downloaded_total", 0.0),
            ("eddyline_files_downloaded_bytes_total", 0.0),
        ])
        .await;
    let path = message["content"]["path"].as_str().expect("a path");
    let file = fetch(&server, &ada.client, path).await;
    assert_eq!(file.body, PIXEL);
    before
        .moved_by(&[
            ("eddyline_files_downloaded_total", 1.0),
            ("eddyline_files_downloaded_bytes_total", size),
        ])
        .await;
}

async fn caches_count_what_they_know_and_what_they_do_not(server: Server) {
    let Acme { ada, .. } = server.acme();
    let client = ada.by_password();
    let path = format!("/flows/{MAIN}/messages");
    let before = Before::of(&server).await;
    let all_moved = |text: &str, counter: &str| {
        CACHES.iter().all(|cache| {
            let sample = format!("eddyline_cache_{counter}_total{{cache=\"{cache}\"}}");
            before.moved(text, &sample) > 0.0
        })
    };
    client.request(Method::GET, &path).send().await.unwrap();
    let after = scrape(&server).await;
    assert!(all_moved(&after, "misses"), "{after}");
    // A server that has no time to read its log does not trust its caches.
    let patience = Patience::until("the caches answer");
    while !all_moved(&scrape(&server).await, "hits") {
        client.request(Method::GET, &path).send().await.unwrap();
        patience.goes_on().await;
    }
}

async fn push_messages_are_counted_by_what_became_of_them(server: Server) {
    let Acme { ada, ben } = server.acme();
    let service = Receiver::start().await;
    let mut browser = server.signed_in(&ben.email, PASSWORD).await;
    subscribe(&mut browser, &service.url("/ben")).await;
    let before = Before::of(&server).await;
    for (answer, sample) in [
        ("201 Created", "eddyline_push_messages_sent_total"),
        (
            "400 Bad Request",
            "eddyline_push_messages_failed_total{outcome=\"given_up\"}",
        ),
        (
            "503 Service Unavailable",
            "eddyline_push_messages_failed_total{outcome=\"postponed\"}",
        ),
    ] {
        service.answers(Answer::Text(status(answer)));
        ada.say(MAIN, "hello @ben").await;
        before.moves_by(sample, 1.0).await;
    }
    // The first browser may not be sent anything for a while.
    let mut other = server.signed_in(&ben.email, PASSWORD).await;
    service.answers(Answer::Text(status("410 Gone")));
    subscribe(&mut other, &service.url("/ben-elsewhere")).await;
    ada.say(MAIN, "hello @ben").await;
    before
        .moves("eddyline_push_messages_failed_total{outcome=\"gone\"}")
        .await;
}

async fn another_process_moves_on_with_the_log(server: Server) {
    let Acme { ben, .. } = server.acme();
    let other = server.another_node("node-2", &METRICS);
    let before = Before::of(&other).await;
    ben.say(MAIN, "hello").await;
    before.moves_by("eddyline_log_position", 1.0).await;
}

async fn a_process_that_stands_still_confirms_nothing(server: Server) {
    let Acme { ben, .. } = server.acme();
    let other = server.another_node("node-2", &METRICS);
    let before = Before::of(&server).await;
    signal(&other, "-STOP");
    let path = format!("/flows/{MAIN}/users/{}", ben.id);
    ben.does(Method::DELETE, &path, &json!(null)).await;
    before
        .moved_by(&[
            ("eddyline_revocations_unconfirmed_total", 1.0),
            ("eddyline_revocation_lag_seconds_count", 1.0),
        ])
        .await;
    signal(&other, "-CONT");
}

fn signal(server: &Server, signal: &str) {
    let process = server.process_id().to_string();
    let sent = Command::new("kill").args([signal, &process]).status();
    assert!(sent.unwrap().success());
}

async fn the_lag_grows_while_the_log_cannot_be_read(server: Server) {
    let lag = |text: &str| value(text, "eddyline_log_lag_seconds");
    let database = server.database().expect("a database of PostgreSQL");
    let held = database.hold("lock table event_log in access exclusive mode");
    until(&server, "the feed is two seconds behind", |text| {
        lag(text) > 2.0
    })
    .await;
    drop(held);
    until(&server, "the feed has caught up", |text| lag(text) < 2.0).await;
}
