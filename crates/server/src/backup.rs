//! Backups: the whole server in one archive, and back.

use std::fmt::{self, Display};
use std::fs::OpenOptions;
use std::future::Future;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use eddyline_app::AuditAction;
use eddyline_backup::{
    ArchivePlace, BackupKind, Encryption, Identities, KeyPair, Manifest, NamedBackup, PlaceWriter,
    Progress, Summary, Taken, restore, take, verify,
};
use eddyline_files::Files;
use eddyline_storage::{Error as StoreError, Store};
use serde::Serialize;
use serde_json::json;

use crate::archives::{self, BackupTaker, BackupTarget, folder_of};
use crate::cli::{Backup, Restore, STANDARD};
use crate::config::{BackupRecipient, Settings};
use crate::output::{self, Reporter};
use crate::signals::StopSignals;
use crate::{CommandError, admin, files, secret_key, serve};

/// Writes an archive of what the settings name.
pub(crate) async fn run(settings: Settings, command: Backup) -> Result<(), CommandError> {
    if let Some(path) = &command.new_key {
        return make_key(path, command.json);
    }
    let target = command.to.as_deref();
    let target = target
        .map(|to| BackupTarget::of(&settings, to))
        .transpose()?;
    let is_piped = matches!(target, Some(BackupTarget::Standard));
    if command.incremental && !matches!(target, Some(BackupTarget::Place(_))) {
        return Err("--incremental needs a folder that is there, or a bucket".into());
    }
    let encryption = encryption(&settings, &command)?;
    admin::check_place(&settings).await?;
    let stop = StopSignals::catch()?;
    let files = place_for_files(&settings)?;
    let reporter = Reporter::new(command.json, is_piped);
    let store = serve::open_current_store(&settings).await?;
    let kind = if command.incremental {
        "incremental"
    } else {
        "full"
    };
    let to = command.to.clone();
    let to = to.or_else(|| settings.backup_to.as_ref().map(ToString::to_string));
    // Before anything is read: what was read is out, also if the command does not reach its end.
    let detail = json!({"kind": kind, "to": to});
    admin::audit::note(&store, AuditAction::BackupCreate, &detail).await?;
    let work = BackupWork {
        taker: BackupTaker::new(&settings, &store, &files),
        store,
        encryption,
        reporter: reporter.clone(),
        kind: match command.incremental {
            true => BackupKind::Incremental,
            false => BackupKind::Full,
        },
        settings,
    };
    let done = until_stopped(stop, Box::pin(work.run(target))).await;
    if done.is_err() {
        work.taker.release().await?;
    }
    work.store.close().await;
    let (archive, taken) = done??;
    let answer = Copied {
        is_configured: secret_key::is_configured(&work.settings),
        ..Copied::new(
            "Wrote",
            archive,
            taken.manifest,
            taken.summary,
            taken.has_secret_key,
        )
    };
    let outcome = answer.or_incomplete();
    let printed = reporter.end(&answer);
    outcome?;
    Ok(printed?)
}

/// How the archive is encrypted, as the command says or else the settings.
fn encryption(settings: &Settings, command: &Backup) -> Result<Encryption, CommandError> {
    if command.unencrypted {
        return Ok(Encryption::Unencrypted);
    }
    if !command.recipient.is_empty() {
        return Ok(Encryption::recipients(
            command.recipient.iter().map(String::as_str),
        )?);
    }
    let configured = settings
        .backup_recipient
        .iter()
        .map(BackupRecipient::as_str);
    match configured.len() {
        0 => Err("name the public key that the archive is encrypted for (--recipient age1...), or say --unencrypted".into()),
        _ => Ok(Encryption::recipients(configured)?),
    }
}

/// A backup that a command takes.
struct BackupWork {
    settings: Settings,
    taker: BackupTaker,
    store: Store,
    encryption: Encryption,
    kind: BackupKind,
    reporter: Reporter,
}

