//! What an incremental archive needs of the archives before it.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::Range;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use crate::archive::{ArchiveReader, Identities, Part};
use crate::index::RowsReference;
use crate::{ArchivePlace, Error, Result};

/// The entries and the files of one earlier archive that are needed.
#[derive(Default)]
struct Needed {
    entries: HashSet<String>,
    files: HashSet<String>,
}

/// Rows of earlier archives, put aside in a temporary file.
pub(crate) struct Spool {
    file: File,
    /// The number of the archive and the entry, and where its packed rows are.
    places: HashMap<(String, String), Range<u64>>,
    end: u64,
}

impl Spool {
    fn new() -> Result<Self> {
        Ok(Self {
            file: tempfile::tempfile()?,
            places: HashMap::new(),
            end: 0,
        })
    }

    /// Reads all that an archive refers to. Files go to `keep_file` at once.
    pub(crate) fn gather(
        place: &ArchivePlace,
        archive: &str,
        identities: &Identities,
        mut keep_file: impl FnMut(&str, u64, &mut dyn std::io::Read) -> Result<()>,
    ) -> Result<Self> {
        let mut spool = Self::new()?;
        let (bases, mut needed) = needed_by(place, archive, identities)?;
        for base in bases {
            let needed = needed.remove(&base).unwrap_or_default();
            spool.read_base(place, &base, identities, needed, &mut keep_file)?;
        }
        match needed.keys().next() {
            Some(other) => Err(Error::Damaged(format!("it does not name its base {other}"))),
            None => Ok(spool),
        }
    }

    fn read_base(
        &mut self,
        place: &ArchivePlace,
        base: &str,
        identities: &Identities,
        mut needed: Needed,
        keep_file: &mut impl FnMut(&str, u64, &mut dyn std::io::Read) -> Result<()>,
    ) -> Result<()> {
        let mut archive = ArchiveReader::open(place.open(base)?, identities)?;
        let (_, mut parts) = archive.read()?;
        while let Some(part) = parts.next()? {
            match part {
                Part::Rows { entry, rows, .. } if needed.entries.remove(&entry) => {
                    self.add(base, entry, &rows)?;
                }
                Part::File {
                    key,
                    size,
                    mut bytes,
                } if needed.files.remove(&key) => keep_file(&key, size, &mut bytes)?,
                _ => {}
            }
        }
        match needed.entries.iter().chain(&needed.files).next() {
            Some(missing) => Err(Error::Damaged(format!("{base} does not have {missing}"))),
            None => Ok(()),
        }
    }

    fn add(&mut self, base: &str, entry: String, rows: &[String]) -> Result<()> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        for row in rows {
            writeln!(packed, "{row}")?;
        }
        let packed = packed.finish()?;
        self.file.write_all(&packed)?;
        let begin = self.end;
        self.end += packed.len() as u64;
        self.places
            .insert((base.to_owned(), entry), begin..self.end);
        Ok(())
    }

    /// The rows that a reference stands for.
    pub(crate) fn rows(&mut self, reference: &RowsReference) -> Result<Vec<String>> {
        let RowsReference {
            archive,
            entry,
            rows: count,
        } = reference;
        let missing = || Error::Damaged(format!("{archive} does not have {entry}"));
        let place = self.places.get(&(archive.clone(), entry.clone()));
        let place = place.ok_or_else(missing)?;
        self.file.seek(SeekFrom::Start(place.start))?;
        let packed = (&self.file).take(place.end - place.start);
        let mut text = String::new();
        GzDecoder::new(packed).read_to_string(&mut text)?;
        let rows: Vec<String> = text.lines().map(str::to_owned).collect();
        if rows.len() as u64 != *count {
            return Err(Error::Damaged(format!(
                "{entry} of {archive} has {} rows in place of {count}",
                rows.len()
            )));
        }
        Ok(rows)
    }
}

/// The archives before this one in their order, and what it needs of each.
fn needed_by(
    place: &ArchivePlace,
    archive: &str,
    identities: &Identities,
) -> Result<(Vec<String>, HashMap<String, Needed>)> {
    let mut reader = ArchiveReader::open(place.open(archive)?, identities)?;
    let (manifest, mut parts) = reader.read()?;
    let mut needed = HashMap::<String, Needed>::new();
    while !manifest.bases.is_empty()
        && let Some(part) = parts.next()?
    {
        match part {
            Part::RowsReferences { references, .. } => {
                for reference in references {
                    let needed = needed.entry(reference.archive).or_default();
                    needed.entries.insert(reference.entry);
                }
            }
            Part::FileReferences(references) => {
                for reference in references {
                    let needed = needed.entry(reference.archive).or_default();
                    needed.files.insert(reference.key);
                }
            }
            _ => {}
        }
    }
    Ok((manifest.bases, needed))
}
