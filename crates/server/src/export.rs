//! `eddyline export`: a portable archive of an organization, a flow or one person's data.

use std::fmt::{self, Display};
use std::fs::File;
use std::io::{BufWriter, IntoInnerError};
use std::path::Path;

use eddyline_archive::{ExportManifest, ScopeKind};
use eddyline_export::{ExportSource, ExportSubject, Exported, export};
use eddyline_model::names::Email;
use eddyline_storage::Store;
use serde::Serialize;
use tempfile::TempPath;

use crate::archives::folder_of;
use crate::cli::{Export, ExportKind, FlowPath};
use crate::config::Settings;
use crate::output::{self, Reporter};
use crate::signals::StopSignals;
use crate::{CommandError, admin, backup, secret_key, serve};

/// Writes the archive.
pub(crate) async fn run(settings: Settings, command: Export) -> Result<(), CommandError> {
    let subject = subject(&command)?;
    let to = command.to.as_path();
    if !command.overwrite && to.exists() {
        return Err(occupied(to));
    }
    admin::check_place(&settings).await?;
    let stop = StopSignals::catch()?;
    let reporter = Reporter::new(command.json, false);
    let store = serve::open_current_store(&settings).await?;
    let work = write(
        &settings,
        &store,
        subject,
        (to, command.overwrite),
        &reporter,
    );
    // A signal ends it, and the file without a name goes with it.
    let done = backup::until_stopped(stop, Box::pin(work)).await;
    store.close().await;
    let answer = done??;
    reporter.end(&answer)?;
    answer
        .complaint()
        .map_or(Ok(()), |complaint| Err(complaint.into()))
}

/// Writes an archive for another command, which takes the place of no other file. A signal is to
/// be waited for beside it ([`backup::until_stopped`]).
pub(crate) async fn write_archive(
    settings: &Settings,
    store: &Store,
    subject: ExportSubject,
    to: &Path,
    reporter: &Reporter,
) -> Result<ExportAnswer, CommandError> {
    if to.exists() {
        let to = to.display();
        return Err(format!("{to} is there already; name another file").into());
    }
    write(settings, store, subject, (to, false), reporter).await
}

async fn write(
    settings: &Settings,
    store: &Store,
    subject: ExportSubject,
    (to, overwrites): (&Path, bool),
    reporter: &Reporter,
) -> Result<ExportAnswer, CommandError> {
    let source = ExportSource {
        store: store.clone(),
        files: backup::place_for_files(settings)?,
        key: secret_key::for_exports(settings, store).await?,
    };
    let public_key = source.key.public_key().to_string();
    let (out, unfinished) = begin(to)?;
    let progress = reporter.clone();
    let written = export(source, subject, out, move |now| progress.report(&now)).await?;
    let manifest = finish(written, unfinished, to, overwrites)?;
    Ok(ExportAnswer::new(to, manifest, public_key))
}

fn subject(command: &Export) -> Result<ExportSubject, CommandError> {
    let name = &command.name;
    if command.private && command.kind != ExportKind::Organization {
        return Err("--private is for an organization: an export of a flow has no private conversations, and that of a user always has theirs".into());
    }
    Ok(match command.kind {
        ExportKind::Organization => ExportSubject::Organization {
            name: name.clone(),
            with_private_conversations: command.private,
        },
        ExportKind::Flow => {
            let path: FlowPath = name.parse().map_err(|error| format!("NAME: {error}"))?;
            ExportSubject::Flow {
                organization: path.organization,
                flow: path.flow,
            }
        }
        ExportKind::User => {
            let email: Email = name.parse().map_err(|error| format!("NAME {error}"))?;
            ExportSubject::Person { email }
        }
    })
}

fn occupied(to: &Path) -> CommandError {
    let to = to.display();
    format!("{to} is there already; name another file, or say --overwrite").into()
}