impl BackupWork {
    /// Takes the backup, and gives the name of the archive with what it has.
    async fn run(&self, to: Option<BackupTarget>) -> Result<(String, Taken), CommandError> {
        match to {
            None => self.take_scheduled().await,
            Some(BackupTarget::Place(place)) => self.take_into(place).await,
            Some(BackupTarget::Standard) => {
                let out = BufWriter::new(io::stdout());
                let taken = take(
                    self.taker.source().await?,
                    out,
                    self.encryption.clone(),
                    self.progress(),
                );
                Ok((STANDARD.to_owned(), taken.await?.0))
            }
            Some(BackupTarget::File(path)) => {
                let out = BufWriter::new(file(&path)?);
                let source = self.taker.source().await?;
                let taken = take(source, out, self.encryption.clone(), self.progress());
                let (taken, out) = taken.await?;
                let out = out.into_inner().map_err(io::IntoInnerError::into_error)?;
                out.finish()
                    .map_err(|error| cannot("write", &path, &error))?;
                Ok((path.display().to_string(), taken))
            }
        }
    }

    /// As the server takes one when it is due.
    async fn take_scheduled(&self) -> Result<(String, Taken), CommandError> {
        let place = self.settings.backup_to.as_ref();
        let place = place.ok_or("--to is missing, and backup_to is not set")?;
        let backup = self.taker.take_scheduled(place, self.progress()).await?;
        Ok(named(&place.to_string(), backup))
    }

    async fn take_into(&self, place: ArchivePlace) -> Result<(String, Taken), CommandError> {
        let shown = place.to_string();
        let (encryption, progress) = (self.encryption.clone(), self.progress());
        let work = self.taker.take_into(place, self.kind, encryption, progress);
        Ok(named(&shown, work.await?))
    }

    fn progress(&self) -> impl FnMut(Progress) + Send + use<> {
        let reporter = self.reporter.clone();
        move |now| reporter.report(&now)
    }
}

fn named(place: &str, backup: NamedBackup) -> (String, Taken) {
    let archive = format!("{}/{}", place.trim_end_matches('/'), backup.name);
    (archive, backup.taken)
}

/// A file that is there once it is whole.
fn file(path: &Path) -> Result<PlaceWriter, CommandError> {
    let name = path.file_name().ok_or("--to names no file")?;
    let folder = ArchivePlace::folder(folder_of(path));
    Ok(folder.begin(&name.to_string_lossy())?)
}

/// Does work that a signal ends, with what it has begun to write.
pub(crate) async fn until_stopped<T>(
    stop: StopSignals,
    work: impl Future<Output = T>,
) -> Result<T, CommandError> {
    tokio::select! {
        done = work => Ok(done),
        signal = stop.requested() => Err(format!("{signal} ended it").into()),
    }
}

fn make_key(path: &Path, json: bool) -> Result<(), CommandError> {
    let key = KeyPair::generate();
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(|error| cannot("write", path, &error))?;
    let public_key = key.public_key().to_owned();
    write!(file, "# public key: {public_key}\n{}\n", key.private_key())?;
    file.sync_all()?;
    Ok(output::answer(&NewKey { public_key }, json)?)
}

/// A key pair was made.
#[derive(Serialize)]
struct NewKey {
    public_key: String,
}

impl Display for NewKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.public_key)
    }
}

