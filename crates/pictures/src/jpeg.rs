//! What the JPEG decoder is given of a file.
//!
//! The decoder goes through all segments of a file several times, and through the whole picture for
//! every scan, however many there are. Ten mebibytes of either keep it busy for minutes. So it gets
//! a file of only those segments that make up the picture, and no more of them than any encoder
//! writes.

use crate::Unreadable;

const BEGIN: u8 = 0xd8;
const END: u8 = 0xd9;
const SCAN: u8 = 0xda;
const ADOBE: u8 = 0xee;
const EXIF: u8 = 0xe1;

/// Tables for coding and quantization, in bytes. A careful encoder writes some hundreds for a scan.
const MAX_TABLES: usize = 64 * 1024;

/// How often a decoder may come by a pixel: 20 times for the largest pictures, which is twice as
/// often as usual, and up to [`MAX_SCANS`] for others.
const MAX_VISITS: u64 = 1 << 30;
const MAX_SCANS: u64 = 100;

/// A file of what is needed of another one.
pub(crate) struct Plain {
    pub(crate) bytes: Vec<u8>,
    scans: u64,
    /// The markers of its frames, each with the number of its components.
    frames: Vec<(u8, u8)>,
    /// The number of components in its first scan.
    first: Option<u8>,
}

impl Plain {
    /// Whether the decoder must keep all of the picture until it has seen several scans.
    pub(crate) fn has_scans(&self) -> bool {
        match self.frames[..] {
            [(0xc0 | 0xc1, components)] => self.scans > 1 || self.first != Some(components),
            _ => true,
        }
    }

    /// Whether a decoder has more to do than a picture of so many pixels is worth.
    pub(crate) fn is_laborious(&self, pixels: u64) -> bool {
        self.scans > MAX_SCANS || self.scans * pixels > MAX_VISITS
    }
}

/// Copies what is needed of a file: one that ends early as far as it goes, and nothing of what
/// stands behind its end, where some telephones put a film.
pub(crate) fn plain(file: &[u8]) -> Result<Plain, Unreadable> {
    let mut plain = Plain {
        bytes: vec![0xff, BEGIN],
        scans: 0,
        frames: Vec::new(),
        first: None,
    };
    let mut tables = 0;
    let mut only_once = Vec::new();
    let mut rest = file;
    while let Some((marker, content, after)) = segment(rest) {
        rest = after;
        match marker {
            // The ways to code a picture, with their tables among them.
            0xc0..=0xcf | 0xdb | 0xdd => {
                if matches!(marker, 0xc4 | 0xcc | 0xdb | 0xdd) {
                    tables += content.len();
                } else {
                    // Behind its length, precision, height and width.
                    plain
                        .frames
                        .push((marker, content.get(7).copied().unwrap_or_default()));
                }
            }
            SCAN => {
                plain.scans += 1;
                plain.first = plain.first.or(content.get(2).copied());
            }
            // Which colours the components are, and how the picture was held.
            ADOBE | EXIF if is_needed(marker, content) && !only_once.contains(&marker) => {
                only_once.push(marker);
            }
            END => break,
            _ => continue,
        }
        if tables > MAX_TABLES {
            return Err(Unreadable::Damaged);
        }
        plain.bytes.extend([0xff, marker]);
        plain.bytes.extend(content);
        if marker == SCAN {
            let (codes, after) = rest.split_at(codes(rest));
            plain.bytes.extend(codes);
            rest = after;
        }
    }
    plain.bytes.extend([0xff, END]);
    Ok(plain)
}

/// The next marker, what belongs to it from its length on, and what follows.
fn segment(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let mut rest = bytes;
    let marker = loop {
        let at = rest.iter().position(|byte| *byte == 0xff)?;
        rest = &rest[at + 1..];
        match rest.first()? {
            // Not a marker, and a byte to fill up before one.
            0x00 | 0xff => {}
            marker => break *marker,
        }
    };
    rest = &rest[1..];
    if matches!(marker, 0x01 | 0xd0..=END) {
        return Some((marker, &[], rest));
    }
    let length = u16::from_be_bytes(*rest.first_chunk()?);
    let (content, after) = rest.split_at_checked(length.max(2).into())?;
    Some((marker, content, after))
}

fn is_needed(marker: u8, content: &[u8]) -> bool {
    let name: &[u8] = if marker == ADOBE {
        b"Adobe"
    } else {
        b"Exif\0\0"
    };
    content
        .get(2..)
        .is_some_and(|content| content.starts_with(name))
}

/// How many bytes the codes of a scan are long: up to the next marker that is none of their own.
fn codes(bytes: &[u8]) -> usize {
    let is_end = |pair: &[u8]| pair[0] == 0xff && !matches!(pair[1], 0x00 | 0xd0..=0xd7);
    bytes.windows(2).position(is_end).unwrap_or(bytes.len())
}
