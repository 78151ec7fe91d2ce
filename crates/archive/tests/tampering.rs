//! What is done to an archive, and what `verify` says of it.
#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use eddyline_archive::{
    Error, ExportKey, ExportScope, ExportWriter, Finding, RecordPlace, ScopeKind, Verified, paths,
    verify,
};
use proptest::prelude::*;
use ring::digest::{Context, SHA256, digest};
use serde_json::{Value, json};
use tempfile::TempDir;

const MESSAGES: &str = "flows/f/messages.jsonl";
const PAGE: &str = "flows/f/index.html";

/// An archive whose entries can be changed.
struct Workshop {
    folder: TempDir,
    entries: Vec<(String, Vec<u8>)>,
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    digest(&SHA256, bytes).as_ref().try_into().unwrap()
}

fn key() -> ExportKey {
    ExportKey::derive(b"the secret of the server")
}

fn scope() -> ExportScope {
    ExportScope {
        kind: ScopeKind::Flow,
        name: "acme/main".to_owned(),
        private_conversations: false,
    }
}

/// Message `id` is twice its place, so that ids and numbers of records differ.
fn message(number: u64) -> Value {
    let mut record =
        json!({"id": 2 * number, "event": "message", "content": format!("text {number}")});
    if number == 3 {
        record["files"] = json!([{"name": "a.txt", "sha256": hex(&sha256(b"a file"))}]);
    }
    record
}

fn written(path: &Path, messages: u64) -> u64 {
    let mut archive = ExportWriter::begin(File::create_new(path).unwrap(), scope());
    archive
        .record("flows/f/flow.json", &json!({"name": "Main"}))
        .unwrap();
    let mut chain = archive.chain(MESSAGES).unwrap();
    for number in 1..=messages {
        chain.record(&message(number)).unwrap();
    }
    chain.finish().unwrap();
    archive.entry(PAGE, b"<p>a page</p>").unwrap();
    if messages >= 3 {
        assert!(archive.file(sha256(b"a file"), 6, &b"a file"[..]).unwrap());
    }
    let finished = archive.finish(&key()).unwrap();
    finished.out.set_len(finished.size).unwrap();
    finished.size
}

impl Workshop {
    fn new(messages: u64) -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("archive.tar");
        written(&path, messages);
        let mut entries = Vec::new();
        for entry in tar::Archive::new(File::open(&path).unwrap())
            .entries()
            .unwrap()
        {
            let mut entry = entry.unwrap();
            let path = entry.path().unwrap().display().to_string();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            entries.push((path, bytes));
        }
        Self { folder, entries }
    }

    fn original(&self) -> PathBuf {
        self.folder.path().join("archive.tar")
    }

    fn bytes(&mut self, path: &str) -> &mut Vec<u8> {
        let found = self.entries.iter_mut().find(|(known, _)| known == path);
        &mut found.unwrap().1
    }

    fn lines(&mut self) -> Vec<String> {
        let text = String::from_utf8(self.bytes(MESSAGES).clone()).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    fn set_lines(&mut self, lines: &[String]) {
        *self.bytes(MESSAGES) = lines
            .iter()
            .flat_map(|line| format!("{line}\n").into_bytes())
            .collect();
    }

    /// Packs the entries, as GNU tar would, and verifies that.
    fn verify(&self) -> Verified {
        let path = self.folder.path().join("tampered.tar");
        let mut tar = tar::Builder::new(File::create(&path).unwrap());
        for (name, bytes) in &self.entries {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            tar.append_data(&mut header, name, &bytes[..]).unwrap();
        }
        tar.finish().unwrap();
        verify(&path, Some(key().public_key()), &mut |_| ()).unwrap()
    }

    fn findings(&self) -> Vec<String> {
        self.verify()
            .findings
            .iter()
            .map(ToString::to_string)
            .collect()
    }
}

