//! The digest of an archive, by which notes of an import tell it from others.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use crate::Result;

/// The number of bytes that are read at once.
const CHUNK: usize = 64 * 1024;

/// The SHA-256 of the file, as hexadecimal digits.
pub(super) fn digest(archive: &Path) -> Result<String> {
    let mut file = File::open(archive)?;
    let mut context = ring::digest::Context::new(&ring::digest::SHA256);
    let mut buffer = vec![0; CHUNK];
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok(eddyline_random::to_hex(context.finish().as_ref()));
        }
        context.update(&buffer[..count]);
    }
}

/// The id under which it is noted that an archive, by its digest, has completed a room.
pub(super) fn begun_id(digest: &str, room: &str) -> String {
    format!("{digest} {room}")
}
