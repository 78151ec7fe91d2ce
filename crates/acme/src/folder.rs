//! The files in which an account and a certificate outlive the process.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use instant_acme::AccountCredentials;
use tempfile::NamedTempFile;

use crate::certificate::IssuedCertificate;
use crate::error::{AcmeError, Result};

/// The folder of one authority: what another one has issued is no use there.
#[derive(Debug)]
pub(crate) struct AcmeFolder(PathBuf);

impl AcmeFolder {
    /// Makes the folder, readable by its owner only.
    pub(crate) fn open(parent: &Path, directory: &str) -> Result<Self> {
        let path = parent.join(name_of(directory));
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&path)
            .map_err(|cause| failed(&path, cause))?;
        Ok(Self(path))
    }

    pub(crate) fn certificate(&self) -> Result<Option<IssuedCertificate>> {
        let path = self.0.join(CERTIFICATE);
        let Some(pem) = read(&path)? else {
            return Ok(None);
        };
        IssuedCertificate::from_pem(&pem)
            .map(Some)
            .map_err(|error| damaged(path, error.to_string()))
    }

    /// Keeps a key with its chain, in one file, so that they are never of two certificates.
    pub(crate) fn keep_certificate(&self, pem: &str) -> Result<()> {
        self.write(CERTIFICATE, pem)
    }

    pub(crate) fn account(&self) -> Result<Option<AccountCredentials>> {
        let path = self.0.join(ACCOUNT);
        let Some(json) = read(&path)? else {
            return Ok(None);
        };
        serde_json::from_str(&json)
            .map(Some)
            // The text of the error may quote the key.
            .map_err(|_| damaged(path, "no account in JSON".to_owned()))
    }

    pub(crate) fn keep_account(&self, account: &AccountCredentials) -> Result<()> {
        let json = serde_json::to_string(account)
            .map_err(|error| failed(&self.0.join(ACCOUNT), error.into()))?;
        self.write(ACCOUNT, &json)
    }

    /// Keeps other processes from ordering until the file is dropped. None while another orders.
    pub(crate) fn lock(&self) -> Result<Option<File>> {
        let path = self.0.join("lock");
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(&path)
            .map_err(|cause| failed(&path, cause))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(cause)) => Err(failed(&path, cause)),
        }
    }

    /// The file is the one before or this one, also after a power cut. Temporary files belong to their
    /// owner only.
    fn write(&self, name: &str, content: &str) -> Result<()> {
        let path = self.0.join(name);
        let written = NamedTempFile::new_in(&self.0).and_then(|mut file| {
            file.write_all(content.as_bytes())?;
            file.as_file().sync_all()?;
            file.persist(&path)?;
            File::open(&self.0)?.sync_all()
        });
        written.map_err(|cause| failed(&path, cause))
    }
}

const CERTIFICATE: &str = "certificate.pem";
const ACCOUNT: &str = "account.json";

/// A name of a folder for the URL of a directory.
fn name_of(directory: &str) -> String {
    let name = directory.trim_start_matches("https://");
    let kept = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' => c,
        '.' => '.',
        _ => '_',
    };
    // A name that is `..` would be another folder.
    format!("ca-{}", name.chars().map(kept).collect::<String>())
}

fn read(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(failed(path, cause)),
    }
}

fn failed(path: &Path, cause: io::Error) -> AcmeError {
    let path = path.to_owned();
    AcmeError::Folder { path, cause }
}

fn damaged(path: PathBuf, problem: String) -> AcmeError {
    AcmeError::Damaged { path, problem }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn one_process_at_a_time_orders() {
        let directory = TempDir::new().unwrap();
        let open = || AcmeFolder::open(directory.path(), "https://ca.example/acme").unwrap();
        let (first, second) = (open(), open());
        let locked = first.lock().unwrap();
        assert!(locked.is_some());
        assert!(second.lock().unwrap().is_none());
        drop(locked);
        assert!(second.lock().unwrap().is_some());
    }

    #[test]
    fn files_are_readable_by_their_owner_only() {
        let directory = TempDir::new().unwrap();
        let folder = AcmeFolder::open(directory.path(), "https://ca.example/../x").unwrap();
        folder.keep_certificate("a key").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let kept = directory.path().join("ca-ca.example_.._x");
        assert_eq!(mode(&kept), 0o700);
        assert_eq!(mode(&kept.join(CERTIFICATE)), 0o600);
    }

    #[test]
    fn a_damaged_file_is_named_and_not_quoted() {
        let directory = TempDir::new().unwrap();
        let folder = AcmeFolder::open(directory.path(), "https://ca.example").unwrap();
        assert!(folder.account().unwrap().is_none());
        assert!(folder.certificate().unwrap().is_none());
        for name in [ACCOUNT, CERTIFICATE] {
            folder.write(name, "secret").unwrap();
        }
        let errors = [
            folder.account().err().unwrap().to_string(),
            folder.certificate().unwrap_err().to_string(),
        ];
        for (error, name) in errors.iter().zip([ACCOUNT, CERTIFICATE]) {
            assert!(
                error.contains(name) && error.contains("delete it"),
                "{error}"
            );
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
