//! Where the key comes from under which secrets of applications are sealed.
//!
//! It is better kept apart from the database: a copy of the one alone then tells no secret. An SQLite
//! file has it in a file beside it, made at the first start. On PostgreSQL, where several servers need
//! the same one, the operator gives it; otherwise it is kept in the database.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use eddyline_app::{KeyMaterial, Secret};

use crate::Failure;
use crate::config::Settings;

/// What the key is made of; `None` when it is kept in the database.
pub(crate) fn material(settings: &Settings) -> Result<Option<KeyMaterial>, Failure> {
    if let Some(key) = &settings.secret_key {
        return Ok(Some(KeyMaterial(key.expose().as_bytes().to_vec())));
    }
    if let Some(path) = &settings.secret_key_file {
        return read(path).map(Some).map_err(|error| cannot("read", path, &error));
    }
    match settings.database_url().file().map(beside) {
        Some(path) => find_or_make(&path).map(Some).map_err(|error| cannot("make", &path, &error)),
        None => {
            tracing::info!(
                "secrets of applications are sealed under a key in the database; secret_key can keep it apart"
            );
            Ok(None)
        }
    }
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> Failure {
    format!("cannot {what} the key file {}: {error}", path.display()).into()
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
    Ok(KeyMaterial(text.trim_ascii().to_vec()))
}

/// The key of a file that is made if it is not there. Whoever comes first makes it whole, so that nobody
/// else reads half of it.
fn find_or_make(path: &Path) -> io::Result<KeyMaterial> {
    match read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        found => return found,
    }
    // A name that nobody knows before, so that nothing can wait there.
    let draft = path.with_extension(format!("key.{}", Secret::generate().expose()));
    let key = Secret::generate_long();
    let made = write_whole(&draft, key.expose()).and_then(|()| match fs::hard_link(&draft, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    });
    // Not there when it could not be written.
    let _ = fs::remove_file(&draft);
    made?;
    if let Some(directory) = path.parent().filter(|directory| !directory.as_os_str().is_empty()) {
        // The name, too, outlives a power cut.
        File::open(directory)?.sync_all()?;
    }
    read(path)
}

fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{text}")?;
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
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "no draft is left");
    }

    #[test]
    fn the_key_file_is_never_the_database() {
        assert_eq!(beside(Path::new("/data/eddyline.db")), Path::new("/data/eddyline.key"));
        assert_eq!(beside(Path::new("/data/eddyline.key")), Path::new("/data/eddyline.key.key"));
        assert_eq!(beside(Path::new("/data/eddyline")), Path::new("/data/eddyline.key"));
    }
}
