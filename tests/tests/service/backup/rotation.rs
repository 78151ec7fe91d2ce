//! Archives that build on each other, in a folder or in a bucket, and the server's own schedule.

use std::fs;
use std::path::{Path, PathBuf};

use eddyline_client::Json;
use eddyline_tests::{Backend, Caller, Patience, Server, note_secret};
use serde_json::json;
use tokio::runtime::Runtime;

use super::{IDENTITY, RECIPIENT, Site, again, last_line, run, serve_files};
use crate::files::in_json;

/// More than one entry of an archive has.
const MESSAGES: usize = 60;

/// Declares a test of a place for each database and place for files.
macro_rules! on_all {
    ($($test:ident,)+) => { $(
        mod $test {
            use super::*;

            #[test]
            fn sqlite_and_a_folder() {
                on(Backend::Sqlite, false, super::$test);
            }

            #[test]
            fn postgres_and_a_bucket() {
                on(Backend::Postgres, true, super::$test);
            }
        }
    )+ };
}

on_all![
    an_incremental_backup_has_what_is_new,
    a_server_takes_backups_by_itself,
    of_several_servers_one_takes_each,
    old_backups_are_removed,
];

fn on(backend: Backend, is_in_store: bool, test: impl FnOnce(&Site)) {
    if let Some(site) = Site::new(backend, is_in_store) {
        test(&site);
    }
}

/// The place for the backups of a site.
fn place(site: &Site) -> String {
    match &site.store {
        Some(store) => format!("s3://{}/old/backups", store.bucket()),
        None => format!("{}/", folder(site).display()),
    }
}

fn folder(site: &Site) -> PathBuf {
    site.directory.path().join("backups")
}

