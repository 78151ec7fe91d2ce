//! Mails as files, where no mail server is set up.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

use time::OffsetDateTime;
use time::macros::format_description;

/// A folder into which mails are put, each as one `.eml` file.
#[derive(Debug)]
pub(crate) struct Outbox(PathBuf);

impl Outbox {
    /// Makes the folder, with those above it, for nobody else to read. One that is there stays as
    /// it is.
    pub(crate) fn open(folder: PathBuf) -> io::Result<Self> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)?;
        Ok(Self(folder))
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.0
    }

    /// Writes a mail and answers where it is. It is there as a whole or not at all, and stays
    /// there if the machine stops.
    pub(crate) fn put(&self, id: &str, data: &[u8], now: SystemTime) -> io::Result<PathBuf> {
        let name = name(id, now)?;
        let path = self.0.join(&name);
        let draft = self.0.join(format!(".{name}.draft"));
        let written = write(&draft, data).and_then(|()| std::fs::rename(&draft, &path));
        if let Err(error) = written {
            // Nothing more can be done when this fails too.
            let _ = std::fs::remove_file(&draft);
            return Err(error);
        }
        File::open(&self.0)?.sync_all()?;
        Ok(path)
    }
}

fn write(path: &Path, data: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(data)?;
    file.sync_all()
}

/// Names sort by time, and by order within a millisecond. Two servers that share a folder have
/// different mails, and so different ids.
fn name(id: &str, now: SystemTime) -> io::Result<String> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let format =
        format_description!("[year][month][day]T[hour][minute][second].[subsecond digits:3]Z");
    let time = OffsetDateTime::from(now)
        .format(format)
        .map_err(io::Error::other)?;
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    Ok(format!("{time}-{number:010}-{id}.eml"))
}
