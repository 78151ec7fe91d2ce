//! Reading a chain of records, and telling what happened to it.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io::{self, BufRead as _, BufReader, Read};
use std::sync::Arc;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{FileUse, Finding, Findings, RecordPlace};
use crate::chain::{CHECKPOINT_INTERVAL, ChainLine, Digest, DigestHex, beginning, parse_digest};
use crate::manifest::ChainSummary;

/// How many bytes a line may have.
const MAX_LINE: u64 = 64 << 20;
/// The most gaps that are kept in memory; a chain with more gets no finding for each.
const MAX_GAPS: usize = 10_000;
/// The most names of files that are kept in memory: more than an archive may have entries.
const MAX_NAMED_FILES: usize = 4_000_001;
/// How many records there are between two reports.
const RECORDS_FOR_A_REPORT: u64 = 10_000;

/// Stands for the hash of a line that cannot be read.
const UNKNOWN: Digest = [0; 32];

/// A record as its neighbours know it.
#[derive(Clone, Copy)]
struct Seen {
    number: u64,
    id: Option<i64>,
    hash: Digest,
}

/// What was read of a chain.
pub(super) struct ReadChain {
    path: Arc<str>,
    /// How many lines there were.
    pub(super) records: u64,
    /// The record with the highest number.
    highest: Seen,
    /// The records that a manifest has as checkpoints, by number.
    checkpoints: BTreeMap<u64, Seen>,
    /// The first records behind checkpoints, by number, with their ids.
    firsts: BTreeMap<u64, Option<i64>>,
    /// Numbers that were passed over, by the first: the last, and the records around them.
    gaps: BTreeMap<u64, Gap>,
    /// Whether it has a finding already.
    has_finding: bool,
}

#[derive(Clone, Copy)]
struct Gap {
    last: u64,
    after: Option<Seen>,
    before: Option<Seen>,
}

/// What of a record is looked at.
#[derive(Deserialize)]
struct Looked {
    #[serde(default)]
    id: Option<i64>,
    /// Those that have a digest: what has none could be as short as that it takes many times the
    /// memory of its text.
    #[serde(default, deserialize_with = "digests")]
    files: Vec<Digest>,
    #[serde(default)]
    picture: Option<LookedFile>,
}

#[derive(Deserialize)]
struct LookedFile {
    sha256: String,
}

fn digests<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<Digest>, D::Error> {
    struct Digests;

    impl<'de> Visitor<'de> for Digests {
        type Value = Vec<Digest>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of files")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut files: A) -> Result<Vec<Digest>, A::Error> {
            let mut digests = Vec::new();
            while let Some(file) = files.next_element::<LookedFile>()? {
                digests.extend(parse_digest(&file.sha256));
            }
            Ok(digests)
        }
    }

    input.deserialize_seq(Digests)
}

/// A record whose number another one has.
struct Doubled {
    first: Seen,
    second: Seen,
}

/// Reads the lines of an entry.
pub(super) fn read_chain(
    path: &str,
    bytes: &mut dyn Read,
    findings: &mut Findings,
    files: &mut HashMap<Digest, FileUse>,
    progress: &mut dyn FnMut(u64),
) -> io::Result<ReadChain> {
    let path: Arc<str> = path.into();
    let mut lines = BufReader::with_capacity(256 * 1024, bytes);
    let beginning = Seen {
        number: 0,
        id: None,
        hash: beginning(&path),
    };
    let mut reading = ChainReading {
        chain: ReadChain {
            path: path.clone(),
            records: 0,
            highest: beginning,
            checkpoints: BTreeMap::new(),
            firsts: BTreeMap::new(),
            gaps: BTreeMap::new(),
            has_finding: false,
        },
        last: beginning,
        is_last_sound: true,
        doubled: None,
        findings,
    };
    let mut line = Vec::new();
    loop {
        line.clear();
        let count = (&mut lines).take(MAX_LINE).read_until(b'\n', &mut line)?;
        if count == 0 {
            break;
        }
        reading.chain.records += 1;
        let read = line.strip_suffix(b"\n");
        let text = read.and_then(|line| std::str::from_utf8(line).ok());
        let link = text.and_then(ChainLine::parse);
        match link {
            Some(link) => reading.link(&link, files),
            None => reading.unreadable(),
        }
        if read.is_none() && count as u64 == MAX_LINE {
            // The rest of a line that is longer than any.
            lines.skip_until(b'\n')?;
        }
        if reading.chain.records.is_multiple_of(RECORDS_FOR_A_REPORT) {
            progress(reading.chain.records);
        }
    }
    reading.end_doubled(None);
    progress(reading.chain.records);
    Ok(reading.chain)
}

