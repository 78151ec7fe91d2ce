//! The bytes of files of an archive.

use std::io::Read;

use crate::Result;

/// Where the bytes of files are.
pub(crate) trait Entries {
    /// Whether there is such an entry.
    fn contains(&self, name: &str) -> bool;
    /// The bytes of an entry.
    fn open<'b>(&'b mut self, name: &str) -> Result<Box<dyn Read + 'b>>;
}
