//! What happens to pixels between unpacking and packing.

use std::fmt;
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::metadata::Orientation;
use image::{ColorType, DynamicImage, GrayAlphaImage, GrayImage, ImageFormat, RgbImage, RgbaImage};

use crate::{Format, Packed, Unreadable};

/// Of 100. Small pictures look no better above it.
const JPEG_QUALITY: u8 = 85;

/// How many times smaller a picture is made with care. What is larger is brought near that by plain
/// averages first, which take half the time and leave nothing to see of it.
const CAREFUL: u32 = 4;

/// An unpacked picture. It holds all its pixels in memory.
pub struct Pixels {
    pub(crate) format: Format,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) colour: ColorType,
    /// Line by line, of one byte or two of this machine's order each; never fewer than
    /// `width * height` pixels of `colour`.
    pub(crate) samples: Vec<u8>,
    /// How the picture must be turned to stand upright.
    pub(crate) orientation: Orientation,
}

/// Lines and columns that are kept of a picture.
struct Window {
    left: u32,
    top: u32,
    width: u32,
    height: u32,
}

impl Pixels {
    /// What the file was.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Width and height in pixels as the file has them, before anything is turned.
    #[must_use]
    pub fn stored_size(&self) -> (u32, u32) {
        (self.width, self.height)
    }

    /// Width and height in pixels of the picture when it stands upright.
    #[must_use]
    pub fn size(&self) -> (u32, u32) {
        if crate::is_on_its_side(self.orientation) {
            (self.height, self.width)
        } else {
            (self.width, self.height)
        }
    }

    /// The square in the middle, at most so many pixels wide and high, upright; never enlarged.
    ///
    /// # Errors
    ///
    /// [`Unreadable::Damaged`] for a picture that scaling and packing stumble over.
    pub fn square(self, side: u32) -> Result<Packed, Unreadable> {
        self.squared(side, |picture| picture)
    }

    /// The same on white, so that nothing can be seen through it.
    ///
    /// # Errors
    ///
    /// As for [`Pixels::square`].
    pub fn opaque_square(self, side: u32) -> Result<Packed, Unreadable> {
        self.squared(side, on_white)
    }

    fn squared(
        self,
        side: u32,
        finish: impl Fn(DynamicImage) -> DynamicImage,
    ) -> Result<Packed, Unreadable> {
        let whole = self.width.min(self.height);
        let window = Window {
            left: (self.width - whole) / 2,
            top: (self.height - whole) / 2,
            width: whole,
            height: whole,
        };
        let side = side.clamp(1, whole);
        // Turning a square leaves the middle in the middle.
        self.packed(&window, side, side, finish)
    }

    /// The whole picture, upright, so small that it is at most so many pixels wide and high; never
    /// enlarged, and never less than a pixel.
    ///
    /// # Errors
    ///
    /// [`Unreadable::Damaged`], as for [`Pixels::square`].
    pub fn fit(self, side: u32) -> Result<Packed, Unreadable> {
        let window = Window {
            left: 0,
            top: 0,
            width: self.width,
            height: self.height,
        };
        let longest = window.width.max(window.height);
        let scaled = |length: u32| {
            let length =
                (u64::from(length) * u64::from(side) + u64::from(longest) / 2) / u64::from(longest);
            u32::try_from(length).unwrap_or(side).max(1)
        };
        let (width, height) = if longest <= side {
            (window.width, window.height)
        } else {
            (scaled(window.width), scaled(window.height))
        };
        self.packed(&window, width, height, |picture| picture)
    }

    fn packed(
        self,
        window: &Window,
        width: u32,
        height: u32,
        finish: impl Fn(DynamicImage) -> DynamicImage,
    ) -> Result<Packed, Unreadable> {
        // Nothing of the picture is left when it goes wrong.
        catch_unwind(AssertUnwindSafe(|| {
            let orientation = self.orientation;
            let mut picture = shrink(self.into_image(window), width, height);
            // A small picture is turned fast.
            picture.apply_orientation(orientation);
            pack(finish(picture))
        }))
        .map_err(|_| Unreadable::Damaged)
    }

