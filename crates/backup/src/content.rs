use std::io::{self, Read};

use bytes::{Buf as _, Bytes};
use eddyline_files::{Content, FileKey, Files};
use eddyline_storage::copy::DumpedObject;
use futures_util::StreamExt as _;
use ring::digest::{Context, SHA256};
use tokio::runtime::Handle;

/// Opens what is kept of an object; `None` when it cannot be opened, or has another size.
///
/// Blocks, on a thread that may.
pub fn open(files: &Files, object: &DumpedObject, runtime: &Handle) -> Option<ContentReader> {
    let key = FileKey::parse(&object.key)?;
    match runtime.block_on(files.open(&key, None)) {
        Ok(content) if content.file_size() == object.size.unsigned_abs() => {
            Some(ContentReader::new(content, runtime.clone()))
        }
        Ok(_) | Err(eddyline_files::Error::NotFound) => None,
        Err(error) => {
            tracing::warn!(key = object.key, %error, "a file cannot be opened");
            None
        }
    }
}

/// The bytes of a file, read on a thread that may block, and their digest. Where they cannot be
/// read to the end, zeros take their place: what reads them has announced how many come.
pub struct ContentReader {
    content: Option<Content>,
    /// How many bytes are to come.
    left: u64,
    chunk: Bytes,
    digest: Context,
    runtime: Handle,
}

impl ContentReader {
    pub(crate) fn new(content: Content, runtime: Handle) -> Self {
        Self {
            left: content.file_size(),
            content: Some(content),
            chunk: Bytes::new(),
            digest: Context::new(&SHA256),
            runtime,
        }
    }

    /// The SHA-256 of what was read.
    #[must_use]
    pub fn digest(self) -> Vec<u8> {
        self.digest.finish().as_ref().to_vec()
    }

    fn next_chunk(&mut self) -> Bytes {
        let next = self.content.as_mut().map(|content| content.next());
        match next.and_then(|next| self.runtime.block_on(next)) {
            Some(Ok(chunk)) => return chunk,
            Some(Err(error)) => tracing::warn!(%error, "a file cannot be read to its end"),
            None => {}
        }
        self.content = None;
        Bytes::from_static(&[0; 4096])
    }
}

impl std::fmt::Debug for ContentReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ContentReader")
    }
}

impl Read for ContentReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.chunk.is_empty() && self.left > 0 {
            self.chunk = self.next_chunk();
        }
        let left = usize::try_from(self.left).unwrap_or(usize::MAX);
        let count = self.chunk.len().min(buffer.len()).min(left);
        self.chunk.copy_to_slice(&mut buffer[..count]);
        self.left -= count as u64;
        self.digest.update(&buffer[..count]);
        Ok(count)
    }
}
