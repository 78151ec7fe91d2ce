//! A file on this machine that bytes are written to.

use std::fs::File;
use std::io::{self, Write as _};

use ring::digest::{Context, SHA256};

use crate::as_digest;

/// Counts and digests what it writes. Everything about it blocks.
pub(crate) struct Sink {
    file: File,
    digest: Context,
    size: u64,
}

impl Sink {
    pub(crate) fn new(file: File) -> Self {
        Self {
            file,
            digest: Context::new(&SHA256),
            size: 0,
        }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.digest.update(bytes);
        self.size += bytes.len() as u64;
        Ok(())
    }

    /// The file, and the digest and number of its bytes.
    pub(crate) fn end(self) -> (File, [u8; 32], u64) {
        (self.file, as_digest(self.digest.finish()), self.size)
    }
}
