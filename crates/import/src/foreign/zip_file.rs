//! Entries of a zip file of a stranger. Nothing is unpacked to the disk; names are compared and never
//! opened; and what an entry unpacks to has bounds.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use zip::ZipArchive;

use super::entries::Entries;
use crate::{Error, Result};

/// The most entries that a zip file may have.
const MAX_ENTRIES: usize = 2_000_000;
/// The most bytes that an entry of records unpacks to.
const MAX_RECORDS: u64 = 256 << 20;
/// The most bytes that a file of a message unpacks to.
pub(crate) const MAX_FILE: u64 = 4 << 30;

/// A zip file whose entries are read one by one.
pub(crate) struct ZipFile {
    archive: ZipArchive<BufReader<File>>,
    /// The places of entries, by the name without a folder that holds everything.
    names: HashMap<String, usize>,
}

impl ZipFile {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = BufReader::with_capacity(64 * 1024, File::open(path)?);
        let archive = ZipArchive::new(file)?;
        if archive.len() > MAX_ENTRIES {
            return Err(Error::Unfit("the zip file has too many entries".to_owned()));
        }
        let mut names = HashMap::with_capacity(archive.len());
        for place in 0..archive.len() {
            if let Some(Ok(name)) = archive.name_for_index(place) {
                names.insert(name.trim_start_matches("./").to_owned(), place);
            }
        }
        Ok(Self { archive, names })
    }

    /// The names of all entries but folders, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = self
            .names
            .keys()
            .filter(|name| !name.ends_with('/'))
            .cloned()
            .collect();
        names.sort_unstable();
        names
    }

    /// The bytes of an entry that has records.
    pub(crate) fn records(&mut self, name: &str) -> Result<Vec<u8>> {
        bounded(name, self.entry(name)?, MAX_RECORDS)
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

/// All bytes of an entry that unpacks to at most `limit` of them.
fn bounded(name: &str, entry: impl Read, limit: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = entry.take(limit + 1).read_to_end(&mut bytes)?;
    match read as u64 > limit {
        true => Err(Error::Unfit(format!(
            "{name} of the zip file unpacks to more than {} MiB",
            limit >> 20
        ))),
        false => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_a_bound() {
        let zeros = || std::io::repeat(0);
        assert_eq!(
            bounded("a", zeros().take(1 << 20), 1 << 20).unwrap().len(),
            1 << 20
        );
        let error = bounded("bomb.json", zeros(), 1 << 20).unwrap_err();
        assert_eq!(
            error.to_string(),
            "bomb.json of the zip file unpacks to more than 1 MiB"
        );
    }
}
