//! From a file to its pixels, within bounds.
//!
//! A file says itself how large its picture is, and a few bytes can claim gigabytes. So the header
//! is read first, and a file is only unpacked when what that may take has been counted.

use std::io::Cursor;
use std::panic::catch_unwind;

use image::codecs::gif::GifDecoder;
use image::codecs::jpeg::JpegDecoder;
use image::codecs::png::PngDecoder;
use image::codecs::webp::WebPDecoder;
use image::metadata::Orientation;
use image::{ImageDecoder, ImageError, Limits};

use crate::memory::{Coding, PNG_MEMORY};
use crate::pixels::Pixels;
use crate::{Bounds, Format, Unreadable, jpeg, measure, webp};

/// Unpacks a file, unless what it claims is too much. The decoders are others' work, and strangers
/// choose what they are fed: a picture they stumble over must not end anything but itself.
pub(crate) fn unpack(bytes: &[u8], bounds: Bounds) -> Result<Pixels, Unreadable> {
    catch_unwind(|| {
        let (format, mut decoder) = open(bytes, bounds)?;
        // A picture that does not say how it was held is shown as it is.
        let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
        let (width, height) = decoder.dimensions();
        let colour = decoder.color_type();
        let size = usize::try_from(decoder.total_bytes()).map_err(|_| Unreadable::TooHeavy)?;
        let mut samples = vec![0; size];
        decoder.read_image_boxed(&mut samples).map_err(refusal)?;
        Ok(Pixels {
            format,
            width,
            height,
            colour,
            samples,
            orientation,
        })
    })
    .unwrap_or(Err(Unreadable::Damaged))
}

fn open(bytes: &[u8], bounds: Bounds) -> Result<(Format, Box<dyn ImageDecoder + '_>), Unreadable> {
    // Nothing is unpacked that would take more than its head made others reserve.
    let measured = measure(&mut Cursor::new(bytes)).map_err(|_| Unreadable::Damaged)?;
    let measured = measured.ok_or(Unreadable::UnknownFormat)?;
    let (format, most) = (measured.format, measured.memory_needed(bounds)?);
    let mut limits = Limits::no_limits();
    limits.max_image_width = Some(bounds.side);
    limits.max_image_height = Some(bounds.side);
    limits.max_alloc = Some(PNG_MEMORY);
    // The decoders allocate without asking, but for GIF's. So what they take at most was found by
    // reading them.
    let (mut decoder, memory): (Box<dyn ImageDecoder + '_>, u64) = match format {
        Format::Png => {
            let decoder =
                PngDecoder::with_limits(Cursor::new(bytes), limits.clone()).map_err(refusal)?;
            check_size(&decoder, bounds)?;
            let memory = decoder.total_bytes() + PNG_MEMORY;
            (Box::new(decoder), memory)
        }
        Format::Jpeg => {
            let mut plain = jpeg::plain(bytes)?;
            let file = Cursor::new(std::mem::take(&mut plain.bytes));
            let decoder = JpegDecoder::new(file).map_err(refusal)?;
            let pixels = check_size(&decoder, bounds)?;
            if plain.is_laborious(pixels) {
                return Err(Unreadable::Damaged);
            }
            let coding = if plain.has_scans() {
                Coding::JpegScans
            } else {
                Coding::JpegLines
            };
            (Box::new(decoder), coding.memory(pixels))
        }
        Format::Gif => {
            let decoder = GifDecoder::new(Cursor::new(bytes)).map_err(refusal)?;
            check_size(&decoder, bounds)?;
            let memory = decoder.total_bytes();
            (Box::new(decoder), memory)
        }
        Format::WebP => {
            let decoder = WebPDecoder::new(Cursor::new(webp::file(bytes))).map_err(refusal)?;
            let pixels = check_size(&decoder, bounds)?;
            let lossless = webp::check(bytes, decoder.dimensions())?;
            (Box::new(decoder), Coding::WebP { lossless }.memory(pixels))
        }
    };
    limits.max_alloc = Some(most.checked_sub(memory).ok_or(Unreadable::TooHeavy)?);
    decoder.set_limits(limits).map_err(refusal)?;
    Ok((format, decoder))
}

/// How many pixels a picture has, if it is not too wide or high and they are not too many.
fn check_size(decoder: &dyn ImageDecoder, bounds: Bounds) -> Result<u64, Unreadable> {
    let (width, height) = decoder.dimensions();
    let pixels = u64::from(width) * u64::from(height);
    if width > bounds.side || height > bounds.side || pixels > bounds.pixels {
        return Err(Unreadable::TooManyPixels);
    }
    if pixels == 0 {
        return Err(Unreadable::Damaged);
    }
    Ok(pixels)
}

fn refusal(error: ImageError) -> Unreadable {
    use image::error::LimitErrorKind;
    match error {
        ImageError::Limits(limit) if limit.kind() == LimitErrorKind::DimensionError => {
            Unreadable::TooManyPixels
        }
        ImageError::Limits(_) => Unreadable::TooHeavy,
        _ => Unreadable::Damaged,
    }
}
