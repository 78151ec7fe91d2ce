//! The places of files and of backups: written to, read and cleared again.

use std::path::Path;

use eddyline_files::{Error, FileKey, Files, StoreTrouble};
use hyper::body::Bytes;

use super::finding::Finding;
use crate::archives;
use crate::config::{BackupPlace, Settings};
use crate::files;

pub(super) async fn check(settings: &Settings) -> Vec<Finding> {
    let (of_files, of_backups) = tokio::join!(check_files(settings), check_backups(settings));
    let mut findings = vec![of_files];
    findings.extend(of_backups);
    findings
}

async fn check_files(settings: &Settings) -> Finding {
    const CHECK: &str = "files";
    let Some(bucket) = &settings.files_s3_bucket else {
        return check_folder(&files::folder(settings)).await;
    };
    let subject = format!("bucket {bucket}");
    let place = match files::in_store(settings, bucket, None) {
        Ok(place) => place,
        Err(error) => {
            let advice = "Correct the options about the store (files_s3_*).";
            return Finding::error(CHECK, subject, error.to_string(), advice);
        }
    };
    match put_and_get(&place).await {
        Ok(()) => Finding::ok(CHECK, subject, "an object was put, read and removed"),
        Err((step, error)) => Finding::error(
            CHECK,
            subject,
            format!("an object cannot be {step}: {error}"),
            advice_on_store(&error),
        ),
    }
}

async fn check_folder(folder: &Path) -> Finding {
    const CHECK: &str = "files";
    let subject = folder.display().to_string();
    if !folder.exists() {
        let advice = "The server makes the folder when it starts; check the option files if there should be one.";
        return Finding::warning(CHECK, subject, "there is no such folder", advice);
    }
    let place = match Files::in_folder(folder) {
        Ok(place) => place,
        Err(error) => return Finding::error(CHECK, subject, error.to_string(), RIGHTS),
    };
    match put_and_get(&place).await {
        Ok(()) => Finding::ok(CHECK, subject, "a file was written, read and removed"),
        Err((step, error)) => {
            let seen = format!("a file cannot be {step}: {error}");
            Finding::error(CHECK, subject, seen, RIGHTS)
        }
    }
}

const RIGHTS: &str = "Give the folder to the user of the server, and make sure that its disk is mounted, writable and not full.";

/// Keeps some bytes under a key that nothing else has, reads them and removes them.
async fn put_and_get(place: &Files) -> Result<(), (&'static str, Error)> {
    let key = FileKey::random();
    let written = place
        .put(&key, Bytes::from_static(b"eddyline doctor"))
        .await;
    written.map_err(|error| ("written", error))?;
    let read = place.open(&key, None).await;
    let removed = place.remove(&key).await;
    read.map_err(|error| ("read", error))?;
    removed.map_err(|error| ("removed", error))
}

/// Backups are listed only: an object that is none would be in the way of those that are.
async fn check_backups(settings: &Settings) -> Option<Finding> {
    const CHECK: &str = "backup_place";
    let place = settings.backup_to.as_ref()?;
    let subject = place.to_string();
    if let BackupPlace::Folder(folder) = place {
        let advice = "Make the folder, mount its disk, and give it to the user of the server.";
        return Some(match tempfile::tempfile_in(folder) {
            Ok(_) => Finding::ok(CHECK, subject, "it can be written to"),
            Err(error) => {
                let seen = format!("it cannot be written to: {error}");
                Finding::error(CHECK, subject, seen, advice)
            }
        });
    }
    let advice =
        "Check backup_to, the options backup_s3_* or files_s3_*, and the rights of the access key.";
    let opened = match archives::open_place(settings, place) {
        Ok(opened) => opened,
        Err(error) => return Some(Finding::error(CHECK, subject, error.to_string(), advice)),
    };
    let listed = tokio::task::spawn_blocking(move || opened.archives()).await;
    Some(match listed {
        Ok(Ok(archives)) => Finding::ok(
            CHECK,
            subject,
            format!("it is reached, and has {} archives", archives.len()),
        ),
        Ok(Err(error)) => Finding::error(CHECK, subject, error.to_string(), advice),
        Err(error) => Finding::error(CHECK, subject, error.to_string(), advice),
    })
}

fn advice_on_store(error: &Error) -> &'static str {
    match error.store_trouble() {
        Some(StoreTrouble::Unreachable) => {
            "Check files_s3_endpoint, whether the store runs, and its certificate; an endpoint with http:// needs files_s3_allow_http."
        }
        Some(StoreTrouble::Clock) => "Set the clocks of this machine and of the store by NTP.",
        Some(StoreTrouble::AccessKey) => "Check files_s3_access_key: the store does not know it.",
        Some(StoreTrouble::Secret) => {
            "Check files_s3_secret_key: it is not the secret of the access key."
        }
        Some(StoreTrouble::Region) => "Set files_s3_region to the region of the bucket.",
        Some(StoreTrouble::Bucket) => "Make the bucket, or correct files_s3_bucket.",
        Some(StoreTrouble::Permission) => {
            "Allow the access key to put, get and delete objects of the bucket (s3:PutObject, s3:GetObject, s3:DeleteObject)."
        }
        Some(StoreTrouble::Other) | None => "Read what the store says, and look into its log.",
    }
}
