//! Archives that are not as they were written, and places that are not empty.

use std::fs;
use std::path::Path;

use eddyline_client::Json;
use eddyline_tests::{Backend, note_secret};
use serde_json::json;

use super::{IDENTITY, Site, serve_files};

/// Every so many bytes of an archive one is changed.
const STEP: usize = 701;

/// Declares tests of a place for a backup and one for its restoration, on each database.
macro_rules! on_both {
    ($test:ident) => {
        mod $test {
            use super::*;

            #[test]
            fn sqlite() {
                on(Backend::Sqlite, super::$test);
            }

            #[test]
            fn postgres() {
                on(Backend::Postgres, super::$test);
            }
        }
    };
}

fn on(backend: Backend, test: impl FnOnce(&Site, &Site)) {
    let places = (Site::new(backend, false), Site::new(backend, false));
    if let (Some(from), Some(to)) = places {
        test(&from, &to);
    }
}

/// Runs a command that must fail, and gives what it says.
fn refusal(site: &Site, arguments: &[&str], archive: &Path) -> String {
    let output = site.command(arguments).arg(archive).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "it was taken");
    said
}

#[test]
fn a_changed_byte_is_found_wherever_it_is() {
    let site = Site::new(Backend::Sqlite, false).expect("SQLite is always there");
    drop(site.serve());
    let folder = site.directory.path();
    let identity = folder.join("key.txt");
    fs::write(&identity, IDENTITY).unwrap();
    let open = folder.join("open.tar");
    super::run(
        site.command(&["backup", "--unencrypted", "--to"])
            .arg(&open),
    );
    let sealed = folder.join("sealed.tar.age");
    site.back_up(&sealed);
    let identity = identity.to_str().unwrap();
    let verify = ["restore", "--verify", "--identity", identity, "--from"];
    let refused_by_verify = |archive: &Path| refusal(&site, &verify, archive);
    for archive in [open, sealed] {
        let whole = fs::read(&archive).unwrap();
        let changed = folder.join("changed");
        let ends = [whole.len() - 1, whole.len() - 40, whole.len() - 100];
        let places = (0..whole.len()).step_by(STEP).chain(ends);
        for place in places {
            let mut bytes = whole.clone();
            bytes[place] ^= 0x20;
            fs::write(&changed, bytes).unwrap();
            let said = refused_by_verify(&changed);
            let is_named = ["is damaged", "no backup of Eddyline", "can decrypt"];
            assert!(
                is_named.iter().any(|text| said.contains(text)),
                "{place}: {said}"
            );
        }
        fs::write(&changed, &whole[..whole.len() / 2]).unwrap();
        let said = refused_by_verify(&changed);
        assert!(said.contains("is damaged"), "{said}");
    }
}

#[test]
fn a_damaged_archive_leaves_the_place_empty() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let places = (Site::new(backend, false), Site::new(backend, false));
        let (Some(from), Some(to)) = places else {
            continue;
        };
        drop(from.serve());
        let archive = from.directory.path().join("open.tar");
        super::run(
            from.command(&["backup", "--unencrypted", "--to"])
                .arg(&archive),
        );
        let whole = fs::read(&archive).unwrap();
        let mut bytes = whole.clone();
        let last = bytes.len() - 2;
        bytes[last] ^= 1;
        let damaged = to.directory.path().join("damaged.tar");
        fs::write(&damaged, bytes).unwrap();
        let said = refusal(&to, &["restore", "--from"], &damaged);
        assert!(said.contains("the archive is damaged"), "{said}");

        let restored = super::last_line(to.command(&["restore", "--json", "--from"]).arg(&archive));
        assert_eq!(restored["messages"], Json::from(0));
        let said = refusal(&to, &["restore", "--from"], &archive);
        assert!(said.contains("into an empty place only"), "{said}");
    }
}

on_both![files_that_cannot_be_read_are_named_and_all_else_is_there];
on_both![files_of_an_attempt_before_are_taken_up];

fn files_that_cannot_be_read_are_named_and_all_else_is_there(from: &Site, to: &Site) {
    let (server, keys) = serve_files(from, &["first", "second", "third"]);
    let path = |key: &str| server.files_folder().join(&key[..2]).join(key);
    fs::remove_file(path(&keys[0])).unwrap();
    let mut bytes = fs::read(path(&keys[1])).unwrap();
    bytes[0] ^= 1;
    fs::write(path(&keys[1]), bytes).unwrap();
    let archive = from.directory.path().join("open.tar");
    let said = refusal(from, &["backup", "--unencrypted", "--to"], &archive);
    assert!(said.contains("2 files could not be read"), "{said}");
    let output = to
        .command(&["restore", "--json", "--from"])
        .arg(&archive)
        .output();
    let output = output.unwrap();
    assert!(
        !output.status.success(),
        "two files are not as they were sent"
    );
    let printed = String::from_utf8(output.stdout).unwrap();
    let restored: Json = serde_json::from_str(printed.lines().last().unwrap()).unwrap();
    let named = (&restored["missing_files"], &restored["damaged_files"]);
    assert_eq!(named, (&json!([keys[0]]), &json!([keys[1]])));
    assert_eq!(
        (&restored["messages"], &restored["files"]),
        (&json!(3), &json!(2))
    );
}

