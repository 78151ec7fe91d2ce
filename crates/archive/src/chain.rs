//! The hash chain of the records of an entry.
//!
//! Each record has a line, which names its number, the hash of the line before and its own hash. So
//! a line tells by itself whether it was altered, and its neighbours tell whether it stands where it
//! stood.

use std::io::Write as _;

use eddyline_random::to_hex;
use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// How many records there are from one checkpoint of a manifest to the next.
pub const CHECKPOINT_INTERVAL: u64 = 100;

/// The highest number of a record: the highest integer that all readers of JSON tell apart.
const MAX_NUMBER: u64 = 1 << 53;

const BEGINNING: &[u8] = b"eddyline-archive chain 1\n";
const RECORD: &[u8] = b"eddyline-archive record 1\n";

/// A SHA-256.
pub type Digest = [u8; 32];

/// A SHA-256 as 64 lower-case hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DigestHex(pub String);

impl From<Digest> for DigestHex {
    fn from(digest: Digest) -> Self {
        Self(to_hex(&digest))
    }
}

impl std::fmt::Display for DigestHex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Reads 64 lower-case hexadecimal digits; `None` for any other text.
#[must_use]
pub fn parse_digest(text: &str) -> Option<Digest> {
    let digits = text.as_bytes();
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let mut digest = [0; 32];
    if digits.len() != 2 * digest.len() {
        return None;
    }
    for (byte, pair) in digest.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(digest)
}

pub(crate) fn finish(context: Context) -> Digest {
    let mut digest = [0; 32];
    digest.copy_from_slice(context.finish().as_ref());
    digest
}

/// What the first record of an entry names as the hash before it. It has the path of the entry, so
/// that the chain of one entry is not that of another.
pub(crate) fn beginning(path: &str) -> Digest {
    let mut context = Context::new(&SHA256);
    context.update(BEGINNING);
    context.update(path.as_bytes());
    finish(context)
}

/// The hash of a record, over all records before it.
pub(crate) fn hash(previous: &Digest, number: u64, record: &[u8]) -> Digest {
    let mut context = Context::new(&SHA256);
    context.update(RECORD);
    context.update(previous);
    context.update(&number.to_be_bytes());
    context.update(record);
    finish(context)
}

/// A line of a chain.
#[derive(Debug)]
pub(crate) struct ChainLine<'l> {
    pub(crate) number: u64,
    pub(crate) previous: Digest,
    pub(crate) hash: Digest,
    pub(crate) record: &'l str,
}

impl ChainLine<'_> {
    /// Writes the line, in the one form that it has.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let Self {
            number,
            previous,
            hash,
            record,
        } = self;
        let (previous, hash) = (to_hex(previous), to_hex(hash));
        // Writing into memory does not fail.
        let _ = writeln!(
            out,
            r#"{{"number":{number},"previous":"{previous}","hash":"{hash}","record":{record}}}"#
        );
    }

    /// Reads a line without its line feed; `None` unless it has the one form.
    pub(crate) fn parse(line: &str) -> Option<ChainLine<'_>> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Line<'l> {
            number: u64,
            previous: &'l str,
            hash: &'l str,
            #[serde(borrow)]
            record: &'l RawValue,
        }
        let read: Line<'_> = serde_json::from_str(line).ok()?;
        if !(1..=MAX_NUMBER).contains(&read.number) {
            return None;
        }
        let link = ChainLine {
            number: read.number,
            previous: parse_digest(read.previous)?,
            hash: parse_digest(read.hash)?,
            record: read.record.get(),
        };
        let mut same = Vec::with_capacity(line.len() + 1);
        link.write(&mut same);
        (same.strip_suffix(b"\n") == Some(line.as_bytes())).then_some(link)
    }

    /// Whether the hash is that of the record.
    pub(crate) fn is_intact(&self) -> bool {
        hash(&self.previous, self.number, self.record.as_bytes()) == self.hash
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_in_its_one_form_only() {
        let previous = beginning("people.jsonl");
        let record = r#"{"name":"Ada"}"#;
        let link = ChainLine {
            number: 1,
            previous,
            hash: hash(&previous, 1, record.as_bytes()),
            record,
        };
        let mut line = Vec::new();
        link.write(&mut line);
        let line = String::from_utf8(line).expect("it is text");
        let line = line.trim_end();
        let read = ChainLine::parse(line).expect("it is a line");
        assert!(read.is_intact());
        assert_eq!(read.record, record);
        for other in [
            line.replace(",\"record\"", ", \"record\""),
            line.replace("\"number\":1", "\"number\":01"),
            line.replace("\"number\":1", "\"number\":1,\"number\":1"),
            line.replace("}}", "},\"more\":1}"),
            line.to_uppercase(),
            String::new(),
        ] {
            assert!(ChainLine::parse(&other).is_none(), "{other}");
        }
    }

    #[test]
    fn a_digest_is_read_as_it_is_written() {
        let digest = hash(&[7; 32], 3, b"{}");
        assert_eq!(parse_digest(&DigestHex::from(digest).0), Some(digest));
        assert_eq!(parse_digest(&"A".repeat(64)), None);
        assert_eq!(parse_digest("00"), None);
    }
}
