use std::collections::BTreeMap;
use std::io::{Read, Write};

use eddyline_random::to_hex;
use flate2::Compression;
use flate2::write::GzEncoder;
use ring::digest::{SHA256, digest};
use serde::Serialize;
use tar::{Builder, EntryType, Header};

use super::encryption::{EncryptedWriter, Encryption};
use super::trailer::TrailerWriter;
use super::{FILES, MANIFEST, Manifest, REFERENCES, SECRET_KEY, SUMMARY, Summary, TABLES};
use crate::Result;
use crate::index::{ChainIndex, FileReference, RowsReference};

/// How many bytes of rows one entry has, unless one row has more.
const PART_BYTES: usize = 4 * 1024 * 1024;
/// How many bytes of rows one entry has at least and on average, where incremental backups are to
/// find those that stay the same.
const CHUNK_LEAST: usize = 64 * 1024;
const CHUNK_AVERAGE: u64 = 256 * 1024;
/// How many references one entry has. They take about 250 bytes each, and a reader takes 32 MiB.
const REFERENCES_OF_ENTRY: usize = 100_000;

/// Writes an archive, entry after entry.
pub(crate) struct ArchiveWriter<W: Write> {
    tar: Builder<TrailerWriter<EncryptedWriter<W>>>,
    summary: Summary,
    tables: BTreeMap<String, Vec<String>>,
    /// The rows that wait to be an entry, and of which table they are.
    table: String,
    entries: usize,
    rows: Vec<u8>,
    row_count: u64,
    /// The index of the chain; `None` for an archive on which no other builds.
    index: Option<ChainIndex>,
    rows_references: Vec<RowsReference>,
    file_references: Vec<FileReference>,
    file_reference_entries: usize,
}

/// An archive that has its end.
pub(crate) struct Finished<W> {
    pub(crate) summary: Summary,
    pub(crate) out: W,
    /// The index of the entries and files that it has itself.
    pub(crate) index: Option<Vec<u8>>,
}

impl<W: Write> ArchiveWriter<W> {
    pub(crate) fn begin(
        out: W,
        encryption: &Encryption,
        manifest: &Manifest,
        index: Option<ChainIndex>,
    ) -> Result<Self> {
        let mut writer = Self {
            tar: Builder::new(TrailerWriter::new(encryption.encrypt(out)?)),
            summary: Summary::default(),
            table: String::new(),
            entries: 0,
            rows: Vec::with_capacity(PART_BYTES),
            row_count: 0,
            tables: manifest.tables.clone(),
            index,
            rows_references: Vec::new(),
            file_references: Vec::new(),
            file_reference_entries: 0,
        };
        writer.json(MANIFEST, manifest)?;
        Ok(writer)
    }

    fn json(&mut self, path: &str, value: &impl Serialize) -> Result<()> {
        let text = serde_json::to_vec_pretty(value).map_err(std::io::Error::from)?;
        self.entry(path, text.len() as u64, &text[..])
    }

    fn entry(&mut self, path: &str, size: u64, bytes: impl Read) -> Result<()> {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_size(size);
        header.set_mode(0o600);
        header.set_mtime(0);
        Ok(self.tar.append_data(&mut header, path, bytes)?)
    }

    pub(crate) fn secret_key(&mut self, key: &[u8]) -> Result<()> {
        self.entry(SECRET_KEY, key.len() as u64, key)
    }

    /// Adds a row of a table. Those of one table come one after the other.
    pub(crate) fn row(&mut self, table: &str, row: &str) -> Result<()> {
        if self.table != table {
            self.end_table()?;
            table.clone_into(&mut self.table);
            self.entries = 0;
        }
        self.rows.extend_from_slice(row.as_bytes());
        self.rows.push(b'\n');
        self.row_count += 1;
        *self.summary.rows.entry(table.to_owned()).or_default() += 1;
        let is_full = self.rows.len() >= PART_BYTES;
        if is_full || self.index.is_some() && self.rows.len() >= CHUNK_LEAST && ends_chunk(row) {
            self.end_chunk()?;
        }
        Ok(())
    }

