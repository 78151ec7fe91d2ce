//! What an incremental archive needs of the archives before it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use eddyline_random::to_hex;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use ring::digest::{Context, SHA256};

use crate::archive::{ArchiveReader, Identities, Part};
use crate::index::{FileReference, RowsReference, sha256};
use crate::{ArchiveName, ArchivePlace, Error, Result};

/// Takes a file of an earlier archive.
pub(crate) type KeepFile<'a> = &'a mut dyn FnMut(&str, u64, &mut dyn Read) -> Result<()>;

/// The entries and the files of one earlier archive that are needed.
#[derive(Default)]
struct Wanted {
    entries: HashMap<String, RowsReference>,
    files: HashMap<String, FileReference>,
}

/// Rows of earlier archives, put aside in a temporary file.
pub(crate) struct Spool {
    /// `None` where the rows are only verified.
    aside: Option<(PathBuf, File)>,
    /// The archive and the entry, and where its packed rows are.
    places: HashMap<(String, String), Range<u64>>,
    end: u64,
}

impl Spool {
    /// Reads all that an archive refers to, puts rows aside in a folder if one is given, and gives
    /// files to `keep_file`.
    pub(crate) fn gather(
        place: &ArchivePlace,
        archive: &str,
        identities: &Identities,
        folder: Option<&Path>,
        keep_file: KeepFile<'_>,
    ) -> Result<Self> {
        let (bases, mut wanted) = wanted_by(place, archive, identities)?;
        // Nothing is written for an archive that needs no other.
        let folder = folder.filter(|_| !bases.is_empty());
        let aside = folder.map(|folder| {
            let file = tempfile::tempfile_in(folder);
            let file = file.map_err(|reason| of_folder(folder, reason))?;
            Ok::<_, Error>((folder.to_owned(), file))
        });
        let mut spool = Self {
            aside: aside.transpose()?,
            places: HashMap::new(),
            end: 0,
        };
        for base in bases {
            let wanted = wanted.remove(&base).unwrap_or_default();
            spool
                .read_base(place, &base, identities, wanted, keep_file)
                .map_err(|error| Error::Base(base, Box::new(error)))?;
        }
        match wanted.keys().next() {
            Some(other) => Err(Error::Damaged(format!("it does not name its base {other}"))),
            None => Ok(spool),
        }
    }

    fn read_base(
        &mut self,
        place: &ArchivePlace,
        base: &str,
        identities: &Identities,
        mut wanted: Wanted,
        keep_file: KeepFile<'_>,
    ) -> Result<()> {
        if base.parse::<ArchiveName>().is_err() {
            return Err(Error::Damaged("that is no name of an archive".to_owned()));
        }
        let mut archive = ArchiveReader::open(place.open(base)?, identities)?;
        let (_, mut parts) = archive.read()?;
        while let Some(part) = parts.next()? {
            match part {
                Part::Rows { entry, rows, .. } => {
                    if let Some(reference) = wanted.entries.remove(&entry) {
                        self.add(&reference, &rows)?;
                    }
                }
                Part::File {
                    key,
                    size,
                    mut bytes,
                } => {
                    if let Some(reference) = wanted.files.remove(&key) {
                        copy_file(&reference, size, &mut bytes, keep_file)?;
                    }
                }
                _ => {}
            }
        }
        match wanted.entries.keys().chain(wanted.files.keys()).next() {
            Some(missing) => Err(Error::Damaged(format!("it does not have {missing}"))),
            None => Ok(()),
        }
    }

    fn add(&mut self, reference: &RowsReference, rows: &[String]) -> Result<()> {
        let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
        if sha256(lines.as_bytes()) != reference.sha256 || rows.len() as u64 != reference.rows {
            return Err(other_than_referred_to(&reference.entry));
        }
        let begin = self.end;
        if let Some((folder, file)) = &mut self.aside {
            let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
            packed.write_all(lines.as_bytes())?;
            let packed = packed.finish()?;
            let written = file.write_all(&packed);
            written.map_err(|reason| of_folder(folder, reason))?;
            self.end += packed.len() as u64;
        }
        let key = (reference.archive.clone(), reference.entry.clone());
        self.places.insert(key, begin..self.end);
        Ok(())
    }

    /// The rows that a reference stands for; none where they are only verified.
    pub(crate) fn rows(&mut self, reference: &RowsReference) -> Result<Vec<String>> {
        let RowsReference { archive, entry, .. } = reference;
        let place = self.places.get(&(archive.clone(), entry.clone()));
        let place = place
            .ok_or_else(|| Error::Damaged(format!("{archive} does not have {entry}")))?
            .clone();
        let Some((folder, file)) = &mut self.aside else {
            return Ok(Vec::new());
        };
        let mut text = String::new();
        let read = file.seek(SeekFrom::Start(place.start)).and_then(|_| {
            let packed = (&*file).take(place.end - place.start);
            GzDecoder::new(packed).read_to_string(&mut text)
        });
        read.map_err(|reason| of_folder(folder, reason))?;
        Ok(text.lines().map(str::to_owned).collect())
    }
}

fn of_folder(folder: &Path, reason: io::Error) -> Error {
    let folder = folder.to_owned();
    Error::Spool { folder, reason }
}

fn other_than_referred_to(name: &str) -> Error {
    Error::Damaged(format!("{name} has other bytes than the archive refers to"))
}

fn copy_file(
    reference: &FileReference,
    size: u64,
    bytes: &mut dyn Read,
    keep_file: KeepFile<'_>,
) -> Result<()> {
    let mut bytes = DigestReader {
        source: bytes,
        digest: Context::new(&SHA256),
    };
    keep_file(&reference.key, size, &mut bytes)?;
    let digest = to_hex(bytes.digest.finish().as_ref());
    if size != reference.size || digest != reference.sha256 {
        return Err(other_than_referred_to(&reference.key));
    }
    Ok(())
}

struct DigestReader<'a> {
    source: &'a mut dyn Read,
    digest: Context,
}

impl Read for DigestReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.digest.update(&buffer[..count]);
        Ok(count)
    }
}

/// The archives before this one in their order, and what it needs of each.
fn wanted_by(
    place: &ArchivePlace,
    archive: &str,
    identities: &Identities,
) -> Result<(Vec<String>, HashMap<String, Wanted>)> {
    let mut reader = ArchiveReader::open(place.open(archive)?, identities)?;
    let (manifest, mut parts) = reader.read()?;
    let mut wanted = HashMap::<String, Wanted>::new();
    while !manifest.bases.is_empty()
        && let Some(part) = parts.next()?
    {
        match part {
            Part::RowsReferences { references, .. } => {
                for reference in references {
                    let of_archive = wanted.entry(reference.archive.clone()).or_default();
                    let entry = reference.entry.clone();
                    of_archive.entries.insert(entry, reference);
                }
            }
            Part::FileReferences(references) => {
                for reference in references {
                    let of_archive = wanted.entry(reference.archive.clone()).or_default();
                    of_archive.files.insert(reference.key.clone(), reference);
                }
            }
            _ => {}
        }
    }
    Ok((manifest.bases, wanted))
}