/// A line with the hash that belongs to it, by the description of the format.
fn line(number: u64, previous: &str, record: &Value) -> (String, String) {
    let record = serde_json::to_string(record).unwrap();
    let mut context = Context::new(&SHA256);
    context.update(b"eddyline-archive record 1\n");
    let digits: Vec<u8> = (0..64)
        .step_by(2)
        .map(|at| u8::from_str_radix(&previous[at..at + 2], 16).unwrap())
        .collect();
    context.update(&digits);
    context.update(&number.to_be_bytes());
    context.update(record.as_bytes());
    let hash = hex(context.finish().as_ref());
    let line = format!(
        r#"{{"number":{number},"previous":"{previous}","hash":"{hash}","record":{record}}}"#
    );
    (line, hash)
}

fn hash_of(line: &str, field: &str) -> String {
    let read: Value = serde_json::from_str(line).unwrap();
    read[field].as_str().unwrap().to_owned()
}

/// Makes the hashes anew from a line on, as one would who knows the format.
fn rehash(lines: &mut [String], from: usize) {
    let mut previous = hash_of(&lines[from], "previous");
    for (at, text) in lines.iter_mut().enumerate().skip(from) {
        let read: Value = serde_json::from_str(text).unwrap();
        (*text, previous) = line(at as u64 + 1, &previous, &read["record"]);
    }
}

#[test]
fn an_archive_is_as_it_was_written_in_a_tar_file_and_unpacked() {
    let mut shop = Workshop::new(250);
    assert_eq!(shop.findings(), [""; 0]);
    let unpacked = shop.folder.path().join("unpacked");
    tar::Archive::new(File::open(shop.original()).unwrap())
        .unpack(&unpacked)
        .unwrap();
    let known = Some(key().public_key());
    let verified = verify(&unpacked, known, &mut |_| ()).unwrap();
    assert_eq!(verified.findings, []);
    assert_eq!((verified.messages, verified.files), (250, 1));
    assert_eq!((verified.signer, verified.scope), (known, Some(scope())));

    let (first, rest) = (shop.lines()[0].clone(), shop.lines()[1].clone());
    let previous = hash_of(&first, "previous");
    assert_eq!(
        line(1, &previous, &message(1)).0,
        first,
        "the format is as described"
    );
    assert_eq!(line(2, &hash_of(&first, "hash"), &message(2)).0, rest);
}

#[test]
fn the_same_data_has_the_same_bytes() {
    let folder = TempDir::new().unwrap();
    let paths = ["one", "two"].map(|name| folder.path().join(name));
    for path in &paths {
        written(path, 20);
    }
    assert_eq!(fs::read(&paths[0]).unwrap(), fs::read(&paths[1]).unwrap());
}

#[test]
fn an_altered_message_is_named() {
    let mut shop = Workshop::new(250);
    let mut lines = shop.lines();
    lines[120] = lines[120].replace("text 121", "text 122");
    shop.set_lines(&lines);
    assert_eq!(
        shop.findings(),
        ["altered: message 242 of the flow “Main” (flows/f/messages.jsonl, record 121)"]
    );
}

#[test]
fn a_message_that_was_replaced_with_its_hash_is_named() {
    let mut shop = Workshop::new(250);
    let mut lines = shop.lines();
    let previous = hash_of(&lines[120], "previous");
    lines[120] = line(
        121,
        &previous,
        &json!({"id": 242, "event": "message", "content": "forged"}),
    )
    .0;
    shop.set_lines(&lines);
    assert_eq!(
        shop.findings(),
        ["altered: message 242 of the flow “Main” (flows/f/messages.jsonl, record 121)"]
    );
}

