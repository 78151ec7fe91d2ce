//! What watches the metrics: the alert rules for Prometheus and the dashboard for Grafana in
//! `deploy`. Prometheus's own `promtool` checks what it can.
//!
//! Without `promtool` its checks are passed over, with a line that says so; where
//! `EDDYLINE_TEST_REQUIRE` names `promtool` they fail.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, io};

use eddyline_client::Json;
use eddyline_tests::{Acme, Server, on_both_databases};
use regex::Regex;
use serde_json::json;
use tempfile::TempDir;

use super::{get, scrape_plain};
use crate::documents::blocks_in;
use crate::documents::walkthroughs::is_a_step;
use eddyline_tests::snippets::Block;

on_both_databases![&["--metrics-listen", "127.0.0.1:0"];
    promtool_finds_nothing_wrong_with_the_metrics,
    rules_and_dashboard_name_metrics_that_there_are,
];

const RULES: &str = "prometheus/eddyline.rules.yml";
const RULES_TEST: &str = "prometheus/eddyline.rules.test.yml";
const DASHBOARD: &str = "grafana/eddyline.json";

fn deployed(file: &str) -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.join("../deploy").join(file)
}

fn read(file: &str) -> String {
    fs::read_to_string(deployed(file)).unwrap()
}

fn dashboard() -> Json {
    serde_json::from_str(&read(DASHBOARD)).unwrap()
}

fn panels() -> Vec<Json> {
    dashboard()["panels"].as_array().unwrap().clone()
}

/// The queries of the dashboard, as Grafana would send them.
fn queries() -> Vec<String> {
    let variables = [
        ("$__rate_interval", "5m"),
        ("$instance", ".*"),
        ("$job", "eddyline"),
    ];
    let panels = panels();
    let targets = panels
        .iter()
        .filter_map(|panel| panel["targets"].as_array());
    let queries = targets.flatten().map(|target| {
        let query = target["expr"].as_str().unwrap().to_owned();
        variables
            .iter()
            .fold(query, |query, (name, value)| query.replace(name, value))
    });
    queries.collect()
}

/// Runs `promtool`, which must agree. Passes over it where it is not installed.
fn promtool(arguments: &[&str], input: &str) {
    let command = Command::new("promtool")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut process) = command else {
        let required =
            env::var("EDDYLINE_TEST_REQUIRE").is_ok_and(|list| list.contains("promtool"));
        assert!(
            !required,
            "promtool is required by EDDYLINE_TEST_REQUIRE and was not found"
        );
        // Past the test harness, which would show it for failed tests only.
        let _ = writeln!(
            io::stderr(),
            "eddyline tests: promtool is not installed; its check is passed over"
        );
        return;
    };
    let mut stdin = process.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    let output = process.wait_with_output().unwrap();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success() && !said(&output.stdout).contains("FAILED"),
        "promtool {arguments:?}:\n{}{}",
        said(&output.stdout),
        said(&output.stderr)
    );
}

/// The metrics after some requests, so that those of endpoints are there.
async fn used(server: &Server) -> String {
    let Acme { ben, .. } = server.acme();
    ben.say("acme/main", "hello").await;
    get(server.base_url(), "/sign-in").await;
    scrape_plain(server).await
}

async fn promtool_finds_nothing_wrong_with_the_metrics(server: Server) {
    let text = used(&server).await;
    tokio::task::block_in_place(|| promtool(&["check", "metrics"], &text));
}

#[test]
fn promtool_finds_nothing_wrong_with_the_rules() {
    let (rules, test) = (deployed(RULES), deployed(RULES_TEST));
    promtool(&["check", "rules", rules.to_str().unwrap()], "");
    promtool(&["test", "rules", test.to_str().unwrap()], "");
}

#[test]
fn configurations_of_prometheus_are_right() {
    let blocks = blocks_in(&["yaml"]);
    // `backup::continuous` takes what is for Litestream.
    let is_another = |block: &Block| block.text.contains("litestream") || is_a_step(block);
    for block in blocks.iter().filter(|block| !is_another(block)) {
        let directory = TempDir::new().unwrap();
        let file = directory.path().join("prometheus.yml");
        fs::write(&file, &block.text).unwrap();
        let rules = directory.path().join("eddyline.rules.yml");
        fs::copy(deployed(RULES), rules).unwrap();
        promtool(&["check", "config", file.to_str().unwrap()], "");
    }
}

