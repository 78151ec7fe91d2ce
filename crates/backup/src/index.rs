//! What the archives of a chain have, so that an incremental backup leaves it out.
//!
//! The server has no key that decrypts archives. So beside each archive lies an index: an entry of
//! the archive for each chunk of rows, under a keyed digest of the rows, and the keys of its files.
//! It shows which tables there are, and how many rows and files are new, and nothing that they say.
//! A digest under the same key at its end authenticates it.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write as _};

use eddyline_random::to_hex;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use ring::digest::{SHA256, digest};
use ring::hmac::{self, Context, HMAC_SHA256, Key, sign};
use serde::{Deserialize, Serialize};

use crate::Result;

/// How many bytes an index may have when it is unpacked, and one of its lines. An index has about 50
/// bytes for each file that is new.
const MOST_BYTES: u64 = 4 << 30;
const MOST_LINE: u64 = 4096;

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
    #[must_use]
    pub fn random() -> Self {
        Self::derive(&eddyline_random::bytes::<32>())
    }

    /// 128 bits of the digest of several texts.
    fn digest<'a>(&self, texts: impl IntoIterator<Item = &'a [u8]>) -> u128 {
        let mut context = Context::with_key(&self.0);
        for text in texts {
            context.update(&(text.len() as u64).to_be_bytes());
            context.update(text);
        }
        half(&context.sign())
    }
}

fn half(tag: &hmac::Tag) -> u128 {
    let bytes = tag.as_ref().iter().take(16);
    bytes.fold(0, |number, byte| number << 8 | u128::from(*byte))
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
    /// The digest of its lines.
    pub(crate) sha256: String,
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
    /// Their digest.
    pub(crate) sha256: String,
}