/// A file that has no name yet, and what removes it unless it gets one.
fn begin(to: &Path) -> Result<(BufWriter<File>, TempPath), CommandError> {
    if to.file_name().is_none() || to.is_dir() {
        return Err("--to names no file".into());
    }
    let folder = folder_of(to);
    let made = tempfile::Builder::new()
        .prefix(".eddyline-export-")
        .tempfile_in(folder);
    let (file, path) = made
        .map_err(|error| format!("cannot write into {}: {}", folder.display(), error.kind()))?
        .into_parts();
    Ok((BufWriter::with_capacity(256 * 1024, file), path))
}

/// Gives the archive its name, now that it is whole.
fn finish(
    written: Exported<BufWriter<File>>,
    unfinished: TempPath,
    to: &Path,
    overwrites: bool,
) -> Result<ExportManifest, CommandError> {
    let file = written
        .out
        .into_inner()
        .map_err(IntoInnerError::into_error)?;
    file.set_len(written.size)?;
    file.sync_all()?;
    let named = match overwrites {
        true => unfinished.persist(to),
        false => unfinished.persist_noclobber(to),
    };
    named.map_err(|error| match error.error.kind() {
        std::io::ErrorKind::AlreadyExists => occupied(to),
        _ => format!("cannot write {}: {}", to.display(), error.error).into(),
    })?;
    // The name, too, outlives a power cut.
    File::open(folder_of(to))?.sync_all()?;
    Ok(written.manifest)
}

/// An archive was written.
#[derive(Serialize)]
pub(crate) struct ExportAnswer {
    archive: String,
    kind: ScopeKind,
    name: String,
    private_conversations: bool,
    people: u64,
    flows: u64,
    conversations: u64,
    messages: u64,
    files: u64,
    file_bytes: u64,
    public_key: String,
    missing_files: Vec<String>,
}

impl ExportAnswer {
    fn new(to: &Path, manifest: ExportManifest, public_key: String) -> Self {
        let chains = |start: &str, end: &str| {
            let chosen = manifest.chains.iter();
            let chosen =
                chosen.filter(|chain| chain.path.starts_with(start) && chain.path.ends_with(end));
            chosen.map(|chain| chain.records).collect::<Vec<_>>()
        };
        let files = manifest.files.missing.iter();
        Self {
            archive: to.display().to_string(),
            people: chains("people", ".jsonl").iter().sum(),
            flows: chains("flows/", "/messages.jsonl").len() as u64,
            conversations: chains("conversations/", "/messages.jsonl").len() as u64,
            messages: chains("", "/messages.jsonl").iter().sum(),
            files: manifest.files.count,
            file_bytes: manifest.files.bytes,
            missing_files: files.map(ToString::to_string).collect(),
            kind: manifest.scope.kind,
            name: manifest.scope.name,
            private_conversations: manifest.scope.private_conversations,
            public_key,
        }
    }
}

impl ExportAnswer {
    /// What is missing in the archive, if something is.
    pub(crate) fn complaint(&self) -> Option<String> {
        match self.missing_files.len() {
            0 => None,
            1 => Some("1 file could not be read; the archive is complete but for it".to_owned()),
            count => Some(format!(
                "{count} files could not be read; the archive is complete but for them"
            )),
        }
    }
}

impl Display for ExportAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Wrote {}", self.archive)?;
        let kind = match self.kind {
            ScopeKind::Organization => "organization",
            ScopeKind::Flow => "flow",
            ScopeKind::User => "user",
        };
        writeln!(f, "  Of:            {kind} {}", self.name)?;
        writeln!(f, "  People:        {}", self.people)?;
        if self.kind != ScopeKind::Flow {
            writeln!(f, "  Flows:         {}", self.flows)?;
            let private = match self.private_conversations {
                true => self.conversations.to_string(),
                false => "left out; --private exports them".to_owned(),
            };
            writeln!(f, "  Conversations: {private}")?;
        }
        writeln!(f, "  Messages:      {}", self.messages)?;
        writeln!(
            f,
            "  Files:         {} ({})",
            self.files,
            output::size(self.file_bytes)
        )?;
        write!(f, "  Signed by:     {}", self.public_key)?;
        for sha256 in &self.missing_files {
            write!(f, "\n  Missing:       file {sha256}")?;
        }
        Ok(())
    }
}