    /// Makes an entry of the rows that wait, or refers to an earlier archive that has them.
    fn end_chunk(&mut self) -> Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let path = format!("{TABLES}{}/{:06}.jsonl.gz", self.table, self.entries);
        if let Some(reference) = self.find_chunk(&path)? {
            self.rows_references.push(reference);
        } else {
            let packed = packed(&self.rows)?;
            self.entries += 1;
            self.entry(&path, packed.len() as u64, &packed[..])?;
        }
        self.rows.clear();
        self.row_count = 0;
        Ok(())
    }

    fn find_chunk(&mut self, path: &str) -> Result<Option<RowsReference>> {
        let Some(index) = &mut self.index else {
            return Ok(None);
        };
        let columns = self.tables.get(&self.table);
        let table = (&*self.table, columns.map_or(&[][..], Vec::as_slice));
        index.find_or_note_rows(table, (&self.rows, self.row_count), path)
    }

    /// Ends the table whose rows came last.
    pub(crate) fn end_table(&mut self) -> Result<()> {
        self.end_chunk()?;
        let references = std::mem::take(&mut self.rows_references);
        let folder = format!("{TABLES}{}/", self.table);
        for (number, part) in references.chunks(REFERENCES_OF_ENTRY).enumerate() {
            self.references(&folder, number, part)?;
        }
        Ok(())
    }

    /// Writes references as an entry with this number.
    fn references<T: Serialize>(
        &mut self,
        folder: &str,
        number: usize,
        references: &[T],
    ) -> Result<()> {
        let mut lines = Vec::new();
        for reference in references {
            serde_json::to_writer(&mut lines, reference).map_err(std::io::Error::from)?;
            lines.push(b'\n');
        }
        let packed = packed(&lines)?;
        let path = format!("{folder}{REFERENCES}{number:06}.jsonl.gz");
        self.entry(&path, packed.len() as u64, &packed[..])
    }

    /// Refers to a file in an earlier archive, if one has it. `sha256` is what was noted of it when
    /// it was sent.
    pub(crate) fn refer_to_file(&mut self, key: &str, size: u64, sha256: &[u8]) -> Result<bool> {
        let found = self.index.as_ref().and_then(|index| index.find_file(key));
        let Some(archive) = found.map(str::to_owned) else {
            return Ok(false);
        };
        self.file_references.push(FileReference {
            archive,
            key: key.to_owned(),
            size,
            sha256: to_hex(sha256),
        });
        self.summary.files += 1;
        self.summary.bytes += size;
        if self.file_references.len() == REFERENCES_OF_ENTRY {
            self.end_file_references()?;
        }
        Ok(true)
    }

    fn end_file_references(&mut self) -> Result<()> {
        let references = std::mem::take(&mut self.file_references);
        if references.is_empty() {
            return Ok(());
        }
        self.file_reference_entries += 1;
        self.references(FILES, self.file_reference_entries - 1, &references)
    }

    /// Notes that the file that was added last is as it was once sent, so that later archives refer
    /// to it.
    pub(crate) fn note_intact(&mut self, key: &str) -> Result<()> {
        match &mut self.index {
            Some(index) => index.note_file(key),
            None => Ok(()),
        }
    }

    /// Adds a file of exactly this size.
    pub(crate) fn file(&mut self, key: &str, size: u64, bytes: impl Read) -> Result<()> {
        self.entry(&format!("{FILES}{key}"), size, bytes)?;
        self.summary.files += 1;
        self.summary.bytes += size;
        Ok(())
    }

    pub(crate) fn note_missing(&mut self, key: &str) {
        self.summary.missing.push(key.to_owned());
    }

    pub(crate) fn note_damaged(&mut self, key: &str) {
        self.summary.damaged.push(key.to_owned());
    }

    pub(crate) fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Ends the archive.
    pub(crate) fn finish(mut self) -> Result<Finished<W>> {
        self.end_table()?;
        self.end_file_references()?;
        let summary = std::mem::take(&mut self.summary);
        self.json(SUMMARY, &summary)?;
        let mut out = self.tar.into_inner()?.finish()?.finish()?;
        out.flush()?;
        let index = self.index.map(ChainIndex::finish).transpose()?;
        Ok(Finished {
            summary,
            out,
            index,
        })
    }
}

fn packed(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes)?;
    Ok(packed.finish()?)
}

/// Whether an entry ends behind this row, once it is long enough. The row decides alone, so that
/// the ends meet those of an earlier archive again soon after a row that was added or changed.
fn ends_chunk(row: &str) -> bool {
    let digest = digest(&SHA256, row.as_bytes());
    let number = digest.as_ref()[..8]
        .iter()
        .fold(0, |number: u64, byte| number << 8 | u64::from(*byte));
    number % CHUNK_AVERAGE < row.len() as u64
}
