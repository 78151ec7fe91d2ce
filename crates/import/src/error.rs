/// Why an import ended early. What it has written by then stays, and the next import of the same
/// archive goes on from there.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such organization.
    #[error(
        "there is no organization {0}; make it with `eddyline admin org create`, or import an archive of an organization"
    )]
    NoOrganization(String),
    /// The archive is not as it was written.
    #[error("the archive is not as it was written, so nothing was imported: {first}{}", further(*.count))]
    NotSound {
        /// What was found first.
        first: String,
        /// How many findings there are.
        count: u64,
    },
    /// It has nothing that can be imported.
    #[error("{0}")]
    Unfit(String),
    /// The organization has no room for the people of the archive.
    #[error(
        "the organization has places for {places} more people and the archive has {people} that are new to it; \
         raise the limit with `eddyline admin org update --user-limit`"
    )]
    Full {
        /// How many places are free.
        places: i64,
        /// How many are needed.
        people: i64,
    },
    /// The files of the organization would take more room than they may.
    #[error(
        "the files of the organization would take more than max_file_bytes_per_organization; raise it"
    )]
    NoRoomForFiles,
    /// What the store says.
    #[error(transparent)]
    Store(#[from] eddyline_storage::Error),
    /// What reading an archive of Eddyline says.
    #[error(transparent)]
    Archive(#[from] eddyline_archive::Error),
    /// What the place for files says.
    #[error("a file cannot be kept: {0}")]
    Files(#[from] eddyline_files::Error),
    /// What the file system says.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// What reading a zip file says.
    #[error("the zip file cannot be read: {0}")]
    Zip(#[from] zip::result::ZipError),
}

fn further(count: u64) -> String {
    match count {
        0 | 1 => String::new(),
        count => format!(" (and {} more; `eddyline verify` lists them)", count - 1),
    }
}

/// What the functions of this crate answer.
pub type Result<T> = std::result::Result<T, Error>;
