//! What the archives of a chain have, so that an incremental backup leaves it out.
//!
//! The server has no key that decrypts archives. So beside each archive lies an index: an entry of
//! the archive for each chunk of rows, under a digest that tells nothing without the secret key of
//! the server, and the keys of its files.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read, Write as _};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use ring::hmac::{Context, HMAC_SHA256, Key, sign};
use ring::rand::SystemRandom;
use serde::{Deserialize, Serialize};

use crate::Result;

/// The key of the digests in indexes.
#[derive(Clone)]
pub struct IndexKey(Key);

impl IndexKey {
    /// Derives it from the secret key of the server. Archives are not compared with those of
    /// another key: the next one is full.
    #[must_use]
    pub fn derive(secret_key: &[u8]) -> Self {
        let derived = sign(
            &Key::new(HMAC_SHA256, secret_key),
            b"eddyline: index of backups",
        );
        Self(Key::new(HMAC_SHA256, derived.as_ref()))
    }

    /// A key of which nothing is kept, so that no later archive builds on one with it.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::Error::Io) when the system has no random bytes.
    pub fn random() -> Result<Self> {
        let key = Key::generate(HMAC_SHA256, &SystemRandom::new());
        let key = key.map_err(|_| std::io::Error::other("the system has no random bytes"))?;
        Ok(Self(key))
    }

    /// The digest of rows with the names of their columns.
    fn digest(&self, table: &str, columns: &[String], rows: &[u8]) -> String {
        let mut context = Context::with_key(&self.0);
        for name in columns.iter().map(String::as_str).chain([table]) {
            context.update(name.as_bytes());
            context.update(b"\0");
        }
        context.update(rows);
        let tag = context.sign();
        // 128 bits are enough to tell chunks apart.
        let half = &tag.as_ref()[..16];
        half.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// A digest of the key, which tells indexes of different keys apart.
    fn name(&self) -> String {
        self.digest("", &[], b"")
    }
}

impl std::fmt::Debug for IndexKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("IndexKey([redacted])")
    }
}

/// Rows of a table in an earlier archive.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct RowsReference {
    /// The name of the archive.
    pub(crate) archive: String,
    /// The name of its entry.
    pub(crate) entry: String,
    /// How many rows it has.
    pub(crate) rows: u64,
}

/// A file in an earlier archive.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct FileReference {
    /// The name of the archive.
    pub(crate) archive: String,
    /// The key of the file.
    pub(crate) key: String,
    /// How many bytes it has.
    pub(crate) size: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum IndexLine {
    /// The digest of the key.
    Key(String),
    /// A digest, the entry and how many rows it has.
    Rows(String, String, u64),
    File(String),
    /// The last line: an index that ends without it is not whole.
    End,
}

/// What a chain has, and what an archive adds to it.
pub(crate) struct ChainIndex {
    key: IndexKey,
    /// The archives of the chain, the full one first.
    bases: Vec<String>,
    rows: HashMap<String, RowsReference>,
    files: HashMap<String, String>,
    added: GzEncoder<Vec<u8>>,
}

impl ChainIndex {
    /// An index of a chain without archives.
    pub(crate) fn new(key: IndexKey) -> Result<Self> {
        let mut index = Self {
            bases: Vec::new(),
            rows: HashMap::new(),
            files: HashMap::new(),
            added: GzEncoder::new(Vec::new(), Compression::fast()),
            key,
        };
        let name = index.key.name();
        index.add(&IndexLine::Key(name))?;
        Ok(index)
    }

