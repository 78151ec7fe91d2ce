use std::io::{self, Read};

use bytes::{Buf as _, Bytes};
use eddyline_files::{Content, FileKey, Files};
use eddyline_storage::copy::DumpedObject;
use futures_util::StreamExt as _;
use ring::digest::{Context, SHA256};
use tokio::runtime::Handle;

use crate::Result;

/// Opens what is kept of an object; `None` when it is not there, or has another size.
pub(crate) fn open(
    files: &Files,
    object: &DumpedObject,
    runtime: &Handle,
) -> Result<Option<Content>> {
    let Some(key) = FileKey::parse(&object.key) else {
        return Ok(None);
    };
    match runtime.block_on(files.open(&key, None)) {
        Ok(content) if content.file_size() == object.size.unsigned_abs() => Ok(Some(content)),
        Ok(_) | Err(eddyline_files::Error::NotFound) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The bytes of a file, read on a thread that may block, and their digest.
pub(crate) struct ContentReader {
    content: Content,
    chunk: Bytes,
    digest: Context,
    runtime: Handle,
}

impl ContentReader {
    pub(crate) fn new(content: Content, runtime: Handle) -> Self {
        Self {
            content,
            chunk: Bytes::new(),
            digest: Context::new(&SHA256),
            runtime,
        }
    }

    /// The SHA-256 of what was read.
    pub(crate) fn digest(self) -> Vec<u8> {
        self.digest.finish().as_ref().to_vec()
    }
}

impl Read for ContentReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.chunk.is_empty() {
            match self.runtime.block_on(self.content.next()) {
                Some(chunk) => self.chunk = chunk.map_err(io::Error::other)?,
                None => return Ok(0),
            }
        }
        let count = self.chunk.len().min(buffer.len());
        self.chunk.copy_to_slice(&mut buffer[..count]);
        self.digest.update(&buffer[..count]);
        Ok(count)
    }
}
