//! Ten tamperings with an archive, each of which `eddyline verify` finds and names.

use std::fs::File;
use std::path::Path;

use super::{Entries, entries, fill, verify, verify_sound};
use crate::backup::Site;
use eddyline_tests::Backend;
use serde_json::json;

/// Packs entries into a tar file.
pub(crate) fn pack(path: &Path, entries: &Entries) {
    let mut tar = tar::Builder::new(File::create(path).unwrap());
    for (name, bytes) in entries {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        tar.append_data(&mut header, name, &bytes[..]).unwrap();
    }
    tar.finish().unwrap();
}

/// The path that ends like this.
fn path(entries: &Entries, end: &str) -> String {
    let found = entries.keys().find(|path| path.ends_with(end));
    found.unwrap().clone()
}

fn edit_lines(entries: &mut Entries, edit: impl FnOnce(&mut Vec<String>)) {
    let path = path(entries, "messages.jsonl");
    let text = String::from_utf8(entries[&path].clone()).unwrap();
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    edit(&mut lines);
    entries.insert(path, (lines.join("\n") + "\n").into_bytes());
}

fn replace(entries: &mut Entries, end: &str, from: &str, to: &str) {
    let path = path(entries, end);
    let text = String::from_utf8(entries[&path].clone()).unwrap();
    assert!(text.contains(from));
    entries.insert(path, text.replacen(from, to, 1).into_bytes());
}

type Tampering = (&'static str, fn(&mut Entries), &'static str);

const TAMPERINGS: &[Tampering] = &[
    (
        "a message says something else",
        |entries| replace(entries, "messages.jsonl", "hello @ben", "hallo @ben"),
        r#"{"finding":"altered_record","id":1,"record":1,"room":"main"}"#,
    ),
    (
        "a message has another author",
        |entries| replace(entries, "messages.jsonl", r#""author":2"#, r#""author":1"#),
        r#"{"finding":"altered_record","id":2,"record":2,"room":"main"}"#,
    ),
    (
        "a message is removed",
        |entries| edit_lines(entries, |lines| drop(lines.remove(1))),
        r#"{"finding":"removed_records","first":2,"last":2}"#,
    ),
    (
        "the last message is removed",
        |entries| edit_lines(entries, |lines| drop(lines.pop())),
        r#"{"finding":"removed_records","first":6,"last":6}"#,
    ),
    (
        "two messages change places",
        |entries| edit_lines(entries, |lines| lines.swap(1, 2)),
        r#"{"finding":"moved_record","id":2,"record":2,"room":"main"}"#,
    ),
    (
        "a message is there twice",
        |entries| edit_lines(entries, |lines| lines.insert(1, lines[0].clone())),
        r#"{"finding":"inserted_record","id":1,"record":1,"room":"main"}"#,
    ),
    (
        "a file has other bytes",
        |entries| {
            let path = path(entries, ".bin");
            entries.get_mut(&path).unwrap()[9] ^= 1;
        },
        r#"{"finding":"altered_file"}"#,
    ),
    (
        "a file is removed",
        |entries| {
            let path = path(entries, ".bin");
            entries.remove(&path);
        },
        r#"{"finding":"missing_file"}"#,
    ),
    (
        "a page has a script",
        |entries| {
            replace(
                entries,
                "page-00001.html",
                "</main>",
                "<script></script></main>",
            );
        },
        r#"{"finding":"altered_entry"}"#,
    ),
    (
        "the manifest names another flow",
        |entries| replace(entries, "manifest.json", "acme/main", "acme/else"),
        r#"{"finding":"wrong_signature"}"#,
    ),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_tamperings_are_each_found_and_named() {
    let site = Site::new(Backend::Sqlite, false).unwrap();
    let server = site.serve();
    fill(&server).await;
    let (archive, _) = site.export("main.tar", &["flow", "acme/main"]);
    let original = entries(&archive);
    let tampered = site.directory.path().join("tampered.tar");
    pack(&tampered, &original);
    verify_sound(&tampered, &[]);
    for (what, tamper, expected) in TAMPERINGS {
        let mut changed = original.clone();
        tamper(&mut changed);
        pack(&tampered, &changed);
        let (output, answer) = verify(&tampered, &[]);
        assert_eq!(output.status.code(), Some(1), "{what}");
        let found = answer["findings"].as_array().unwrap();
        assert_eq!(found.len(), 1, "{what}: {found:?}");
        let expected: serde_json::Map<_, _> = serde_json::from_str(expected).unwrap();
        for (name, value) in &expected {
            assert_eq!(&found[0][name], value, "{what}: {found:?}");
        }
    }
    let other = "0".repeat(64);
    let (output, answer) = verify(&archive, &["--key", &other]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(answer["findings"][0]["finding"], json!("other_key"));
}