    /// Adds the next archive of the chain by its index. Says whether it is one of this key, and
    /// whole: otherwise nothing can build on it.
    pub(crate) fn add_base(&mut self, archive: &str, index: impl Read) -> Result<bool> {
        let mut lines = BufReader::new(GzDecoder::new(index)).lines();
        let read = |line: Option<std::io::Result<String>>| {
            line.and_then(std::result::Result::ok)
                .and_then(|line| serde_json::from_str(&line).ok())
        };
        if !matches!(read(lines.next()), Some(IndexLine::Key(name)) if name == self.key.name()) {
            return Ok(false);
        }
        loop {
            match read(lines.next()) {
                Some(IndexLine::Rows(digest, entry, rows)) => {
                    let archive = archive.to_owned();
                    let reference = RowsReference {
                        archive,
                        entry,
                        rows,
                    };
                    self.rows.insert(digest, reference);
                }
                Some(IndexLine::File(key)) => {
                    self.files.insert(key, archive.to_owned());
                }
                Some(IndexLine::End) => break,
                Some(IndexLine::Key(_)) | None => return Ok(false),
            }
        }
        self.bases.push(archive.to_owned());
        Ok(true)
    }

    pub(crate) fn bases(&self) -> &[String] {
        &self.bases
    }

    /// Where the chain has these rows already. Otherwise they are noted as the next entry.
    pub(crate) fn find_or_note_rows(
        &mut self,
        (table, columns): (&str, &[String]),
        (rows, count): (&[u8], u64),
        entry: &str,
    ) -> Result<Option<RowsReference>> {
        let digest = self.key.digest(table, columns, rows);
        if let Some(found) = self.rows.get(&digest) {
            return Ok(Some(found.clone()));
        }
        self.add(&IndexLine::Rows(digest, entry.to_owned(), count))?;
        Ok(None)
    }

    /// Which archive of the chain has this file.
    pub(crate) fn find_file(&self, key: &str) -> Option<&str> {
        self.files.get(key).map(String::as_str)
    }

    /// Notes that the archive has this file.
    pub(crate) fn note_file(&mut self, key: &str) -> Result<()> {
        self.add(&IndexLine::File(key.to_owned()))
    }

    fn add(&mut self, line: &IndexLine) -> Result<()> {
        let text = serde_json::to_string(line).map_err(std::io::Error::from)?;
        Ok(writeln!(self.added, "{text}")?)
    }

    /// The index of what the archive has of its own.
    pub(crate) fn finish(mut self) -> Result<Vec<u8>> {
        self.add(&IndexLine::End)?;
        Ok(self.added.finish()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: (&str, &[String]) = ("users", &[]);

    fn index() -> Vec<u8> {
        let mut index = ChainIndex::new(IndexKey::derive(b"secret")).unwrap();
        let rows = (&b"[1]\n"[..], 1);
        let found = index.find_or_note_rows(TABLE, rows, "tables/users/0");
        assert_eq!(found.unwrap(), None);
        index.note_file("0123").unwrap();
        index.finish().unwrap()
    }

    fn next(secret_key: &[u8]) -> ChainIndex {
        ChainIndex::new(IndexKey::derive(secret_key)).unwrap()
    }

    #[test]
    fn what_an_archive_has_is_found() {
        let mut next = next(b"secret");
        assert!(next.add_base("a.tar", &index()[..]).unwrap());
        let mut find =
            |table, rows: &[u8]| next.find_or_note_rows(table, (rows, 1), "tables/users/0");
        let found = find(TABLE, b"[1]\n").unwrap().unwrap();
        assert_eq!((&*found.archive, found.rows), ("a.tar", 1));
        assert_eq!(find(TABLE, b"[2]\n").unwrap(), None);
        let other_columns = (TABLE.0, &["id".to_owned()][..]);
        assert_eq!(find(other_columns, b"[1]\n").unwrap(), None);
        assert_eq!(next.find_file("0123"), Some("a.tar"));
        assert_eq!(next.find_file("4567"), None);
        assert_eq!(next.bases(), ["a.tar"]);
    }

    #[test]
    fn an_index_of_another_key_or_without_its_end_is_no_base() {
        let whole = index();
        assert!(!next(b"another").add_base("a.tar", &whole[..]).unwrap());
        for end in 0..whole.len() - 8 {
            let mut next = next(b"secret");
            let is_base = next.add_base("a.tar", &whole[..end]).unwrap();
            assert!(!is_base || end > whole.len() - 16, "{end}");
        }
        assert!(!next(b"secret").add_base("a.tar", &b"{}"[..]).unwrap());
    }
}
