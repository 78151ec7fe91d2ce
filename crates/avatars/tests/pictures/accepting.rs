//! What becomes of an upload.

use eddyline_avatars::{Picture, Refused, accept};
use image::{
    DynamicImage, GrayAlphaImage, ImageBuffer, ImageFormat, Luma, LumaA, Rgb, RgbImage, Rgba,
    RgbaImage,
};

use crate::samples::*;

#[test]
fn every_format_is_known_by_its_content() {
    let gradient = gradient(32, 24);
    let uploads = [
        ("PNG", encoded(gradient.clone(), ImageFormat::Png)),
        ("JPEG", encoded(gradient.clone(), ImageFormat::Jpeg)),
        ("progressive JPEG", PROGRESSIVE_JPEG.to_vec()),
        ("JPEG for print", CMYK_JPEG.to_vec()),
        ("GIF", encoded(gradient.clone(), ImageFormat::Gif)),
        ("lossless WebP", encoded(gradient, ImageFormat::WebP)),
        ("lossy WebP", LOSSY_WEBP.to_vec()),
        (
            "moving WebP",
            animated(32, 24, &[chunk(b"VP8 ", lossy_frame())]),
        ),
    ];
    for (name, upload) in uploads {
        let picture = accept(&upload).unwrap_or_else(|refused| panic!("the {name} {refused}"));
        assert_eq!(
            (picture.content_type, picture.side),
            ("image/jpeg", 24),
            "{name}"
        );
        let pixels = decoded(&picture);
        // Four columns are cut off on each side.
        assert_near(&pixels, (0, 12), Rgb([200, 32, 56]));
        assert_near(&pixels, (23, 12), Rgb([62, 32, 194]));
    }
}

#[test]
fn other_files_are_refused() {
    for upload in [
        "",
        "G",
        "GIF",
        "<svg xmlns='http://www.w3.org/2000/svg'/>",
        "BM picture",
        "%PDF-1.7",
    ] {
        assert_eq!(
            accept(upload.as_bytes()),
            Err(Refused::UnknownFormat),
            "{upload}"
        );
    }
}

#[test]
fn the_square_in_the_middle_is_kept() {
    let thirds = |along: u32| [RED, GREEN, BLUE][(along / 100) as usize];
    for flag in [
        RgbImage::from_fn(300, 100, |x, _| thirds(x)),
        RgbImage::from_fn(100, 300, |_, y| thirds(y)),
    ] {
        let picture = accept(&encoded(flag, ImageFormat::Png)).unwrap();
        assert_eq!(picture.side, 100);
        for corner in [(2, 2), (97, 2), (2, 97), (97, 97)] {
            assert_near(&decoded(&picture), corner, GREEN);
        }
    }
}

#[test]
fn a_large_picture_is_scaled_down_and_a_small_one_not_enlarged() {
    for ((width, height), side) in [
        ((1, 1), 1),
        ((7, 300), 7),
        ((512, 512), 512),
        ((513, 513), 512),
        ((1400, 900), 512),
    ] {
        let picture = accept(&encoded(gradient(width, height), ImageFormat::Png)).unwrap();
        assert_eq!(picture.side, side, "{width} by {height}");
        decoded(&picture);
    }
}

#[test]
fn the_widest_picture_is_accepted() {
    let picture = accept(&encoded(gradient(8192, 16), ImageFormat::Png)).unwrap();
    assert_eq!(picture.side, 16);
}

#[test]
fn transparency_is_kept() {
    for upload in [
        encoded(disc(40), ImageFormat::Png),
        encoded(disc(900), ImageFormat::WebP),
    ] {
        let picture = accept(&upload).unwrap();
        assert_eq!(picture.content_type, "image/png");
        let pixels = decoded(&picture).into_rgba8();
        let middle = picture.side / 2;
        assert_eq!(pixels.get_pixel(0, 0).0[3], 0);
        assert_eq!(pixels.get_pixel(middle, middle).0, [30, 160, 30, 255]);
    }
    assert_eq!(accept(TRANSPARENT_WEBP).unwrap().content_type, "image/png");
}

#[test]
fn what_could_be_transparent_and_is_not_becomes_a_jpeg() {
    let colours = RgbaImage::from_pixel(20, 20, Rgba([30, 160, 30, 255]));
    let greys = GrayAlphaImage::from_pixel(20, 20, LumaA([128, 255]));
    for (upload, colour) in [
        (DynamicImage::from(colours), GREEN),
        (DynamicImage::from(greys), GREY),
    ] {
        let picture = accept(&encoded(upload, ImageFormat::Png)).unwrap();
        assert_eq!(picture.content_type, "image/jpeg");
        assert_near(&decoded(&picture), (10, 10), colour);
    }
}

#[test]
fn colours_that_nobody_sees_do_not_bleed_when_scaling() {
    let picture = accept(&encoded(disc(1200), ImageFormat::Png)).unwrap();
    let pixels = decoded(&picture).into_rgba8();
    let edge: Vec<_> = pixels
        .pixels()
        .filter(|pixel| (64..255).contains(&pixel.0[3]))
        .collect();
    assert!(!edge.is_empty());
    for pixel in edge {
        // Not darker than the disc: the black around it has no part in them.
        assert!(pixel.0[1].abs_diff(160) <= 3, "{pixel:?}");
    }
}