/// The archives in the place of a site, without their suffix.
fn archives(site: &Site) -> Vec<String> {
    let names = match &site.store {
        Some(store) => store.objects_below("old/backups"),
        None => names(&folder(site)),
    };
    let archives = names
        .iter()
        .filter_map(|name| name.strip_suffix(".tar.age"));
    archives.map(str::to_owned).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Backs up into the place, and gives the name of the archive.
fn back_up(site: &Site, arguments: &[&str]) -> String {
    let to = place(site);
    let command = ["backup", "--recipient", RECIPIENT, "--json", "--to", &to];
    let answer = last_line(site.command(&command).args(arguments));
    assert_eq!(answer["missing_files"], json!([]), "{answer}");
    answer["archive"].as_str().unwrap().to_owned()
}

/// A file with the key of the archives.
fn identity(site: &Site) -> String {
    let path = site.directory.path().join("key.txt");
    fs::write(&path, IDENTITY).unwrap();
    note_secret(IDENTITY);
    path.display().to_string()
}

/// Fills another site of the same kind with an archive of this one.
fn restored(site: &Site, archive: &str) -> Site {
    let other = site.another();
    let key = identity(site);
    let mut restore = other.command(&["restore", "--identity", &key, "--from", archive]);
    if let Some(store) = &site.store {
        restore.envs([
            ("EDDYLINE_BACKUP_S3_ENDPOINT", &*store.endpoint()),
            ("EDDYLINE_BACKUP_S3_REGION", store.region()),
            ("EDDYLINE_BACKUP_S3_ACCESS_KEY", store.access_key()),
            ("EDDYLINE_BACKUP_S3_SECRET_KEY", store.secret_key()),
            ("EDDYLINE_BACKUP_S3_ALLOW_HTTP", "on"),
        ]);
    }
    run(&mut restore);
    other
}

/// What the newest messages say to a user of an earlier server.
fn texts(server: &Server, caller: &Caller) -> Vec<Json> {
    let path = "/flows/acme/main/messages?limit=100";
    let messages = Runtime::new()
        .unwrap()
        .block_on(again(server, caller).get(path));
    let messages = messages.as_array().unwrap();
    let contents = messages.iter().map(|message| message["content"].clone());
    contents.collect()
}

fn an_incremental_backup_has_what_is_new(site: &Site) {
    let large = "a large file, ".repeat(50_000);
    let server = site.serve();
    let runtime = Runtime::new().unwrap();
    let acme = server.acme();
    let many = "many words ".repeat(350);
    runtime.block_on(async {
        for number in 0..MESSAGES {
            acme.ada.say("acme/main", &format!("{number} {many}")).await;
        }
        let file = in_json("a.txt", "text/plain", large.as_bytes());
        acme.ada.post("acme/main", &file).await;
    });
    let full = back_up(site, &[]);
    let at_full = texts(&server, &acme.ada);
    runtime.block_on(acme.ada.say("acme/main", "only later"));
    // The second builds on the first, and that on the full one.
    let first = back_up(site, &["--incremental"]);
    let at_first = texts(&server, &acme.ada);
    runtime.block_on(async {
        let file = in_json("b.txt", "text/plain", b"a small file");
        acme.ben.post("acme/main", &file).await;
    });
    let second = back_up(site, &["--incremental"]);
    let at_second = texts(&server, &acme.ada);
    drop(server);

    let names = archives(site);
    assert_eq!(names.len(), 3, "{names:?}");
    for (name, (archive, kind)) in names.iter().zip([
        (&full, "full"),
        (&first, "incremental"),
        (&second, "incremental"),
    ]) {
        assert!(name.ends_with(kind) && archive.contains(name), "{names:?}");
    }
    let key = identity(site);
    let verify = [
        "restore",
        "--verify",
        "--json",
        "--identity",
        &key,
        "--from",
    ];
    let verified = last_line(site.command(&verify).arg(&second));
    assert_eq!(verified["files"], 2, "{verified}");
    // Its rows and its files are those of the earlier archives.
    if site.store.is_none() {
        let size = |archive: &str| fs::metadata(archive).unwrap().len();
        assert!(
            size(&first) * 4 < size(&full),
            "{} of {}",
            size(&first),
            size(&full)
        );
    }
    for (archive, expected) in [(&full, at_full), (&first, at_first), (&second, at_second)] {
        let other = restored(site, archive);
        let server = other.serve();
        assert_eq!(texts(&server, &acme.ada), expected, "{archive}");
        let checked = last_line(&mut other.command(&["check", "--json"]));
        assert_eq!(checked["defects"], json!([]), "{checked}");
        assert_eq!(checked["missing_files"], json!([]), "{checked}");
        assert_eq!(checked["damaged_files"], json!([]), "{checked}");
    }
}

#[test]
fn databases_may_have_a_place_in_common() {
    let site = || Site::new(Backend::Sqlite, false).expect("SQLite is always there");
    let sites = [site(), site()];
    let place = place(&sites[0]);
    let back_up = |site: &Site| {
        let command = ["backup", "--recipient", RECIPIENT, "--json", "--to", &place];
        let answer = last_line(site.command(&command).arg("--incremental"));
        answer["archive"].as_str().unwrap().to_owned()
    };
    for site in &sites {
        drop(site.serve());
    }
    let order = [&sites[0], &sites[1], &sites[0], &sites[1]];
    let archives = order.map(back_up);
    let is_full = archives.each_ref().map(|name| name.contains("-full"));
    assert_eq!(is_full, [true, true, false, false], "{archives:?}");
    let key = identity(&sites[0]);
    let verify = ["restore", "--verify", "--identity", &key, "--from"];
    for archive in &archives {
        run(sites[0].command(&verify).arg(archive));
    }
    let output = sites[0].command(&verify).arg(&place).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("several databases"), "{said}");
}

#[test]
fn old_backups_stay_as_long_as_files_are_missing() {
    let site = Site::new(Backend::Sqlite, false).expect("SQLite is always there");
    let (server, keys) = serve_files(&site, &["one"]);
    drop(server);
    fs::remove_dir_all(site.data().join("files")).unwrap();
    let options = scheduled(
        &site,
        &[
            "--backup-interval",
            "1s",
            "--backup-full-interval",
            "1s",
            "--backup-keep",
            "1s",
        ],
    );
    let server = site.serve_with(&options);
    let names = until(&site, "several full backups", |names| names.len() >= 3);
    assert!(
        names.iter().all(|name| name.ends_with("-full")),
        "{names:?}"
    );
    let log = server.log();
    assert!(log.contains("could not be backed up as they were sent"));
    assert!(log.contains(&keys[0]), "the file is named");
}