/// Fills what the settings name from an archive, or only reads that.
pub(crate) async fn run_restore(settings: Settings, command: Restore) -> Result<(), CommandError> {
    let identities = match &command.identity {
        Some(path) => Identities::from_file(path)?,
        None => Identities::default(),
    };
    let (source, shown) = archives::source(&settings, &command.from).await?;
    let reporter = Reporter::new(command.json, false);
    let progress = reporter.clone();
    let progress = move |now| progress.report(&now);
    let stop = StopSignals::catch()?;
    let (word, restored) = if command.verify {
        let work = verify(source, identities, progress);
        ("Verified", until_stopped(stop, work).await??)
    } else {
        serve::make_directory(&settings.data_dir)?;
        let url = settings.database_url();
        let key_place = secret_key::place_of_restored(&settings)?;
        let files = place_for_files(&settings)?;
        let work = restore(
            source,
            identities,
            url.expose(),
            settings.data_dir.clone(),
            files,
            key_place,
            progress,
        );
        let restored = until_stopped(stop, work).await?;
        let restored = restored.map_err(|error| match error {
            eddyline_backup::Error::Store(StoreError::NotEmpty) => format!(
                "there is a database at {} already; a backup is restored into an empty place only",
                url.place()
            )
            .into(),
            other => CommandError::from(other),
        })?;
        note_restore(&settings, &shown, &restored.manifest.created_at).await?;
        ("Restored", restored)
    };
    let answer = Copied::new(
        word,
        shown,
        restored.manifest,
        restored.summary,
        restored.has_secret_key,
    );
    let outcome = answer.or_incomplete();
    let printed = reporter.end(&answer);
    outcome?;
    Ok(printed?)
}

/// Records in the restored database where it is from.
async fn note_restore(settings: &Settings, from: &str, taken: &str) -> Result<(), CommandError> {
    let store = serve::open_current_store(settings).await?;
    let detail = json!({"from": from, "taken": taken});
    let noted = admin::audit::note(&store, AuditAction::DataRestore, &detail).await;
    store.close().await;
    noted
}

pub(crate) fn place_for_files(settings: &Settings) -> Result<Files, CommandError> {
    let place = files::open(settings)?.place;
    place.ok_or_else(|| "there is no place for files".into())
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> String {
    format!("cannot {what} {}: {error}", path.display())
}

/// A backup was written, read or restored.
#[derive(Serialize)]
struct Copied {
    #[serde(skip)]
    word: &'static str,
    archive: String,
    version: String,
    created_at: String,
    schema: String,
    log_position: i64,
    rows: u64,
    messages: u64,
    files: u64,
    file_bytes: u64,
    has_secret_key: bool,
    /// Whether that is since the operator keeps it.
    #[serde(skip)]
    is_configured: bool,
    missing_files: Vec<String>,
    damaged_files: Vec<String>,
}

impl Copied {
    fn new(
        word: &'static str,
        archive: String,
        manifest: Manifest,
        summary: Summary,
        has_secret_key: bool,
    ) -> Self {
        Self {
            word,
            archive,
            version: manifest.version,
            created_at: manifest.created_at,
            schema: manifest.schema,
            log_position: manifest.log_position,
            rows: summary.rows.values().sum(),
            messages: summary.rows.get("messages").copied().unwrap_or_default(),
            files: summary.files,
            file_bytes: summary.bytes,
            has_secret_key,
            is_configured: false,
            missing_files: summary.missing,
            damaged_files: summary.damaged,
        }
    }

    fn or_incomplete(&self) -> Result<(), CommandError> {
        match self.missing_files.len() + self.damaged_files.len() {
            0 => Ok(()),
            1 => Err("1 file could not be read as it was sent; the archive is complete but for it".into()),
            count => Err(format!(
                "{count} files could not be read as they were sent; the archive is complete but for them"
            )
            .into()),
        }
    }
}

impl Display for Copied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {}", self.word, self.archive)?;
        writeln!(
            f,
            "  Taken:    {} by version {}",
            self.created_at, self.version
        )?;
        writeln!(f, "  Messages: {}", self.messages)?;
        write!(
            f,
            "  Files:    {} ({})",
            self.files,
            output::size(self.file_bytes)
        )?;
        if self.is_configured {
            write!(
                f,
                "\n  The secret key is not in it: keep the one that you have configured"
            )?;
        }
        for (what, keys) in [
            ("Missing", &self.missing_files),
            ("Damaged", &self.damaged_files),
        ] {
            for key in keys {
                write!(f, "\n  {what}:  file {key}")?;
            }
        }
        Ok(())
    }
}
