use std::io;

/// Why a backup was not taken, or not restored.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The archive is not as it was written.
    #[error("the archive is damaged: {0}")]
    Damaged(String),
    /// The archive is encrypted, and no identity was given.
    #[error("the archive is encrypted; give the identity that it was encrypted for")]
    NeedsIdentity,
    /// None of the identities can decrypt it.
    #[error("none of these identities can decrypt the archive")]
    WrongIdentity,
    /// It is no archive of Eddyline.
    #[error("this is no backup of Eddyline")]
    NotAnArchive,
    /// A newer version made it.
    #[error("a newer version of Eddyline made this backup: its format is {0}")]
    TooNew(u64),
    /// A key for encryption cannot be read.
    #[error("{0}")]
    Key(String),
    /// There is another secret key where that of the archive belongs.
    #[error(
        "{} has another secret key than the archive; move it away if no server uses it", .0.display()
    )]
    OtherKey(std::path::PathBuf),
    /// Another secret key is configured than the archive has.
    #[error("the secret key that is configured is not that of the archive")]
    OtherConfiguredKey,
    /// Another file is kept under the key of one of the archive.
    #[error("another file is kept as {0} already")]
    OtherFile(String),
    /// The archive refers to earlier archives, and it comes from a stream, which has only one.
    #[error(
        "the archive is an incremental one: name its file, beside which the archives before it lie"
    )]
    Incremental,
    /// Something has the name of the archive already.
    #[error("{} is there already", .0.display())]
    Occupied(std::path::PathBuf),
    /// There is no archive of this name.
    #[error("{0} is not there")]
    NoArchive(String),
    /// An archive that an incremental one builds on cannot be read.
    #[error("it builds on {0}: {1}")]
    Base(String, Box<Error>),
    /// There is no room, or no folder, for the rows of earlier archives while one is restored.
    #[error("the folder {}: {reason}", folder.display())]
    Spool {
        /// The folder.
        folder: std::path::PathBuf,
        /// What went wrong.
        reason: io::Error,
    },
    /// A place of archives, or an archive there.
    #[error("{0}: {1}")]
    Place(String, String),
    /// The database.
    #[error(transparent)]
    Store(#[from] eddyline_storage::Error),
    /// The place for files.
    #[error("the file {key}: {reason}")]
    File {
        /// The key of the file.
        key: String,
        /// What went wrong with it.
        reason: eddyline_files::Error,
    },
    /// Reading or writing the archive.
    #[error("the archive: {0}")]
    Io(#[from] io::Error),
}

/// The result of taking or restoring a backup.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn of_file(key: &str, reason: eddyline_files::Error) -> Self {
        Self::File {
            key: key.to_owned(),
            reason,
        }
    }

    /// What reading an archive ran into: damage, unless the reading itself failed.
    pub(crate) fn of_reading(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::InvalidData
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::UnexpectedEof
            | io::ErrorKind::Other => Self::Damaged(error.to_string()),
            _ => Self::Io(error),
        }
    }
}