    /// What is seen through the window, with one byte to a sample. It is made in place, since a
    /// copy of a large picture is large.
    fn into_image(self, window: &Window) -> DynamicImage {
        let Self {
            width,
            colour,
            mut samples,
            ..
        } = self;
        let pixel = usize::from(colour.bytes_per_pixel());
        let channels = usize::from(colour.channel_count());
        let line = width as usize * pixel;
        let left = window.left as usize * pixel;
        let top = window.top as usize;
        let length = window.width as usize * pixel;

        // What is written lies never behind what is yet to be read.
        let mut written = 0;
        for y in top..top + window.height as usize {
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

        let (width, height) = (window.width, window.height);
        let image = match channels {
            1 => GrayImage::from_raw(width, height, samples).map(DynamicImage::ImageLuma8),
            2 => GrayAlphaImage::from_raw(width, height, samples).map(DynamicImage::ImageLumaA8),
            3 => RgbImage::from_raw(width, height, samples).map(DynamicImage::ImageRgb8),
            _ => RgbaImage::from_raw(width, height, samples).map(DynamicImage::ImageRgba8),
        };
        image.expect("there is a byte for each sample of the window")
    }
}

/// Without the pixels, which say nothing to a reader.
impl fmt::Debug for Pixels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            format,
            width,
            height,
            ..
        } = self;
        write!(f, "Pixels({format:?}, {width} by {height})")
    }
}

fn pack(picture: DynamicImage) -> Packed {
    let (width, height) = (picture.width(), picture.height());
    let mut bytes = Vec::new();
    let content_type = if is_opaque(&picture) {
        // A photograph is several times smaller as JPEG, and few pictures are anything else.
        let encoder = JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY);
        without_alpha(picture)
            .write_with_encoder(encoder)
            .map(|()| "image/jpeg")
    } else {
        let mut file = Cursor::new(&mut bytes);
        picture
            .write_to(&mut file, ImageFormat::Png)
            .map(|()| "image/png")
    };
    let content_type =
        content_type.expect("memory can be written to, and both formats hold small pictures");
    Packed {
        content_type,
        bytes,
        width,
        height,
    }
}

fn without_alpha(picture: DynamicImage) -> DynamicImage {
    match picture {
        DynamicImage::ImageLuma8(_) | DynamicImage::ImageRgb8(_) => picture,
        DynamicImage::ImageLumaA8(_) => DynamicImage::ImageLuma8(picture.into_luma8()),
        _ => DynamicImage::ImageRgb8(picture.into_rgb8()),
    }
}

/// A sample of 16 bits as one of 8.
fn high_byte(sample: [u8; 2]) -> u8 {
    ((u32::from(u16::from_ne_bytes(sample)) + 128) / 257) as u8
}

/// The picture in another size.
fn shrink(mut picture: DynamicImage, width: u32, height: u32) -> DynamicImage {
    if (picture.width(), picture.height()) == (width, height) {
        return picture;
    }
    // Otherwise the colour that nobody sees would run out of the transparent parts.
    for_each_with_alpha(&mut picture, |colours, alpha| {
        for colour in colours {
            *colour = ((u32::from(*colour) * u32::from(alpha) + 127) / 255) as u8;
        }
    });
    if picture.width() / width >= 2 * CAREFUL && picture.height() / height >= 2 * CAREFUL {
        picture = picture.thumbnail_exact(width * CAREFUL, height * CAREFUL);
    }
    let mut picture = picture.resize_exact(width, height, FilterType::CatmullRom);
    for_each_with_alpha(&mut picture, |colours, alpha| {
        for colour in colours {
            let whole =
                (u32::from(*colour) * 255 + u32::from(alpha) / 2).checked_div(u32::from(alpha));
            *colour = whole.unwrap_or(0).min(255) as u8;
        }
    });
    picture
}

/// The picture with white behind it.
fn on_white(mut picture: DynamicImage) -> DynamicImage {
    for_each_with_alpha(&mut picture, |colours, alpha| {
        let (alpha, white) = (u32::from(alpha), u32::from(u8::MAX - alpha) * 255);
        for colour in colours {
            *colour = ((u32::from(*colour) * alpha + white + 127) / 255) as u8;
        }
    });
    without_alpha(picture)
}

