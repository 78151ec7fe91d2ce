//! What is found out of pictures while they are taken in.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

use bytes::Bytes;
use eddyline_pictures::{Bounds, Format, Packed, Unreadable, measure, unpack};

use crate::{Error, aside};

/// The largest file of which a thumbnail is made, in bytes.
pub const MAX_DECODED_BYTES: u64 = 32 << 20;

/// The largest picture of which a thumbnail is made, in pixels. A picture is not given more than
/// [`MAX_MEMORY`](eddyline_pictures::MAX_MEMORY) either, which some formats need for fewer pixels.
pub const MAX_DECODED_PIXELS: u64 = 40_000_000;

/// How many pixels a thumbnail is wide and high at most.
pub const THUMBNAIL_SIDE: u32 = 320;

const BOUNDS: Bounds = Bounds {
    side: 16_384,
    pixels: MAX_DECODED_PIXELS,
};

/// How often the bytes of a file are in memory while it is unpacked: as they are, and what a
/// decoder keeps.
const COPIES: u64 = 2;

/// A picture, as far as its file tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureInfo {
    /// In pixels, when it stands upright. Of a picture without a thumbnail this is what the file
    /// claims, and nobody has seen whether it is so.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// `None` for a picture that is too large to be unpacked, or for which there was no memory.
    pub thumbnail: Option<Thumbnail>,
}

/// A small picture of a picture. It holds pixels and nothing else of the file.
#[derive(Clone, PartialEq, Eq)]
pub struct Thumbnail {
    /// The file.
    pub bytes: Bytes,
    /// In pixels, from 1 to [`THUMBNAIL_SIDE`], and never more than the picture has.
    pub width: u32,
    /// In pixels; the same holds.
    pub height: u32,
    /// `image/png` for a picture with transparency, else `image/jpeg`.
    pub content_type: &'static str,
}

/// Without the bytes, which say nothing to a reader.
impl std::fmt::Debug for Thumbnail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            bytes,
            width,
            height,
            content_type,
        } = self;
        write!(
            f,
            "Thumbnail({content_type}, {width} by {height}, {} bytes)",
            bytes.len()
        )
    }
}

impl From<Packed> for Thumbnail {
    fn from(packed: Packed) -> Self {
        let Packed {
            content_type,
            bytes,
            width,
            height,
        } = packed;
        Self {
            bytes: bytes.into(),
            width,
            height,
            content_type,
        }
    }
}

/// What kind of picture is in a file of so many bytes, if any, and what there is to say of it:
/// nothing where it is damaged. The file is handed back.
///
/// `reserve` is asked for as many bytes of memory as making a thumbnail takes, and what it answers
/// is held until the thumbnail is made. Without an answer there is no thumbnail.
pub(crate) async fn look<R: Send + 'static>(
    mut file: File,
    size: u64,
    reserve: impl AsyncFnOnce(u64) -> Option<R>,
) -> Result<(File, Option<Format>, Option<PictureInfo>), Error> {
    let (file, measured) = aside(move || {
        let measured = measure(&mut file)?;
        io::Result::Ok((file, measured))
    })
    .await??;
    let Some(measured) = measured else {
        return Ok((file, None, None));
    };
    let format = Some(measured.format);
    let Some((width, height)) = measured.size else {
        return Ok((file, format, None));
    };
    let claimed = PictureInfo {
        width,
        height,
        thumbnail: None,
    };
    let needed = match measured.memory_needed(BOUNDS) {
        Ok(needed) if size <= MAX_DECODED_BYTES => needed + COPIES * size,
        _ => return Ok((file, format, Some(claimed))),
    };
    let Some(reserved) = reserve(needed).await else {
        return Ok((file, format, Some(claimed)));
    };
    let (file, unpacked) = aside(move || {
        // Held also when the request has ended meanwhile.
        let _reserved = reserved;
        decode(file, size)
    })
    .await??;
    let picture = match unpacked {
        Ok(picture) => Some(picture),
        Err(Unreadable::TooManyPixels | Unreadable::TooHeavy) => Some(claimed),
        // Its size is as wrong as the rest may be.
        Err(Unreadable::UnknownFormat | Unreadable::Damaged) => None,
    };
    Ok((file, format, picture))
}

fn decode(mut file: File, size: u64) -> io::Result<(File, Result<PictureInfo, Unreadable>)> {
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    file.seek(SeekFrom::Start(0))?;
    file.by_ref().take(size).read_to_end(&mut bytes)?;
    let unpacked = unpack(&bytes, BOUNDS);
    drop(bytes);
    let picture = unpacked.and_then(|pixels| {
        let (width, height) = pixels.size();
        Ok(PictureInfo {
            width,
            height,
            thumbnail: Some(pixels.fit(THUMBNAIL_SIDE)?.into()),
        })
    });
    Ok((file, picture))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use image::{GrayImage, ImageFormat};

    use super::*;

    /// Looks at a grey picture, for which `reserve` answers.
    async fn looked_at(
        width: u32,
        height: u32,
        reserve: impl AsyncFnOnce(u64) -> Option<()>,
    ) -> PictureInfo {
        let mut file = tempfile::tempfile().expect("a file can be made");
        let mut bytes = io::Cursor::new(Vec::new());
        GrayImage::new(width, height)
            .write_to(&mut bytes, ImageFormat::Png)
            .expect("memory can be written to");
        file.write_all(bytes.get_ref())
            .expect("the file can be written to");
        let (_, format, picture) = look(file, bytes.get_ref().len() as u64, reserve)
            .await
            .expect("the file can be read");
        assert_eq!(format, Some(Format::Png));
        let picture = picture.expect("it is a picture");
        assert_eq!((picture.width, picture.height), (width, height));
        picture
    }

    #[tokio::test]
    async fn a_picture_without_memory_goes_without_a_thumbnail() {
        assert!(looked_at(40, 30, async |_| None).await.thumbnail.is_none());
        assert!(
            looked_at(40, 30, async |_| Some(()))
                .await
                .thumbnail
                .is_some()
        );
    }

    #[tokio::test]
    async fn memory_is_asked_for_as_the_picture_is_large() {
        let asked = async |width, height| {
            let mut asked = 0;
            looked_at(width, height, async |bytes| {
                asked = bytes;
                None
            })
            .await;
            asked
        };
        let (small, large) = (asked(40, 30).await, asked(5000, 4000).await);
        assert!(small > 0 && large > small + 5000 * 4000, "{small} {large}");
    }
}
