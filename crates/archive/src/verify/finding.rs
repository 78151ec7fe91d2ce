use std::fmt;

use serde::Serialize;

use crate::chain::DigestHex;

/// Where a record stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecordPlace {
    /// The path of its entry.
    pub path: String,
    /// Its number in the chain of the entry, from 1 on.
    pub record: u64,
    /// The number of the message or the first message of the thread that it is, if it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    /// The name of the flow, where it can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub room: Option<String>,
}

impl RecordPlace {
    pub(crate) fn new(path: &str, record: u64, id: Option<i64>) -> Self {
        Self {
            path: path.to_owned(),
            record,
            id,
            room: None,
        }
    }

    fn what(&self) -> &'static str {
        what(&self.path)
    }
}

/// What the records of an entry are.
fn what(path: &str) -> &'static str {
    match path.rsplit('/').next() {
        Some("messages.jsonl") => "message",
        Some("threads.jsonl") => "thread",
        Some("people.jsonl") => "person",
        _ => "record",
    }
}

/// A path as a stranger may have written it, without what a terminal would act upon.
fn shown(path: &str) -> String {
    path.escape_debug().to_string()
}

impl fmt::Display for RecordPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            path, record, id, ..
        } = self;
        let what = self.what();
        match id {
            Some(id) => write!(f, "{what} {id}")?,
            None => write!(f, "{what} record {record}")?,
        }
        if let Some(room) = &self.room {
            write!(f, " of the flow “{}”", room.escape_debug())?;
        }
        write!(f, " ({}, record {record})", shown(path))
    }
}

/// Something that is wrong with an archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "finding", rename_all = "snake_case")]
pub enum Finding {
    /// A record is not what was written.
    AlteredRecord {
        /// It.
        #[serde(flatten)]
        place: RecordPlace,
    },
    /// Records are gone.
    RemovedRecords {
        /// The path of their entry.
        path: String,
        /// The number of the first one in the chain.
        first: u64,
        /// The number of the last one.
        last: u64,
        /// The record before them.
        after: Option<RecordPlace>,
        /// The record behind them.
        before: Option<RecordPlace>,
    },
    /// A record stands at another place than it stood.
    MovedRecord {
        /// It.
        #[serde(flatten)]
        place: RecordPlace,
    },
    /// A record was not there.
    InsertedRecord {
        /// It.
        #[serde(flatten)]
        place: RecordPlace,
    },
    /// Some of these records were altered, removed or inserted, and the hashes of all that follow
    /// were made anew.
    RehashedRecords {
        /// The path of their entry.
        path: String,
        /// The number of the first one in the chain.
        first: u64,
        /// The number of the last one.
        last: u64,
        /// The first one.
        from: Option<RecordPlace>,
        /// The last one.
        to: Option<RecordPlace>,
    },
    /// A line has no record that can be read.
    UnreadableLine {
        /// The path of its entry.
        path: String,
        /// The number of the line, from 1 on.
        line: u64,
    },
    /// The bytes of a file are others.
    AlteredFile {
        /// What their SHA-256 was.
        sha256: DigestHex,
        /// The first record that names it.
        named_by: Option<RecordPlace>,
    },
    /// A file is gone.
    MissingFile {
        /// The SHA-256 of its bytes.
        sha256: DigestHex,
        /// The first record that names it.
        named_by: RecordPlace,
    },
    /// An entry that is neither chained nor a file is not what was written, as a page.
    AlteredEntry {
        /// Its path.
        path: String,
    },
    /// An entry is gone.
    MissingEntry {
        /// Its path.
        path: String,
    },
    /// An entry was not there.
    ExtraEntry {
        /// Its path.
        path: String,
    },
    /// An entry is there twice.
    RepeatedEntry {
        /// Its path.
        path: String,
    },
    /// An entry is larger than any export makes one, or there are more; it was not read.
    TooLarge {
        /// Its path.
        path: String,
    },
    /// The manifest cannot be read.
    UnreadableManifest,
    /// The manifest does not have the signature that belongs to it.
    WrongSignature,
    /// Another key signed it than the known one.
    OtherKey {
        /// The key that signed.
        signer: String,
        /// The key that should have.
        known: String,
    },
    /// The end is missing.
    Truncated {
        /// The entry within which it ends.
        within: Option<String>,
    },
    /// Bytes come behind the end.
    TrailingBytes,
    /// It cannot be read further.
    Unreadable {
        /// The last entry that could be read, or the one that could not.
        behind: Option<String>,
    },
}

