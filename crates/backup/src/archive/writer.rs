use std::io::{Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use tar::{Builder, EntryType, Header};

use super::encryption::{EncryptedWriter, Encryption};
use super::trailer::TrailerWriter;
use super::{FILES, MANIFEST, Manifest, SECRET_KEY, SUMMARY, Summary, TABLES};
use crate::Result;

/// How many bytes of rows one entry has, unless one row has more.
const PART_BYTES: usize = 4 * 1024 * 1024;

/// Writes an archive, entry after entry.
pub(crate) struct ArchiveWriter<W: Write> {
    tar: Builder<TrailerWriter<EncryptedWriter<W>>>,
    summary: Summary,
    /// The rows that wait to be an entry, and of which table they are.
    table: String,
    entries: usize,
    rows: Vec<u8>,
}

impl<W: Write> ArchiveWriter<W> {
    pub(crate) fn begin(out: W, encryption: &Encryption, manifest: &Manifest) -> Result<Self> {
        let mut writer = Self {
            tar: Builder::new(TrailerWriter::new(encryption.encrypt(out)?)),
            summary: Summary::default(),
            table: String::new(),
            entries: 0,
            rows: Vec::with_capacity(PART_BYTES),
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
        *self.summary.rows.entry(table.to_owned()).or_default() += 1;
        if self.rows.len() >= PART_BYTES {
            self.end_table()?;
        }
        Ok(())
    }

    /// Makes an entry of the rows that wait.
    pub(crate) fn end_table(&mut self) -> Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let path = format!("{TABLES}{}/{:06}.jsonl.gz", self.table, self.entries);
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(&self.rows)?;
        let packed = packed.finish()?;
        self.rows.clear();
        self.entries += 1;
        self.entry(&path, packed.len() as u64, &packed[..])
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
    pub(crate) fn finish(mut self) -> Result<(Summary, W)> {
        self.end_table()?;
        let summary = std::mem::take(&mut self.summary);
        self.json(SUMMARY, &summary)?;
        let mut out = self.tar.into_inner()?.finish()?.finish()?;
        out.flush()?;
        Ok((summary, out))
    }
}
