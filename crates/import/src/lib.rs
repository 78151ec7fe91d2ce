#![doc = include_str!("../README.md")]

mod authority;
mod eddyline;
mod error;
mod flowdock;
mod foreign;
mod mattermost;
mod people;
mod report;
mod slack;
mod target;
mod texts;
mod uploads;

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

pub use error::{Error, Result};
pub use report::{FlowInvitations, ImportPlan, ImportReport, LeftOut, LeftOutKind, PlannedPeople};
pub use target::ImportTarget;

/// A kind of archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveFormat {
    /// What `eddyline export` writes.
    Eddyline,
    /// A Slack export, a zip file.
    Slack,
    /// A bulk export of Mattermost: a zip file, or JSON lines.
    Mattermost,
    /// An archive of flows of Flowdock, a zip file.
    Flowdock,
}

/// How far an import is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportProgress {
    /// The people whom it concerns. Nothing was written before.
    Plan(ImportPlan),
    /// A flow or conversation is being filled.
    Messages {
        /// The name that the archive gives it.
        room: String,
        /// The number of messages that were added so far.
        messages: u64,
    },
}

/// Imports an archive while servers use the database. Others write between its transactions, each of
/// which is small. Imported messages are in no stream and cause no notifications.
///
/// What an import has written when it ends early stays; the next one of the same archive goes on
/// from there. An archive that was imported already adds nothing.
///
/// # Errors
///
/// [`Error`].
pub async fn import(
    target: ImportTarget,
    archive: PathBuf,
    format: Option<ArchiveFormat>,
    mut progress: impl FnMut(ImportProgress) + Send + 'static,
) -> Result<ImportReport> {
    let work = tokio::task::spawn_blocking(move || {
        let format = match format {
            Some(format) => format,
            None => detect(&archive)?,
        };
        match format {
            ArchiveFormat::Eddyline => eddyline::import(target, &archive, &mut progress),
            ArchiveFormat::Slack => slack::import(target, &archive, &mut progress),
            ArchiveFormat::Mattermost => mattermost::import(target, &archive, &mut progress),
            ArchiveFormat::Flowdock => flowdock::import(target, &archive, &mut progress),
        }
    });
    match work.await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(error) => Err(std::io::Error::other(error).into()),
        },
    }
}

/// The format that an archive has by its first bytes and entries.
///
/// # Errors
///
/// [`Error::Io`], and [`Error::Unfit`] for something else.
pub fn detect(archive: &Path) -> Result<ArchiveFormat> {
    if archive.is_dir() {
        return Ok(ArchiveFormat::Eddyline);
    }
    let mut start = Vec::new();
    File::open(archive)?.take(512).read_to_end(&mut start)?;
    if start.starts_with(b"PK") {
        let names = foreign::ZipFile::open(archive)?.sorted_names();
        let has = |end: &str| {
            names
                .iter()
                .any(|name| **name == *end || name.ends_with(&format!("/{end}")))
        };
        if has(slack::USERS) && (has("channels.json") || has("dms.json")) {
            return Ok(ArchiveFormat::Slack);
        }
        if names.iter().any(|name| name.ends_with(mattermost::LINES)) {
            return Ok(ArchiveFormat::Mattermost);
        }
        if has(flowdock::MESSAGES) {
            return Ok(ArchiveFormat::Flowdock);
        }
        let text = "the zip file is no export of Slack, which has users.json and channels.json, of Mattermost, which \
                    has a file that ends with .jsonl, or of Flowdock, which has messages.json";
        return Err(Error::Unfit(text.to_owned()));
    }
    match start.trim_ascii_start().first() {
        Some(b'{') => Ok(ArchiveFormat::Mattermost),
        _ => Ok(ArchiveFormat::Eddyline),
    }
}