#[test]
fn damage_of_an_earlier_archive_is_found() {
    let site = Site::new(Backend::Sqlite, false).expect("SQLite is always there");
    let (server, _) = serve_files(&site, &["one"]);
    drop(server);
    let full = back_up(&site, &[]);
    let incremental = back_up(&site, &["--incremental"]);
    let key = identity(&site);
    let refusal = |from: &str| {
        let verify = ["restore", "--verify", "--identity", &key, "--from", from];
        let output = site.command(&verify).output().unwrap();
        assert!(!output.status.success(), "it was taken");
        String::from_utf8(output.stderr).unwrap()
    };
    let whole = fs::read(&full).unwrap();
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 1;
    fs::write(&full, damaged).unwrap();
    assert!(refusal(&incremental).contains("is damaged"));
    fs::remove_file(&full).unwrap();
    let said = refusal(&incremental);
    assert!(said.contains(&full), "{said}");
    fs::write(&full, &whole).unwrap();

    // From a pipe its earlier archives are not to be found.
    let mut piped = site.command(&["restore", "--verify", "--identity", &key, "--from", "-"]);
    let output = piped
        .stdin(fs::File::open(&incremental).unwrap())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("incremental"), "{said}");
}

#[test]
fn a_backup_is_full_where_no_other_can_be_built_on() {
    let site = Site::new(Backend::Sqlite, false).expect("SQLite is always there");
    drop(site.serve());
    let first = back_up_into_folder(&site);
    assert!(first.ends_with("-full.tar.age"), "{first}");
    let second = back_up_into_folder(&site);
    assert!(second.ends_with("-incremental.tar.age"), "{second}");
    let index = second.replace(".tar.age", ".index");
    fs::write(&index, &fs::read(&index).unwrap()[1..]).unwrap();
    let third = back_up_into_folder(&site);
    assert!(third.ends_with("-full.tar.age"), "{third}");
    // Who has only the new key could not read the archives before.
    let key = site.directory.path().join("another.txt");
    let made = run(site.command(&["backup", "--new-key"]).arg(&key));
    note_secret(fs::read_to_string(&key).unwrap().lines().last().unwrap());
    let recipient = String::from_utf8(made.stdout).unwrap();
    let to = place(&site);
    let command = [
        "backup",
        "--incremental",
        "--json",
        "--to",
        &to,
        "--recipient",
    ];
    let fourth = last_line(site.command(&command).arg(recipient.trim()));
    let fourth = fourth["archive"].as_str().unwrap();
    assert!(fourth.ends_with("-full.tar.age"), "{fourth}");
    let verify = ["restore", "--verify", "--from", &to, "--identity"];
    run(site.command(&verify).arg(&key));
}

fn back_up_into_folder(site: &Site) -> String {
    back_up(site, &["--incremental"])
}

/// Waits until the archives of a site are as they should be.
fn until(site: &Site, what: &'static str, are_there: impl Fn(&[String]) -> bool) -> Vec<String> {
    let patience = Patience::until(what);
    Runtime::new().unwrap().block_on(async {
        loop {
            let names = archives(site);
            if are_there(&names) {
                return names;
            }
            patience.goes_on().await;
        }
    })
}

fn scheduled(site: &Site, options: &[&str]) -> Vec<String> {
    let place = place(site);
    let options = [
        &["--backup-to", &place, "--backup-recipient", RECIPIENT],
        options,
    ]
    .concat();
    options.into_iter().map(str::to_owned).collect()
}

/// A record of this action in the audit log, as soon as there is one.
fn recorded(server: &Server, action: &str) -> Json {
    let patience = Patience::until("the backup is in the audit log");
    Runtime::new().unwrap().block_on(async {
        loop {
            let records = server.admin(&["audit", "--action", action]);
            match records["records"].get(0) {
                Some(record) => return record.clone(),
                None => patience.goes_on().await,
            }
        }
    })
}

fn a_server_takes_backups_by_itself(site: &Site) {
    let options = scheduled(site, &["--backup-interval", "1s"]);
    let server = site.serve_with(&options);
    let acme = server.acme();
    let runtime = Runtime::new().unwrap();
    runtime.block_on(acme.ada.say("acme/main", "kept by itself"));
    let count = archives(site).len();
    // One may have been under way.
    let names = until(site, "two more backups", |names| names.len() >= count + 2);
    assert!(names[0].ends_with("-full"), "{names:?}");
    assert!(
        names[1..].iter().all(|name| name.ends_with("-incremental")),
        "{names:?}"
    );
    let first = recorded(&server, "backup.take");
    assert_eq!(first["actor"], "server");
    let archive = first["detail"]["archive"].as_str().unwrap();
    assert!(names.iter().any(|name| archive.contains(name)), "{first}");
    drop(server);
    let other = restored(site, &place(site));
    assert_eq!(texts(&other.serve(), &acme.ada), [json!("kept by itself")]);
}

