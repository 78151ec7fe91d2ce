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