impl Finding {
    /// The places that it names.
    pub(crate) fn places(&mut self) -> Vec<&mut RecordPlace> {
        match self {
            Self::AlteredRecord { place }
            | Self::MovedRecord { place }
            | Self::InsertedRecord { place }
            | Self::MissingFile {
                named_by: place, ..
            } => vec![place],
            Self::AlteredFile { named_by, .. } => named_by.iter_mut().collect(),
            Self::RemovedRecords { after, before, .. } => {
                after.iter_mut().chain(before.iter_mut()).collect()
            }
            Self::RehashedRecords { from, to, .. } => {
                from.iter_mut().chain(to.iter_mut()).collect()
            }
            _ => Vec::new(),
        }
    }
}

fn range(first: u64, last: u64) -> String {
    match first == last {
        true => format!("record {first}"),
        false => format!("records {first} to {last}"),
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AlteredRecord { place } => write!(f, "altered: {place}"),
            Self::RemovedRecords {
                path,
                first,
                last,
                after,
                before,
            } => {
                write!(f, "removed: {} of {}", range(*first, *last), shown(path))?;
                match (after, before) {
                    (Some(after), Some(before)) => write!(f, ", between {after} and {before}"),
                    (Some(after), None) => write!(f, ", behind {after}, to its end"),
                    (None, Some(before)) => write!(f, ", before {before}"),
                    (None, None) => Ok(()),
                }
            }
            Self::MovedRecord { place } => write!(f, "reordered: {place}"),
            Self::InsertedRecord { place } => write!(f, "inserted: {place}"),
            Self::RehashedRecords {
                path,
                first,
                last,
                from,
                to,
            } => {
                let records = range(*first, *last);
                write!(
                    f,
                    "altered, with new hashes: among {records} of {}",
                    shown(path)
                )?;
                if let (Some(from), Some(to)) = (from, to) {
                    write!(f, ", from {from} to {to}")?;
                }
                Ok(())
            }
            Self::UnreadableLine { path, line } => {
                write!(f, "altered: line {line} of {} has no record", shown(path))
            }
            Self::AlteredFile { sha256, named_by } => {
                write!(f, "altered: file {sha256}")?;
                named_by_text(f, named_by.as_ref())
            }
            Self::MissingFile { sha256, named_by } => {
                write!(f, "removed: file {sha256}")?;
                named_by_text(f, Some(named_by))
            }
            Self::AlteredEntry { path } => write!(f, "altered: {}", shown(path)),
            Self::MissingEntry { path } => write!(f, "removed: {}", shown(path)),
            Self::ExtraEntry { path } => {
                write!(
                    f,
                    "inserted: {} belongs to nothing in the archive",
                    shown(path)
                )
            }
            Self::RepeatedEntry { path } => write!(f, "inserted: {} is there twice", shown(path)),
            Self::TooLarge { path } => write!(f, "not read: {} is too large", shown(path)),
            Self::UnreadableManifest => write!(f, "altered: manifest.json cannot be read"),
            Self::WrongSignature => write!(
                f,
                "wrong signature: manifest.json or manifest.sig was altered, so nothing else is proved"
            ),
            Self::OtherKey { signer, known } => {
                write!(f, "wrong key: signed by {signer}, not by {known}")
            }
            Self::Truncated { within: None } => write!(f, "truncated: the end is missing"),
            Self::Truncated {
                within: Some(within),
            } => write!(f, "truncated: it ends within {}", shown(within)),
            Self::TrailingBytes => write!(f, "inserted: bytes behind the end"),
            Self::Unreadable { behind: None } => write!(f, "damaged: it cannot be read"),
            Self::Unreadable {
                behind: Some(behind),
            } => write!(
                f,
                "damaged: it cannot be read at or behind {}",
                shown(behind)
            ),
        }
    }
}

fn named_by_text(f: &mut fmt::Formatter<'_>, place: Option<&RecordPlace>) -> fmt::Result {
    match place {
        Some(place) => write!(f, " of {place}"),
        None => Ok(()),
    }
}
