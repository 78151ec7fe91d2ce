//! The format of archives.

mod reader;
mod seal;
mod trailer;
mod writer;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub(crate) use self::reader::{ArchiveReader, Part, Parts};
pub use self::seal::{Identities, Seal};
pub(crate) use self::writer::ArchiveWriter;

/// The format that is written, and the newest that is read.
const FORMAT: u32 = 1;

const MANIFEST: &str = "manifest.json";
const SECRET_KEY: &str = "secret_key";
const SUMMARY: &str = "summary.json";
const TABLES: &str = "tables/";
const FILES: &str = "files/";

/// What an archive begins with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The format of the archive.
    pub format: u32,
    /// The version of the server that wrote it.
    pub version: String,
    /// When, in RFC 3339.
    pub created_at: String,
    /// The version of the newest migration that the database had.
    pub schema: String,
    /// How many events the log had: what happened later is not in the archive.
    pub log_position: i64,
    /// The columns of each table, in the order of the values of its rows.
    pub tables: BTreeMap<String, Vec<String>>,
    /// The highest number that each table had given to a row.
    pub sequences: BTreeMap<String, i64>,
}

/// What an archive ends with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// How many rows of each table there are.
    pub rows: BTreeMap<String, u64>,
    /// How many files there are.
    pub files: u64,
    /// The bytes of all files.
    pub bytes: u64,
    /// The keys of files that could not be read, and are not in the archive.
    pub missing: Vec<String>,
    /// The keys of files whose bytes were not those that were once kept. They are in the archive as
    /// they were found.
    pub damaged: Vec<String>,
}
