//! What an archive has does not depend on where it comes from.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use eddyline_client::Json;
use eddyline_tests::{Backend, Server};
use flate2::read::GzDecoder;
use serde_json::json;
use tokio::task::block_in_place;

use super::{Site, run};
use crate::files::{PIXEL, in_json};

/// What an archive has, but for what is another in each installation: table after table, and the
/// bytes of each file.
#[derive(Debug, PartialEq)]
struct Contents {
    rows: BTreeMap<String, Vec<Json>>,
    files: BTreeMap<String, Vec<u8>>,
    secret_key: Vec<u8>,
}

fn contents(site: &Site, name: &str) -> Contents {
    let path = site.directory.path().join(name);
    run(site
        .command(&["backup", "--unencrypted", "--to"])
        .arg(&path));
    read(&path)
}

fn read(path: &Path) -> Contents {
    let mut contents = Contents {
        rows: BTreeMap::new(),
        files: BTreeMap::new(),
        secret_key: Vec::new(),
    };
    let mut archive = tar::Archive::new(File::open(path).unwrap());
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let name: PathBuf = entry.path().unwrap().into_owned();
        let name = name.to_str().unwrap().to_owned();
        if let Some(table) = name.strip_prefix("tables/") {
            let table = table.split('/').next().unwrap();
            let rows = contents.rows.entry(table.to_owned()).or_default();
            let lines = BufReader::new(GzDecoder::new(entry)).lines();
            let all = lines.map(|line| comparable(table, &line.unwrap()));
            // Each backup and each restoring adds a record of the whole server.
            let is_kept = |row: &Json| table != "audit" || row[1] != 0;
            rows.extend(all.filter(is_kept));
            continue;
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        if let Some(key) = name.strip_prefix("files/") {
            contents.files.insert(key.to_owned(), bytes);
        } else if name == "secret_key" {
            contents.secret_key = bytes;
        }
    }
    contents
}

/// Each restoration gives other check values to the events of the log.
fn comparable(table: &str, line: &str) -> Json {
    let mut row: Json = serde_json::from_str(line).unwrap();
    if table == "event_log" {
        row[1] = Json::Null;
    }
    row
}

#[test]
fn one_that_went_through_both_databases_is_the_same() {
    let (Some(first), Some(second), Some(third)) = (
        Site::new(Backend::Sqlite, false),
        Site::new(Backend::Postgres, true),
        Site::new(Backend::Sqlite, false),
    ) else {
        return;
    };
    let server = first.serve();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(a_life(&server));
    let archive = |site: &Site| site.directory.path().join("archive.tar.age");
    first.back_up(&archive(&first));
    drop(server);
    let before = contents(&first, "first.tar");
    assert!(before.rows.len() > 20, "{:?}", before.rows.keys());
    assert_eq!(before.files.len(), 3, "two files and a thumbnail");
    assert_ne!(before.secret_key, b"");

    second.restore(&archive(&first));
    is_same(&contents(&second, "second.tar"), &before);
    second.back_up(&archive(&second));
    third.restore(&archive(&second));
    is_same(&contents(&third, "third.tar"), &before);

    // Numbers go on where they were, also in tables that have lost their newest row.
    let server = second.serve();
    runtime.block_on(async {
        let gus = block_in_place(|| server.user("acme", "gus"));
        let newest = before.rows["users"]
            .iter()
            .filter_map(|row| row[0].as_i64())
            .max();
        assert_eq!(Some(gus.id), newest.map(|newest| newest + 1));
    });
}

fn is_same(now: &Contents, before: &Contents) {
    for (table, rows) in &before.rows {
        assert_eq!(now.rows.get(table), Some(rows), "{table}");
    }
    assert!(now == before);
}

/// Does something in as many tables as a few steps can.
async fn a_life(server: &Server) {
    let acme = block_in_place(|| server.acme());
    let (ada, ben) = (&acme.ada, &acme.ben);
    let main = "acme/main";
    let first = ada
        .say(main, "Grüße, @ben \u{1f600} #tag \"quoted\" \\")
        .await;
    ada.post(main, &in_json("a.txt", "text/plain", b"some bytes"))
        .await;
    ada.post(main, &in_json("b.png", "image/png", PIXEL)).await;
    let thread = &first["thread_id"];
    let answer = json!({"event": "message", "thread_id": thread, "content": "Yes"});
    ben.post(main, &answer).await;
    let path = format!("/flows/{main}/messages/{}", first["id"]);
    ada.does(
        eddyline_client::Method::PUT,
        &path,
        &json!({"content": "Grüße, @everyone"}),
    )
    .await;
    let private = format!("/private/{}/messages", ben.id);
    ada.does(
        eddyline_client::Method::POST,
        &private,
        &json!({"event": "message", "content": "Between us"}),
    )
    .await;
    block_in_place(|| {
        server.robot("acme", &[]);
        server.admin(&["flow", "token", "--flow", main]);
        server.admin(&["group", "create", "--org", "acme", "--name", "Ops"]);
        server.admin(&["scim", "enable", "--org", "acme"]);
        server.admin(&[
            "org",
            "domain",
            "add",
            "--org",
            "acme",
            "--domain",
            "acme.example",
        ]);
    });
    server.signed_in(&ada.email, eddyline_tests::PASSWORD).await;
}
