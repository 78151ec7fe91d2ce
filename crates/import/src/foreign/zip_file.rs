//! Entries of a zip file of a stranger. Nothing is unpacked to the disk; names are compared and never
//! opened; and the number of entries has a bound.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use zip::ZipArchive;

use super::entries::Entries;
use crate::{Error, Result};

/// The most entries that a zip file may have: about 300 bytes of memory each.
const MAX_ENTRIES: u64 = 500_000;
/// The most bytes of their names together.
const MAX_NAMES: usize = 32 << 20;
/// The most bytes that a file of a message unpacks to.
pub(crate) const MAX_FILE: u64 = 4 << 30;

/// The places of entries, by their names.
pub(crate) type Names = HashMap<Arc<str>, usize>;

/// A zip file whose entries are read one by one.
pub(crate) struct ZipFile {
    archive: ZipArchive<BufReader<File>>,
    names: Arc<Names>,
}

impl ZipFile {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let mut file = File::open(path)?;
        // Asked before the entries are read into memory.
        check_entries(declared_entries(&mut file)?)?;
        let archive = ZipArchive::new(BufReader::with_capacity(64 * 1024, file))?;
        check_entries(archive.len() as u64)?;
        let (mut names, mut bytes) = (HashMap::with_capacity(archive.len()), 0);
        for place in 0..archive.len() {
            if let Some(Ok(name)) = archive.name_for_index(place) {
                let name = name.trim_start_matches("./");
                bytes += name.len();
                if bytes > MAX_NAMES {
                    let text = "the names of the entries of the zip file are too long together";
                    return Err(Error::Unfit(text.to_owned()));
                }
                names.insert(Arc::from(name), place);
            }
        }
        Ok(Self {
            archive,
            names: Arc::new(names),
        })
    }

    /// The names of all entries but folders, sorted.
    pub(crate) fn sorted_names(&self) -> Vec<Arc<str>> {
        let mut names: Vec<_> = self
            .names
            .keys()
            .filter(|name| !name.ends_with('/'))
            .cloned()
            .collect();
        names.sort_unstable();
        names
    }

    /// All names, to look at while an entry is read.
    pub(crate) fn names(&self) -> Arc<Names> {
        self.names.clone()
    }

    /// The bytes of an entry, as they are unpacked.
    pub(crate) fn entry(&mut self, name: &str) -> Result<impl Read + '_> {
        let place = self.names.get(name).copied();
        let place = place.ok_or(zip::result::ZipError::FileNotFound)?;
        Ok(self.archive.by_index(place)?)
    }
}

impl Entries for ZipFile {
    fn contains(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    fn open<'b>(&'b mut self, name: &str) -> Result<Box<dyn Read + 'b>> {
        Ok(Box::new(self.entry(name)?))
    }
}

fn check_entries(count: u64) -> Result<()> {
    match count > MAX_ENTRIES {
        true => Err(Error::Unfit(format!(
            "the zip file has more than {MAX_ENTRIES} entries"
        ))),
        false => Ok(()),
    }
}

/// Returns the number of entries that a zip file declares: the highest number in what looks like
/// its last record (APPNOTE 4.3.14 and 4.3.16), behind which only a comment stands.
fn declared_entries(file: &mut (impl Read + Seek)) -> io::Result<u64> {
    /// The record itself, the two of large archives before it, and the longest comment.
    const TAIL: u64 = 22 + 20 + 56 + 65_535;
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut tail = Vec::new();
    file.by_ref().take(TAIL).read_to_end(&mut tail)?;
    let count = (0..tail.len()).map(|place| count_at(&tail[place..]));
    let most = count.max().unwrap_or(0);
    file.seek(SeekFrom::Start(0))?;
    Ok(most)
}

/// The number of entries in a record that begins here; 0 where none does.
fn count_at(bytes: &[u8]) -> u64 {
    let small = || {
        Some(u64::from(u16::from_le_bytes(
            *bytes.get(10..)?.first_chunk()?,
        )))
    };
    let large = || Some(u64::from_le_bytes(*bytes.get(32..)?.first_chunk()?));
    let count = match bytes.first_chunk() {
        Some(b"PK\x05\x06") => small(),
        Some(b"PK\x06\x06") => large(),
        _ => None,
    };
    count.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write as _};

    use super::*;

    /// A zip file with so many entries and a comment.
    fn zipped(entries: usize, name: &str) -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for number in 0..entries {
            let options = zip::write::SimpleFileOptions::default();
            zip.start_file(format!("{name}{number}"), options).unwrap();
        }
        zip.set_comment("packed by a stranger").unwrap();
        zip.finish().unwrap().into_inner()
    }

    fn opened(bytes: &[u8]) -> Result<ZipFile> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        ZipFile::open(file.path())
    }

    #[test]
    fn the_number_of_entries_is_known_before_they_are_read() {
        for entries in [0, 3, 70_000] {
            let declared = declared_entries(&mut Cursor::new(zipped(entries, "a"))).unwrap();
            assert_eq!(declared, entries as u64);
        }
        assert!(check_entries(MAX_ENTRIES).is_ok());
        let error = check_entries(MAX_ENTRIES + 1).unwrap_err().to_string();
        assert_eq!(error, "the zip file has more than 500000 entries");
    }

    #[test]
    fn the_names_of_entries_have_a_bound_together() {
        let long = "n".repeat(60_000);
        assert_eq!(opened(&zipped(10, &long)).unwrap().names().len(), 10);
        let error = opened(&zipped(600, &long)).map(drop).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the names of the entries of the zip file are too long together"
        );
    }
}
