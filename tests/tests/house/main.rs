//! Rules of the house that the compiler does not know.

#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

mod areas;
mod arrows;
mod book;
mod circles;
mod conformance;
mod dependencies;
mod limits;
mod marks;
mod migrations;
mod packages;
mod snippets;
mod speech;
mod vocabulary;

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Every file that belongs to the project: nothing built, nothing of version control, no packages
/// of others.
fn files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut directories = vec![root().to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name();
            if [".git", "target", "eddyline-data", "node_modules"]
                .iter()
                .any(|other| name == *other)
            {
                continue;
            }
            if entry.file_type().unwrap().is_dir() {
                directories.push(entry.path());
            } else {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    files
}
