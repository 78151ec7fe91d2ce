//! Free space where the server writes.

use std::path::{Path, PathBuf};

use super::file_system;
use super::finding::Finding;
use crate::archives::folder_of;
use crate::config::{BackupPlace, Settings};
use crate::{files, output};

/// Below this, SQLite, PostgreSQL or an upload may fail at any time.
const ERROR_BYTES: u64 = 256 << 20;
/// Below this, it is time to make room.
const WARNING_BYTES: u64 = 1 << 30;
/// Files that may still be made.
const LEAST_INODES: u64 = 10_000;

pub(super) fn check(settings: &Settings) -> Vec<Finding> {
    let mut places: Vec<PathBuf> = Vec::new();
    for place in places_of(settings) {
        let place = std::path::absolute(&place).unwrap_or(place);
        // A folder that is missing will be made in one that is there.
        let there = place.ancestors().find(|folder| folder.exists());
        places.extend(there.map(Path::to_owned));
    }
    places.sort();
    places.dedup();
    places.iter().map(|place| judge(place)).collect()
}

/// Where the database, files, uploads under way and backups are.
fn places_of(settings: &Settings) -> Vec<PathBuf> {
    let mut places = vec![settings.data_dir.clone()];
    places.extend(
        settings
            .database_url()
            .file()
            .map(|file| folder_of(file).to_owned()),
    );
    places.push(match &settings.files_s3_bucket {
        Some(_) => files::spool(settings),
        None => files::folder(settings),
    });
    if let Some(BackupPlace::Folder(folder)) = &settings.backup_to {
        places.push(folder.clone());
    }
    places
}

fn judge(place: &Path) -> Finding {
    const CHECK: &str = "disk_space";
    let subject = place.display().to_string();
    let free = match file_system::free(place) {
        Ok(free) => free,
        Err(error) => {
            let advice = "Run the command as the user of the server.";
            return Finding::warning(CHECK, subject, error.to_string(), advice);
        }
    };
    let seen = format!("{} are free", output::size(free.bytes));
    let advice = "Make room, or move what grows (files, backup_to) to another disk.";
    match free.bytes {
        0..ERROR_BYTES => Finding::error(CHECK, subject, seen, advice),
        ERROR_BYTES..WARNING_BYTES => Finding::warning(CHECK, subject, seen, advice),
        _ if free.inodes.is_some_and(|inodes| inodes < LEAST_INODES) => Finding::warning(
            CHECK,
            subject,
            format!("{seen}, and only few more files can be made (inodes)"),
            advice,
        ),
        _ => Finding::ok(CHECK, subject, seen),
    }
}
