use eddyline_files::Files;
use eddyline_storage::copy::CheckReport;
use eddyline_storage::{Error as StoreError, Store};
use tokio::runtime::Handle;

use crate::content::open;
use crate::kept_files::while_files_are_kept;
use crate::{FILES_FOR_A_REPORT, Progress, Result};

/// What a check of a database and its files found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// What the database said.
    pub database: CheckReport,
    /// How many files were read.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The keys of files that are not there, or cannot be opened.
    pub missing: Vec<String>,
    /// The keys of files that have other bytes than were once kept.
    pub damaged: Vec<String>,
}

/// Reads a whole database and, where a place for files is given, every file, and looks whether all
/// goes together. Changes nothing.
///
/// # Errors
///
/// [`Error::Store`](crate::Error::Store).
pub async fn check(
    store: &Store,
    files: Option<Files>,
    mut progress: impl FnMut(Progress) + Send + 'static,
) -> Result<Checked> {
    let (own, runtime) = (store.clone(), Handle::current());
    while_files_are_kept(store, move || {
        tokio::task::spawn_blocking(move || {
            let (database, objects) =
                own.dump(|dump| Ok::<_, StoreError>((dump.check()?, dump.objects()?)))?;
            let mut checked = Checked {
                database,
                ..Checked::default()
            };
            let Some(files) = files else {
                return Ok(checked);
            };
            for object in objects {
                let Some(mut content) = open(&files, &object, &runtime) else {
                    checked.missing.push(object.key);
                    continue;
                };
                checked.bytes += std::io::copy(&mut content, &mut std::io::sink())?;
                checked.files += 1;
                if content.digest() != object.digest {
                    checked.damaged.push(object.key);
                }
                if checked.files.is_multiple_of(FILES_FOR_A_REPORT) {
                    progress(checked.progress());
                }
            }
            progress(checked.progress());
            Ok(checked)
        })
    })
    .await
}

impl Checked {
    fn progress(&self) -> Progress {
        Progress::Files {
            done: self.files,
            bytes: self.bytes,
        }
    }
}
