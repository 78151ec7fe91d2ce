//! A picture that is small to send and large to unpack.

use std::io::Write as _;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

use crate::Result;

/// Bytes of the whole file, the most that the server takes.
const FILE_BYTES: usize = 5 * 1024 * 1024;
/// Bytes that [`padding`](png) leaves for its own length, name and checksum, and for the end of the
/// file.
const REST: usize = 40;

/// A black PNG of `side` × `side` pixels, filled up to 5 MiB with a chunk that no reader knows.
pub(crate) fn png(side: u32) -> Result<Vec<u8>> {
    let mut header = [side.to_be_bytes(), side.to_be_bytes()].concat();
    // 8 bits, RGBA, deflate, one filter, not interlaced.
    header.extend([8, 6, 0, 0, 0]);
    let mut pixels = ZlibEncoder::new(Vec::new(), Compression::best());
    let row = vec![0; 1 + side as usize * 4];
    for _ in 0..side {
        pixels.write_all(&row)?;
    }
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut file, b"IHDR", &header);
    chunk(&mut file, b"IDAT", &pixels.finish()?);
    let padding = vec![b'p'; FILE_BYTES.saturating_sub(file.len() + REST)];
    chunk(&mut file, b"prVt", &padding);
    chunk(&mut file, b"IEND", &[]);
    Ok(file)
}

fn chunk(file: &mut Vec<u8>, name: &[u8; 4], data: &[u8]) {
    file.extend((data.len() as u32).to_be_bytes());
    file.extend(name);
    file.extend(data);
    let mut checksum = Crc::new();
    checksum.update(name);
    checksum.update(data);
    file.extend(checksum.sum().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_as_large_as_the_server_takes() {
        let file = png(64).unwrap();
        assert!(
            file.len() <= FILE_BYTES && file.len() > FILE_BYTES - REST,
            "{}",
            file.len()
        );
        assert!(file.ends_with(b"IEND\xae\x42\x60\x82"));
    }
}
