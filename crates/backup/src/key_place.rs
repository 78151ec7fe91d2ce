use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use eddyline_storage::copy::Load;

use crate::{Error, Result};

/// Where the secret key of an archive belongs in the place that is restored.
#[derive(Clone, PartialEq, Eq)]
pub enum KeyPlace {
    /// In a file, which only its owner can read.
    File(PathBuf),
    /// In the database.
    Database,
    /// The operator has configured this one, which must be that of the archive.
    Configured(Vec<u8>),
}

impl KeyPlace {
    pub(crate) fn keep(&self, load: &mut Load<'_>, key: &[u8]) -> Result<()> {
        match self {
            Self::File(path) => write(path, key),
            Self::Database => Ok(load.set_secret_key(key)?),
            Self::Configured(configured) if configured == key => Ok(()),
            Self::Configured(_) => Err(Error::OtherConfiguredKey),
        }
    }
}

/// Writes the key whole: under another name first, so that a crash leaves no half of it.
fn write(path: &Path, key: &[u8]) -> Result<()> {
    let draft = path.with_extension("key.restoring");
    let _ = fs::remove_file(&draft);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)?;
    file.write_all(key)?;
    file.write_all(b"\n")?;
    file.sync_all()?;
    let linked = fs::hard_link(&draft, path);
    fs::remove_file(&draft)?;
    match linked {
        // As an attempt left it that was interrupted.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if fs::read(path)?.trim_ascii() == key {
                Ok(())
            } else {
                Err(Error::OtherKey(path.to_owned()))
            }
        }
        linked => Ok(linked?),
    }
}

impl std::fmt::Debug for KeyPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => write!(f, "KeyPlace({})", path.display()),
            Self::Database => f.write_str("KeyPlace(database)"),
            Self::Configured(_) => f.write_str("KeyPlace(configured)"),
        }
    }
}
