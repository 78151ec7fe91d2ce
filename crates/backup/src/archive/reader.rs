use std::cell::RefCell;
use std::io::{self, Read};
use std::rc::Rc;

use flate2::read::GzDecoder;
use serde::de::DeserializeOwned;
use tar::{Archive, Entries, Entry, EntryType};

use super::encryption::Identities;
use super::trailer::TrailerReader;
use super::{
    FILES, INCREMENTAL_FORMAT, MANIFEST, Manifest, REFERENCES, SECRET_KEY, SUMMARY, Summary, TABLES,
};
use crate::index::{FileReference, RowsReference};
use crate::{Error, Result};

/// How many bytes an entry may have that is read as a whole, unpacked. Those of ours have a few
/// megabytes and at most one row more, which is as long as a message or a picture of a user.
const MOST_BYTES: u64 = 32 * 1024 * 1024;

type Input<'r> = Rc<RefCell<TrailerReader<Box<dyn Read + 'r>>>>;

/// An archive that is read.
pub(crate) struct ArchiveReader<'r> {
    tar: Archive<SharedReader<'r>>,
    source: Input<'r>,
    is_encrypted: bool,
}

/// What tar reads from; the end behind its last entry is read apart.
struct SharedReader<'r>(Input<'r>);

impl Read for SharedReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.borrow_mut().read(buffer)
    }
}

/// The entries of an archive behind its manifest.
pub(crate) struct Parts<'a, 'r> {
    entries: Entries<'a, SharedReader<'r>>,
    source: Input<'r>,
    seen: Summary,
    summary: Option<Summary>,
}

/// An entry of an archive.
pub(crate) enum Part<'a> {
    SecretKey(Vec<u8>),
    Rows {
        table: String,
        /// The name of the entry.
        entry: String,
        rows: Vec<String>,
    },
    /// Rows that earlier archives have.
    RowsReferences {
        table: String,
        references: Vec<RowsReference>,
    },
    /// Files that earlier archives have.
    FileReferences(Vec<FileReference>),
    File {
        key: String,
        size: u64,
        bytes: Box<dyn Read + 'a>,
    },
}

impl<'r> ArchiveReader<'r> {
    pub(crate) fn open(source: impl Read + 'r, identities: &Identities) -> Result<Self> {
        let (source, is_encrypted) = identities.open(source)?;
        let source = Rc::new(RefCell::new(TrailerReader::new(source)));
        let tar = Archive::new(SharedReader(source.clone()));
        Ok(Self {
            tar,
            source,
            is_encrypted,
        })
    }

    /// The manifest, and the entries behind it.
    pub(crate) fn read(&mut self) -> Result<(Manifest, Parts<'_, 'r>)> {
        let mut entries = self.tar.entries().map_err(Error::of_reading)?;
        let first = entries.next().ok_or(Error::NotAnArchive)?;
        let first = first.map_err(|error| match self.is_encrypted {
            true => Error::of_reading(error),
            false => Error::NotAnArchive,
        })?;
        if path_of(&first)? != MANIFEST {
            return Err(Error::NotAnArchive);
        }
        let text = whole(first)?;
        let bad = |error: serde_json::Error| Error::Damaged(format!("{MANIFEST}: {error}"));
        let manifest: serde_json::Value = serde_json::from_slice(&text).map_err(bad)?;
        match manifest["format"].as_u64() {
            Some(format) if format > INCREMENTAL_FORMAT.into() => {
                return Err(Error::TooNew(format));
            }
            _ => {}
        }
        let manifest = serde_json::from_value(manifest).map_err(bad)?;
        let parts = Parts {
            entries,
            source: self.source.clone(),
            seen: Summary::default(),
            summary: None,
        };
        Ok((manifest, parts))
    }
}

