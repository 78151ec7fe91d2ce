//! What the server counts for Prometheus.

use std::collections::BTreeSet;

use eddyline_client::{Method, StreamRequest};
use eddyline_tests::{Acme, Listener, Patience, Raw, Server, on_both_databases};
use serde_json::json;

on_both_databases![&["--metrics-listen", "127.0.0.1:0"];
    each_metric_moves_when_it_should,
    the_documentation_names_each_metric,
    nothing_but_the_metrics_is_where_they_are,
];
on_both_databases![metrics_are_nowhere_unless_an_address_is_given,];

/// Where the metrics are, as the server says.
fn address(server: &Server) -> Option<String> {
    let log = server.log();
    let line = log.lines().find(|line| line.starts_with("listening "))?;
    let parts = line.split_whitespace();
    let url = parts
        .filter_map(|part| part.strip_prefix("metrics="))
        .next();
    Some(url?.strip_suffix("/metrics")?.to_owned())
}

/// The head and the body of an answer.
async fn get(url: &str, path: &str) -> (String, String) {
    get_as(url, path, "*/*").await
}

async fn get_as(url: &str, path: &str, accepted: &str) -> (String, String) {
    let lines = ["Connection: close", &format!("Accept: {accepted}")];
    let mut answer = Raw::without_credentials(url, "GET", path, &lines, "").await;
    (answer.head().await, answer.to_end().await)
}

async fn scrape(server: &Server) -> String {
    let url = address(server).expect("the server has metrics");
    let accepted = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5";
    let (head, text) = get_as(&url, "/metrics", accepted).await;
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert!(
        head.contains("content-type: application/openmetrics-text; version=1.0.0"),
        "{head}"
    );
    text
}

/// The value of a sample. One with an endpoint is 0 until that has answered.
fn value(text: &str, sample: &str) -> f64 {
    let mut lines = text.lines();
    let rest = lines.find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
    match rest {
        Some(number) => number.parse().unwrap(),
        None if sample.contains("endpoint") => 0.0,
        None => panic!("no {sample} in:\n{text}"),
    }
}

async fn each_metric_moves_when_it_should(server: Server) {
    let Acme { ada, ben } = server.acme();
    let before = scrape(&server).await;
    let moved = |after: &str, sample: &str| value(after, sample) - value(&before, sample);
    assert_eq!(value(&before, "eddyline_streams"), 0.0);
    assert!(
        before.contains("eddyline_build_info{version=\""),
        "{before}"
    );

    let stream = Listener::open(&ada.client, &StreamRequest::new().user()).await;
    ben.say("acme/main", "hello").await;
    let missing = ben
        .send(Method::GET, "/flows/acme/none", &json!(null))
        .await;
    assert_eq!(missing.status, 404);
    get(server.base_url(), "/nowhere/at/all").await;
    get(server.base_url(), "/sign-in").await;

    let after = scrape(&server).await;
    for (sample, by) in [
        ("eddyline_streams", 1.0),
        (
            "eddyline_http_requests_total{endpoint=\"getFlow\",status=\"404\"}",
            1.0,
        ),
        (
            "eddyline_http_request_duration_seconds_count{endpoint=\"getFlow\"}",
            1.0,
        ),
        (
            "eddyline_http_requests_total{endpoint=\"none\",status=\"404\"}",
            1.0,
        ),
        (
            "eddyline_http_requests_total{endpoint=\"page\",status=\"200\"}",
            1.0,
        ),
        ("eddyline_store_batch_messages_count", 1.0),
        ("eddyline_store_batch_messages_sum", 1.0),
    ] {
        assert_eq!(moved(&after, sample), by, "{sample}\n{after}");
    }
    for sample in [
        "eddyline_store_transaction_duration_seconds_count",
        "eddyline_store_transaction_duration_seconds_sum",
    ] {
        assert!(moved(&after, sample) > 0.0, "{sample}");
    }
    assert_eq!(value(&after, "eddyline_store_writes_waiting"), 0.0);
    assert_eq!(
        value(&after, "eddyline_store_failed_transactions_total"),
        0.0
    );

    drop(stream);
    let patience = Patience::until("the stream is counted no more");
    while value(&scrape(&server).await, "eddyline_streams") != 0.0 {
        patience.goes_on().await;
    }
}

async fn the_documentation_names_each_metric(server: Server) {
    get(server.base_url(), "/sign-in").await;
    let text = scrape(&server).await;
    let families = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    // As they are read: the type adds to the names of counters and of information.
    let told: BTreeSet<String> = families
        .filter_map(|family| family.split_once(' '))
        .map(|(name, kind)| match kind {
            "counter" => format!("{name}_total"),
            "info" => format!("{name}_info"),
            _ => name.to_owned(),
        })
        .collect();
    let document = include_str!("../../../docs/operating.md");
    let rows = document
        .lines()
        .filter_map(|line| line.strip_prefix("| `eddyline_"));
    let documented: BTreeSet<String> = rows
        .filter_map(|row| row.split(['`', '{']).next())
        .map(|name| format!("eddyline_{name}"))
        .collect();
    assert_eq!(told, documented);
}

async fn nothing_but_the_metrics_is_where_they_are(server: Server) {
    let url = address(&server).expect("the server has metrics");
    for path in ["/", "/flows", "/sign-in", "/healthz"] {
        let (head, _) = get(&url, path).await;
        assert!(head.starts_with("HTTP/1.1 404"), "{path}: {head}");
    }
    let (head, text) = get_as(&url, "/metrics", "text/plain").await;
    assert!(
        head.contains("content-type: text/plain; version=0.0.4"),
        "{head}"
    );
    assert!(text.contains("# TYPE eddyline_streams gauge"), "{text}");
    let mut answer = Raw::without_credentials(&url, "POST", "/metrics", &[], "{}").await;
    let head = answer.head().await;
    assert!(head.starts_with("HTTP/1.1 405"), "{head}");
}

async fn metrics_are_nowhere_unless_an_address_is_given(server: Server) {
    assert_eq!(address(&server), None);
    let (head, _) = get(server.base_url(), "/metrics").await;
    assert!(head.starts_with("HTTP/1.1 404"), "{head}");
}
