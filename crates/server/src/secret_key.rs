//! Where the key comes from that secrets of applications are sealed with.
//!
//! It is better kept apart from the database: a copy of the one alone then tells no secret. An
//! SQLite file has it in a file beside it, made at the first start. On PostgreSQL, where several
//! servers need the same one, the operator gives it; otherwise it is kept in the database.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use eddyline_app::{Error, ErrorKind, KeyMaterial, Secret, what_is_sealed};
use eddyline_archive::ExportKey;
use eddyline_auth::SealingKey;
use eddyline_backup::{IndexKey, KeyPlace};
use eddyline_storage::{SECRET_KEY_SETTING, Store};

use crate::CommandError;
use crate::config::Settings;
use crate::owners::Denied;

/// How to go on without the key.
const RESET: &str =
    "or run `eddyline admin secret-key reset`, which gives these applications new secrets";

/// What there is of a key.
#[derive(Debug)]
pub(crate) enum KeyLookup {
    /// A key.
    Given(KeyMaterial),
    /// None in the file where it belongs.
    Missing(PathBuf),
    /// It is kept in the database.
    InDatabase,
}

impl KeyLookup {
    /// The key, which is made where it is missing; `None` when it is kept in the database.
    pub(crate) fn or_made(self) -> Result<Option<KeyMaterial>, CommandError> {
        match self {
            Self::Given(key) => Ok(Some(key)),
            Self::Missing(path) => find_or_make(&path)
                .map(Some)
                .map_err(|error| cannot("make", &path, &error)),
            Self::InDatabase => Ok(None),
        }
    }
}

