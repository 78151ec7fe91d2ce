//! Verifying an archive, from the archive alone.
//!
//! What is kept in memory is the manifest, a hash for every hundred records, and about a hundred
//! bytes for each file. A line, a record of a room and a manifest have bounds.

mod chains;
mod finding;
mod values;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Read};
use std::path::Path;

use ring::digest::{Context, SHA256};
use serde::Deserialize;

pub use self::finding::{Finding, RecordPlace};

use self::chains::{ReadChain, read_chain};
use self::values::has_at_most;
use crate::chain::{Digest, DigestHex, finish, parse_digest};
use crate::entries::{End, each_entry};
use crate::manifest::{
    CHAIN_END, ChainSummary, EntrySummary, ExportManifest, ExportScope, FORMAT, VERSION,
};
use crate::signature::{PublicKey, SignatureRecord};
use crate::{Error, Result, paths};

/// How many bytes a manifest may have: it has 67 for every hundred records.
const MAX_MANIFEST: u64 = 64 << 20;
/// The most values that a manifest may have: an export writes 20 bytes and more for each, and each takes
/// some 30 bytes of memory besides its text.
const MAX_VALUES: u64 = 3_000_000;
/// The most bytes that a signature may have. It has some 250.
const MAX_SIGNATURE: u64 = 64 << 10;
/// How many bytes of an entry with one record are read for its name.
const MAX_RECORD: u64 = 16 << 20;
/// The most entries that are verified; a further one is a finding.
const MAX_ENTRIES: usize = 4_000_000;
/// The most findings that are listed one by one.
const MAX_FINDINGS: usize = 1000;

/// The result of verifying an archive.
#[derive(Clone, Debug)]
pub struct Verified {
    /// What was exported, if the manifest can be read.
    pub scope: Option<ExportScope>,
    /// The key whose signature the manifest has; `None` when it has none that holds.
    pub signer: Option<PublicKey>,
    /// How many records were read.
    pub records: u64,
    /// How many of them are messages and notices.
    pub messages: u64,
    /// How many files were read.
    pub files: u64,
    /// Their bytes.
    pub file_bytes: u64,
    /// The digests of files that the server could not read when it exported them.
    pub missing_at_export: Vec<DigestHex>,
    /// What is wrong, in the order in which it was found.
    pub findings: Vec<Finding>,
    /// How many more findings there are than the list has.
    pub further_findings: u64,
}

/// Reads an archive to its end, a tar file or the folder that it was unpacked into, and says what is
/// wrong with it. `known` is the key that must have signed it; `progress` gets the number of records
/// that were read.
///
/// An archive that was altered is no error: the answer says so.
///
/// # Errors
///
/// [`Error::Io`] when it cannot be read, [`Error::NotAnExport`] and [`Error::TooNew`].
pub fn verify(
    archive: &Path,
    known: Option<PublicKey>,
    progress: &mut dyn FnMut(u64),
) -> Result<Verified> {
    let mut reading = Reading::default();
    let end = each_entry(archive, &mut |path, size, bytes| {
        reading.entry(path, size, bytes, progress)
    })?;
    reading.end(end, known)
}

/// Findings, up to a number of them.
#[derive(Default)]
struct Findings {
    listed: Vec<Finding>,
    further: u64,
}

impl Findings {
    fn push(&mut self, finding: Finding) {
        if self.listed.len() < MAX_FINDINGS {
            self.listed.push(finding);
        } else {
            self.further += 1;
        }
    }
}

/// What was read so far.
#[derive(Default)]
struct Reading {
    findings: Findings,
    chains: BTreeMap<String, ReadChain>,
    /// How many records all of them have.
    records: u64,
    /// Sizes and digests of the other entries.
    entries: BTreeMap<String, (u64, Digest)>,
    files: HashSet<Digest>,
    file_bytes: u64,
    /// The files that records name, each with the first that does.
    named_files: HashMap<Digest, FileUse>,
    manifest: Option<Vec<u8>>,
    signature: Option<Vec<u8>>,
    /// The names of rooms, by folder.
    room_names: BTreeMap<String, String>,
}

/// The first record that names a file.
#[derive(Clone)]
struct FileUse {
    path: std::sync::Arc<str>,
    number: u64,
    id: Option<i64>,
}