#[test]
fn promtool_can_read_the_queries_of_the_dashboard() {
    // As rules that record something, since those are what promtool reads from a file.
    let records: Vec<Json> = queries()
        .iter()
        .enumerate()
        .map(|(number, query)| json!({"record": format!("panel:{number}"), "expr": query}))
        .collect();
    assert!(records.len() > 10);
    let rules = json!({"groups": [{"name": "dashboard", "rules": records}]});
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("rules.yml");
    fs::write(&file, rules.to_string()).unwrap();
    promtool(&["check", "rules", file.to_str().unwrap()], "");
}

async fn rules_and_dashboard_name_metrics_that_there_are(server: Server) {
    let text = used(&server).await;
    let samples: BTreeSet<&str> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split(['{', ' ']).next())
        .collect();
    let name = Regex::new(r"\beddyline_[a-z0-9_]+").unwrap();
    let selector = Regex::new(r"\b(eddyline_[a-z0-9_]+)\{([^}]*)\}").unwrap();
    let label = Regex::new(r#"(outcome|state|cache)="[^"]*""#).unwrap();
    let queries = queries().join("\n");
    for (file, text_of_file) in [
        (RULES, read(RULES)),
        (RULES_TEST, read(RULES_TEST)),
        (DASHBOARD, read(DASHBOARD)),
        (DASHBOARD, queries),
    ] {
        assert!(name.is_match(&text_of_file), "{file} names no metric");
        for found in name.find_iter(&text_of_file) {
            let found = found.as_str();
            assert!(samples.contains(found), "{file}: {found}\n{text}");
        }
        for found in selector.captures_iter(&text_of_file) {
            for label in label.find_iter(&found[2]) {
                let is_there = text.lines().any(|line| {
                    line.starts_with(&format!("{}{{", &found[1])) && line.contains(label.as_str())
                });
                assert!(is_there, "{file}: {}\n{text}", &found[0]);
            }
        }
    }
}

#[test]
fn each_alert_says_what_is_wrong_and_what_to_do() {
    let rules = read(RULES);
    let alerts: Vec<&str> = rules.split("- alert: ").skip(1).collect();
    assert!(!alerts.is_empty());
    let tests = read(RULES_TEST);
    for alert in alerts {
        let name = alert.lines().next().unwrap();
        for key in ["severity: ", "summary: \"", "description: \""] {
            assert!(alert.contains(key), "{name} has no {key}");
        }
        let is_tested = tests.contains(&format!("alertname=\"{name}\""));
        assert!(is_tested, "no test shows when {name} fires");
    }
}

#[test]
fn the_dashboard_takes_the_data_source_that_is_chosen() {
    let dashboard = dashboard();
    let variables = dashboard["templating"]["list"].as_array().unwrap();
    let is_chosen = |variable: &Json| {
        variable["name"] == "datasource"
            && variable["type"] == "datasource"
            && variable["query"] == "prometheus"
    };
    assert!(variables.iter().any(is_chosen));
    let panels = panels();
    let ids: BTreeSet<_> = panels.iter().map(|panel| panel["id"].as_u64()).collect();
    assert_eq!(ids.len(), panels.len(), "each panel has an id of its own");
    let (rows, charts): (Vec<&Json>, Vec<&Json>) =
        panels.iter().partition(|panel| panel["type"] == "row");
    let titles: Vec<_> = rows.iter().map(|row| row["title"].as_str()).collect();
    let expected = [
        "Traffic", "Latency", "Streams", "Store", "Pool", "Mail", "Files",
    ];
    assert_eq!(titles, expected.map(Some));
    for chart in charts {
        let targets = chart["targets"].as_array().unwrap();
        for part in targets.iter().chain([chart]) {
            assert_eq!(part["datasource"]["uid"], "${datasource}", "{chart}");
        }
    }
}