/// The digest of the lines of an entry, as a reference has it.
pub(crate) fn sha256(lines: &[u8]) -> String {
    to_hex(digest(&SHA256, lines).as_ref())
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum IndexLine {
    /// A digest of the public keys that the archive is encrypted for.
    Recipients(String),
    /// The digest of rows, and the entry that has them.
    Rows(String, String),
    /// The key of a file.
    File(String),
    /// The digest of the lines before, which are all.
    End(String),
}

/// What a chain has, and what an archive adds to it.
pub(crate) struct ChainIndex {
    key: IndexKey,
    recipients: String,
    /// The archives of the chain, the full one first.
    bases: Vec<String>,
    /// By their digests: which of the bases has them, and the entry.
    rows: HashMap<u128, (u32, Box<str>)>,
    /// By their keys: which of the bases has them.
    files: HashMap<u128, u32>,
    added: GzEncoder<Vec<u8>>,
    digest: Context,
}

impl ChainIndex {
    /// An index of a chain without archives, for these public keys.
    pub(crate) fn new(key: IndexKey, recipients: &str) -> Result<Self> {
        let recipients = key.digest([recipients.as_bytes()]);
        let mut index = Self {
            digest: Context::with_key(&key.0),
            key,
            recipients: format!("{recipients:032x}"),
            bases: Vec::new(),
            rows: HashMap::new(),
            files: HashMap::new(),
            added: GzEncoder::new(Vec::new(), Compression::fast()),
        };
        let line = IndexLine::Recipients(index.recipients.clone());
        index.add(&line)?;
        Ok(index)
    }

    /// Adds the next archive of the chain by its index. Says whether that is whole, of this key, and
    /// for the same public keys: otherwise nothing can build on the archive, nor on this value.
    pub(crate) fn add_base(&mut self, archive: &str, index: impl Read) -> Result<bool> {
        let number = u32::try_from(self.bases.len()).unwrap_or(u32::MAX);
        let mut lines = BufReader::new(GzDecoder::new(index).take(MOST_BYTES));
        let mut digest = Context::with_key(&self.key.0);
        let (mut line, mut is_first) = (Vec::new(), true);
        loop {
            line.clear();
            let read = (&mut lines).take(MOST_LINE).read_until(b'\n', &mut line);
            let parsed = read.ok().and_then(|_| serde_json::from_slice(&line).ok());
            match parsed {
                Some(IndexLine::Recipients(text)) if is_first && text == self.recipients => {}
                Some(IndexLine::Rows(text, entry)) if !is_first => {
                    let Ok(rows) = u128::from_str_radix(&text, 16) else {
                        return Ok(false);
                    };
                    self.rows.insert(rows, (number, entry.into()));
                }
                Some(IndexLine::File(text)) if !is_first => {
                    let Ok(key) = u128::from_str_radix(&text, 16) else {
                        return Ok(false);
                    };
                    self.files.insert(key, number);
                }
                Some(IndexLine::End(end)) if end == format!("{:032x}", half(&digest.sign())) => {
                    self.bases.push(archive.to_owned());
                    return Ok(true);
                }
                _ => return Ok(false),
            }
            digest.update(&line);
            is_first = false;
        }
    }

    pub(crate) fn bases(&self) -> &[String] {
        &self.bases
    }

    fn base(&self, number: u32) -> &str {
        self.bases.get(number as usize).map_or("", String::as_str)
    }

    /// Where the chain has these rows already. Otherwise they are noted as the next entry.
    pub(crate) fn find_or_note_rows(
        &mut self,
        (table, columns): (&str, &[String]),
        (rows, count): (&[u8], u64),
        entry: &str,
    ) -> Result<Option<RowsReference>> {
        // Rows mean the same only in the same columns.
        let names = columns.iter().map(String::as_bytes);
        let texts = names.chain([table.as_bytes(), rows]);
        let digest = self.key.digest(texts);
        if let Some((number, entry)) = self.rows.get(&digest) {
            return Ok(Some(RowsReference {
                archive: self.base(*number).to_owned(),
                entry: entry.to_string(),
                rows: count,
                sha256: sha256(rows),
            }));
        }
        self.add(&IndexLine::Rows(format!("{digest:032x}"), entry.to_owned()))?;
        Ok(None)
    }

    /// Which archive of the chain has this file.
    pub(crate) fn find_file(&self, key: &str) -> Option<&str> {
        let key = u128::from_str_radix(key, 16).ok()?;
        self.files.get(&key).map(|number| self.base(*number))
    }

    /// Notes that the archive has this file.
    pub(crate) fn note_file(&mut self, key: &str) -> Result<()> {
        self.add(&IndexLine::File(key.to_owned()))
    }

    fn add(&mut self, line: &IndexLine) -> Result<()> {
        let mut text = serde_json::to_vec(line).map_err(std::io::Error::from)?;
        text.push(b'\n');
        self.digest.update(&text);
        Ok(self.added.write_all(&text)?)
    }

    /// The index of what the archive has of its own.
    pub(crate) fn finish(mut self) -> Result<Vec<u8>> {
        let digest = half(&self.digest.clone().sign());
        self.add(&IndexLine::End(format!("{digest:032x}")))?;
        Ok(self.added.finish()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: (&str, &[String]) = ("users", &[]);
    const FILE: &str = "0123456789abcdef0123456789abcdef";

    fn new(secret_key: &[u8], recipients: &str) -> ChainIndex {
        ChainIndex::new(IndexKey::derive(secret_key), recipients).unwrap()
    }

    fn index() -> Vec<u8> {
        let mut index = new(b"secret", "age1a age1b");
        let rows = (&b"[1]\n"[..], 1);
        let found = index.find_or_note_rows(TABLE, rows, "tables/users/0");
        assert_eq!(found.unwrap(), None);
        index.note_file(FILE).unwrap();
        index.finish().unwrap()
    }

    #[test]
    fn what_an_archive_has_is_found() {
        let mut next = new(b"secret", "age1a age1b");
        assert!(next.add_base("a.tar", &index()[..]).unwrap());
        let mut find =
            |table, rows: &[u8]| next.find_or_note_rows(table, (rows, 1), "tables/users/7");
        let found = find(TABLE, b"[1]\n").unwrap().unwrap();
        assert_eq!(
            (&*found.archive, &*found.entry, found.rows),
            ("a.tar", "tables/users/0", 1)
        );
        assert_eq!(found.sha256, sha256(b"[1]\n"));
        assert_eq!(find(TABLE, b"[2]\n").unwrap(), None);
        let other_columns = (TABLE.0, &["id".to_owned()][..]);
        assert_eq!(find(other_columns, b"[1]\n").unwrap(), None);
        assert_eq!(next.find_file(FILE), Some("a.tar"));
        assert_eq!(next.find_file("4567"), None);
        assert_eq!(next.bases(), ["a.tar"]);
    }

    #[test]
    fn nothing_builds_on_an_index_of_another_key_or_for_other_recipients() {
        let whole = index();
        let is_base = |mut next: ChainIndex| next.add_base("a.tar", &whole[..]).unwrap();
        assert!(!is_base(new(b"another", "age1a age1b")));
        assert!(!is_base(new(b"secret", "age1a")));
        assert!(!is_base(new(b"secret", "")));
    }

    #[test]
    fn nothing_builds_on_an_index_that_is_not_as_it_was_written() {
        let mut text = String::new();
        GzDecoder::new(&index()[..])
            .read_to_string(&mut text)
            .unwrap();
        let is_base = |text: &str| {
            let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
            packed.write_all(text.as_bytes()).unwrap();
            let packed = packed.finish().unwrap();
            let mut next = new(b"secret", "age1a age1b");
            next.add_base("a.tar", &packed[..]).unwrap()
        };
        assert!(is_base(&text));
        for place in 0..text.len() - 1 {
            let mut changed = text.clone().into_bytes();
            changed[place] ^= 1;
            let changed = String::from_utf8(changed).unwrap();
            assert!(!is_base(&changed), "{changed}");
            assert!(!is_base(&text[..place]) || place == text.len() - 1);
        }
        let long = format!("{{\"file\":\"{}\"}}\n", "0".repeat(5000));
        assert!(!is_base(&format!("{long}{text}")));
    }
}