/// Finds the key. Makes nothing.
pub(crate) fn find(settings: &Settings) -> Result<KeyLookup, CommandError> {
    if let Some(key) = &settings.secret_key {
        return Ok(KeyLookup::Given(KeyMaterial(
            key.expose().as_bytes().to_vec(),
        )));
    }
    if let Some(path) = &settings.secret_key_file {
        return read(path)
            .map(KeyLookup::Given)
            .map_err(|error| cannot("read", path, &error));
    }
    match settings.database_url().file().map(beside) {
        Some(path) => match read(&path) {
            Ok(key) => Ok(KeyLookup::Given(key)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(KeyLookup::Missing(path)),
            Err(error) => Err(cannot("read", &path, &error)),
        },
        None => {
            tracing::info!(
                "secrets of applications are sealed with a key in the database; secret_key can keep it apart"
            );
            Ok(KeyLookup::InDatabase)
        }
    }
}

/// What the key is made of; `None` when it is kept in the database. One that is missing is made,
/// unless something was sealed with it.
pub(crate) async fn material(
    settings: &Settings,
    store: &Store,
) -> Result<Option<KeyMaterial>, CommandError> {
    let found = find(settings)?;
    if let KeyLookup::Missing(path) = &found
        && let Some(sealed) = what_is_sealed(store).await?
    {
        let path = std::path::absolute(path)?;
        let path = path.display();
        let text = format!(
            "the key file {path} is missing, and {sealed} were sealed with it: put it back from a backup, {RESET}"
        );
        return Err(text.into());
    }
    found.or_made()
}

/// The key that belongs to a backup, and whether it does: not when the operator keeps it elsewhere.
///
/// # Errors
///
/// When secrets are sealed with a key that is not to be found.
pub(crate) async fn for_backup(
    settings: &Settings,
    store: &Store,
) -> Result<Option<Vec<u8>>, CommandError> {
    if is_configured(settings) {
        return Ok(None);
    }
    let key = match find(settings)? {
        KeyLookup::Given(KeyMaterial(key)) => Some(key),
        KeyLookup::Missing(_) => None,
        KeyLookup::InDatabase => kept_in_database(store).await?,
    };
    match what_is_sealed(store).await? {
        Some(sealed) if key.is_none() => Err(format!(
            "the secret key is missing, and {sealed} were sealed with it: give the command the configuration of the server"
        )
        .into()),
        _ => Ok(key),
    }
}

/// The key for the indexes of backups, derived from the secret key. Where there is none, nothing was
/// served yet, and no backup builds on another.
pub(crate) async fn for_indexes(
    settings: &Settings,
    store: &Store,
) -> Result<IndexKey, CommandError> {
    let key = match find(settings)? {
        KeyLookup::Given(KeyMaterial(key)) => Some(key),
        KeyLookup::Missing(_) => None,
        KeyLookup::InDatabase => kept_in_database(store).await?,
    };
    Ok(match key {
        Some(key) => IndexKey::derive(&key),
        None => IndexKey::random(),
    })
}

/// The key that signs exports, derived from the secret key, which is made where it is missing.
///
/// # Errors
///
/// When the secret key is lost, and when the server that makes it in the database was never started.
pub(crate) async fn for_exports(
    settings: &Settings,
    store: &Store,
) -> Result<ExportKey, CommandError> {
    let key = match material(settings, store).await? {
        Some(KeyMaterial(key)) => Some(key),
        None => kept_in_database(store).await?,
    };
    let key = key.ok_or(
        "the server has no secret key yet, from which that of exports is derived: start `eddyline serve` once",
    )?;
    Ok(ExportKey::derive(&key))
}

async fn kept_in_database(store: &Store) -> Result<Option<Vec<u8>>, CommandError> {
    let find =
        |reader: &mut eddyline_storage::Reader<'_>| reader.settings().find(SECRET_KEY_SETTING);
    Ok(store.read(find).await?)
}

/// Whether the operator keeps the key, apart from the data.
pub(crate) fn is_configured(settings: &Settings) -> bool {
    settings.secret_key.is_some() || settings.secret_key_file.is_some()
}

/// Where the key of a backup belongs that is restored.
pub(crate) fn place_of_restored(settings: &Settings) -> Result<KeyPlace, CommandError> {
    if is_configured(settings)
        && let KeyLookup::Given(KeyMaterial(key)) = find(settings)?
    {
        return Ok(KeyPlace::Configured(key));
    }
    Ok(match settings.database_url().file() {
        Some(file) => KeyPlace::File(beside(file)),
        None => KeyPlace::Database,
    })
}

/// Says where the key comes from that the database was not used with.
pub(crate) fn refused(settings: &Settings, error: Error) -> CommandError {
    let (ErrorKind::Conflict, Some(text)) = (error.kind(), error.message()) else {
        return error.into();
    };
    let place = match (&settings.secret_key, &settings.secret_key_file) {
        (Some(_), _) => "it was given as secret_key".to_owned(),
        (None, Some(path)) => format!("it is in the file {}", path.display()),
        (None, None) => match settings.database_url().file().map(beside) {
            Some(path) => format!("it is in the file {}", path.display()),
            None => "none was given, so it is kept in the database".to_owned(),
        },
    };
    format!("{text} ({place}): give the right one, {RESET}").into()
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> CommandError {
    match Denied::of(path, error) {
        Some(denied) => denied.into(),
        None => format!("cannot {what} the key file {}: {error}", path.display()).into(),
    }
}

/// `eddyline.db` has its key in `eddyline.key`.
fn beside(database: &Path) -> PathBuf {
    let mut path = database.with_extension("key");
    if path == database {
        path.as_mut_os_string().push(".key");
    }
    path
}

fn read(path: &Path) -> io::Result<KeyMaterial> {
    let text = fs::read(path)?;
    let key = text.trim_ascii();
    if key.len() < SealingKey::MIN_BYTES {
        let text = format!("it has fewer than {} characters", SealingKey::MIN_BYTES);
        return Err(io::Error::new(io::ErrorKind::InvalidData, text));
    }
    Ok(KeyMaterial(key.to_vec()))
}

/// The key of a file that is made if it is not there. The process that comes first makes it whole,
/// so that nobody else reads half of it.
fn find_or_make(path: &Path) -> io::Result<KeyMaterial> {
    find_or_write(path, Secret::generate_long().expose().as_bytes())
}

/// The key of a file, which is this one if there is none.
fn find_or_write(path: &Path, key: &[u8]) -> io::Result<KeyMaterial> {
    match read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        found => return found,
    }
    // A name that nobody knows before, so that nothing can wait there.
    let draft = path.with_extension(format!("key.{}", Secret::generate().expose()));
    let made = write_whole(&draft, key).and_then(|()| match fs::hard_link(&draft, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    });
    // Not there when it could not be written.
    let _ = fs::remove_file(&draft);
    made?;
    if let Some(directory) = path
        .parent()
        .filter(|directory| !directory.as_os_str().is_empty())
    {
        // The name, too, outlives a power cut.
        File::open(directory)?.sync_all()?;
    }
    read(path)
}

/// Makes sure that the file which belongs to a database has no other key.
pub(crate) fn check_beside(database: &Path, key: &[u8]) -> Result<(), CommandError> {
    let path = beside(database);
    match read(&path) {
        Ok(KeyMaterial(kept)) if kept != key => {
            Err(format!("there is another key in {} already", path.display()).into())
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(cannot("read", &path, &error)),
        _ => Ok(()),
    }
}

/// Removes a key from the file that belongs to a database. Another key stays, and so does that of a
/// database which is there.
pub(crate) fn remove_from(database: &Path, key: &[u8]) -> Result<(), CommandError> {
    let path = beside(database);
    match read(&path) {
        Ok(KeyMaterial(kept)) if kept == key && !database.exists() => {
            fs::remove_file(&path).map_err(|error| cannot("remove", &path, &error))
        }
        _ => Ok(()),
    }
}

/// Keeps a key in the file that belongs to a database. Another key that is there stays.
pub(crate) fn put_beside(database: &Path, key: &[u8]) -> Result<(), CommandError> {
    let path = beside(database);
    find_or_write(&path, key).map_err(|error| cannot("write", &path, &error))?;
    check_beside(database, key)
}

fn write_whole(path: &Path, key: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(key)?;
    file.write_all(b"\n")?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_key_is_made_once_and_is_nobody_elses_to_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = beside(&directory.path().join("eddyline.db"));
        let KeyMaterial(first) = find_or_make(&path).unwrap();
        let KeyMaterial(again) = find_or_make(&path).unwrap();
        assert_eq!((first.len(), &first), (43, &again));
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert_eq!(
            fs::read_dir(directory.path()).unwrap().count(),
            1,
            "no draft is left"
        );
    }

    #[test]
    fn the_key_file_is_never_the_database() {
        assert_eq!(
            beside(Path::new("/data/eddyline.db")),
            Path::new("/data/eddyline.key")
        );
        assert_eq!(
            beside(Path::new("/data/eddyline.key")),
            Path::new("/data/eddyline.key.key")
        );
        assert_eq!(
            beside(Path::new("/data/eddyline")),
            Path::new("/data/eddyline.key")
        );
    }
}