/// Whether nothing can be seen through the picture.
fn is_opaque(picture: &DynamicImage) -> bool {
    let channels = usize::from(picture.color().channel_count());
    !picture.color().has_alpha()
        || picture
            .as_bytes()
            .chunks_exact(channels)
            .all(|pixel| pixel[channels - 1] == u8::MAX)
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

#[cfg(test)]
mod tests {
    use image::{Rgb, Rgba};

    use super::*;
    use crate::{Bounds, unpack};

    const BOUNDS: Bounds = Bounds {
        side: 10_000,
        pixels: 1_000_000,
    };

    fn unpacked(picture: impl Into<DynamicImage>) -> Pixels {
        let mut file = Cursor::new(Vec::new());
        picture
            .into()
            .write_to(&mut file, ImageFormat::Png)
            .expect("memory can be written to");
        unpack(file.get_ref(), BOUNDS).expect("it is whole")
    }

    fn fitted(width: u32, height: u32, side: u32) -> (u32, u32) {
        let packed = unpacked(RgbImage::new(width, height))
            .fit(side)
            .expect("it is whole");
        let found = image::load_from_memory(&packed.bytes).expect("it is whole");
        assert_eq!(
            (found.width(), found.height()),
            (packed.width, packed.height)
        );
        (packed.width, packed.height)
    }

    #[test]
    fn a_picture_is_made_to_fit_and_never_enlarged() {
        assert_eq!(fitted(640, 320, 320), (320, 160));
        assert_eq!(fitted(320, 640, 320), (160, 320));
        assert_eq!(fitted(500, 333, 320), (320, 213));
        assert_eq!(fitted(320, 320, 320), (320, 320));
        assert_eq!(fitted(20, 10, 320), (20, 10));
    }

    #[test]
    fn a_line_stays_a_pixel_thick() {
        assert_eq!(fitted(5000, 1, 320), (320, 1));
        assert_eq!(fitted(1, 5000, 320), (1, 320));
    }

    #[test]
    fn the_whole_picture_is_kept() {
        let left_red = RgbImage::from_fn(900, 100, |x, _| {
            if x < 450 {
                Rgb([200, 0, 0])
            } else {
                Rgb([0, 0, 200])
            }
        });
        let packed = unpacked(left_red).fit(90).expect("it is whole");
        let found = image::load_from_memory(&packed.bytes)
            .expect("it is whole")
            .to_rgb8();
        assert_eq!(found.dimensions(), (90, 10));
        let (left, right) = (found.get_pixel(2, 5), found.get_pixel(87, 5));
        assert!(
            left[0] > 180 && left[2] < 20 && right[0] < 20 && right[2] > 180,
            "{left:?} {right:?}"
        );
    }

    #[test]
    fn what_is_transparent_stays_so() {
        let packed = |picture: DynamicImage| unpacked(picture).fit(320).expect("it is whole");
        assert_eq!(
            packed(RgbaImage::new(400, 400).into()).content_type,
            "image/png"
        );
        assert_eq!(
            packed(RgbImage::new(400, 400).into()).content_type,
            "image/jpeg"
        );
    }

    #[test]
    fn a_much_larger_picture_keeps_its_colours_and_its_transparency() {
        let left_clear = RgbaImage::from_fn(990, 990, |x, _| {
            if x < 495 {
                Rgba([0, 0, 200, 0])
            } else {
                Rgba([200, 0, 0, 255])
            }
        });
        let packed = unpacked(left_clear).fit(33).expect("it is whole");
        let found = image::load_from_memory(&packed.bytes)
            .expect("it is whole")
            .to_rgba8();
        assert_eq!(found.dimensions(), (33, 33));
        assert_eq!(found.get_pixel(14, 16)[3], 0);
        for x in [18, 32] {
            let Rgba([red, _, blue, alpha]) = *found.get_pixel(x, 16);
            assert!(
                red > 195 && blue == 0 && alpha > 250,
                "{red} {blue} {alpha} at {x}"
            );
        }
    }

    #[test]
    fn what_cannot_be_scaled_ends_nothing_but_itself() {
        let broken = || Pixels {
            format: Format::Png,
            width: 10,
            height: 10,
            colour: ColorType::Rgb8,
            samples: vec![0; 100],
            orientation: Orientation::NoTransforms,
        };
        assert_eq!(broken().fit(5), Err(Unreadable::Damaged));
        assert_eq!(broken().square(5), Err(Unreadable::Damaged));
    }

    #[test]
    fn a_picture_of_too_many_pixels_is_not_unpacked() {
        let mut file = Cursor::new(Vec::new());
        RgbImage::new(101, 100)
            .write_to(&mut file, ImageFormat::Png)
            .expect("memory can be written to");
        let unpacked = |side, pixels| {
            unpack(file.get_ref(), Bounds { side, pixels }).map(|pixels| pixels.size())
        };
        assert_eq!(unpacked(101, 10_100), Ok((101, 100)));
        assert_eq!(unpacked(100, 10_100), Err(crate::Unreadable::TooManyPixels));
        assert_eq!(unpacked(101, 10_099), Err(crate::Unreadable::TooManyPixels));
    }
}