struct ChainReading<'f> {
    chain: ReadChain,
    /// The line before.
    last: Seen,
    /// Whether the line before is as it tells of itself.
    is_last_sound: bool,
    doubled: Option<Doubled>,
    findings: &'f mut Findings,
}

impl ChainReading<'_> {
    fn report(&mut self, finding: Finding) {
        self.chain.has_finding = true;
        self.findings.push(finding);
    }

    fn place(&self, seen: Seen) -> RecordPlace {
        RecordPlace::new(&self.chain.path, seen.number, seen.id)
    }

    fn unreadable(&mut self) {
        self.end_doubled(None);
        self.report(Finding::UnreadableLine {
            path: self.chain.path.to_string(),
            line: self.chain.records,
        });
        // It may be the record that is expected here, which must not get a second finding.
        let number = self.chain.highest.number + 1;
        let unknown = Seen {
            number,
            id: None,
            hash: UNKNOWN,
        };
        self.chain.highest = unknown;
        self.last = unknown;
        self.is_last_sound = false;
    }

    fn link(&mut self, link: &ChainLine<'_>, files: &mut HashMap<Digest, FileUse>) {
        let looked = serde_json::from_str::<Looked>(link.record).ok();
        let seen = Seen {
            number: link.number,
            id: looked.as_ref().and_then(|looked| looked.id),
            hash: link.hash,
        };
        self.end_doubled(Some(link.previous));
        let is_intact = link.is_intact();
        if let Some(looked) = looked {
            self.note_files(looked, seen, files);
        }
        let expected = self.chain.highest.number + 1;
        if is_intact && seen.number == expected {
            self.compare_with_last(link.previous);
        }
        if !is_intact {
            self.report(Finding::AlteredRecord {
                place: self.place(seen),
            });
        }
        self.put(seen, expected, is_intact);
        self.last = seen;
        self.is_last_sound = is_intact;
    }

    fn note_files(&self, looked: Looked, seen: Seen, files: &mut HashMap<Digest, FileUse>) {
        let picture = looked.picture.and_then(|file| parse_digest(&file.sha256));
        for sha256 in looked.files.into_iter().chain(picture) {
            if files.len() >= MAX_NAMED_FILES {
                // The archive cannot have an entry for each of them, so that it has findings already.
                return;
            }
            files.entry(sha256).or_insert_with(|| FileUse {
                path: self.chain.path.clone(),
                number: seen.number,
                id: seen.id,
            });
        }
    }

    /// The line before must be the one that this one continues. If each has the hash of its own
    /// record, another record took the place of the one before.
    fn compare_with_last(&mut self, previous: Digest) {
        let follows = self.last.number == self.chain.highest.number;
        if self.is_last_sound && follows && self.last.hash != previous && self.last.number > 0 {
            self.report(Finding::AlteredRecord {
                place: self.place(self.last),
            });
        }
    }

    /// Finds the place of a record among those before it.
    fn put(&mut self, seen: Seen, expected: u64, is_intact: bool) {
        let number = seen.number;
        if number >= expected {
            if number > expected && is_intact {
                self.open_gap(expected, seen);
            } else if number > expected {
                // Its number was altered with it.
                self.chain.highest.number = expected;
                return;
            }
            self.chain.highest = seen;
            self.note_checkpoint(seen);
        } else if !is_intact {
            // It has a finding already.
        } else if self.close_gap(number) {
            self.note_checkpoint(seen);
            self.report(Finding::MovedRecord {
                place: self.place(seen),
            });
        } else if self.last.number == number {
            self.doubled = Some(Doubled {
                first: self.last,
                second: seen,
            });
        } else {
            self.report(Finding::InsertedRecord {
                place: self.place(seen),
            });
        }
    }

    fn note_checkpoint(&mut self, seen: Seen) {
        if self.chain.gaps.len() >= MAX_GAPS {
            return;
        }
        if seen.number.is_multiple_of(CHECKPOINT_INTERVAL) {
            self.chain.checkpoints.insert(seen.number, seen);
        } else if seen.number % CHECKPOINT_INTERVAL == 1 {
            self.chain.firsts.insert(seen.number, seen.id);
        }
    }

    fn open_gap(&mut self, first: u64, before: Seen) {
        if self.chain.gaps.len() < MAX_GAPS {
            let highest = self.chain.highest;
            let gap = Gap {
                last: before.number - 1,
                after: (highest.number > 0).then_some(highest),
                before: Some(before),
            };
            self.chain.gaps.insert(first, gap);
        }
    }

    /// Takes a number out of the gaps, if it is in one.
    fn close_gap(&mut self, number: u64) -> bool {
        let found = self.chain.gaps.range(..=number).next_back();
        let Some((&first, &gap)) = found.filter(|(_, gap)| gap.last >= number) else {
            return false;
        };
        self.chain.gaps.remove(&first);
        if first < number {
            let last = number - 1;
            self.chain.gaps.insert(first, Gap { last, ..gap });
        }
        if number < gap.last {
            self.chain.gaps.insert(number + 1, gap);
        }
        true
    }

    /// Tells which of two records with one number was inserted: the one that the next does not
    /// continue.
    fn end_doubled(&mut self, previous: Option<Digest>) {
        let Some(Doubled { first, second }) = self.doubled.take() else {
            return;
        };
        let inserted = match previous {
            Some(previous) if previous == second.hash => first,
            _ => second,
        };
        if inserted.hash == first.hash && first.hash != second.hash {
            // The one that came last is the one that was written.
            self.chain.highest = second;
            self.note_checkpoint(second);
        } else {
            self.last = first;
        }
        // A line that cannot be read has a finding already.
        if inserted.hash != UNKNOWN {
            self.report(Finding::InsertedRecord {
                place: self.place(inserted),
            });
        }
    }
}