fn of_several_servers_one_takes_each(site: &Site) {
    let options = scheduled(site, &["--backup-interval", "1h"]);
    let server = site.serve_with(&options);
    until(site, "the backup that is due", |names| names.len() == 1);
    let options = [site.file_options(), options].concat();
    let options: Vec<_> = options.iter().map(String::as_str).collect();
    let second = server.another_node("second", &options);
    // The operator takes another one in between.
    let variables = site.environment().into_iter().chain([
        ("EDDYLINE_BACKUP_TO".to_owned(), place(site)),
        ("EDDYLINE_BACKUP_RECIPIENT".to_owned(), RECIPIENT.to_owned()),
    ]);
    let taken = last_line(site.command(&["backup", "--json"]).envs(variables));
    assert!(taken["archive"].as_str().unwrap().contains("incremental"));
    drop((server, second));
    assert_eq!(archives(site).len(), 2);
}

fn old_backups_are_removed(site: &Site) {
    let options = scheduled(
        site,
        &[
            "--backup-interval",
            "1s",
            "--backup-full-interval",
            "2s",
            "--backup-keep",
            "1s",
        ],
    );
    let server = site.serve_with(&options);
    let first = until(site, "a backup", |names| !names.is_empty()).remove(0);
    let names = until(site, "the first is removed", |names| {
        !names.contains(&first)
    });
    drop(server);
    assert!(names[0].ends_with("-full"), "{names:?}");
    restored(site, &place(site));
}

#[test]
fn a_backup_that_fails_is_tried_again() {
    let site = Site::new(Backend::Sqlite, false).expect("SQLite is always there");
    let options = scheduled(&site, &["--backup-interval", "1s"]);
    fs::create_dir(folder(&site)).unwrap();
    let server = site.serve_with(&options);
    until(&site, "a backup", |names| !names.is_empty());
    fs::remove_dir_all(folder(&site)).unwrap();
    fs::write(folder(&site), "in its place").unwrap();
    let failed = recorded(&server, "backup.fail");
    assert_eq!(failed["actor"], "server");
    assert!(failed["detail"]["error"].is_string(), "{failed}");
    assert!(server.log().contains("a backup failed"));
    fs::remove_file(folder(&site)).unwrap();
    until(&site, "another backup", |names| !names.is_empty());
    drop(server);
}

#[test]
fn what_cannot_be_a_backup_is_refused_by_name() {
    let site = Site::new(Backend::Sqlite, false).expect("SQLite is always there");
    let refused = |arguments: &[&str]| {
        let output = site.command(arguments).output().unwrap();
        assert!(!output.status.success(), "it was taken");
        String::from_utf8(output.stderr).unwrap()
    };
    for (arguments, expected) in [
        (
            &["serve", "--backup-to", "x"][..],
            "backup_recipient must be given",
        ),
        (
            &[
                "serve",
                "--backup-to",
                "s3://",
                "--backup-recipient",
                RECIPIENT,
            ],
            "names no bucket",
        ),
        (
            &["serve", "--backup-to", "x", "--backup-recipient", "age1x"],
            "the public key age1x",
        ),
        (
            &["serve", "--backup-s3-access-key", "x"],
            "backup_s3_region must be given",
        ),
        (&["backup", "--to", "x.tar"], "--recipient"),
        (
            &["backup", "--to", "x.tar", "--unencrypted", "--incremental"],
            "--incremental needs a folder",
        ),
        (&["backup", "--recipient", RECIPIENT], "--to"),
        (&["backup", "--unencrypted"], "--to"),
        (
            &["backup", "--unencrypted", "--to", "s3://b/c"],
            "backup_s3_access_key",
        ),
        (&["restore", "--from", "."], "has no backup"),
    ] {
        let said = refused(arguments);
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
    drop(site.serve());
    let output = site
        .command(&["backup"])
        .env("EDDYLINE_BACKUP_RECIPIENT", RECIPIENT)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("backup_to"), "{said}");
}