impl Reading {
    fn entry(
        &mut self,
        path: &str,
        size: u64,
        bytes: &mut dyn Read,
        progress: &mut dyn FnMut(u64),
    ) -> io::Result<()> {
        if self.is_known(path) {
            self.findings.push(Finding::RepeatedEntry {
                path: path.to_owned(),
            });
            return Ok(());
        }
        if self.chains.len() + self.entries.len() + self.files.len() >= MAX_ENTRIES {
            self.findings.push(Finding::TooLarge {
                path: path.to_owned(),
            });
            return Ok(());
        }
        if let Some(name) = path.strip_prefix(paths::FILES) {
            return self.file(path, name, size, bytes);
        }
        match path {
            paths::MANIFEST => self.manifest = self.read_whole(path, size, bytes, MAX_MANIFEST)?,
            paths::SIGNATURE => {
                self.signature = self.read_whole(path, size, bytes, MAX_SIGNATURE)?;
            }
            _ if path.ends_with(CHAIN_END) => {
                let before = self.records;
                let mut progress = |records| progress(before + records);
                let (findings, files) = (&mut self.findings, &mut self.named_files);
                let chain = read_chain(path, bytes, findings, files, &mut progress)?;
                self.records = before.saturating_add(chain.records);
                self.chains.insert(path.to_owned(), chain);
            }
            _ => self.other(path, size, bytes)?,
        }
        Ok(())
    }

    fn is_known(&self, path: &str) -> bool {
        match path {
            paths::MANIFEST => self.manifest.is_some(),
            paths::SIGNATURE => self.signature.is_some(),
            _ => self.chains.contains_key(path) || self.entries.contains_key(path),
        }
    }

    fn read_whole(
        &mut self,
        path: &str,
        size: u64,
        bytes: &mut dyn Read,
        limit: u64,
    ) -> io::Result<Option<Vec<u8>>> {
        if size > limit {
            self.findings.push(Finding::TooLarge {
                path: path.to_owned(),
            });
            return Ok(None);
        }
        let mut whole = Vec::new();
        bytes.take(limit).read_to_end(&mut whole)?;
        Ok(Some(whole))
    }

    fn file(&mut self, path: &str, name: &str, size: u64, bytes: &mut dyn Read) -> io::Result<()> {
        let name = name.strip_suffix(paths::FILE_END).and_then(parse_digest);
        let Some(name) = name else {
            self.findings.push(Finding::ExtraEntry {
                path: path.to_owned(),
            });
            return Ok(());
        };
        if !self.files.insert(name) {
            self.findings.push(Finding::RepeatedEntry {
                path: path.to_owned(),
            });
        }
        self.file_bytes = self.file_bytes.saturating_add(size);
        if digest_of(bytes)? != name {
            let user = self.named_files.get(&name).cloned();
            self.findings.push(Finding::AlteredFile {
                sha256: name.into(),
                named_by: user.map(RecordPlace::from),
            });
        }
        Ok(())
    }

    /// A page, or an entry with one record.
    fn other(&mut self, path: &str, size: u64, bytes: &mut dyn Read) -> io::Result<()> {
        #[derive(Deserialize)]
        struct Named {
            name: String,
        }
        let mut read = Teed {
            bytes,
            context: Context::new(&SHA256),
        };
        if let Some(folder) = path.strip_suffix("/flow.json")
            && size <= MAX_RECORD
        {
            let mut whole = Vec::new();
            read.read_to_end(&mut whole)?;
            if let Ok(Named { name }) = serde_json::from_slice(&whole) {
                self.room_names.insert(folder.to_owned(), name);
            }
        }
        io::copy(&mut read, &mut io::sink())?;
        let digest = finish(read.context);
        self.entries.insert(path.to_owned(), (size, digest));
        Ok(())
    }

