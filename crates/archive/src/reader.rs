//! Reading the records of an archive that was verified, entry by entry in any order.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::de::DeserializeOwned;

use crate::chain::{ChainLine, DigestHex, beginning};
use crate::entries::{End, each_entry_at};
use crate::manifest::{ChainSummary, ExportManifest};
use crate::{Error, Result, paths};

/// How many bytes an entry with one record, or a line of a chain, may have.
const MAX_RECORD: u64 = 64 << 20;

/// Where the bytes of an entry are.
#[derive(Clone, Debug)]
enum EntryPlace {
    /// In the archive, from this byte on.
    Within(u64, u64),
    /// In a file of the folder that the archive was unpacked into.
    Unpacked(PathBuf),
}

/// An archive, a tar file or the folder that it was unpacked into. [`verify`](crate::verify) it
/// first; reading compares the chains with the manifest once more, since a file can be replaced in
/// between.
#[derive(Debug)]
pub struct ExportReader {
    archive: PathBuf,
    places: BTreeMap<String, EntryPlace>,
    manifest: ExportManifest,
    /// The places of chains in the manifest, by path.
    chains: HashMap<String, usize>,
}

impl ExportReader {
    /// Finds the entries of an archive.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], [`Error::NotAnExport`], and [`Error::Altered`] without a manifest that can be
    /// read.
    pub fn open(archive: &Path) -> Result<Self> {
        let mut places = BTreeMap::new();
        let at = Rc::new(Cell::new(0));
        let own = Rc::clone(&at);
        let end = each_entry_at(archive, at, &mut |path, size, _| {
            let place = match archive.is_dir() {
                true => EntryPlace::Unpacked(archive.join(path)),
                false => EntryPlace::Within(own.get(), size),
            };
            places.insert(path.to_owned(), place);
            Ok(())
        })?;
        if end != End::Whole {
            return Err(Error::Altered(paths::MANIFEST.to_owned()));
        }
        let mut this = Self {
            archive: archive.to_owned(),
            places,
            manifest: ExportManifest::default(),
            chains: HashMap::new(),
        };
        this.manifest = this.record(paths::MANIFEST)?;
        for (place, chain) in this.manifest.chains.iter().enumerate() {
            this.chains.entry(chain.path.clone()).or_insert(place);
        }
        Ok(this)
    }

    /// The manifest.
    #[must_use]
    pub fn manifest(&self) -> &ExportManifest {
        &self.manifest
    }

    /// The chain of an entry.
    #[must_use]
    pub fn chain(&self, path: &str) -> Option<&ChainSummary> {
        self.manifest.chains.get(*self.chains.get(path)?)
    }

    /// The paths of the entries, in their order.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.places.keys().map(String::as_str)
    }

    /// The bytes of an entry.
    ///
    /// # Errors
    ///
    /// [`Error::Altered`] when there is no such entry, and [`Error::Io`].
    pub fn open_entry(&self, path: &str) -> Result<Box<dyn Read + Send>> {
        let place = self.places.get(path);
        Ok(
            match place.ok_or_else(|| Error::Altered(path.to_owned()))? {
                EntryPlace::Unpacked(file) => Box::new(BufReader::new(File::open(file)?)),
                EntryPlace::Within(offset, size) => {
                    let mut file = File::open(&self.archive)?;
                    file.seek(SeekFrom::Start(*offset))?;
                    Box::new(BufReader::with_capacity(64 * 1024, file).take(*size))
                }
            },
        )
    }

    /// The record of an entry that has one.
    ///
    /// # Errors
    ///
    /// [`Error::Altered`] when there is no such entry or it cannot be read, and [`Error::Io`].
    pub fn record<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        let mut bytes = Vec::new();
        self.open_entry(path)?
            .take(MAX_RECORD)
            .read_to_end(&mut bytes)?;
        serde_json::from_slice(&bytes).map_err(|_| Error::Altered(path.to_owned()))
    }

    /// Gives the records of a chain one by one.
    ///
    /// # Errors
    ///
    /// What `each` answers, [`Error::Altered`] when the chain is not that of the manifest, and
    /// [`Error::Io`].
    pub fn each_record<T: DeserializeOwned, E: From<Error>>(
        &self,
        path: &str,
        mut each: impl FnMut(T) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let altered = || Error::Altered(path.to_owned());
        let mut lines = BufReader::with_capacity(256 * 1024, self.open_entry(path)?);
        let (mut last, mut count, mut line) = (beginning(path), 0, Vec::new());
        loop {
            line.clear();
            let read = (&mut lines).take(MAX_RECORD).read_until(b'\n', &mut line);
            if read.map_err(Error::from)? == 0 {
                break;
            }
            count += 1;
            let text = line
                .strip_suffix(b"\n")
                .and_then(|line| std::str::from_utf8(line).ok());
            let link = text.and_then(ChainLine::parse).ok_or_else(altered)?;
            if link.number != count || link.previous != last || !link.is_intact() {
                return Err(altered().into());
            }
            last = link.hash;
            each(serde_json::from_str(link.record).map_err(|_| altered())?)?;
        }
        match self.chain(path) {
            Some(chain) if chain.records == count && chain.ends == DigestHex::from(last) => Ok(()),
            _ => Err(altered().into()),
        }
    }
}
