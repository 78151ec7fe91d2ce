use std::io::{self, Read, Seek, SeekFrom, Write};

use ring::digest::{Context, SHA256, digest};
use serde::Serialize;
use tar::{EntryType, Header};

use crate::chain::{CHECKPOINT_INTERVAL, ChainLine, Digest, DigestHex, beginning, finish, hash};
use crate::manifest::{
    ChainSummary, EntrySummary, ExportManifest, ExportScope, FORMAT, FilesSummary, VERSION,
};
use crate::signature::ExportKey;
use crate::{Error, Result, paths};

const BLOCK: u64 = 512;

/// Writes an archive, entry after entry. What is written with must be empty.
#[derive(Debug)]
pub struct ExportWriter<W> {
    out: W,
    /// Where the next entry begins.
    position: u64,
    manifest: ExportManifest,
}

/// An archive that has its end.
#[derive(Debug)]
pub struct FinishedExport<W> {
    /// What was written with.
    pub out: W,
    /// How many bytes the archive has. Bytes behind them were taken back, and do not belong to it.
    pub size: u64,
    /// What it has.
    pub manifest: ExportManifest,
}

impl<W: Write + Seek> ExportWriter<W> {
    /// Begins an archive.
    pub fn begin(out: W, scope: ExportScope) -> Self {
        let manifest = ExportManifest {
            format: FORMAT.to_owned(),
            version: VERSION,
            scope,
            checkpoint_interval: CHECKPOINT_INTERVAL,
            chains: Vec::new(),
            entries: Vec::new(),
            files: FilesSummary::default(),
        };
        Self {
            out,
            position: 0,
            manifest,
        }
    }

    /// Adds an entry, whose digest the manifest gets.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub fn entry(&mut self, path: &str, bytes: &[u8]) -> Result<()> {
        self.plain_entry(path, bytes)?;
        let mut sha256 = [0; 32];
        sha256.copy_from_slice(digest(&SHA256, bytes).as_ref());
        self.manifest.entries.push(EntrySummary {
            path: path.to_owned(),
            size: bytes.len() as u64,
            sha256: sha256.into(),
        });
        Ok(())
    }

    /// Adds an entry with one record.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] and [`Error::Record`].
    pub fn record(&mut self, path: &str, record: &impl Serialize) -> Result<()> {
        let bytes = pretty(record)?;
        self.entry(path, &bytes)
    }

    fn plain_entry(&mut self, path: &str, bytes: &[u8]) -> Result<()> {
        let size = bytes.len() as u64;
        self.out.write_all(header(path, size)?.as_bytes())?;
        self.out.write_all(bytes)?;
        self.end_entry(size)
    }

    /// Fills the last block of an entry.
    fn end_entry(&mut self, size: u64) -> Result<()> {
        let whole = size.next_multiple_of(BLOCK);
        io::copy(&mut io::repeat(0).take(whole - size), &mut self.out)?;
        self.position += BLOCK + whole;
        Ok(())
    }

    /// Begins an entry of chained records.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub fn chain(&mut self, path: &str) -> Result<ChainWriter<'_, W>> {
        // Its size is known at its end only.
        self.out.write_all(header(path, 0)?.as_bytes())?;
        let begins = beginning(path);
        Ok(ChainWriter {
            archive: self,
            path: path.to_owned(),
            begins,
            previous: begins,
            records: 0,
            size: 0,
            checkpoints: Vec::new(),
            record: Vec::new(),
            line: Vec::new(),
        })
    }

    /// Adds a file, unless its bytes are others than these: then the manifest notes that they could
    /// not be read, and the answer is `false`.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the archive cannot be written.
    pub fn file(&mut self, sha256: Digest, size: u64, mut bytes: impl Read) -> Result<bool> {
        let name = DigestHex::from(sha256);
        self.out
            .write_all(header(&paths::file(&name.0), size)?.as_bytes())?;
        if !self.copy(sha256, size, &mut bytes)? {
            self.out.seek(SeekFrom::Start(self.position))?;
            self.note_missing(sha256);
            return Ok(false);
        }
        self.end_entry(size)?;
        self.manifest.files.count += 1;
        self.manifest.files.bytes += size;
        Ok(true)
    }

    /// Copies bytes, and says whether they are the right ones.
    fn copy(&mut self, sha256: Digest, size: u64, bytes: &mut impl Read) -> Result<bool> {
        let mut context = Context::new(&SHA256);
        let mut buffer = vec![0; 64 * 1024];
        let mut left = size;
        loop {
            let count = match bytes.read(&mut buffer) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return Ok(false),
            };
            if count == 0 {
                return Ok(left == 0 && finish(context) == sha256);
            }
            if count as u64 > left {
                return Ok(false);
            }
            left -= count as u64;
            context.update(&buffer[..count]);
            self.out.write_all(&buffer[..count])?;
        }
    }

    /// Notes that the bytes of a file could not be read.
    pub fn note_missing(&mut self, sha256: Digest) {
        self.manifest.files.missing.push(sha256.into());
    }

    /// What the archive has so far.
    #[must_use]
    pub fn manifest(&self) -> &ExportManifest {
        &self.manifest
    }

    /// Ends the archive with its manifest and the signature of that.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub fn finish(mut self, key: &ExportKey) -> Result<FinishedExport<W>> {
        let manifest = pretty(&self.manifest)?;
        self.plain_entry(paths::MANIFEST, &manifest)?;
        let signature = pretty(&key.sign(&manifest))?;
        self.plain_entry(paths::SIGNATURE, &signature)?;
        self.out.write_all(&[0; 2 * BLOCK as usize])?;
        self.out.flush()?;
        Ok(FinishedExport {
            out: self.out,
            size: self.position + 2 * BLOCK,
            manifest: self.manifest,
        })
    }
}

