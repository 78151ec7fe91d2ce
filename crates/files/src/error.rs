//! What can go wrong.

use std::io::{self, ErrorKind};

/// Why a file was not kept, or could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// More bytes came than were allowed.
    #[error("the file is too large")]
    TooLarge,
    /// There is no room for more: the disk is full, or a quota is used up.
    #[error("there is no room for more files")]
    Full,
    /// Something is kept under the key already.
    #[error("something is kept under this key already")]
    Occupied,
    /// Nothing is kept under the key.
    #[error("nothing is kept under this key")]
    NotFound,
    /// The range holds none of the file's bytes.
    #[error("the file has no bytes in this range")]
    Range,
    /// An earlier error, or a write that was given up, left the upload with an end missing.
    #[error("the upload is broken")]
    Broken,
    /// The disk did not do as told.
    #[error("the disk: {0}")]
    Io(io::Error),
    /// The store did not do as told, could not be reached, or is not configured well. The text is
    /// for logs.
    #[error("the store: {0}")]
    Store(Box<dyn std::error::Error + Send + Sync>),
}

/// What is behind an [`Error::Store`], as far as the store or the network tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreTrouble {
    /// The store is not reached, or does not answer.
    Unreachable,
    /// The clock of this machine and that of the store differ by too much.
    Clock,
    /// The store does not know the access key.
    AccessKey,
    /// The secret is not that of the access key.
    Secret,
    /// The bucket is in another region.
    Region,
    /// There is no such bucket.
    Bucket,
    /// The access key has no right to do this.
    Permission,
    /// Something else.
    Other,
}

/// Codes of S3, and words of the client where there was no answer. The first that an error has
/// counts.
const SIGNS: &[(&str, StoreTrouble)] = &[
    ("RequestTimeTooSkewed", StoreTrouble::Clock),
    ("InvalidAccessKeyId", StoreTrouble::AccessKey),
    ("NotSignedUp", StoreTrouble::AccessKey),
    ("SignatureDoesNotMatch", StoreTrouble::Secret),
    ("AuthorizationHeaderMalformed", StoreTrouble::Region),
    ("PermanentRedirect", StoreTrouble::Region),
    ("IllegalLocationConstraintException", StoreTrouble::Region),
    ("NoSuchBucket", StoreTrouble::Bucket),
    ("AccessDenied", StoreTrouble::Permission),
    ("403 Forbidden", StoreTrouble::Permission),
    ("error sending request", StoreTrouble::Unreachable),
];

impl Error {
    /// What is behind an error of a store; `None` for other errors.
    #[must_use]
    pub fn store_trouble(&self) -> Option<StoreTrouble> {
        let Self::Store(error) = self else {
            return None;
        };
        let mut said = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            said.push_str(&error.to_string());
            cause = error.source();
        }
        let sign = SIGNS.iter().find(|(sign, _)| said.contains(sign));
        Some(sign.map_or(StoreTrouble::Other, |(_, trouble)| *trouble))
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::Full,
            ErrorKind::AlreadyExists => Self::Occupied,
            _ => Self::Io(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_store_says_is_told_apart() {
        for (said, trouble) in [
            (
                "Client error with status 403 Forbidden: <Error><Code>RequestTimeTooSkewed</Code>",
                StoreTrouble::Clock,
            ),
            (
                "Client error with status 403 Forbidden: <Error><Code>AccessDenied</Code>",
                StoreTrouble::Permission,
            ),
            (
                "error sending request for url (http://127.0.0.1:1/files)",
                StoreTrouble::Unreachable,
            ),
            ("Server error with status 500", StoreTrouble::Other),
        ] {
            let outer = io::Error::other(io::Error::other(said));
            let error = Error::Store(Box::new(outer));
            assert_eq!(error.store_trouble(), Some(trouble), "{said}");
        }
        assert_eq!(Error::Full.store_trouble(), None);
    }

    #[test]
    fn a_full_disk_is_told_apart() {
        // As Linux numbers them: no space left on device, and disk quota exceeded.
        for number in [28, 122] {
            assert!(matches!(
                Error::from(io::Error::from_raw_os_error(number)),
                Error::Full
            ));
        }
        assert!(matches!(
            Error::from(io::Error::from_raw_os_error(5)),
            Error::Io(_)
        ));
    }
}
