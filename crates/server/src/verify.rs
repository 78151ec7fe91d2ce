//! `eddyline verify`: whether an export is as it was written. It needs no server and no configuration.

use std::fmt::{self, Display};
use std::path::Path;

use eddyline_archive::{ExportScope, Finding, PublicKey, ScopeKind, Verified, verify};
use serde::Serialize;

use crate::CommandError;
use crate::cli::Verify;
use crate::output::{self, ProgressLine, Reporter};

/// How many bytes of a file are read for a key.
const MAX_KEY_FILE: u64 = 4096;

/// Verifies the archive, and fails when something is wrong with it.
pub(crate) fn run(command: &Verify) -> Result<(), CommandError> {
    let known = command.key.as_deref().map(known_key).transpose()?;
    let reporter = Reporter::new(command.json, false);
    let archive = command.archive.as_path();
    let verified = verify(archive, known, &mut |records| {
        reporter.report(ProgressLine::Records { records });
    })
    .map_err(|error| format!("{}: {error}", archive.display()))?;
    let answer = VerifyAnswer::new(archive, verified, known);
    reporter.end(&answer)?;
    match answer.findings.len() as u64 + answer.further_findings {
        0 => Ok(()),
        1 => Err("the archive is not as it was written: 1 finding".into()),
        count => Err(format!("the archive is not as it was written: {count} findings").into()),
    }
}

/// A key, or the key in a file.
fn known_key(text: &str) -> Result<PublicKey, CommandError> {
    use std::io::Read as _;

    if let Ok(key) = text.parse() {
        return Ok(key);
    }
    let cannot = |reason: &dyn Display| format!("--key {text}: {reason}");
    let file = match std::fs::File::open(text) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let neither =
                "it is no key, which has 64 hexadecimal digits, and no file of that name is there";
            return Err(cannot(&neither).into());
        }
        Err(error) => return Err(cannot(&error).into()),
    };
    let mut found = String::new();
    file.take(MAX_KEY_FILE)
        .read_to_string(&mut found)
        .map_err(|error| cannot(&error))?;
    found.parse().map_err(|error| cannot(&error).into())
}

/// What was found.
#[derive(Serialize)]
struct VerifyAnswer {
    archive: String,
    scope: Option<ExportScope>,
    records: u64,
    messages: u64,
    files: u64,
    file_bytes: u64,
    signed_by: Option<String>,
    /// Whether the key was compared with a known one, and is that.
    is_known_key: bool,
    missing_at_export: Vec<String>,
    findings: Vec<Finding>,
    further_findings: u64,
}

impl VerifyAnswer {
    fn new(archive: &Path, verified: Verified, known: Option<PublicKey>) -> Self {
        let missing = verified.missing_at_export.iter();
        Self {
            archive: archive.display().to_string(),
            records: verified.records,
            messages: verified.messages,
            files: verified.files,
            file_bytes: verified.file_bytes,
            is_known_key: known.is_some() && verified.signer == known,
            signed_by: verified.signer.map(|key| key.to_string()),
            missing_at_export: missing.map(ToString::to_string).collect(),
            scope: verified.scope,
            findings: verified.findings,
            further_findings: verified.further_findings,
        }
    }
}

impl Display for VerifyAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An archive with findings is reported as read, not as verified.
        let done = match self.findings.len() {
            0 => "Verified",
            _ => "Read",
        };
        writeln!(f, "{done} {}", self.archive)?;
        if let Some(scope) = &self.scope {
            let kind = match scope.kind {
                ScopeKind::Organization => "organization",
                ScopeKind::Flow => "flow",
                ScopeKind::User => "user",
            };
            writeln!(f, "  Of:        {kind} {}", scope.name.escape_debug())?;
        }
        writeln!(f, "  Messages:  {}", self.messages)?;
        let size = output::size(self.file_bytes);
        writeln!(f, "  Files:     {} ({size})", self.files)?;
        match &self.signed_by {
            None => write!(f, "  Signed by: no key whose signature holds")?,
            Some(key) if self.is_known_key => write!(f, "  Signed by: {key}, the known key")?,
            Some(key) => write!(
                f,
                "  Signed by: {key}, not compared with a known key (--key)"
            )?,
        }
        for sha256 in &self.missing_at_export {
            write!(
                f,
                "\n  Missing since the export: file {}",
                sha256.escape_debug()
            )?;
        }
        match self.findings.len() {
            0 => write!(f, "\nIt is as it was written.")?,
            _ => {
                for finding in &self.findings {
                    write!(f, "\n  {finding}")?;
                }
            }
        }
        match self.further_findings {
            0 => Ok(()),
            count => write!(f, "\n  and {count} more"),
        }
    }
}