    /// Compares what was read with the manifest.
    fn end(mut self, end: End, known: Option<PublicKey>) -> Result<Verified> {
        let is_whole = !matches!(end, End::Truncated(_));
        match end {
            End::Whole => {}
            End::Truncated(within) => self.findings.push(Finding::Truncated { within }),
            End::Trailing => self.findings.push(Finding::TrailingBytes),
            End::Unreadable(behind) => self.findings.push(Finding::Unreadable { behind }),
        }
        let signer = self.signer(is_whole, known);
        // What an altered manifest says of its format tells nothing of the archive.
        let is_altered = signer.is_none() && self.signature.is_some();
        let manifest = self.read_manifest(is_whole, is_altered)?;
        if let Some(manifest) = &manifest {
            self.compare_chains(&manifest.chains);
            self.compare_entries(&manifest.entries);
            self.compare_files(manifest);
        }
        self.name_rooms();
        let count = |end: &str| -> u64 {
            let chains = self.chains.iter().filter(|(path, _)| path.ends_with(end));
            chains.map(|(_, chain)| chain.records).sum()
        };
        Ok(Verified {
            signer,
            records: count(CHAIN_END),
            messages: count("/messages.jsonl"),
            files: self.files.len() as u64,
            file_bytes: self.file_bytes,
            missing_at_export: manifest
                .as_ref()
                .map(|manifest| manifest.files.missing.clone())
                .unwrap_or_default(),
            scope: manifest.map(|manifest| manifest.scope),
            findings: self.findings.listed,
            further_findings: self.findings.further,
        })
    }

    /// The key that signed the manifest.
    fn signer(&mut self, is_whole: bool, known: Option<PublicKey>) -> Option<PublicKey> {
        let manifest = self.manifest.as_ref()?;
        let Some(signature) = &self.signature else {
            if is_whole {
                self.findings.push(Finding::MissingEntry {
                    path: paths::SIGNATURE.to_owned(),
                });
            }
            return None;
        };
        let read = serde_json::from_slice::<SignatureRecord>(signature).ok();
        let signer = read.and_then(|signature| signature.signer(manifest));
        match (signer, known) {
            (None, _) => self.findings.push(Finding::WrongSignature),
            (Some(signer), Some(known)) if signer != known => {
                self.findings.push(Finding::OtherKey {
                    signer: signer.to_string(),
                    known: known.to_string(),
                });
            }
            _ => {}
        }
        signer
    }

    fn read_manifest(
        &mut self,
        is_whole: bool,
        is_altered: bool,
    ) -> Result<Option<ExportManifest>> {
        #[derive(Deserialize)]
        struct Versioned {
            format: String,
            version: u64,
        }
        let Some(bytes) = &self.manifest else {
            if self.chains.is_empty() && self.signature.is_none() {
                return Err(Error::NotAnExport("it has no manifest.json"));
            }
            if is_whole {
                self.findings.push(Finding::MissingEntry {
                    path: paths::MANIFEST.to_owned(),
                });
            }
            return Ok(None);
        };
        match serde_json::from_slice::<Versioned>(bytes) {
            _ if is_altered => {}
            Ok(found) if found.format != FORMAT => {
                return Err(Error::NotAnExport("its manifest is that of another format"));
            }
            Ok(found) if found.version > VERSION => return Err(Error::TooNew(found.version)),
            _ => {}
        }
        // Counted before they are read into memory.
        let manifest = match has_at_most(MAX_VALUES, bytes) {
            Ok(false) => {
                self.findings.push(Finding::TooLarge {
                    path: paths::MANIFEST.to_owned(),
                });
                return Ok(None);
            }
            Ok(true) => serde_json::from_slice::<ExportManifest>(bytes).ok(),
            Err(_) => None,
        };
        if manifest.is_none() {
            self.findings.push(Finding::UnreadableManifest);
        }
        Ok(manifest)
    }

    fn compare_chains(&mut self, expected: &[ChainSummary]) {
        let mut left = std::mem::take(&mut self.chains);
        for summary in expected {
            match left.remove(&summary.path) {
                Some(chain) => {
                    chain.compare(summary, &mut self.findings);
                    self.chains.insert(summary.path.clone(), chain);
                }
                None => self.findings.push(Finding::MissingEntry {
                    path: summary.path.clone(),
                }),
            }
        }
        for (path, chain) in left {
            self.findings
                .push(Finding::ExtraEntry { path: path.clone() });
            self.chains.insert(path, chain);
        }
    }

