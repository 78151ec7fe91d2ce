//! How much memory unpacking a picture takes.

use crate::{Bounds, Format, Unreadable};

const MIB: u64 = 1024 * 1024;

/// The most bytes of memory that unpacking one picture takes: 192 MiB. A picture that needs more is
/// refused.
pub const MAX_MEMORY: u64 = 192 * MIB;

/// What the PNG decoder may take beside the pixels: for a packed colour profile, and single lines.
pub(crate) const PNG_MEMORY: u64 = 32 * MIB;

/// What decoders take beside the pixels for lines, blocks and metadata.
const OTHER_MEMORY: u64 = 8 * MIB;

/// Bytes for each pixel of a JPEG whose components come together: three colours, line by line.
const JPEG_BYTES: u64 = 3;

/// Bytes for each pixel of a JPEG that comes in several scans: beside the colours, four components
/// of two bytes that are kept until the last scan.
const JPEG_SCANS_BYTES: u64 = 11;

/// What any JPEG is given, so that a small one may come in scans of which its head does not tell.
const SMALL_JPEG_MEMORY: u64 = 64 * MIB;

/// What the code tables of a lossless WebP frame take for each byte of it, at most. The worst is a
/// code of 2,048 words one bit longer than the decoder's table: 68 KiB from 130 bytes.
const TABLES_PER_BYTE: u64 = 550;

/// What a decoder needs for a picture, by what the head of its file says of the coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    /// PNG, whose pixels become so many bytes.
    Png { bytes_per_pixel: u64 },
    /// JPEG that may be unpacked line by line.
    JpegLines,
    /// JPEG that comes in several scans, all of which are needed for the first line.
    JpegScans,
    /// GIF.
    Gif,
    /// WebP with a lossless frame or transparency of at most so many bytes.
    WebP { lossless: u64 },
}

impl Coding {
    /// What the decoder takes at most for so many pixels.
    pub(crate) fn memory(self, pixels: u64) -> u64 {
        let (each, other) = match self {
            Self::Png { bytes_per_pixel } => (bytes_per_pixel, PNG_MEMORY),
            Self::JpegLines => (JPEG_BYTES, OTHER_MEMORY),
            Self::JpegScans => (JPEG_SCANS_BYTES, OTHER_MEMORY),
            // The picture, and a frame that does not begin at its left side.
            Self::Gif => (8, OTHER_MEMORY),
            // The canvas, a frame, its transparency, and the result, of four bytes each.
            Self::WebP { lossless } => {
                (16, lossless.saturating_mul(TABLES_PER_BYTE) + OTHER_MEMORY)
            }
        };
        pixels.saturating_mul(each).saturating_add(other)
    }
}

/// Format, size and coding of a picture, read from the head of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// What the file is.
    pub format: Format,
    /// Width and height in pixels, as the picture is shown; `None` when the head of the file is
    /// damaged. A JPEG that was taken with the camera on its side is measured upright; the other
    /// formats tell of turning behind the pixels, if ever.
    pub size: Option<(u32, u32)>,
    /// What it takes to unpack it.
    pub(crate) coding: Coding,
}

impl Measured {
    /// How many bytes of memory unpacking takes at most. [`unpack`](crate::unpack) is held to it.
    ///
    /// # Errors
    ///
    /// [`Unreadable::TooManyPixels`], [`Unreadable::TooHeavy`] for more than [`MAX_MEMORY`], and
    /// [`Unreadable::Damaged`] when the head of the file does not say how large the picture is.
    pub fn memory_needed(&self, bounds: Bounds) -> Result<u64, Unreadable> {
        let (width, height) = self.size.ok_or(Unreadable::Damaged)?;
        let pixels = u64::from(width) * u64::from(height);
        if width > bounds.side || height > bounds.side || pixels > bounds.pixels {
            return Err(Unreadable::TooManyPixels);
        }
        let needed = match self.coding {
            Coding::JpegLines => {
                let in_scans = Coding::JpegScans.memory(pixels).min(SMALL_JPEG_MEMORY);
                Coding::JpegLines.memory(pixels).max(in_scans)
            }
            coding => coding.memory(pixels),
        };
        if needed > MAX_MEMORY {
            Err(Unreadable::TooHeavy)
        } else {
            Ok(needed)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;

    const BOUNDS: Bounds = Bounds {
        side: 20_000,
        pixels: 1 << 40,
    };

    fn needed(coding: Coding, width: u32, height: u32) -> Result<u64, Unreadable> {
        Measured {
            format: Format::Png,
            size: Some((width, height)),
            coding,
        }
        .memory_needed(BOUNDS)
    }

    #[test]
    fn what_a_picture_needs_follows_from_its_coding() {
        let png = Coding::Png { bytes_per_pixel: 4 };
        assert_eq!(needed(png, 1000, 1000), Ok(4_000_000 + 32 * MIB));
        assert_eq!(
            needed(Coding::JpegScans, 1000, 1000),
            Ok(11_000_000 + 8 * MIB)
        );
        assert_eq!(
            needed(Coding::JpegLines, 1000, 1000),
            needed(Coding::JpegScans, 1000, 1000)
        );
        assert_eq!(
            needed(Coding::JpegLines, 10_000, 4000),
            Ok(120_000_000 + 8 * MIB)
        );
        assert_eq!(needed(Coding::Gif, 1000, 1000), Ok(8_000_000 + 8 * MIB));
        let webp = Coding::WebP { lossless: 1000 };
        assert_eq!(needed(webp, 1000, 1000), Ok(16_000_000 + 550_000 + 8 * MIB));
    }

    #[test]
    fn a_picture_that_needs_more_than_one_picture_may_is_refused() {
        let png = Coding::Png { bytes_per_pixel: 4 };
        assert_eq!(needed(png, 10_240, 4096), Ok(MAX_MEMORY));
        assert_eq!(needed(png, 10_240, 4097), Err(Unreadable::TooHeavy));
        assert_eq!(
            needed(
                Coding::WebP {
                    lossless: u64::MAX / 600
                },
                1,
                1
            ),
            Err(Unreadable::TooHeavy)
        );
    }

    #[test]
    fn a_picture_beyond_the_bounds_is_refused_before_its_memory_is_counted() {
        let measured = Measured {
            format: Format::Gif,
            size: Some((101, 100)),
            coding: Coding::Gif,
        };
        let needed = |side, pixels| measured.memory_needed(Bounds { side, pixels }).map(drop);
        assert_eq!(needed(101, 10_100), Ok(()));
        assert_eq!(needed(100, 10_100), Err(Unreadable::TooManyPixels));
        assert_eq!(needed(101, 10_099), Err(Unreadable::TooManyPixels));
        let unknown = Measured {
            size: None,
            ..measured
        };
        assert_eq!(unknown.memory_needed(BOUNDS), Err(Unreadable::Damaged));
    }
}
