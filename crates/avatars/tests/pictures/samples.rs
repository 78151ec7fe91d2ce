//! Pictures to upload, and ways to look into them.

use std::io::Cursor;

use eddyline_avatars::Picture;
use image::{DynamicImage, ImageFormat, Rgb, RgbImage, Rgba, RgbaImage};

/// 32 by 24 pixels, red on the left and blue on the right, in kinds that `image` cannot write.
pub(crate) const LOSSY_WEBP: &[u8] = include_bytes!("files/lossy.webp");
pub(crate) const PROGRESSIVE_JPEG: &[u8] = include_bytes!("files/progressive.jpg");
pub(crate) const CMYK_JPEG: &[u8] = include_bytes!("files/cmyk.jpg");
/// The same within a circle, and transparent around it.
pub(crate) const TRANSPARENT_WEBP: &[u8] = include_bytes!("files/transparent.webp");

pub(crate) const RED: Rgb<u8> = Rgb([220, 30, 30]);
pub(crate) const GREEN: Rgb<u8> = Rgb([30, 160, 30]);
pub(crate) const BLUE: Rgb<u8> = Rgb([30, 30, 220]);
pub(crate) const GREY: Rgb<u8> = Rgb([128, 128, 128]);

/// Like the pictures from files.
pub(crate) fn gradient(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, _| {
        let part = (x * 192 / width) as u8;
        Rgb([224 - part, 32, 32 + part])
    })
}

/// A green disc on nothing; what nobody sees is black.
pub(crate) fn disc(side: u32) -> RgbaImage {
    let middle = f64::from(side) / 2.0;
    RgbaImage::from_fn(side, side, |x, y| {
        let far = (f64::from(x) - middle).hypot(f64::from(y) - middle);
        if far < middle * 0.7 {
            Rgba([30, 160, 30, 255])
        } else {
            Rgba([0, 0, 0, 0])
        }
    })
}

pub(crate) fn encoded(picture: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    picture
        .into()
        .write_to(&mut file, format)
        .expect("a picture can be written to memory");
    file.into_inner()
}

/// The pixels of a finished picture.
pub(crate) fn decoded(picture: &Picture) -> DynamicImage {
    let format = match picture.content_type {
        "image/png" => ImageFormat::Png,
        "image/jpeg" => ImageFormat::Jpeg,
        other => panic!("{other}"),
    };
    let decoded = image::load_from_memory_with_format(&picture.bytes, format).expect("it is whole");
    assert_eq!(
        (decoded.width(), decoded.height()),
        (picture.side, picture.side)
    );
    decoded
}

/// Whether a pixel has about this colour, as far as JPEG keeps it.
#[track_caller]
pub(crate) fn assert_near(picture: &DynamicImage, at: (u32, u32), expected: Rgb<u8>) {
    let found = *picture.to_rgb8().get_pixel(at.0, at.1);
    let near = found
        .0
        .iter()
        .zip(expected.0)
        .all(|(a, b)| a.abs_diff(b) <= 24);
    assert!(near, "{found:?} at {at:?} instead of {expected:?}");
}

/// One chunk of a WebP file.
pub(crate) fn chunk(name: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let mut chunk = name.to_vec();
    chunk.extend((content.len() as u32).to_le_bytes());
    chunk.extend(content);
    chunk.resize(chunk.len().next_multiple_of(2), 0);
    chunk
}

/// A WebP file of these chunks.
pub(crate) fn webp(chunks: &[Vec<u8>]) -> Vec<u8> {
    chunk(b"RIFF", &[b"WEBP".as_slice(), &chunks.concat()].concat())
}

/// The chunk that tells what else a WebP file has, and how large it is.
pub(crate) fn canvas(flags: u8, width: u32, height: u32) -> Vec<u8> {
    let sides = [(width - 1).to_le_bytes(), (height - 1).to_le_bytes()];
    let content = [&[flags, 0, 0, 0], &sides[0][..3], &sides[1][..3]].concat();
    chunk(b"VP8X", &content)
}

/// The pixels of the lossy picture, as they stand in its only chunk.
pub(crate) fn lossy_frame() -> &'static [u8] {
    &LOSSY_WEBP[20..]
}

/// A moving WebP picture with one frame of these chunks.
pub(crate) fn animated(width: u32, height: u32, frame: &[Vec<u8>]) -> Vec<u8> {
    let sides = [(width - 1).to_le_bytes(), (height - 1).to_le_bytes()];
    let head = [&[0; 6], &sides[0][..3], &sides[1][..3], &[100, 0, 0, 0]].concat();
    let frame = [head, frame.concat()].concat();
    webp(&[
        canvas(2, width, height),
        chunk(b"ANIM", &[0; 6]),
        chunk(b"ANMF", &frame),
    ])
}

/// One chunk of a PNG file.
pub(crate) fn png_chunk(name: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let named = [name.as_slice(), content].concat();
    let sum = named.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            (sum >> 1) ^ (0xedb8_8320 * (sum & 1))
        })
    });
    [
        &(content.len() as u32).to_be_bytes(),
        named.as_slice(),
        &(!sum).to_be_bytes(),
    ]
    .concat()
}

/// A PNG file with these chunks put in behind its header.
pub(crate) fn png_with(png: &[u8], chunks: &[Vec<u8>]) -> Vec<u8> {
    let (header, rest) = png.split_at(33);
    [header, &chunks.concat(), rest].concat()
}

/// A PNG file whose header claims another size, and so many bits of this colour type.
pub(crate) fn png_claiming(width: u32, height: u32, bits: u8, colour: u8) -> Vec<u8> {
    let png = encoded(gradient(8, 8), ImageFormat::Png);
    let mut header = [width.to_be_bytes(), height.to_be_bytes()].concat();
    header.extend([bits, colour, 0, 0, 0]);
    [&png[..8], &png_chunk(b"IHDR", &header), &png[33..]].concat()
}

/// A JPEG file with these segments put in at its beginning.
pub(crate) fn jpeg_with(jpeg: &[u8], segments: &[(u8, &[u8])]) -> Vec<u8> {
    let mut file = jpeg[..2].to_vec();
    for (marker, content) in segments {
        file.extend([0xff, *marker]);
        file.extend((content.len() as u16 + 2).to_be_bytes());
        file.extend(*content);
    }
    file.extend(&jpeg[2..]);
    file
}

/// An EXIF block as a camera writes it: how the picture was held, and where, in degrees north.
pub(crate) fn exif(orientation: u16, degrees: u32) -> Vec<u8> {
    let entry = |tag: u16, kind: u16, count: u32, value: u32| {
        [
            &tag.to_le_bytes()[..],
            &kind.to_le_bytes(),
            &count.to_le_bytes(),
            &value.to_le_bytes(),
        ]
        .concat()
    };
    let (directory, short, long, text, rational) = (8, 3, 4, 2, 5);
    let places = directory + 2 + 2 * 12 + 4;
    let latitude = places + 2 + 2 * 12 + 4;
    let mut block = b"II\x2a\0".to_vec();
    block.extend(u32::to_le_bytes(directory));
    block.extend(2_u16.to_le_bytes());
    block.extend(entry(0x0112, short, 1, orientation.into()));
    block.extend(entry(0x8825, long, 1, places));
    block.extend(0_u32.to_le_bytes());
    block.extend(2_u16.to_le_bytes());
    block.extend(entry(0x0001, text, 2, u32::from(b'N')));
    block.extend(entry(0x0002, rational, 3, latitude));
    block.extend(0_u32.to_le_bytes());
    for part in [degrees, 1, 31, 1, 7, 1] {
        block.extend(part.to_le_bytes());
    }
    block
}