impl<'a, 'r: 'a> Parts<'a, 'r> {
    /// The next entry. `None` stands for the end of an archive of which every byte is as it was
    /// written, so nothing that was read may be relied on before.
    pub(crate) fn next(&mut self) -> Result<Option<Part<'a>>> {
        let Some(entry) = self.entries.next() else {
            self.check_end()?;
            return Ok(None);
        };
        let entry = entry.map_err(Error::of_reading)?;
        let path = path_of(&entry)?;
        if entry.header().entry_type() != EntryType::Regular {
            return Err(Error::Damaged(format!("{path} is no regular file")));
        }
        if self.summary.is_some() {
            return Err(Error::Damaged(format!("{path} follows the summary")));
        }
        if path == SUMMARY {
            let summary = serde_json::from_slice(&whole(entry)?);
            self.summary =
                Some(summary.map_err(|error| Error::Damaged(format!("{SUMMARY}: {error}")))?);
            return self.next();
        }
        self.part(&path, entry).map(Some)
    }

    fn part(&mut self, path: &str, entry: Entry<'a, SharedReader<'r>>) -> Result<Part<'a>> {
        if path == SECRET_KEY {
            return Ok(Part::SecretKey(whole(entry)?));
        }
        if let Some((table, name)) = path
            .strip_prefix(TABLES)
            .and_then(|rest| rest.split_once('/'))
        {
            return self.rows(path, (table, name), entry);
        }
        if path
            .strip_prefix(FILES)
            .is_some_and(|name| name.starts_with(REFERENCES))
        {
            let references: Vec<FileReference> = references(path, entry)?;
            self.seen.files += references.len() as u64;
            for reference in &references {
                self.seen.bytes = self.seen.bytes.saturating_add(reference.size);
            }
            return Ok(Part::FileReferences(references));
        }
        if let Some(key) = path.strip_prefix(FILES) {
            let size = entry.size();
            self.seen.files += 1;
            self.seen.bytes = self.seen.bytes.saturating_add(size);
            return Ok(Part::File {
                key: key.to_owned(),
                size,
                bytes: Box::new(entry),
            });
        }
        Err(Error::Damaged(format!("{path} is no entry of a backup")))
    }

    fn rows(
        &mut self,
        path: &str,
        (table, name): (&str, &str),
        entry: impl Read,
    ) -> Result<Part<'a>> {
        let seen = self.seen.rows.entry(table.to_owned()).or_default();
        let table = table.to_owned();
        if name.starts_with(REFERENCES) {
            let references: Vec<RowsReference> = references(path, entry)?;
            for reference in &references {
                *seen = seen.saturating_add(reference.rows);
            }
            return Ok(Part::RowsReferences { table, references });
        }
        let rows = rows(path, entry)?;
        *seen += rows.len() as u64;
        Ok(Part::Rows {
            table,
            entry: path.to_owned(),
            rows,
        })
    }

    /// Makes sure that everything was read, to the last byte.
    fn check_end(&mut self) -> Result<()> {
        let mut source = self.source.borrow_mut();
        io::copy(&mut *source, &mut io::sink()).map_err(Error::of_reading)?;
        let Some(summary) = &self.summary else {
            return Err(Error::Damaged("it ends too early".to_owned()));
        };
        let seen = (&self.seen.rows, self.seen.files, self.seen.bytes);
        if seen != (&summary.rows, summary.files, summary.bytes) {
            return Err(Error::Damaged("entries are missing".to_owned()));
        }
        Ok(())
    }

    /// What the archive ended with.
    pub(crate) fn into_summary(self) -> Summary {
        self.summary.unwrap_or_default()
    }
}

fn path_of(entry: &Entry<'_, SharedReader<'_>>) -> Result<String> {
    let path = entry.path_bytes();
    match std::str::from_utf8(&path) {
        Ok(path) => Ok(path.to_owned()),
        Err(_) => Err(Error::Damaged("a name that cannot be read".to_owned())),
    }
}

fn whole(entry: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut entry = entry.take(MOST_BYTES + 1);
    entry.read_to_end(&mut bytes).map_err(Error::of_reading)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Error::Damaged("an entry is too large".to_owned()));
    }
    Ok(bytes)
}

fn text(path: &str, entry: impl Read) -> Result<String> {
    let text = String::from_utf8(whole(GzDecoder::new(entry))?);
    text.map_err(|error| Error::Damaged(format!("{path}: {error}")))
}

fn rows(path: &str, entry: impl Read) -> Result<Vec<String>> {
    let text = text(path, entry)?;
    let rows = text.lines().map(|line| match line.starts_with('[') {
        true => Ok(line.to_owned()),
        false => Err(Error::Damaged(format!("{path}: a line is no row"))),
    });
    rows.collect()
}

fn references<T: DeserializeOwned>(path: &str, entry: impl Read) -> Result<Vec<T>> {
    let text = text(path, entry)?;
    let references = text.lines().map(|line| {
        serde_json::from_str(line).map_err(|error| Error::Damaged(format!("{path}: {error}")))
    });
    references.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_a_bound() {
        let entry = |length| io::repeat(b'[').take(length);
        assert_eq!(whole(entry(MOST_BYTES)).unwrap().len() as u64, MOST_BYTES);
        let refused = whole(entry(MOST_BYTES + 1)).unwrap_err().to_string();
        assert!(refused.contains("too large"), "{refused}");
    }
}
