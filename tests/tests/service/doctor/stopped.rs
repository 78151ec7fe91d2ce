//! The doctor where no server runs.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use eddyline_tests::eddyline;
use tempfile::TempDir;

use super::installation::Diagnosis;

/// A data directory with a database that nothing has open.
fn data() -> TempDir {
    let data = TempDir::new().unwrap();
    let made = eddyline()
        .args(["admin", "org", "create", "--name", "Acme", "--data-dir"])
        .arg(data.path())
        .output()
        .unwrap();
    assert!(made.status.success());
    data
}

fn consult(data: &Path) -> Diagnosis {
    let mut command = eddyline();
    command
        .args(["doctor", "--json", "--max-connections", "500"])
        .args(["--listen", "127.0.0.1:1", "--stream-listen", "127.0.0.1:2"])
        .arg("--data-dir")
        .arg(data);
    Diagnosis::of(&command.output().unwrap())
}

/// What was not set up is to be looked at; that no server runs is no error.
const BEFORE_THE_FIRST_START: &[&str] = &["files", "mail", "server"];

#[test]
fn a_server_that_does_not_run_is_no_error() {
    let data = data();
    let found = consult(data.path());
    assert_eq!(found.faults(), BEFORE_THE_FIRST_START, "{found:#?}");
    assert_eq!(found.status(), Some(0), "{found:#?}");
}

#[test]
fn a_database_that_is_not_there_is_an_error_and_is_not_made() {
    let data = TempDir::new().unwrap();
    let found = consult(data.path());
    assert!(found.faults().contains(&"database"), "{found:#?}");
    assert_eq!(found.status(), Some(1), "{found:#?}");
    assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 0);
}

/// Where the last page of an index without entries begins: no query of the doctor needs one of those.
fn last_empty_index(file: &File) -> u64 {
    const PAGE: u64 = 4096;
    let pages = file.metadata().unwrap().len() / PAGE;
    let mut pages = (1..pages).rev().map(|page| page * PAGE);
    let is_it = |at: &u64| {
        let mut header = [0; 5];
        file.read_exact_at(&mut header, *at).unwrap();
        // The kind of page, where its free parts begin, and the number of its entries.
        header[0] == 0x0A && header[3..] == [0, 0]
    };
    pages.find(is_it).expect("an index is empty")
}

#[test]
fn another_journal_mode_and_damaged_pages_of_a_file_are_found() {
    let data = data();
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(data.path().join("eddyline.db"))
        .unwrap();
    // The versions for writing and reading in the header of the file: 1 is the old journal.
    file.write_all_at(&[1, 1], 18).unwrap();
    let found = consult(data.path());
    let with = |check| [&[check], BEFORE_THE_FIRST_START].concat();
    assert_eq!(found.faults(), with("database_journal"), "{found:#?}");
    assert_eq!(found.status(), Some(0), "{found:#?}");

    file.write_all_at(&[2, 2], 18).unwrap();
    file.write_all_at(&[0xFF; 4096], last_empty_index(&file))
        .unwrap();
    let found = consult(data.path());
    assert_eq!(found.faults(), with("database_pages"), "{found:#?}");
    assert_eq!(found.status(), Some(1), "{found:#?}");
}
