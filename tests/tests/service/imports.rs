//! Imports: what they bring in, that they add nothing twice, and what they say of the rest.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use eddyline_client::{Json, Method};
use eddyline_tests::{Backend, Caller};
use serde_json::json;
use tokio::task::block_in_place;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::backup::{Site, last_line};

mod flowdock;
mod hostile;
mod killed;
mod mattermost;
mod own;
mod slack;
mod strangers;

impl Site {
    fn import(&self, archive: &Path, arguments: &[&str]) -> Json {
        let mut command = self.command(&["import", "--json", "--org", "acme"]);
        command.arg(archive).args(arguments);
        block_in_place(|| last_line(&mut command))
    }

    /// What an import that must fail says.
    fn refused_import(&self, archive: &Path, arguments: &[&str]) -> String {
        let mut command = self.command(&["import"]);
        let output = block_in_place(|| command.arg(archive).args(arguments).output().unwrap());
        assert!(!output.status.success());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!said.contains("panicked"), "{said}");
        said
    }

    /// Looks whether everything goes together.
    fn check(&self) {
        let mut command = self.command(&["check", "--json"]);
        let answer = block_in_place(|| last_line(&mut command));
        assert_eq!(answer["defects"], json!([]), "{answer:#}");
    }
}

/// Packs entries into a zip file.
fn pack(site: &Site, name: &str, entries: &[(&str, Vec<u8>)]) -> PathBuf {
    let path = site.directory.path().join(name);
    let mut zip = ZipWriter::new(File::create(&path).unwrap());
    for (name, bytes) in entries {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap();
    path
}

/// The messages of a list, the oldest first.
async fn said(caller: &Caller, path: &str) -> Vec<Json> {
    let answer = caller
        .client
        .request(Method::GET, path)
        .send()
        .await
        .unwrap();
    assert!(answer.status.is_success(), "{path}: {}", answer.status);
    serde_json::from_slice(&answer.body).unwrap()
}
