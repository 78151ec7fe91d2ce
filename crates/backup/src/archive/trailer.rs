//! The last line of an archive: the SHA-256 of all before it.

use std::io::{self, Read, Write};

use ring::digest::{Context, SHA256};

const NAME: &str = "sha256:";
/// The line: the name, the digest in hexadecimal digits, and the end of the line.
const LENGTH: usize = NAME.len() + 64 + 1;
/// How many bytes are read at once.
const CHUNK: usize = 64 * 1024;

fn line(digest: &Context) -> Vec<u8> {
    let digest = digest.clone().finish();
    let hex: String = digest
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("{NAME}{hex}\n").into_bytes()
}

/// Writes, and at the end adds the line.
pub(crate) struct TrailerWriter<W> {
    out: W,
    digest: Context,
}

impl<W: Write> TrailerWriter<W> {
    pub(super) fn new(out: W) -> Self {
        Self {
            out,
            digest: Context::new(&SHA256),
        }
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        self.out.write_all(&line(&self.digest))?;
        Ok(self.out)
    }
}

impl<W: Write> Write for TrailerWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.digest.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Reads what is before the line, and compares that at the end.
pub(crate) struct TrailerReader<R> {
    source: R,
    digest: Context,
    /// What was read and not given yet. The last bytes may be the line.
    held: Vec<u8>,
    given: usize,
    is_at_end: bool,
}

impl<R: Read> TrailerReader<R> {
    pub(super) fn new(source: R) -> Self {
        Self {
            source,
            digest: Context::new(&SHA256),
            held: Vec::with_capacity(CHUNK + LENGTH),
            given: 0,
            is_at_end: false,
        }
    }

    /// Reads more, until there is something to give or the end.
    fn fill(&mut self) -> io::Result<()> {
        while !self.is_at_end && self.held.len() - self.given <= LENGTH {
            self.held.drain(..self.given);
            self.given = 0;
            let length = self.held.len();
            self.held.resize(length + CHUNK, 0);
            let read = self.source.read(&mut self.held[length..]);
            self.held.truncate(length + *read.as_ref().unwrap_or(&0));
            self.is_at_end = read? == 0;
        }
        Ok(())
    }
}

impl<R: Read> Read for TrailerReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.fill()?;
        let ready = (self.held.len() - self.given).saturating_sub(LENGTH);
        if ready == 0 {
            return if self.held[self.given..] == line(&self.digest)[..] {
                Ok(0)
            } else {
                Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "its digest is another",
                ))
            };
        }
        let count = ready.min(buffer.len());
        let part = &self.held[self.given..self.given + count];
        buffer[..count].copy_from_slice(part);
        self.digest.update(part);
        self.given += count;
        Ok(count)
    }
}
