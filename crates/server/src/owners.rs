//! Whose a file is that cannot be read: most often another user runs the server.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// This user may not read a file or folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Denied {
    path: PathBuf,
    /// The owner's number.
    owner: Option<u32>,
}

impl Denied {
    /// Finds out what it is on the way to `path` that may not be read.
    pub(crate) fn at(path: &Path) -> Self {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        // The nearest that can be looked at denies what is below it.
        let found = path.ancestors().find_map(|on_the_way| {
            let metadata = fs::metadata(on_the_way).ok()?;
            Some(Self {
                path: on_the_way.to_owned(),
                owner: Some(metadata.uid()),
            })
        });
        found.unwrap_or(Self { path, owner: None })
    }

    /// An error about `path`, if it is that this user may not read it.
    pub(crate) fn of(path: &Path, error: &io::Error) -> Option<Self> {
        (error.kind() == ErrorKind::PermissionDenied).then(|| Self::at(path))
    }
}

impl std::error::Error for Denied {}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read {}", self.path.display())?;
        let Some(owner) = self.owner else {
            return Ok(());
        };
        let name = name_of(
            owner,
            &fs::read_to_string("/etc/passwd").unwrap_or_default(),
        );
        match &name {
            Some(name) => write!(f, ", owned by {name}")?,
            None => write!(f, ", owned by the user with the number {owner}")?,
        }
        match name {
            Some(name) if owner != rustix::process::geteuid().as_raw() => {
                write!(
                    f,
                    "; run the command as that user, for instance with sudo -u {name}"
                )
            }
            _ => Ok(()),
        }
    }
}

/// The name of a user, by the lines of the system's list.
fn name_of(user: u32, list: &str) -> Option<String> {
    list.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, _, number) = (fields.next()?, fields.next()?, fields.next()?);
        (number.parse() == Ok(user)).then(|| name.to_owned())
    })
}

/// Makes sure that this user may read and change a file, if it is there. To be called before SQLite
/// opens it: closing a file ends the locks of the process on it.
///
/// # Errors
///
/// [`Denied`].
pub(crate) fn check_file(path: &Path) -> Result<(), Denied> {
    match OpenOptions::new().read(true).write(true).open(path) {
        Err(error) => Denied::of(path, &error).map_or(Ok(()), Err),
        Ok(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_have_names() {
        let list = "root:x:0:0:root:/:/bin/sh\nbroken\nada:x:1000:1000::/ada:/bin/sh\n";
        assert_eq!(name_of(1000, list).as_deref(), Some("ada"));
        assert_eq!(name_of(1001, list), None);
    }

    #[test]
    fn what_is_not_there_is_not_denied() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(check_file(&directory.path().join("nothing")), Ok(()));
    }
}
