/// Why nothing was exported.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such organization, flow or person.
    #[error("there is no {0}")]
    NotFound(String),
    /// The organization is to be deleted, and has no members until then.
    #[error("organization {0} is closed, since it is to be deleted; cancel its deletion first")]
    Closed(String),
    /// What the store says.
    #[error(transparent)]
    Store(#[from] eddyline_storage::Error),
    /// The archive cannot be written.
    #[error("the archive cannot be written: {0}")]
    Archive(#[from] eddyline_archive::Error),
    /// What the file system says.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// What the database has is not what this version writes.
    #[error("the database has a {0} that cannot be read")]
    Corrupt(&'static str),
}

/// What the functions of this crate answer.
pub type Result<T> = std::result::Result<T, Error>;
