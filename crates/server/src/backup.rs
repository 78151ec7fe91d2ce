//! Backups: the whole server in one archive, and back.

use std::fmt::{self, Display};
use std::fs::{File, OpenOptions};
use std::future::Future;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use eddyline_backup::{Encryption, Identities, KeyPair, Manifest, Summary, restore, take, verify};
use eddyline_files::Files;
use eddyline_storage::{Error as StoreError, Store};
use serde::Serialize;
use tempfile::NamedTempFile;

use crate::cli::{Backup, Restore, STANDARD};
use crate::config::Settings;
use crate::output::{self, Reporter};
use crate::signals::StopSignals;
use crate::{CommandError, admin, files, secret_key, serve};

/// Writes an archive of what the settings name.
pub(crate) async fn run(settings: Settings, command: Backup) -> Result<(), CommandError> {
    let to = match (&command.new_key, &command.to) {
        (Some(path), _) => return make_key(path, command.json),
        (None, Some(to)) => to.clone(),
        (None, None) => return Err("--to is missing".into()),
    };
    let encryption = if command.unencrypted {
        Encryption::Unencrypted
    } else {
        Encryption::recipients(command.recipient.iter().map(String::as_str))?
    };
    admin::check_place(&settings).await?;
    check_schema(&settings).await?;
    let stop = StopSignals::catch()?;
    let place = place_for_files(&settings)?;
    let is_piped = to == Path::new(STANDARD);
    let reporter = Reporter::new(command.json, is_piped);
    // Nothing is written when it is there already.
    let target = (!is_piped).then(|| partial(&to)).transpose()?;
    let out: Box<dyn Write + Send> = match &target {
        Some(partial) => Box::new(partial.reopen()?),
        None => Box::new(io::stdout()),
    };
    let store = serve::open_store(&settings).await?;
    let key = secret_key::for_backup(&settings, &store).await;
    let (key, progress) = (key?, reporter.clone());
    let version = env!("CARGO_PKG_VERSION");
    let (has_secret_key, is_configured) = (key.is_some(), secret_key::is_configured(&settings));
    let work = take(
        &store,
        &place,
        key,
        version,
        BufWriter::new(out),
        encryption,
        move |now| progress.report(&now),
    );
    let taken = until_stopped(stop, work).await;
    store.close().await;
    let (taken, _) = taken??;
    if let Some(partial) = target {
        keep(partial, &to)?;
    }
    let answer = Copied {
        is_configured,
        ..Copied::new("Wrote", &to, taken.manifest, taken.summary, has_secret_key)
    };
    let outcome = answer.or_incomplete();
    let printed = reporter.end(&answer);
    outcome?;
    Ok(printed?)
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

/// Commands that copy or compare must not change the tables under a server of an older version.
pub(crate) async fn check_schema(settings: &Settings) -> Result<(), CommandError> {
    let url = settings.database_url();
    let is_current = tokio::task::spawn_blocking(move || Store::is_current(url.expose())).await??;
    if is_current {
        return Ok(());
    }
    Err("the tables are those of an older version of Eddyline: use its program, or start `eddyline serve` of this \
         version first, which upgrades them"
        .into())
}

/// Gives the archive its name, now that it is whole.
fn keep(partial: NamedTempFile, to: &Path) -> Result<(), CommandError> {
    partial.as_file().sync_all()?;
    if let Err(failed) = partial.persist_noclobber(to) {
        let (_, path) = failed.file.keep()?;
        let error = cannot("write", to, &failed.error);
        return Err(format!("{error}; the archive is {}", path.display()).into());
    }
    // The name, too, outlives a power cut.
    Ok(File::open(folder_of(to))?.sync_all()?)
}

fn folder_of(path: &Path) -> &Path {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
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
    let source: Box<dyn Read + Send> = if command.from == Path::new(STANDARD) {
        Box::new(io::stdin())
    } else {
        let file = File::open(&command.from);
        Box::new(file.map_err(|error| cannot("read", &command.from, &error))?)
    };
    let source = BufReader::new(source);
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
        let work = restore(source, identities, url.expose(), files, key_place, progress);
        let restored = until_stopped(stop, work).await?;
        let restored = restored.map_err(|error| match error {
            eddyline_backup::Error::Store(StoreError::NotEmpty) => format!(
                "there is a database at {} already; a backup is restored into an empty place only",
                url.place()
            )
            .into(),
            other => CommandError::from(other),
        })?;
        ("Restored", restored)
    };
    let answer = Copied::new(
        word,
        &command.from,
        restored.manifest,
        restored.summary,
        restored.has_secret_key,
    );
    let outcome = answer.or_incomplete();
    let printed = reporter.end(&answer);
    outcome?;
    Ok(printed?)
}

pub(crate) fn place_for_files(settings: &Settings) -> Result<Files, CommandError> {
    let place = files::open(settings)?.place;
    place.ok_or_else(|| "there is no place for files".into())
}

/// The file beside the archive that becomes it once it is whole.
fn partial(path: &Path) -> Result<NamedTempFile, CommandError> {
    if path.exists() {
        return Err(format!("{} is there already", path.display()).into());
    }
    let made = tempfile::Builder::new()
        .prefix(".eddyline-backup-")
        .tempfile_in(folder_of(path));
    Ok(made.map_err(|error| cannot("write", path, &error))?)
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
        archive: &Path,
        manifest: Manifest,
        summary: Summary,
        has_secret_key: bool,
    ) -> Self {
        Self {
            word,
            archive: archive.display().to_string(),
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
