//! What the server counts for Prometheus.

use std::collections::BTreeSet;

use eddyline_tests::{Patience, Raw, Server, on_both_databases};

mod moves;
mod watched;

on_both_databases![&["--metrics-listen", "127.0.0.1:0"];
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

pub(crate) async fn scrape(server: &Server) -> String {
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

/// The same in the format that Prometheus reads when it is not asked for another.
async fn scrape_plain(server: &Server) -> String {
    let url = address(server).expect("the server has metrics");
    let (head, text) = get_as(&url, "/metrics", "text/plain").await;
    assert!(
        head.contains("content-type: text/plain; version=0.0.4"),
        "{head}"
    );
    text
}

/// The value of a sample. One with an endpoint is 0 until that has answered.
pub(crate) fn value(text: &str, sample: &str) -> f64 {
    let mut lines = text.lines();
    let rest = lines.find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
    match rest {
        Some(number) => number.parse().unwrap(),
        None if sample.contains("endpoint") => 0.0,
        None => panic!("no {sample} in:\n{text}"),
    }
}

/// Waits until a sample is as it shall be.
async fn until(server: &Server, what: &'static str, is_so: impl Fn(&str) -> bool) {
    let patience = Patience::until(what);
    while !is_so(&scrape(server).await) {
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
    let document = include_str!("../../../docs/monitoring.md");
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
    let text = scrape_plain(&server).await;
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
