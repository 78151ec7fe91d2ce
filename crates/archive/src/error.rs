use std::io;

/// Why an archive was not written, or not verified.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What the file system says.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A record cannot be written as JSON.
    #[error("a record cannot be written: {0}")]
    Record(#[from] serde_json::Error),
    /// The file or folder is no archive of this format.
    #[error("this is no export of Eddyline: {0}")]
    NotAnExport(&'static str),
    /// A newer version made it.
    #[error("a newer version of Eddyline made this export: its format is {0}")]
    TooNew(u64),
    /// A text is no public key.
    #[error("a key is 64 hexadecimal digits, as `eddyline export` prints them")]
    Key,
    /// An entry is not as the manifest says, or cannot be read.
    #[error("the entry {} of the archive is not as it was written", .0.escape_debug())]
    Altered(String),
    /// A page cannot be rendered.
    #[error("a page cannot be rendered: {0}")]
    Page(#[from] askama::Error),
}

/// What the functions of this crate answer.
pub type Result<T> = std::result::Result<T, Error>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_entry_moves_no_cursor() {
        let error = Error::Altered("flows/\x1b]0;owned\x07/flow.json".to_owned());
        assert_eq!(
            error.to_string(),
            "the entry flows/\\u{1b}]0;owned\\u{7}/flow.json of the archive is not as it was written"
        );
    }
}
