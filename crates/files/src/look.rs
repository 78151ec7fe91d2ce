//! What is found out of pictures while they are taken in.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use eddyline_pictures::{Bounds, Format, Packed, Unreadable, measure, unpack};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::{Error, aside};

/// The largest file of which a thumbnail is made, in bytes.
pub const MAX_DECODED_BYTES: u64 = 32 << 20;

/// The largest picture of which a thumbnail is made, in pixels. A picture is not given more than half
/// a gibibyte either, which some formats need for fewer pixels.
pub const MAX_DECODED_PIXELS: u64 = 40_000_000;

/// How many pixels a thumbnail is wide and high at most.
pub const THUMBNAIL_SIDE: u32 = 320;

const BOUNDS: Bounds = Bounds { side: 16_384, pixels: MAX_DECODED_PIXELS };

/// How many pictures are unpacked at once. Each may take a core and half a gibibyte.
const AT_ONCE: usize = 2;

/// The most pixels of a picture that is no large one. Screens and most cameras have fewer.
const USUAL_PIXELS: u64 = 12_500_000;

/// How long a picture waits for its turn. A file is not kept waiting longer for a thumbnail, whatever
/// others send.
const PATIENCE: Duration = Duration::from_secs(2);

/// A picture, as far as its file tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// In pixels, when it stands upright. Of a picture without a thumbnail this is what the file
    /// claims, and nobody has seen whether it is so.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// `None` for a picture that is too large to be unpacked, or that came when too many others were
    /// being unpacked.
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
        let Self { bytes, width, height, content_type } = self;
        write!(f, "Thumbnail({content_type}, {width} by {height}, {} bytes)", bytes.len())
    }
}

impl From<Packed> for Thumbnail {
    fn from(packed: Packed) -> Self {
        let Packed { content_type, bytes, width, height } = packed;
        Self { bytes: bytes.into(), width, height, content_type }
    }
}

/// Looks at files, at few at once.
#[derive(Clone)]
pub(crate) struct Decoding {
    turns: Arc<Semaphore>,
    /// Large pictures leave turns to others, since a few bytes can be one.
    large: Arc<Semaphore>,
}

impl Default for Decoding {
    fn default() -> Self {
        Self { turns: Arc::new(Semaphore::new(AT_ONCE)), large: Arc::new(Semaphore::new(AT_ONCE - 1)) }
    }
}

/// What is held while a picture is unpacked.
type Turn = (Option<OwnedSemaphorePermit>, OwnedSemaphorePermit);

impl Decoding {
    /// What kind of picture is in a file of so many bytes, if any, and what there is to say of it:
    /// nothing where it is damaged. The file is handed back.
    pub(crate) async fn look(
        &self,
        mut file: File,
        size: u64,
    ) -> Result<(File, Option<Format>, Option<Picture>), Error> {
        let (file, measured) = aside(move || {
            let measured = measure(&mut file)?;
            io::Result::Ok((file, measured))
        })
        .await??;
        let Some(measured) = measured else { return Ok((file, None, None)) };
        let format = Some(measured.format);
        let Some((width, height)) = measured.size else { return Ok((file, format, None)) };
        let claimed = Picture { width, height, thumbnail: None };
        let pixels = u64::from(width) * u64::from(height);
        if size > MAX_DECODED_BYTES || pixels > MAX_DECODED_PIXELS {
            return Ok((file, format, Some(claimed)));
        }
        let Ok(turn) = timeout(PATIENCE, self.turn(pixels)).await else {
            return Ok((file, format, Some(claimed)));
        };
        let (file, unpacked) = aside(move || {
            // Held also while nobody waits for the picture any more.
            let _turn = turn;
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

    async fn turn(&self, pixels: u64) -> Turn {
        let large = match pixels > USUAL_PIXELS {
            true => Some(Arc::clone(&self.large).acquire_owned().await.expect("nobody closes it")),
            false => None,
        };
        (large, Arc::clone(&self.turns).acquire_owned().await.expect("nobody closes it"))
    }
}

fn decode(mut file: File, size: u64) -> io::Result<(File, Result<Picture, Unreadable>)> {
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    file.seek(SeekFrom::Start(0))?;
    file.by_ref().take(size).read_to_end(&mut bytes)?;
    let unpacked = unpack(&bytes, BOUNDS);
    drop(bytes);
    let picture = unpacked.and_then(|pixels| {
        let (width, height) = pixels.size();
        Ok(Picture { width, height, thumbnail: Some(pixels.fit(THUMBNAIL_SIDE)?.into()) })
    });
    Ok((file, picture))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use image::{GrayImage, ImageFormat};

    use super::*;

    async fn looked_at(decoding: &Decoding, width: u32, height: u32) -> Picture {
        let mut file = tempfile::tempfile().expect("a file can be made");
        let mut bytes = io::Cursor::new(Vec::new());
        GrayImage::new(width, height)
            .write_to(&mut bytes, ImageFormat::Png)
            .expect("memory can be written to");
        file.write_all(bytes.get_ref()).expect("the file can be written to");
        let (_, format, picture) =
            decoding.look(file, bytes.get_ref().len() as u64).await.expect("the file can be read");
        assert_eq!(format, Some(Format::Png));
        let picture = picture.expect("it is a picture");
        assert_eq!((picture.width, picture.height), (width, height));
        picture
    }

    #[tokio::test]
    async fn a_picture_whose_turn_does_not_come_goes_without_a_thumbnail() {
        let decoding = Decoding::default();
        let turns = [decoding.turn(1).await, decoding.turn(1).await];
        assert!(looked_at(&decoding, 40, 30).await.thumbnail.is_none());
        drop(turns);
        assert!(looked_at(&decoding, 40, 30).await.thumbnail.is_some());
    }

    #[tokio::test]
    async fn large_pictures_leave_a_turn_to_others() {
        let decoding = Decoding::default();
        let large = decoding.turn(USUAL_PIXELS + 1).await;
        assert!(looked_at(&decoding, 5000, 4000).await.thumbnail.is_none());
        assert!(looked_at(&decoding, 40, 30).await.thumbnail.is_some());
        drop(large);
        assert!(looked_at(&decoding, 5000, 4000).await.thumbnail.is_some());
    }
}
