#![doc = include_str!("../README.md")]

mod archive;
mod archive_name;
mod archive_place;
mod chain;
mod check;
mod content;

mod error;
mod index;
mod kept_files;
mod key_place;
mod restore;
mod rotation;
mod spool;
mod take;

pub use archive::{Encryption, Identities, KeyPair, Manifest, Summary};
pub use archive_name::{ArchiveName, BackupKind, InvalidArchiveName};
pub use archive_place::{ArchivePlace, PlaceWriter};
pub use chain::next_kind;
pub use check::{Checked, check};
pub use content::{ContentReader, open};
pub use error::{Error, Result};
pub use index::IndexKey;
pub use kept_files::while_files_are_kept;
pub use key_place::KeyPlace;
pub use restore::{ArchiveSource, Restored, restore, verify};
pub use rotation::{BackupSeries, NamedBackup, prune, take_into};
pub use take::{BackupSource, Taken, take};

/// How many files there are between two reports.
const FILES_FOR_A_REPORT: u64 = 1_000;

/// How far a backup, a check or its restoration is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// All rows of a table were copied, or as many as there are so far.
    Rows {
        /// The table.
        table: String,
        /// How many rows.
        rows: u64,
    },
    /// Files were copied.
    Files {
        /// How many so far.
        done: u64,
        /// Their bytes.
        bytes: u64,
    },
}