/// Writes the records of an entry. The entry needs [`ChainWriter::finish`].
#[derive(Debug)]
pub struct ChainWriter<'a, W> {
    archive: &'a mut ExportWriter<W>,
    path: String,
    begins: Digest,
    previous: Digest,
    records: u64,
    size: u64,
    checkpoints: Vec<DigestHex>,
    record: Vec<u8>,
    line: Vec<u8>,
}

impl<W: Write + Seek> ChainWriter<'_, W> {
    /// Adds a record.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] and [`Error::Record`].
    pub fn record(&mut self, record: &impl Serialize) -> Result<()> {
        self.record.clear();
        self.line.clear();
        serde_json::to_writer(&mut self.record, record)?;
        let record = std::str::from_utf8(&self.record).map_err(io::Error::other)?;
        if record.contains('\n') {
            return Err(io::Error::other("a record has several lines").into());
        }
        self.records += 1;
        let link = ChainLine {
            number: self.records,
            previous: self.previous,
            hash: hash(&self.previous, self.records, record.as_bytes()),
            record,
        };
        link.write(&mut self.line);
        self.previous = link.hash;
        if self.records.is_multiple_of(CHECKPOINT_INTERVAL) {
            self.checkpoints.push(self.previous.into());
        }
        self.size += self.line.len() as u64;
        Ok(self.archive.out.write_all(&self.line)?)
    }

    /// How many records it has so far.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Ends the entry.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub fn finish(self) -> Result<()> {
        let archive = self.archive;
        archive.out.seek(SeekFrom::Start(archive.position))?;
        archive
            .out
            .write_all(header(&self.path, self.size)?.as_bytes())?;
        archive
            .out
            .seek(SeekFrom::Start(archive.position + BLOCK + self.size))?;
        archive.end_entry(self.size)?;
        archive.manifest.chains.push(ChainSummary {
            path: self.path,
            records: self.records,
            begins: self.begins.into(),
            ends: self.previous.into(),
            checkpoints: self.checkpoints,
        });
        Ok(())
    }
}

fn header(path: &str, size: u64) -> Result<Header> {
    let mut header = Header::new_ustar();
    header.set_entry_type(EntryType::Regular);
    header.set_path(path).map_err(Error::Io)?;
    header.set_size(size);
    header.set_mode(0o600);
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    header.set_cksum();
    Ok(header)
}

/// JSON for people, which ends with a line feed.
fn pretty(value: &impl Serialize) -> Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    Ok(text)
}