#[test]
fn sixteen_bits_become_eight() {
    let colours = ImageBuffer::from_fn(20, 20, |_, _| {
        Rgb([30_u16 * 257, 160 * 257 + 100, 30 * 257 - 100])
    });
    let greys = ImageBuffer::from_fn(700, 600, |_, _| Luma([128_u16 * 257]));
    for (upload, colour) in [
        (DynamicImage::ImageRgb16(colours), GREEN),
        (DynamicImage::ImageLuma16(greys), GREY),
    ] {
        let picture = accept(&encoded(upload, ImageFormat::Png)).unwrap();
        assert_near(&decoded(&picture), (10, 10), colour);
    }
}

/// A moving picture, of frames that begin at a place on a canvas of 30 by 30.
fn gif(frames: &[(u32, u32, RgbaImage)]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = image::codecs::gif::GifEncoder::new(&mut file);
    for (left, top, pixels) in frames {
        let delay = image::Delay::from_numer_denom_ms(100, 1);
        let frame = image::Frame::from_parts(pixels.clone(), *left, *top, delay);
        encoder
            .encode_frame(frame)
            .expect("a frame can be written to memory");
    }
    drop(encoder);
    file
}

#[test]
fn of_a_moving_picture_the_first_frame_is_taken() {
    let solid =
        |colour: Rgb<u8>| DynamicImage::from(RgbImage::from_pixel(30, 30, colour)).into_rgba8();
    let picture = accept(&gif(&[(0, 0, solid(RED)), (0, 0, solid(BLUE))])).unwrap();
    assert_near(&decoded(&picture), (15, 15), RED);
}

#[test]
fn what_the_first_frame_leaves_free_is_transparent() {
    let mut upload = gif(&[(
        0,
        0,
        RgbaImage::from_pixel(30, 30, Rgba([30, 160, 30, 255])),
    )]);
    // The canvas, in the header of the file.
    upload[6..10].copy_from_slice(&[40, 0, 40, 0]);
    let picture = accept(&upload).unwrap();
    assert_eq!((picture.content_type, picture.side), ("image/png", 40));
    let pixels = decoded(&picture).into_rgba8();
    assert_eq!(
        (pixels.get_pixel(5, 5).0[3], pixels.get_pixel(35, 35).0[3]),
        (255, 0)
    );
}

#[test]
fn a_picture_is_turned_upright() {
    // What the camera saw, and how it must be turned: clockwise from the top left, the colours of
    // the corners when upright.
    let seen = RgbImage::from_fn(90, 60, |x, y| match (x < 45, y < 30) {
        (true, true) => RED,
        (false, true) => GREEN,
        (false, false) => BLUE,
        (true, false) => GREY,
    });
    let jpeg = encoded(seen, ImageFormat::Jpeg);
    for (orientation, upright) in [
        (1, [RED, GREEN, BLUE, GREY]),
        (2, [GREEN, RED, GREY, BLUE]),
        (3, [BLUE, GREY, RED, GREEN]),
        (4, [GREY, BLUE, GREEN, RED]),
        (5, [RED, GREY, BLUE, GREEN]),
        (6, [GREY, RED, GREEN, BLUE]),
        (7, [BLUE, GREEN, RED, GREY]),
        (8, [GREEN, BLUE, GREY, RED]),
        // Not a way to hold anything.
        (9, [RED, GREEN, BLUE, GREY]),
    ] {
        let block = [b"Exif\0\0".as_slice(), &exif(orientation, 59)].concat();
        let picture = accept(&jpeg_with(&jpeg, &[(0xe1, &block)])).unwrap();
        let pixels = decoded(&picture);
        for (corner, colour) in [(5, 5), (54, 5), (54, 54), (5, 54)]
            .into_iter()
            .zip(upright)
        {
            assert_near(&pixels, corner, colour);
        }
    }
}

#[test]
fn png_and_webp_are_turned_upright_too() {
    let seen = RgbImage::from_fn(60, 60, |_, y| if y < 30 { RED } else { BLUE });
    let png = encoded(seen.clone(), ImageFormat::Png);
    let lossless = encoded(seen, ImageFormat::WebP);
    let webp = webp(&[
        canvas(8, 60, 60),
        lossless[12..].to_vec(),
        chunk(b"EXIF", &exif(6, 59)),
    ]);
    for upload in [png_with(&png, &[png_chunk(b"eXIf", &exif(6, 59))]), webp] {
        let pixels = decoded(&accept(&upload).unwrap());
        assert_near(&pixels, (5, 30), BLUE);
        assert_near(&pixels, (55, 30), RED);
    }
}

#[test]
fn a_picture_does_not_print_its_bytes() {
    let picture = Picture {
        content_type: "image/png",
        bytes: vec![1; 1000],
        side: 16,
    };
    let printed = format!("{picture:?}");
    assert_eq!(
        printed,
        r#"Picture { content_type: "image/png", bytes: 1000 bytes, side: 16 }"#
    );
}