    fn compare_entries(&mut self, expected: &[EntrySummary]) {
        let mut left = std::mem::take(&mut self.entries);
        for EntrySummary { path, size, sha256 } in expected {
            let path = path.clone();
            match left.remove(&path) {
                None => self.findings.push(Finding::MissingEntry { path }),
                Some(found) if (found.0, DigestHex::from(found.1)) != (*size, sha256.clone()) => {
                    self.findings.push(Finding::AlteredEntry { path });
                }
                Some(_) => {}
            }
        }
        for (path, _) in left {
            self.findings.push(Finding::ExtraEntry { path });
        }
    }

    fn compare_files(&mut self, manifest: &ExportManifest) {
        let missing: HashSet<Digest> = manifest
            .files
            .missing
            .iter()
            .filter_map(|sha256| parse_digest(&sha256.0))
            .collect();
        let mut absent: Vec<_> = self
            .named_files
            .iter()
            .filter(|(sha256, _)| !self.files.contains(*sha256) && !missing.contains(*sha256))
            .collect();
        absent.sort_by_key(|(sha256, _)| **sha256);
        for (sha256, user) in absent {
            self.findings.push(Finding::MissingFile {
                sha256: (*sha256).into(),
                named_by: RecordPlace::from(user.clone()),
            });
        }
        let mut extra: Vec<_> = self
            .files
            .iter()
            .filter(|sha256| !self.named_files.contains_key(*sha256))
            .collect();
        extra.sort();
        for sha256 in extra {
            self.findings.push(Finding::ExtraEntry {
                path: paths::file(&DigestHex::from(*sha256).0),
            });
        }
    }

    /// Gives the places of findings the names of their rooms.
    fn name_rooms(&mut self) {
        for place in self.findings.listed.iter_mut().flat_map(Finding::places) {
            let folder = place.path.rsplit_once('/').map(|(folder, _)| folder);
            place.room = folder.and_then(|folder| self.room_names.get(folder).cloned());
        }
    }
}

impl From<FileUse> for RecordPlace {
    fn from(user: FileUse) -> Self {
        Self::new(&user.path, user.number, user.id)
    }
}

struct Teed<'b> {
    bytes: &'b mut dyn Read,
    context: Context,
}

impl Read for Teed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        self.context.update(&buffer[..count]);
        Ok(count)
    }
}

fn digest_of(bytes: &mut dyn Read) -> io::Result<Digest> {
    let mut read = Teed {
        bytes,
        context: Context::new(&SHA256),
    };
    let mut buffer = vec![0; 64 * 1024];
    while read.read(&mut buffer)? > 0 {}
    Ok(finish(read.context))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_of_empty_values_is_not_read() {
        let chains = |checkpoints: u64| {
            let empty = vec!["\"\""; usize::try_from(checkpoints).unwrap()].join(",");
            format!(
                r#"{{"format":"{FORMAT}","version":{VERSION},"checkpoint_interval":100,
                "scope":{{"kind":"organization","name":"","private_conversations":true}},
                "chains":[{{"path":"","records":0,"begins":"","ends":"","checkpoints":[{empty}]}}],
                "entries":[],"files":{{"count":0,"bytes":0,"missing":[]}}}}"#
            )
        };
        let read = |manifest: String| {
            let mut reading = Reading {
                manifest: Some(manifest.into_bytes()),
                ..Reading::default()
            };
            let manifest = reading.read_manifest(true, false).unwrap();
            (manifest.is_some(), reading.findings.listed)
        };
        assert_eq!(read(chains(1000)), (true, Vec::new()));
        let path = paths::MANIFEST.to_owned();
        let too_large = vec![Finding::TooLarge { path }];
        assert_eq!(read(chains(MAX_VALUES)), (false, too_large));
    }

    #[test]
    fn a_signature_has_a_bound() {
        for (size, expected) in [(MAX_SIGNATURE, 0), (MAX_SIGNATURE + 1, 1)] {
            let mut reading = Reading::default();
            let mut bytes = io::repeat(b'a').take(size);
            reading
                .entry(paths::SIGNATURE, size, &mut bytes, &mut |_| ())
                .unwrap();
            assert_eq!(reading.findings.listed.len(), expected);
        }
    }
}
