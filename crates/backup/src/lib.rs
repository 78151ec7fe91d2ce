#![doc = include_str!("../README.md")]

mod archive;
mod content;
mod error;
mod key_place;
mod restore;
mod take;

pub use archive::{Identities, KeyPair, Manifest, Seal, Summary};
pub use error::{Error, Result};
pub use key_place::KeyPlace;
pub use restore::{Restored, restore, verify};
pub use take::{Taken, take};

/// How far a backup or its restoration is.
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