#[test]
fn messages_whose_hashes_were_all_made_anew_are_named_as_a_range() {
    let mut shop = Workshop::new(250);
    let mut lines = shop.lines();
    lines[120] = lines[120].replace("text 121", "forged");
    rehash(&mut lines, 120);
    shop.set_lines(&lines);
    assert_eq!(
        shop.findings(),
        [
            "altered, with new hashes: among records 101 to 200 of flows/f/messages.jsonl, from message 202 of the flow \
             “Main” (flows/f/messages.jsonl, record 101) to message 400 of the flow “Main” (flows/f/messages.jsonl, record 200)"
        ]
    );

    let mut lines = Workshop::new(250).lines();
    lines[240] = lines[240].replace("text 241", "forged");
    rehash(&mut lines, 240);
    shop.set_lines(&lines);
    let findings = shop.findings();
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].starts_with("altered, with new hashes: among records 201 to 250 of"));
}

#[test]
fn a_removed_message_is_named_by_its_neighbours() {
    let mut shop = Workshop::new(250);
    let mut lines = shop.lines();
    lines.remove(120);
    shop.set_lines(&lines);
    assert_eq!(
        shop.findings(),
        [
            "removed: record 121 of flows/f/messages.jsonl, between message 240 of the flow “Main” \
             (flows/f/messages.jsonl, record 120) and message 244 of the flow “Main” (flows/f/messages.jsonl, record 122)"
        ]
    );

    let mut lines = Workshop::new(250).lines();
    lines.truncate(248);
    shop.set_lines(&lines);
    let findings = shop.findings();
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(
        findings[0].starts_with("removed: records 249 to 250 of"),
        "{findings:?}"
    );

    let mut lines = Workshop::new(250).lines();
    lines.remove(120);
    rehash(&mut lines, 120);
    shop.set_lines(&lines);
    assert!(!shop.findings().is_empty());
}

#[test]
fn a_reordered_message_is_named() {
    let mut shop = Workshop::new(250);
    let mut lines = shop.lines();
    lines.swap(120, 121);
    shop.set_lines(&lines);
    assert_eq!(
        shop.findings(),
        ["reordered: message 242 of the flow “Main” (flows/f/messages.jsonl, record 121)"]
    );
}

#[test]
fn an_inserted_message_is_named() {
    let forged = json!({"id": 9999, "event": "message", "content": "forged"});
    let named = "inserted: message 9999 of the flow “Main” (flows/f/messages.jsonl, record 121)";
    for place in [120, 121] {
        let mut shop = Workshop::new(250);
        let mut lines = shop.lines();
        let previous = hash_of(&lines[120], "previous");
        lines.insert(place, line(121, &previous, &forged).0);
        shop.set_lines(&lines);
        assert_eq!(shop.findings(), [named], "in line {place}");
    }
    let mut shop = Workshop::new(250);
    let mut lines = shop.lines();
    let last = hash_of(&lines[249], "hash");
    lines.push(line(251, &last, &forged).0);
    shop.set_lines(&lines);
    assert_eq!(
        shop.findings(),
        ["inserted: message 9999 of the flow “Main” (flows/f/messages.jsonl, record 251)"]
    );
}

#[test]
fn a_line_without_a_record_is_named() {
    let mut shop = Workshop::new(250);
    let mut lines = shop.lines();
    lines[120] = "[".repeat(100_000);
    shop.set_lines(&lines);
    assert_eq!(
        shop.findings(),
        ["altered: line 121 of flows/f/messages.jsonl has no record"]
    );
}

