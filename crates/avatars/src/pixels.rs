//! What happens to pixels between unpacking and packing.

use image::imageops::FilterType;
use image::metadata::Orientation;
use image::{ColorType, DynamicImage, GrayAlphaImage, GrayImage, ImageFormat, RgbImage, RgbaImage};

/// An unpacked picture.
pub(crate) struct Pixels {
    /// What the file was.
    pub(crate) format: ImageFormat,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) colour: ColorType,
    /// Line by line, of one byte or two of this machine's order each; never fewer than
    /// `width * height` pixels of `colour`.
    pub(crate) samples: Vec<u8>,
    /// How the picture must be turned to stand upright.
    pub(crate) orientation: Orientation,
}

impl Pixels {
    /// The square in the middle, with one byte to a sample. It is made in place, since a copy of a
    /// large picture is large.
    pub(crate) fn into_square(self) -> DynamicImage {
        let Self { width, height, colour, mut samples, .. } = self;
        let side = width.min(height);
        let pixel = usize::from(colour.bytes_per_pixel());
        let channels = usize::from(colour.channel_count());
        let line = width as usize * pixel;
        let left = ((width - side) / 2) as usize * pixel;
        let top = ((height - side) / 2) as usize;
        let length = side as usize * pixel;

        // What is written lies never behind what is yet to be read.
        let mut written = 0;
        for y in top..top + side as usize {
            let start = y * line + left;
            if pixel == channels {
                samples.copy_within(start..start + length, written);
                written += length;
            } else {
                for at in (start..start + length).step_by(2) {
                    samples[written] = high_byte([samples[at], samples[at + 1]]);
                    written += 1;
                }
            }
        }
        samples.truncate(written);

        let square = match channels {
            1 => GrayImage::from_raw(side, side, samples).map(DynamicImage::ImageLuma8),
            2 => GrayAlphaImage::from_raw(side, side, samples).map(DynamicImage::ImageLumaA8),
            3 => RgbImage::from_raw(side, side, samples).map(DynamicImage::ImageRgb8),
            _ => RgbaImage::from_raw(side, side, samples).map(DynamicImage::ImageRgba8),
        };
        square.expect("there is a byte for each sample of the square")
    }
}

/// A sample of 16 bits as one of 8.
fn high_byte(sample: [u8; 2]) -> u8 {
    ((u32::from(u16::from_ne_bytes(sample)) + 128) / 257) as u8
}

/// The square picture with at most this side; never enlarged.
pub(crate) fn shrink(mut picture: DynamicImage, side: u32) -> DynamicImage {
    if picture.width() <= side {
        return picture;
    }
    // Otherwise the colour that nobody sees would run out of the transparent parts.
    for_each_with_alpha(&mut picture, |colours, alpha| {
        for colour in colours {
            *colour = ((u32::from(*colour) * u32::from(alpha) + 127) / 255) as u8;
        }
    });
    let mut picture = picture.resize_exact(side, side, FilterType::CatmullRom);
    for_each_with_alpha(&mut picture, |colours, alpha| {
        for colour in colours {
            let whole = (u32::from(*colour) * 255 + u32::from(alpha) / 2).checked_div(u32::from(alpha));
            *colour = whole.unwrap_or(0).min(255) as u8;
        }
    });
    picture
}

/// Whether nothing can be seen through the picture.
pub(crate) fn is_opaque(picture: &DynamicImage) -> bool {
    let channels = usize::from(picture.color().channel_count());
    !picture.color().has_alpha()
        || picture.as_bytes().chunks_exact(channels).all(|pixel| pixel[channels - 1] == u8::MAX)
}

/// Calls with the colours and the alpha of each pixel, if the picture has any alpha.
fn for_each_with_alpha(picture: &mut DynamicImage, change: impl Fn(&mut [u8], u8)) {
    let (channels, samples): (usize, &mut [u8]) = match picture {
        DynamicImage::ImageLumaA8(picture) => (2, picture),
        DynamicImage::ImageRgba8(picture) => (4, picture),
        _ => return,
    };
    for pixel in samples.chunks_exact_mut(channels) {
        if let Some((alpha, colours)) = pixel.split_last_mut() {
            change(colours, *alpha);
        }
    }
}
