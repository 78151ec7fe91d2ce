//! Configuration: files of the server, of PostgreSQL and of fail2ban.

use std::fs;

use eddyline_client::{Json, StatusCode};
use eddyline_testing::postgres::Cluster;
use eddyline_tests::{Acme, Backend, Python, eddyline, run};
use serde_json::json;
use tempfile::TempDir;

use super::{Block, blocks_in, place};

#[test]
fn files_of_the_documents_are_configurations() {
    let directory = TempDir::new().unwrap();
    let (file, missing) = (
        directory.path().join("eddyline.toml"),
        directory.path().join("missing.pem"),
    );
    for block in blocks_in(&["toml"]) {
        fs::write(&file, &block.text).unwrap();
        // Everything in the file is taken before the missing certificate stops the server.
        let mut command = eddyline();
        command.args([
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--stream-listen",
            "127.0.0.1:0",
        ]);
        command
            .args(["--log-format", "text", "--data-dir"])
            .arg(directory.path().join("data"));
        command.arg("--config").arg(&file);
        // One certificate is enough.
        let options = match block.text.contains("acme_domain") {
            true => &["--acme-ca"][..],
            false => &["--tls-cert", "--tls-key"],
        };
        for option in options {
            command.arg(option).arg(&missing);
        }
        let output = command.output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(
            !output.status.success() && error.contains("missing.pem"),
            "{}: {error}",
            place(&block)
        );
    }
}

/// The statements of these documents are run in this order: the first makes what the second
/// changes.
#[test]
fn statements_for_postgres_make_a_database_that_the_server_takes() {
    let Some(cluster) = Cluster::own(&[]) else {
        return;
    };
    let administration = cluster.database();
    let blocks = blocks_in(&["sql"]);
    let (first, rest): (Vec<&Block>, Vec<&Block>) = blocks
        .iter()
        .partition(|block| block.document == "docs/databases.md");
    // The tests' own role has the name of the documents' role.
    let renamed = |text: &str| text.replace("eddyline", "service");
    for block in first.into_iter().chain(rest) {
        for statement in block.text.split_inclusive(";\n") {
            let done = administration.run(&renamed(statement));
            assert!(done.is_ok(), "{}: {done:?}", place(block));
        }
    }
    let url = blocks_in(&["toml"]).into_iter().find_map(|block| {
        let url = block
            .text
            .lines()
            .find_map(|line| line.strip_prefix("database = "))?;
        (block.document == "docs/databases.md").then(|| url.trim_matches('"').to_owned())
    });
    let url = renamed(&url.unwrap()).replace("db.internal", administration.server());
    let directory = TempDir::new().unwrap();
    let mut command = eddyline();
    command.args([
        "admin",
        "org",
        "create",
        "--name",
        "Acme",
        "--database",
        &url,
        "--data-dir",
    ]);
    let output = command.arg(directory.path()).output().unwrap();
    assert!(
        output.status.success(),
        "{url}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(administration.run("drop database service").is_ok());
}

#[test]
fn the_filter_for_fail2ban_finds_failed_sign_ins() {
    let blocks = blocks_in(&["ini"]);
    // `packages::unit` checks what is for systemd, and `backup::continuous` what is for PostgreSQL.
    let is_another = |block: &Block| {
        ["[Service]", "[Socket]", "postgresql.conf"]
            .iter()
            .any(|text| block.text.contains(text))
    };
    let filters: Vec<&Block> = blocks.iter().filter(|block| !is_another(block)).collect();
    let [filter] = &filters[..] else {
        panic!("which of them is the filter?")
    };
    let (_, expressions) = filter.text.split_once("failregex = ").unwrap();
    assert!(filter.text.contains("\n[Definition]\n"), "{}", filter.text);
    let Some(python) = Python::with("smtp", &["re"]) else {
        return;
    };
    // fail2ban knows addresses of both kinds.
    let expressions = expressions.replace("<HOST>", r"(?P<host>[\w.:]+)");
    let expressions: Vec<&str> = expressions.lines().map(str::trim).collect();
    let [for_text, for_json] = expressions[..] else {
        panic!("one for each format: {expressions:?}")
    };
    for (format, expression) in [("text", for_text), ("json", for_json)] {
        check_filter(&python, format, expression);
    }
}

fn check_filter(python: &Python, format: &str, expression: &str) {
    run(
        Backend::Sqlite,
        &["--log", "info", "--log-format", format],
        async |server| {
            let Acme { ada, .. } = server.acme();
            let guess = server
                .client()
                .basic(&ada.email, "a guess")
                .build()
                .unwrap();
            assert_eq!(
                guess.me().await.unwrap_err().status(),
                Some(StatusCode::UNAUTHORIZED)
            );
            let log = server.log();
            let line = log
                .lines()
                .find(|line| line.contains("sign-in failed"))
                .expect("a failure is logged");
            // fail2ban takes the time out of a line first.
            let (start, end) = (line.find("20").unwrap(), line.find('Z').unwrap());
            let line = format!("{}{}", &line[..start], &line[end + 1..]);
            let script = "import json, re, sys\n\
                      line = json.load(sys.stdin)\n\
                      found = re.search(line['expression'], line['text'])\n\
                      print(json.dumps(found and found.group('host')))";
            let found: Json = python
                .run(script, &json!({"expression": expression, "text": line}))
                .await;
            assert_eq!(found, "127.0.0.1", "{line:?}");
        },
    );
}
