//! Pictures that somebody uploaded.
//!
//! What is kept is never what was uploaded: a picture is unpacked to its pixels and packed again,
//! so that nothing else of the file is left.

use std::fmt;
use std::io::Cursor;

use eddyline_pictures::{Bounds, Format, Packed, Pixels, Unreadable, measure};

use crate::{SIDES, side_near};

/// The largest file taken, in bytes: 5 MiB.
pub const MAX_UPLOAD_BYTES: usize = 5 * 1024 * 1024;

/// The most bytes of the file that [`accept`] makes.
pub const MAX_KEPT_BYTES: usize = 256 * 1024;

/// The sides that are tried in turn for a picture that does not pack well. The last fits without
/// packing.
const SMALLER_SIDES: [u32; 4] = [384, 256, 192, 128];

/// The widest and highest picture taken, in pixels.
pub const MAX_UPLOAD_SIDE: u32 = 8192;

const BOUNDS: Bounds = Bounds {
    side: MAX_UPLOAD_SIDE,
    pixels: MAX_UPLOAD_SIDE as u64 * MAX_UPLOAD_SIDE as u64,
};

/// Why a picture was refused, in words for who uploaded it. They go on after "The picture".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It has more than [`MAX_UPLOAD_BYTES`].
    #[error("is too large: the maximum is 5 MiB")]
    TooManyBytes,
    /// It does not begin like any of the formats, whatever its name says.
    #[error("is not a PNG, JPEG, GIF or WebP picture")]
    UnknownFormat,
    /// It is wider or higher than [`MAX_UPLOAD_SIDE`].
    #[error("is too large: at most {MAX_UPLOAD_SIDE} by {MAX_UPLOAD_SIDE} pixels are taken")]
    TooManyPixels,
    /// Unpacking it could take more memory than one picture is given.
    #[error("takes too much memory to unpack: save it with fewer pixels, or as JPEG")]
    TooHeavy,
    /// It begins like one of the formats and does not go on like it, ends early, or is of a kind
    /// that hardly anything writes, such as JPEG of 12 bits.
    #[error("cannot be read: it is damaged, or of a rare kind")]
    Damaged,
}

/// A square picture of a user, ready to be stored and served.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    /// `image/png` for a picture with transparency, else `image/jpeg`.
    pub content_type: &'static str,
    /// The file. It holds pixels and no metadata.
    pub bytes: Vec<u8>,
    /// How many pixels it is wide and high: at least 1, at most the largest of [`SIDES`].
    pub side: u32,
}

impl Picture {
    /// The same picture in another size, as [`scale`] makes it.
    ///
    /// # Errors
    ///
    /// As [`scale`].
    pub fn scaled(&self, side: u32) -> Result<Self, Refused> {
        scale(&self.bytes, side)
    }
}

/// Without the bytes, which say nothing to a reader.
impl fmt::Debug for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Picture")
            .field("content_type", &self.content_type)
            .field("bytes", &format_args!("{} bytes", self.bytes.len()))
            .field("side", &self.side)
            .finish()
    }
}

/// How many bytes of memory [`accept`] takes at most beside the file.
///
/// # Errors
///
/// Those of [`accept`] that follow from the head of the file.
pub fn memory_needed(bytes: &[u8]) -> Result<u64, Refused> {
    check_length(bytes)?;
    // Memory can always be read.
    let measured = measure(&mut Cursor::new(bytes)).map_err(|_| Refused::Damaged)?;
    Ok(measured
        .ok_or(Refused::UnknownFormat)?
        .memory_needed(BOUNDS)?)
}

/// Makes a user's picture of an uploaded file: the square in its middle, turned upright, and at
/// most as large as the largest of [`SIDES`], or smaller where it would have more than
/// [`MAX_KEPT_BYTES`]. Smaller ones are not enlarged.
///
/// Taken are PNG, JPEG, GIF and WebP, known by their content; of moving pictures the first frame. A
/// colour profile is dropped like all other metadata, and the colours are taken as sRGB.
///
/// # Errors
///
/// [`Refused`] when the file is none of these formats, is damaged, or needs more memory or has more
/// pixels than the bounds of this crate allow.
pub fn accept(bytes: &[u8]) -> Result<Picture, Refused> {
    let mut picture = pack(unpack(bytes)?, *SIDES.end())?;
    for side in SMALLER_SIDES {
        if picture.bytes.len() <= MAX_KEPT_BYTES {
            break;
        }
        picture = picture.scaled(side)?;
    }
    Ok(picture)
}

/// Makes a small square of a picture from elsewhere, on white: at most `side` pixels a side, of
/// which the nearest of [`SIDES`] is taken. It is always a JPEG file of its own. The bounds are
/// those of [`accept`].
///
/// # Errors
///
/// As [`accept`].
pub fn shrink(bytes: &[u8], side: u32) -> Result<Picture, Refused> {
    Ok(unpack(bytes)?.opaque_square(side_near(side))?.into())
}

/// Another size of a picture that [`accept`] made, from its stored bytes. `side` is a hint: the
/// nearest of [`SIDES`] is taken, and a picture is never enlarged, so that one which is small
/// already comes back as it is.
///
/// Bytes from elsewhere are treated like an upload, but keep their metadata when they come back as
/// they are.
///
/// # Errors
///
/// As [`accept`].
pub fn scale(bytes: &[u8], side: u32) -> Result<Picture, Refused> {
    let side = side_near(side);
    let pixels = unpack(bytes)?;
    let content_type = match pixels.format() {
        format @ (Format::Png | Format::Jpeg) => Some(format.content_type()),
        _ => None,
    };
    let (width, height) = pixels.stored_size();
    match content_type {
        // Packing a JPEG again would blur it.
        Some(content_type) if width == height && width <= side => Ok(Picture {
            content_type,
            bytes: bytes.to_vec(),
            side: width,
        }),
        _ => pack(pixels, side),
    }
}

fn unpack(bytes: &[u8]) -> Result<Pixels, Refused> {
    check_length(bytes)?;
    Ok(eddyline_pictures::unpack(bytes, BOUNDS)?)
}

fn check_length(bytes: &[u8]) -> Result<(), Refused> {
    if bytes.len() > MAX_UPLOAD_BYTES {
        Err(Refused::TooManyBytes)
    } else {
        Ok(())
    }
}

fn pack(pixels: Pixels, side: u32) -> Result<Picture, Refused> {
    Ok(pixels.square(side)?.into())
}

impl From<Packed> for Picture {
    fn from(packed: Packed) -> Self {
        Self {
            content_type: packed.content_type,
            bytes: packed.bytes,
            side: packed.width,
        }
    }
}

impl From<Unreadable> for Refused {
    fn from(unreadable: Unreadable) -> Self {
        match unreadable {
            Unreadable::UnknownFormat => Self::UnknownFormat,
            Unreadable::TooManyPixels => Self::TooManyPixels,
            Unreadable::TooHeavy => Self::TooHeavy,
            Unreadable::Damaged => Self::Damaged,
        }
    }
}
