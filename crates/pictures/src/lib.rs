#![doc = include_str!("../README.md")]

mod jpeg;
mod measure;
mod memory;
mod pixels;
mod unpack;
mod webp;

use std::fmt;

use image::metadata::Orientation;

pub use measure::measure;
pub use memory::MAX_MEMORY;
pub use memory::Measured;
pub use pixels::Pixels;

/// The formats there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Portable Network Graphics.
    Png,
    /// JPEG, in a JFIF or EXIF file.
    Jpeg,
    /// GIF, still or moving.
    Gif,
    /// WebP, still or moving.
    WebP,
}

impl Format {
    /// The media type.
    #[must_use]
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::WebP => "image/webp",
        }
    }
}

/// What a file is, by its first bytes; 12 are enough. `None` for anything that is not a picture of
/// one of the formats.
#[must_use]
pub fn sniff(head: &[u8]) -> Option<Format> {
    match head {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Format::Png),
        [0xff, 0xd8, 0xff, ..] => Some(Format::Jpeg),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Format::Gif),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => Some(Format::WebP),
        _ => None,
    }
}

/// How large a picture may be to be unpacked. Beside this, unpacking takes at most [`MAX_MEMORY`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The widest and the highest, in pixels.
    pub side: u32,
    /// How many pixels in all.
    pub pixels: u64,
}

/// Unpacks a PNG, JPEG, GIF or WebP picture, known by its content; of a moving one the first frame.
/// A colour profile is dropped like all other metadata, and the colours are taken as sRGB.
///
/// # Errors
///
/// [`Unreadable`] says why not; no file makes this panic, or take more memory than
/// [`Measured::memory_needed`] says.
pub fn unpack(bytes: &[u8], bounds: Bounds) -> Result<Pixels, Unreadable> {
    unpack::unpack(bytes, bounds)
}

/// Why a picture was not unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It does not begin like any of the formats, whatever its name says.
    #[error("not a PNG, JPEG, GIF or WebP picture")]
    UnknownFormat,
    /// It is wider or higher than its [`Bounds`], or has more pixels.
    #[error("too many pixels")]
    TooManyPixels,
    /// Unpacking it could take more memory than one picture is given.
    #[error("takes too much memory to unpack")]
    TooHeavy,
    /// It begins like one of the formats and does not go on like it, ends early, or is of a kind
    /// that hardly anything writes, such as JPEG of 12 bits.
    #[error("damaged, or of a rare kind")]
    Damaged,
}

/// A small picture, ready to be stored and served.
#[derive(Clone, PartialEq, Eq)]
pub struct Packed {
    /// `image/png` for a picture with transparency, else `image/jpeg`.
    pub content_type: &'static str,
    /// The file. It holds pixels and no metadata.
    pub bytes: Vec<u8>,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
}

/// Without the bytes, which say nothing to a reader.
impl fmt::Debug for Packed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            content_type,
            bytes,
            width,
            height,
        } = self;
        write!(
            f,
            "Packed({content_type}, {width} by {height}, {} bytes)",
            bytes.len()
        )
    }
}

/// Whether width and height change places when the picture is turned upright.
fn is_on_its_side(orientation: Orientation) -> bool {
    matches!(
        orientation,
        Orientation::Rotate90
            | Orientation::Rotate270
            | Orientation::Rotate90FlipH
            | Orientation::Rotate270FlipH
    )
}