impl ReadChain {
    fn place(&self, seen: Seen) -> RecordPlace {
        RecordPlace::new(&self.path, seen.number, seen.id)
    }

    /// Compares it with what the manifest says of it.
    pub(super) fn compare(&self, expected: &ChainSummary, findings: &mut Findings) {
        let mut has_finding = self.has_finding;
        for (&first, gap) in &self.gaps {
            has_finding = true;
            findings.push(Finding::RemovedRecords {
                path: self.path.to_string(),
                first,
                last: gap.last,
                after: gap.after.map(|seen| self.place(seen)),
                before: gap.before.map(|seen| self.place(seen)),
            });
        }
        let highest = self.highest.number;
        if highest < expected.records {
            has_finding = true;
            findings.push(Finding::RemovedRecords {
                path: self.path.to_string(),
                first: highest + 1,
                last: expected.records,
                after: (highest > 0).then(|| self.place(self.highest)),
                before: None,
            });
        }
        if let Some(rehashed) = self.first_rehashed(expected) {
            findings.push(rehashed);
        } else if highest > expected.records {
            for number in expected.records + 1..=highest.min(expected.records + 100) {
                let id = (number == highest).then_some(self.highest.id).flatten();
                findings.push(Finding::InsertedRecord {
                    place: RecordPlace::new(&self.path, number, id),
                });
            }
        } else if !has_finding && DigestHex::from(self.highest.hash) != expected.ends {
            let before = expected.records.saturating_sub(1);
            let first = before - before % CHECKPOINT_INTERVAL + 1;
            findings.push(self.rehashed(first, expected.records));
        }
    }

    /// The records among which the first one is that the manifest does not know. A line whose record
    /// was altered, or that is gone, leaves the hashes of the others as they were; so a checkpoint
    /// that differs tells that hashes were made anew.
    fn first_rehashed(&self, expected: &ChainSummary) -> Option<Finding> {
        let at = expected.checkpoints.iter().zip(1..).find(|(hash, index)| {
            let found = self.checkpoints.get(&(index * CHECKPOINT_INTERVAL));
            found.is_some_and(|seen| DigestHex::from(seen.hash) != **hash)
        });
        let (_, index) = at?;
        let last = index * CHECKPOINT_INTERVAL;
        Some(self.rehashed(last - CHECKPOINT_INTERVAL + 1, last))
    }

    fn rehashed(&self, first: u64, last: u64) -> Finding {
        let from = self.firsts.get(&first);
        let end = self.checkpoints.get(&last).copied();
        let end = end.or((self.highest.number == last).then_some(self.highest));
        Finding::RehashedRecords {
            path: self.path.to_string(),
            first,
            last,
            from: from.map(|id| RecordPlace::new(&self.path, first, *id)),
            to: end.map(|seen| self.place(seen)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_with_a_digest_are_kept_of_a_record() {
        let digest = "ab".repeat(32);
        let short = r#"{"sha256":""}"#;
        let record = format!(r#"{{"id":7,"files":[{short},{{"sha256":"{digest}"}},{short}]}}"#);
        let looked: Looked = serde_json::from_str(&record).unwrap();
        assert_eq!((looked.id, looked.files), (Some(7), vec![[0xab; 32]]));
        let without: Looked = serde_json::from_str("{}").unwrap();
        assert!(without.files.is_empty());
        assert!(serde_json::from_str::<Looked>(r#"{"files":[{}]}"#).is_err());
    }
}
