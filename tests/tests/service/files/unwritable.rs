//! A folder of files that cannot be written to.

use eddyline_tests::{Acme, Server, on_both_databases};

use super::Form;

on_both_databases![what_cannot_be_written_is_logged_with_its_path];

async fn what_cannot_be_written_is_logged_with_its_path(server: Server) {
    let Acme { ben, .. } = server.acme();
    // Nobody can make a folder in a file, also who may write everywhere.
    let folder = server.files_folder();
    std::fs::remove_dir_all(&folder).unwrap();
    std::fs::write(&folder, "no folder").unwrap();
    let form = Form::of("file").file("content", "a.txt", "text/plain", b"some text");
    let answer = form.send(&ben.client, "/flows/acme/main/messages").await;
    assert_eq!(answer.status, 500, "{}", answer.text());
    let path = folder.display().to_string();
    assert!(!answer.text().contains(&path), "{}", answer.text());
    let log = server.log();
    let line = log
        .lines()
        .find(|line| line.contains(&path) && line.contains("Not a directory"));
    assert!(line.is_some_and(|line| line.contains("ERROR")), "{log}");
}
