use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use eddyline_storage::copy::Load;

use crate::{Error, Result};

/// Where the secret key of an archive belongs in the place that is restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyPlace {
    /// In a file, which only its owner can read.
    File(PathBuf),
    /// In the database.
    Database,
    /// The operator has configured one.
    Elsewhere,
}

impl KeyPlace {
    pub(crate) fn keep(&self, load: &mut Load<'_>, key: &[u8]) -> Result<()> {
        match self {
            Self::File(path) => write(path, key),
            Self::Database => Ok(load.set_secret_key(key)?),
            Self::Elsewhere => Ok(()),
        }
    }
}

fn write(path: &Path, key: &[u8]) -> Result<()> {
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    match file {
        Ok(mut file) => {
            file.write_all(key)?;
            file.write_all(b"\n")?;
            Ok(file.sync_all()?)
        }
        // As an attempt left it that was interrupted.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if fs::read(path)?.trim_ascii() == key {
                Ok(())
            } else {
                Err(Error::OtherKey(path.to_owned()))
            }
        }
        Err(error) => Err(error.into()),
    }
}
