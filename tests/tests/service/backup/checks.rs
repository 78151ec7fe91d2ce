//! `eddyline check` reads everything that a server keeps.

use std::fs;

use eddyline_tests::Backend;
use serde_json::json;

use super::{Site, last_line, serve_files};

#[test]
fn on_sqlite() {
    what_is_wrong_is_named(Backend::Sqlite);
}

#[test]
fn on_postgres() {
    what_is_wrong_is_named(Backend::Postgres);
}

fn what_is_wrong_is_named(backend: Backend) {
    let Some(site) = Site::new(backend, false) else {
        return;
    };
    let (server, keys) = serve_files(&site, &["first", "second", "third"]);
    let whole = last_line(&mut site.command(&["check", "--json"]));
    assert_eq!(
        (&whole["defects"], &whole["messages"], &whole["files"]),
        (&json!([]), &json!(3), &json!(3))
    );

    let path = |key: &str| server.files_folder().join(&key[..2]).join(key);
    fs::remove_file(path(&keys[0])).unwrap();
    let mut bytes = fs::read(path(&keys[1])).unwrap();
    bytes[0] ^= 1;
    fs::write(path(&keys[1]), bytes).unwrap();
    let output = site.command(&["check"]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(!output.status.success());
    assert!(said.contains("Checked 3 messages and 2 files"), "{said}");
    assert!(
        said.contains(&format!("Missing file {}", keys[0])),
        "{said}"
    );
    assert!(
        said.contains(&format!("Damaged file {}", keys[1])),
        "{said}"
    );
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "error: 2 defects are left\n"
    );
    let skipped = last_line(&mut site.command(&["check", "--skip-files", "--json"]));
    assert_eq!(skipped["files"], 0);
}