#[test]
fn altered_removed_and_inserted_files_and_pages_are_named() {
    let file = paths::file(&hex(&sha256(b"a file")));
    let digest = hex(&sha256(b"a file"));
    let of_message = "message 6 of the flow “Main” (flows/f/messages.jsonl, record 3)";

    let mut shop = Workshop::new(10);
    shop.bytes(&file)[0] ^= 1;
    assert_eq!(
        shop.findings(),
        [format!("altered: file {digest} of {of_message}")]
    );

    let mut shop = Workshop::new(10);
    shop.entries.retain(|(path, _)| *path != file);
    assert_eq!(
        shop.findings(),
        [format!("removed: file {digest} of {of_message}")]
    );

    let mut shop = Workshop::new(10);
    let extra = paths::file(&hex(&sha256(b"extra")));
    shop.entries.insert(2, (extra.clone(), b"extra".to_vec()));
    assert_eq!(
        shop.findings(),
        [format!(
            "inserted: {extra} belongs to nothing in the archive"
        )]
    );

    let mut shop = Workshop::new(10);
    shop.bytes(PAGE).extend_from_slice(b"<script>");
    assert_eq!(shop.findings(), [format!("altered: {PAGE}")]);

    let mut shop = Workshop::new(10);
    shop.entries
        .retain(|(path, _)| path != PAGE && path != MESSAGES);
    let findings = shop.findings();
    assert!(
        findings.contains(&format!("removed: {MESSAGES}")),
        "{findings:?}"
    );
    assert!(
        findings.contains(&format!("removed: {PAGE}")),
        "{findings:?}"
    );

    let mut shop = Workshop::new(10);
    let again = shop.entries[0].clone();
    shop.entries.push(again);
    assert_eq!(
        shop.findings(),
        ["inserted: flows/f/flow.json is there twice"]
    );

    let mut shop = Workshop::new(10);
    shop.entries.push(("\u{1b}[2Jevil".to_owned(), Vec::new()));
    assert_eq!(
        shop.findings(),
        [r"inserted: \u{1b}[2Jevil belongs to nothing in the archive"]
    );
}

#[test]
fn another_manifest_signature_or_key_is_named() {
    let wrong =
        "wrong signature: manifest.json or manifest.sig was altered, so nothing else is proved";

    let mut shop = Workshop::new(10);
    let manifest = String::from_utf8(shop.bytes(paths::MANIFEST).clone()).unwrap();
    *shop.bytes(paths::MANIFEST) = manifest.replace("acme/main", "acme/else").into_bytes();
    assert_eq!(shop.findings(), [wrong]);

    let mut shop = Workshop::new(10);
    let signature = String::from_utf8(shop.bytes(paths::SIGNATURE).clone()).unwrap();
    let (start, end) = signature.split_at(signature.len() - 10);
    *shop.bytes(paths::SIGNATURE) = format!(
        "{start}{}",
        end.replace(|c: char| c.is_ascii_hexdigit(), "0")
    )
    .into();
    assert_eq!(shop.findings(), [wrong]);

    let mut shop = Workshop::new(10);
    shop.entries.retain(|(path, _)| path != paths::SIGNATURE);
    assert_eq!(shop.findings(), ["removed: manifest.sig"]);

    let other = ExportKey::derive(b"another server").public_key();
    let shop = Workshop::new(10);
    let verified = verify(&shop.original(), Some(other), &mut |_| ()).unwrap();
    assert_eq!(
        verified.findings,
        [Finding::OtherKey {
            signer: key().public_key().to_string(),
            known: other.to_string()
        }]
    );
}

#[test]
fn a_truncated_archive_is_named() {
    let shop = Workshop::new(250);
    let whole = fs::read(shop.original()).unwrap();
    let path = shop.folder.path().join("cut.tar");
    fs::write(&path, &whole[..20_000]).unwrap();
    let verified = verify(&path, None, &mut |_| ()).unwrap();
    assert!(
        verified.findings.contains(&Finding::Truncated {
            within: Some(MESSAGES.to_owned())
        }),
        "{:?}",
        verified.findings
    );
    fs::write(&path, &whole[..whole.len() - 1024]).unwrap();
    let verified = verify(&path, None, &mut |_| ()).unwrap();
    assert_eq!(
        verified.findings,
        [Finding::Truncated {
            within: Some(paths::SIGNATURE.to_owned())
        }]
    );
    fs::write(&path, [&whole[..], b"more"].concat()).unwrap();
    let verified = verify(&path, None, &mut |_| ()).unwrap();
    assert_eq!(verified.findings, [Finding::TrailingBytes]);
}