fn files_of_an_attempt_before_are_taken_up(from: &Site, to: &Site) {
    let (_server, keys) = serve_files(from, &["first", "second"]);
    let archive = from.directory.path().join("open.tar");
    super::run(
        from.command(&["backup", "--unencrypted", "--to"])
            .arg(&archive),
    );
    let path = |key: &str| to.data().join("files").join(&key[..2]).join(key);
    let put = |key: &str, bytes: &[u8]| {
        fs::create_dir_all(path(key).parent().unwrap()).unwrap();
        fs::write(path(key), bytes).unwrap();
    };
    put(&keys[0], b"another");
    let said = refusal(to, &["restore", "--from"], &archive);
    assert!(
        said.contains(&format!("another file is kept as {}", keys[0])),
        "{said}"
    );
    // The disk was full, or the power was cut.
    put(&keys[0], b"f");
    let of_source = from.data().join("files").join(&keys[1][..2]).join(&keys[1]);
    put(&keys[1], &fs::read(of_source).unwrap());
    super::run(to.command(&["restore", "--from"]).arg(&archive));
    super::run(&mut to.command(&["check"]));
}

#[test]
fn the_secret_key_of_the_archive_must_be_the_one_that_is_configured() {
    const KEY: &str = "EDDYLINE_SECRET_KEY";
    let right = "0123456789abcdef0123456789abcdef";
    note_secret(right);
    let from = Site::new(Backend::Sqlite, false).expect("SQLite is always there");
    let server = from.serve();
    server.acme();
    server.robot("acme", &[]);
    let key = from.data().join("eddyline.key");
    let archive = from.directory.path().join("open.tar");
    super::run(
        from.command(&["backup", "--unencrypted", "--to"])
            .arg(&archive),
    );
    let to = Site::new(Backend::Sqlite, false).expect("SQLite is always there");
    let mut command = to.command(&["restore", "--from"]);
    let output = command.arg(&archive).env(KEY, right).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("is not that of the archive"), "{said}");
    let made = fs::read_to_string(&key).unwrap();
    let mut command = to.command(&["restore", "--from"]);
    super::run(command.arg(&archive).env(KEY, made.trim()));
    assert!(!to.data().join("eddyline.key").exists());

    // Secrets are sealed with the key that is gone.
    fs::remove_file(key).unwrap();
    let other = from.directory.path().join("other.tar");
    let said = refusal(&from, &["backup", "--unencrypted", "--to"], &other);
    assert!(said.contains("the secret key is missing"), "{said}");
}

#[test]
fn what_is_wrong_with_a_command_is_said() {
    let site = Site::new(Backend::Sqlite, false).expect("SQLite is always there");
    let folder = site.directory.path();
    let said = refusal(
        &site,
        &["backup", "--unencrypted", "--to"],
        &folder.join("a.tar"),
    );
    assert!(
        said.contains("there is no database of Eddyline at"),
        "{said}"
    );
    drop(site.serve());
    let archive = folder.join("sealed.tar.age");
    site.back_up(&archive);
    let there = refusal(&site, &["backup", "--unencrypted", "--to"], &archive);
    assert!(there.contains("is there already"), "{there}");
    let said = refusal(&site, &["restore", "--verify", "--from"], &archive);
    assert!(said.contains("the archive is encrypted"), "{said}");
    let foreign = folder.join("foreign.tar");
    fs::write(&foreign, b"this is no archive at all").unwrap();
    let said = refusal(&site, &["restore", "--verify", "--from"], &foreign);
    assert!(said.contains("this is no backup of Eddyline"), "{said}");
    let said = refusal(
        &site,
        &["backup", "--recipient", "age1nonsense", "--to"],
        &foreign,
    );
    assert!(said.contains("age1nonsense"), "{said}");
    let said = refusal(&site, &["backup", "--to"], &foreign);
    assert!(said.contains("--recipient"), "{said}");
    let leftovers = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let leftovers = leftovers.filter(|name| name.to_string_lossy().starts_with(".eddyline"));
    assert_eq!(leftovers.count(), 0);
}
