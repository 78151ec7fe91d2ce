//! Entries of a zip file of a stranger. Nothing is unpacked to the disk; names are compared and never
//! opened; and the number of entries has a bound.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use zip::ZipArchive;

use super::entries::Entries;
use crate::{Error, Result};

/// The most entries that a zip file may have: about 300 bytes of memory each.
const MAX_ENTRIES: u64 = 500_000;
/// The most bytes of their names together.
const MAX_NAMES: usize = 32 << 20;
/// The most bytes that are read for the list of the entries. The shortest entry has 46 bytes
/// besides its name, and usual ones have some 30 more.
const MAX_DIRECTORY: u64 = 128 << 20;
/// The most bytes that a file of a message unpacks to.
pub(crate) const MAX_FILE: u64 = 4 << 30;

/// The places of entries, by their names.
pub(crate) type Names = HashMap<Arc<str>, usize>;

/// A zip file whose entries are read one by one.
pub(crate) struct ZipFile {
    archive: ZipArchive<BufReader<Bounded<File>>>,
    names: Arc<Names>,
}

impl ZipFile {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let mut file = File::open(path)?;
        // Asked before the entries are read into memory.
        check_entries(declared_entries(&mut file)?)?;
        let archive = directory(file, MAX_DIRECTORY)?;
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

/// Reads the list of the entries, which has so many bytes at most.
fn directory<R: Read + Seek>(inner: R, bytes: u64) -> Result<ZipArchive<BufReader<Bounded<R>>>> {
    let left = Rc::new(Cell::new(bytes));
    let bounded = Bounded {
        inner,
        left: left.clone(),
    };
    let archive = ZipArchive::new(BufReader::with_capacity(64 * 1024, bounded));
    if left.get() == 0 {
        return Err(Error::Unfit(format!(
            "the list of entries of the zip file has more than {} MiB",
            bytes >> 20
        )));
    }
    // The entries themselves have bounds of their own.
    left.set(u64::MAX);
    Ok(archive?)
}

/// Bytes of which only so many are left to be read.
struct Bounded<R> {
    inner: R,
    left: Rc<Cell<u64>>,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let left = self.left.get().checked_sub(read as u64);
        self.left.set(left.unwrap_or(0));
        match left {
            Some(left) if left > 0 => Ok(read),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

impl<R: Seek> Seek for Bounded<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
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

/// The record that ends a zip file (APPNOTE 4.3.16).
const END: &[u8] = b"PK\x05\x06";
/// That of large archives, which has the number of entries (4.3.14).
const LARGE_END: &[u8] = b"PK\x06\x06";
/// The bytes of that up to the number of entries and with it.
const LARGE_END_HEAD: usize = 40;
/// Tells where that begins (4.3.15). It ends there.
const LOCATOR: &[u8] = b"PK\x06\x07";

/// Returns the number of entries that a zip file declares: the highest number in what looks like
/// one of its last records.
fn declared_entries(file: &mut (impl Read + Seek)) -> io::Result<u64> {
    /// The record at the end, the two of large archives before it, and the longest comment.
    const TAIL: u64 = 22 + 20 + 56 + 65_536;
    let length = file.seek(SeekFrom::End(0))?;
    let start = length.saturating_sub(TAIL);
    file.seek(SeekFrom::Start(start))?;
    let mut tail = Vec::new();
    file.by_ref().take(TAIL).read_to_end(&mut tail)?;
    let (mut most, mut ends, mut first) = (0, HashSet::new(), length);
    for place in 0..tail.len() {
        let record = &tail[place..];
        if record.starts_with(END) {
            most = most.max(record.get(10..).and_then(number_of_two).unwrap_or(0));
        } else if record.starts_with(LOCATOR) {
            ends.insert(start + place as u64);
            first = first.min(record.get(8..).and_then(number_of_eight).unwrap_or(length));
        }
    }
    let large = match ends.iter().max() {
        Some(last) => large_ends(file, first..*last, &ends)?,
        None => 0,
    };
    file.seek(SeekFrom::Start(0))?;
    Ok(most.max(large))
}

/// Returns the highest number of entries of those records of large archives between these places
/// that end where a locator begins. They may be of any length.
fn large_ends(
    file: &mut (impl Read + Seek),
    places: std::ops::Range<u64>,
    ends: &HashSet<u64>,
) -> io::Result<u64> {
    const WINDOW: u64 = 64 * 1024;
    let (mut most, mut place, mut window) = (0, places.start, Vec::new());
    file.seek(SeekFrom::Start(place))?;
    while place < places.end {
        let read = file.by_ref().take(WINDOW).read_to_end(&mut window)?;
        for (at, record) in (place..).zip(window.windows(LARGE_END_HEAD)) {
            let size = record.get(4..).and_then(number_of_eight).unwrap_or(0);
            let end = size.checked_add(at + 12);
            if record.starts_with(LARGE_END) && end.is_some_and(|end| ends.contains(&end)) {
                most = most.max(record.get(32..).and_then(number_of_eight).unwrap_or(0));
            }
        }
        if read == 0 {
            break;
        }
        // What is too short for a record is looked at with what follows.
        let looked = window.len().saturating_sub(LARGE_END_HEAD - 1);
        window.drain(..looked);
        place += looked as u64;
    }
    Ok(most)
}

fn number_of_two(bytes: &[u8]) -> Option<u64> {
    Some(u64::from(u16::from_le_bytes(*bytes.first_chunk()?)))
}

fn number_of_eight(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.first_chunk()?))
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

    /// A zip file without entries whose last records are those of a large one that says it has so
    /// many, with so many bytes between the first and the others, and as many before all.
    fn large(entries: u64, more: usize, before: usize) -> Vec<u8> {
        let mut bytes = vec![b'x'; before];
        bytes.extend(LARGE_END);
        bytes.extend((44 + more as u64).to_le_bytes());
        bytes.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend(entries.to_le_bytes().repeat(2));
        bytes.extend([0; 16]);
        bytes.extend(vec![0; more]);
        bytes.extend(LOCATOR);
        bytes.extend([0; 12]);
        bytes.extend([1, 0, 0, 0]);
        bytes.extend(END);
        bytes.extend([
            0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0,
        ]);
        bytes
    }

    #[test]
    fn the_number_of_entries_is_known_wherever_its_record_begins() {
        for (more, before) in [
            (0, 0),
            (0, 100_000),
            (70_000, 0),
            (65_480, 65_530),
            (300_000, 7),
        ] {
            let bytes = large(3_000_000, more, before);
            let declared = declared_entries(&mut Cursor::new(&bytes)).unwrap();
            assert_eq!(declared, 3_000_000, "{more} {before}");
            let error = opened(&bytes).map(drop).unwrap_err().to_string();
            assert_eq!(error, "the zip file has more than 500000 entries");
        }
    }

    #[test]
    fn the_list_of_entries_has_a_bound() {
        let bytes = zipped(1000, &"n".repeat(10_000));
        assert_eq!(
            directory(Cursor::new(&bytes), 16 << 20).unwrap().len(),
            1000
        );
        let error = directory(Cursor::new(&bytes), 8 << 20)
            .map(drop)
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "the list of entries of the zip file has more than 8 MiB"
        );
    }
}