#[test]
fn what_is_no_export_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("file");
    for bytes in [
        &b""[..],
        b"age-encryption.org/v1\n",
        &[0x1f, 0x8b, 8],
        &[b'x'; 2000],
    ] {
        fs::write(&path, bytes).unwrap();
        let refused = verify(&path, None, &mut |_| ());
        assert!(matches!(refused, Err(Error::NotAnExport(_))), "{refused:?}");
    }
    let mut shop = Workshop::new(1);
    *shop.bytes(paths::MANIFEST) = br#"{"format":"eddyline-archive","version":2}"#.to_vec();
    fs::create_dir(folder.path().join("newer")).unwrap();
    fs::write(
        folder.path().join("newer/manifest.json"),
        shop.bytes(paths::MANIFEST),
    )
    .unwrap();
    let refused = verify(&folder.path().join("newer"), None, &mut |_| ());
    assert!(matches!(refused, Err(Error::TooNew(2))), "{refused:?}");
    let refused = verify(folder.path(), None, &mut |_| ());
    assert!(matches!(refused, Err(Error::NotAnExport(_))), "{refused:?}");
}

#[test]
fn a_file_that_cannot_be_read_leaves_the_archive_whole() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("archive.tar");
    let mut archive = ExportWriter::begin(File::create_new(&path).unwrap(), scope());
    let long = vec![7; 100_000];
    assert!(
        !archive
            .file(sha256(b"what was sent"), 100_000, &long[..])
            .unwrap()
    );
    assert!(
        !archive
            .file(sha256(b"longer"), 6, &b"longer than noted"[..])
            .unwrap()
    );
    let mut chain = archive.chain(MESSAGES).unwrap();
    let files = json!([{"sha256": hex(&sha256(b"what was sent"))}]);
    chain.record(&json!({"id": 1, "files": files})).unwrap();
    chain.finish().unwrap();
    let finished = archive.finish(&key()).unwrap();
    finished.out.set_len(finished.size).unwrap();
    let verified = verify(&path, None, &mut |_| ()).unwrap();
    assert_eq!(verified.findings, []);
    assert_eq!(verified.missing_at_export.len(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever byte is changed in the bytes of an entry, something is found, and nothing panics.
    #[test]
    fn any_changed_byte_is_found(messages in 1u64..230, entry in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), change in 1u8..=255) {
        let mut shop = Workshop::new(messages);
        let entry = entry.index(shop.entries.len());
        let bytes = &mut shop.entries[entry].1;
        let at = at.index(bytes.len());
        bytes[at] ^= change;
        prop_assert!(!shop.findings().is_empty());
    }

    /// Lines taken away, put twice and moved are found, and each finding names a place.
    #[test]
    fn any_other_order_of_lines_is_found(messages in 2u64..230, from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>(), kind in 0..3) {
        let mut shop = Workshop::new(messages);
        let original = shop.lines();
        let mut lines = original.clone();
        let moved = lines.remove(from.index(lines.len()));
        match kind {
            0 => {}
            1 => lines.insert(to.index(lines.len() + 1), moved),
            _ => { lines = original.clone(); lines.insert(to.index(lines.len() + 1), moved); }
        }
        prop_assume!(lines != original);
        shop.set_lines(&lines);
        let verified = shop.verify();
        let is_named = verified.findings.iter().all(|finding| matches!(finding,
            Finding::RemovedRecords { .. } | Finding::MovedRecord { place: RecordPlace { id: Some(_), .. } }
            | Finding::InsertedRecord { place: RecordPlace { id: Some(_), .. } } | Finding::MissingFile { .. } | Finding::AlteredFile { .. } | Finding::ExtraEntry { .. }));
        prop_assert!(!verified.findings.is_empty() && is_named, "{:?}", verified.findings);
    }

    /// Any bytes for a line are refused or found, and nothing panics.
    #[test]
    fn any_bytes_for_lines_are_found(bytes in prop::collection::vec(any::<u8>(), 1..300)) {
        let mut shop = Workshop::new(3);
        shop.bytes(MESSAGES).extend_from_slice(&bytes);
        prop_assert!(!shop.findings().is_empty());
    }
}
