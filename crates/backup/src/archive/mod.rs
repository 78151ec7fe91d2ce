//! The format of archives.

mod encryption;
mod reader;
mod trailer;
mod writer;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::encryption::{Encryption, Identities, KeyPair};
pub(crate) use self::reader::{ArchiveReader, Part, Parts};
pub(crate) use self::writer::{ArchiveWriter, Finished};

/// The format of a full archive, and that of an incremental one, which is the newest that is read.
pub(crate) const FORMAT: u32 = 1;
pub(crate) const INCREMENTAL_FORMAT: u32 = 2;

const MANIFEST: &str = "manifest.json";
const SECRET_KEY: &str = "secret_key";
const SUMMARY: &str = "summary.json";
const TABLES: &str = "tables/";
const FILES: &str = "files/";
/// The last entries of a table and of the files, with what earlier archives have.
const REFERENCES: &str = "references/";

/// What an archive begins with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The format of the archive.
    pub format: u32,
    /// The version of the server that wrote it.
    pub version: String,
    /// When, in RFC 3339.
    pub created_at: String,
    /// The version of the newest migration that the database had.
    pub schema: String,
    /// How many events the log had: what happened later is not in the archive.
    pub log_position: i64,
    /// The columns of each table, in the order of the values of its rows.
    pub tables: BTreeMap<String, Vec<String>>,
    /// The highest number that each table had given to a row.
    pub sequences: BTreeMap<String, i64>,
    /// The names of the archives that have what an incremental one has not, the full one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bases: Vec<String>,
}

/// What an archive ends with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// How many rows of each table there are.
    pub rows: BTreeMap<String, u64>,
    /// How many files there are.
    pub files: u64,
    /// The bytes of all files.
    pub bytes: u64,
    /// The keys of files that could not be read, and are not in the archive.
    pub missing: Vec<String>,
    /// The keys of files whose bytes were not those that were once kept. They are in the archive as
    /// they were found.
    pub damaged: Vec<String>,
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;
    use crate::Error;

    fn manifest() -> Manifest {
        let columns = vec!["id".to_owned(), "name".to_owned()];
        Manifest {
            format: FORMAT,
            version: "1.2.3".to_owned(),
            created_at: "2026-01-01T00:00:00Z".to_owned(),
            schema: "20260101000000".to_owned(),
            log_position: 7,
            tables: BTreeMap::from([("users".to_owned(), columns)]),
            sequences: BTreeMap::new(),
            bases: Vec::new(),
        }
    }

    /// An archive with so many rows of 100 kB, a key and a file.
    fn archive(encryption: &Encryption, rows: usize) -> Vec<u8> {
        let mut writer = ArchiveWriter::begin(Vec::new(), encryption, &manifest(), None).unwrap();
        writer.secret_key(b"the key").unwrap();
        for number in 0..rows {
            let row = format!("[{number},\"{}\"]", "x".repeat(100_000));
            writer.row("users", &row).unwrap();
        }
        writer.end_table().unwrap();
        writer.file("0123", 5, &b"bytes"[..]).unwrap();
        writer.note_missing("4567");
        let Finished {
            summary,
            out: bytes,
            ..
        } = writer.finish().unwrap();
        assert_eq!(summary.rows["users"], rows as u64);
        bytes
    }

    /// What an archive has, in words.
    fn read(bytes: &[u8], identities: &Identities) -> Result<Vec<String>, Error> {
        let mut reader = ArchiveReader::open(bytes, identities)?;
        let (found, mut parts) = reader.read()?;
        let mut seen = Vec::new();
        while let Some(part) = parts.next()? {
            seen.push(match part {
                Part::SecretKey(key) => format!("key of {} bytes", key.len()),
                Part::RowsReferences { .. } | Part::FileReferences(_) => "references".to_owned(),
                Part::Rows { table, rows, .. } => format!("{} rows of {table}", rows.len()),
                Part::File {
                    key,
                    size,
                    mut bytes,
                } => {
                    let mut content = String::new();
                    bytes.read_to_string(&mut content)?;
                    format!("{key}: {size} {content}")
                }
            });
        }
        assert_eq!(found, manifest());
        assert_eq!(parts.into_summary().missing, ["4567"]);
        Ok(seen)
    }

    #[test]
    fn what_was_written_is_read() {
        let key = KeyPair::generate();
        let file = std::env::temp_dir().join(key.public_key());
        std::fs::write(&file, key.private_key()).unwrap();
        let identities = Identities::from_file(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        let encrypted = Encryption::recipients([key.public_key()]).unwrap();
        for (encryption, identities) in [
            (encrypted, identities),
            (Encryption::Unencrypted, Identities::default()),
        ] {
            let seen = read(&archive(&encryption, 50), &identities).unwrap();
            assert_eq!(
                seen,
                [
                    "key of 7 bytes",
                    "42 rows of users",
                    "8 rows of users",
                    "0123: 5 bytes"
                ]
            );
        }
    }

    #[test]
    fn every_changed_byte_and_every_end_that_comes_early_is_found() {
        let whole = archive(&Encryption::Unencrypted, 1);
        for place in 0..whole.len() {
            let mut changed = whole.clone();
            changed[place] ^= 1;
            read(&changed, &Identities::default()).unwrap_err();
        }
        for end in (0..whole.len()).step_by(97) {
            read(&whole[..end], &Identities::default()).unwrap_err();
        }
        let mut longer = whole;
        longer.push(b'\n');
        read(&longer, &Identities::default()).unwrap_err();
    }

    #[test]
    fn a_newer_format_is_named() {
        let newer = Manifest {
            format: INCREMENTAL_FORMAT + 1,
            ..manifest()
        };
        let writer =
            ArchiveWriter::begin(Vec::new(), &Encryption::Unencrypted, &newer, None).unwrap();
        let bytes = writer.finish().unwrap().out;
        let mut reader = ArchiveReader::open(&bytes[..], &Identities::default()).unwrap();
        let refused = reader.read().err().unwrap();
        assert!(matches!(refused, Error::TooNew(3)), "{refused}");
    }

    #[test]
    fn keys_that_cannot_be_read_are_refused() {
        for wrong in ["", "age1", "AGE-SECRET-KEY-1", "ssh-ed25519 AAAA"] {
            Encryption::recipients([wrong]).unwrap_err();
        }
        let missing = std::path::Path::new("/nowhere/key.txt");
        let text = Identities::from_file(missing).unwrap_err().to_string();
        assert!(text.contains("/nowhere/key.txt"), "{text}");
    }
}
