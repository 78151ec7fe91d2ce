//! What the WebP decoder does not look at before it allocates.
//!
//! A WebP file is a list of chunks: a name, a length, and so many bytes. The decoder believes the
//! lengths; it unpacks a lossy frame before comparing its size with the canvas; and it makes as
//! many code tables as the file has. All of this can be seen in the chunks.

use crate::Unreadable;

/// The flag and the position of a frame, before its own chunks.
const FRAME_HEAD: usize = 16;

/// The file without what stands behind its end, so that nobody reads it.
pub(crate) fn file(bytes: &[u8]) -> &[u8] {
    let end = match bytes.get(4..8) {
        Some(&[a, b, c, d]) => (u32::from_le_bytes([a, b, c, d]) as usize).saturating_add(8),
        _ => 0,
    };
    &bytes[..end.min(bytes.len())]
}

/// How many bytes of one chunk may be code tables, at most. Refused are a file that ends before its
/// chunks do, and a frame larger than the canvas.
pub(crate) fn check(bytes: &[u8], canvas: (u32, u32)) -> Result<u64, Unreadable> {
    let mut lossless = 0;
    for chunk in Chunks(file(bytes).get(12..).unwrap_or_default()) {
        let (name, content) = chunk?;
        if name != b"ANMF" {
            lossless = lossless.max(check_frame(name, content, canvas)?);
            continue;
        }
        let mut follows_alpha = false;
        for chunk in Chunks(content.get(FRAME_HEAD..).unwrap_or_default()) {
            let (name, content) = chunk?;
            // The decoder takes for a lossy frame whatever follows the transparency.
            let name = if follows_alpha { b"VP8 " } else { name };
            lossless = lossless.max(check_frame(name, content, canvas)?);
            follows_alpha = name == b"ALPH";
        }
    }
    Ok(lossless)
}

/// How many bytes of a chunk may be code tables.
fn check_frame(name: &[u8; 4], content: &[u8], canvas: (u32, u32)) -> Result<u64, Unreadable> {
    if let (b"VP8 ", Some(&[w0, w1, h0, h1])) = (name, content.get(6..10)) {
        // The two highest bits say how to show it.
        let width = u16::from_le_bytes([w0, w1]) & 0x3fff;
        let height = u16::from_le_bytes([h0, h1]) & 0x3fff;
        if u32::from(width) > canvas.0 || u32::from(height) > canvas.1 {
            return Err(Unreadable::Damaged);
        }
    }
    Ok(if matches!(name, b"VP8L" | b"ALPH") {
        content.len() as u64
    } else {
        0
    })
}

/// The chunks of a file, by name and content.
struct Chunks<'a>(&'a [u8]);

impl<'a> Iterator for Chunks<'a> {
    type Item = Result<(&'a [u8; 4], &'a [u8]), Unreadable>;

    fn next(&mut self) -> Option<Self::Item> {
        let (name, rest) = self.0.split_first_chunk::<4>()?;
        let (length, rest) = rest.split_first_chunk::<4>()?;
        let length = u32::from_le_bytes(*length) as usize;
        let Some((content, rest)) = rest.split_at_checked(length) else {
            self.0 = &[];
            return Some(Err(Unreadable::Damaged));
        };
        // Odd chunks are filled up to even ones.
        self.0 = rest.get(length % 2..).unwrap_or_default();
        Some(Ok((name, content)))
    }
}
