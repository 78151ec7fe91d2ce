//! What is found out of pictures while they are taken in.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::sync::Arc;

use bytes::Bytes;
use eddyline_pictures::{Bounds, Format, Packed, measure, unpack};
use tokio::sync::Semaphore;

use crate::{Error, aside};

/// The largest file of which a thumbnail is made, in bytes.
pub const MAX_DECODED_BYTES: u64 = 32 << 20;

/// The largest picture of which a thumbnail is made, in pixels. A picture is not given more than half
/// a gibibyte either, which some formats need for fewer pixels.
pub const MAX_DECODED_PIXELS: u64 = 50_000_000;

/// How many pixels a thumbnail is wide and high at most.
pub const THUMBNAIL_SIDE: u32 = 320;

const BOUNDS: Bounds = Bounds { side: 16_384, pixels: MAX_DECODED_PIXELS };

/// How many pictures are unpacked at once. Each may take a core and half a gibibyte.
const AT_ONCE: usize = 2;

/// A picture, as far as its file tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// In pixels, when it stands upright. Of a picture without a thumbnail this is what the file
    /// claims.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// `None` for a picture that is too large to be unpacked, or damaged.
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
pub(crate) struct Decoding(Arc<Semaphore>);

impl Default for Decoding {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE)))
    }
}

impl Decoding {
    /// What kind of picture is in a file of so many bytes, if any, and what there is to say of it. The
    /// file is handed back.
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
        if size > MAX_DECODED_BYTES || u64::from(width) * u64::from(height) > MAX_DECODED_PIXELS {
            return Ok((file, format, Some(claimed)));
        }
        let turn = Arc::clone(&self.0).acquire_owned().await.expect("nobody closes it");
        let (file, unpacked) = aside(move || {
            // Held also while nobody waits for the picture any more.
            let _turn = turn;
            decode(file, size)
        })
        .await??;
        Ok((file, format, Some(unpacked.unwrap_or(claimed))))
    }
}

fn decode(mut file: File, size: u64) -> io::Result<(File, Option<Picture>)> {
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    file.seek(SeekFrom::Start(0))?;
    file.by_ref().take(size).read_to_end(&mut bytes)?;
    let pixels = unpack(&bytes, BOUNDS);
    drop(bytes);
    let picture = pixels.ok().map(|pixels| {
        let (width, height) = pixels.size();
        Picture { width, height, thumbnail: Some(pixels.fit(THUMBNAIL_SIDE).into()) }
    });
    Ok((file, picture))
}
