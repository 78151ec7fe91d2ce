//! Uploads made to do harm, and uploads that were harmed.

use eddyline_avatars::{MAX_UPLOAD_BYTES, MAX_UPLOAD_SIDE, Refused, accept, scale};
use image::ImageFormat;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::samples::*;

#[track_caller]
fn assert_refused(upload: &[u8], expected: Refused) {
    assert_eq!(accept(upload), Err(expected));
    assert_eq!(scale(upload, 64), Err(expected));
}

#[test]
fn a_file_of_more_than_ten_mebibytes_is_refused() {
    let mut upload = encoded(gradient(20, 20), ImageFormat::Png);
    upload.resize(MAX_UPLOAD_BYTES, 0);
    assert!(accept(&upload).is_ok());
    upload.push(0);
    assert_refused(&upload, Refused::TooManyBytes);
}

#[test]
fn a_picture_of_more_than_8192_pixels_across_is_refused() {
    let over = MAX_UPLOAD_SIDE + 1;
    for (width, height) in [(over, 1), (1, over)] {
        assert_refused(
            &encoded(gradient(width, height), ImageFormat::Png),
            Refused::TooManyPixels,
        );
        assert_refused(
            &encoded(gradient(width, height), ImageFormat::Jpeg),
            Refused::TooManyPixels,
        );
        assert_refused(
            &encoded(gradient(width, height), ImageFormat::Gif),
            Refused::TooManyPixels,
        );
        assert_refused(
            &encoded(gradient(width, height), ImageFormat::WebP),
            Refused::TooManyPixels,
        );
    }
}

#[test]
fn a_few_bytes_that_claim_gigabytes_are_refused() {
    assert_refused(&png_claiming(60_000, 60_000, 8, 6), Refused::TooManyPixels);
    assert_refused(
        &png_claiming(u32::MAX >> 1, u32::MAX >> 1, 16, 6),
        Refused::TooManyPixels,
    );

    let mut jpeg = encoded(gradient(8, 8), ImageFormat::Jpeg);
    let frame = jpeg
        .windows(2)
        .position(|marker| marker == [0xff, 0xc0])
        .unwrap();
    jpeg[frame + 5..frame + 9].fill(0xff);
    assert_refused(&jpeg, Refused::TooManyPixels);

    let mut gif = encoded(gradient(8, 8), ImageFormat::Gif);
    gif[6..10].fill(0xff);
    assert_refused(&gif, Refused::TooManyPixels);

    assert_refused(
        &webp(&[canvas(0, 1 << 14, 1 << 14), chunk(b"VP8 ", lossy_frame())]),
        Refused::TooManyPixels,
    );
}

#[test]
fn a_picture_within_the_sides_that_unpacks_to_too_much_is_refused() {
    assert_refused(&png_claiming(8192, 8192, 16, 6), Refused::TooHeavy);

    let mut jpeg = PROGRESSIVE_JPEG.to_vec();
    let frame = jpeg
        .windows(2)
        .position(|marker| marker == [0xff, 0xc2])
        .unwrap();
    jpeg[frame + 5..frame + 9].copy_from_slice(&[0x20, 0, 0x20, 0]);
    assert_refused(&jpeg, Refused::TooHeavy);

    assert_refused(
        &webp(&[canvas(0, 8192, 8192), chunk(b"VP8 ", lossy_frame())]),
        Refused::TooHeavy,
    );
}

#[test]
fn a_frame_larger_than_its_canvas_is_refused() {
    let mut gif = encoded(gradient(8, 8), ImageFormat::Gif);
    let frame = gif
        .windows(5)
        .position(|bytes| bytes == [0x2c, 0, 0, 0, 0])
        .unwrap();
    gif[frame + 5..frame + 9].fill(0xff);
    assert_refused(&gif, Refused::TooHeavy);

    let mut frame = lossy_frame().to_vec();
    frame[6..10].copy_from_slice(&[0xff, 0x3f, 0xff, 0x3f]);
    let alone = chunk(b"VP8 ", &frame);
    assert_refused(&webp(&[canvas(0, 32, 24), alone.clone()]), Refused::Damaged);
    assert_refused(
        &animated(32, 24, std::slice::from_ref(&alone)),
        Refused::Damaged,
    );
    // Whatever follows the transparency is taken for the colours.
    let disguised = [chunk(b"ALPH", &[0; 1 + 32 * 24]), chunk(b"JUNK", &frame)];
    assert_refused(&animated(32, 24, &disguised), Refused::Damaged);
}

#[test]
fn a_chunk_that_claims_more_than_the_file_has_is_refused() {
    let mut endless = chunk(b"EXIF", &exif(1, 59));
    endless[4..8].fill(0xff);
    let upload = webp(&[canvas(8, 32, 24), chunk(b"VP8 ", lossy_frame()), endless]);
    assert_refused(&upload, Refused::Damaged);
}

#[test]
fn a_lossless_picture_with_more_code_tables_than_pixels_is_refused() {
    let upload = webp(&[chunk(
        b"VP8L",
        &[b"\x2f\0\0\0\0".as_slice(), &[0x55; 2 << 20]].concat(),
    )]);
    assert_refused(&upload, Refused::TooHeavy);
}

#[test]
fn a_jpeg_that_would_keep_the_decoder_busy_is_refused() {
    let jpeg = encoded(gradient(64, 64), ImageFormat::Jpeg);
    let scan = jpeg
        .windows(2)
        .position(|marker| marker == [0xff, 0xda])
        .unwrap();
    let end = jpeg.len() - 2;
    let scans = |count: usize| {
        let repeated = b"\xff\xda\0\x08\x01\x01\0\0\x3f\0\x55".repeat(count);
        [&jpeg[..scan], &repeated, &jpeg[end..]].concat()
    };
    assert!(accept(&scans(3)).is_ok());
    assert_refused(&scans(101), Refused::Damaged);

    // Each of a single code.
    let codes = [b"\x10\x01".as_slice(), &[0; 15], b"\x11"].concat();
    let tables = vec![(0xc4, codes.as_slice()); 4000];
    assert_refused(&jpeg_with(&jpeg, &tables), Refused::Damaged);
}

#[test]
fn what_a_jpeg_holds_beside_its_picture_is_passed_over() {
    let jpeg = encoded(gradient(64, 64), ImageFormat::Jpeg);
    let notes = |count| vec![(0xe1, b"http://ns.adobe.com/xmp/extension/\0".as_slice()); count];
    // What follows looks like any number of scans.
    let upload = [
        jpeg_with(&jpeg, &notes(4000)),
        b"\xff\xda\0\x02".repeat(1000),
    ]
    .concat();
    assert_eq!(accept(&upload), accept(&jpeg));
    // Its size is looked for among the first 4,096 segments.
    assert_refused(&jpeg_with(&jpeg, &notes(4096)), Refused::Damaged);
}

#[test]
fn a_picture_that_ends_early_is_refused_or_shown_as_far_as_it_goes() {
    for format in [ImageFormat::Png, ImageFormat::Gif, ImageFormat::WebP] {
        let upload = encoded(gradient(64, 64), format);
        assert_refused(&upload[..upload.len() * 4 / 5], Refused::Damaged);
    }
    // As browsers do.
    let upload = encoded(gradient(64, 64), ImageFormat::Jpeg);
    assert_eq!(accept(&upload[..upload.len() * 4 / 5]).unwrap().side, 64);
}

#[test]
fn refusals_speak_to_the_uploader() {
    for (refused, words) in [
        (Refused::TooManyBytes, "is too large: the maximum is 5 MiB"),
        (
            Refused::UnknownFormat,
            "is not a PNG, JPEG, GIF or WebP picture",
        ),
        (
            Refused::TooManyPixels,
            "is too large: at most 8192 by 8192 pixels are taken",
        ),
        (
            Refused::TooHeavy,
            "takes too much memory to unpack: save it with fewer pixels, or as JPEG",
        ),
        (
            Refused::Damaged,
            "cannot be read: it is damaged, or of a rare kind",
        ),
    ] {
        assert_eq!(refused.to_string(), words);
    }
}

/// Real pictures of every kind.
fn pictures() -> Vec<Vec<u8>> {
    let jpeg = encoded(gradient(40, 30), ImageFormat::Jpeg);
    vec![
        encoded(gradient(40, 30), ImageFormat::Png),
        encoded(disc(30), ImageFormat::Png),
        encoded(
            image::DynamicImage::from(disc(20)).into_rgba16(),
            ImageFormat::Png,
        ),
        jpeg_with(
            &jpeg,
            &[(0xe1, &[b"Exif\0\0".as_slice(), &exif(6, 59)].concat())],
        ),
        PROGRESSIVE_JPEG.to_vec(),
        CMYK_JPEG.to_vec(),
        encoded(disc(30), ImageFormat::Gif),
        encoded(disc(30), ImageFormat::WebP),
        LOSSY_WEBP.to_vec(),
        TRANSPARENT_WEBP.to_vec(),
        animated(32, 24, &[chunk(b"VP8 ", lossy_frame())]),
    ]
}

/// Writes the check sums of a PNG file anew, so that what was changed is looked at.
fn mend(file: &mut [u8]) {
    let mut at = 8;
    while let Some(&[a, b, c, d]) = file.get(at..at + 4) {
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        let Some(Ok(name)) = file.get(at + 4..at + 8).map(<[u8; 4]>::try_from) else {
            return;
        };
        let Some(content) = file.get(at + 8..at.saturating_add(8).saturating_add(length)) else {
            return;
        };
        let chunk = png_chunk(&name, content);
        let Some(old) = file.get_mut(at..at + chunk.len()) else {
            return;
        };
        old.copy_from_slice(&chunk);
        at += chunk.len();
    }
}

/// What is left of an upload is always a whole picture.
fn check(upload: &[u8]) {
    for picture in [accept(upload), scale(upload, 16)].into_iter().flatten() {
        decoded(&picture);
    }
}

proptest! {
    #[test]
    fn any_bytes_do_no_harm(bytes in vec(any::<u8>(), 0..400), kind in 0_usize..5) {
        let beginnings: [&[u8]; 5] =
            [b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF89a", b"RIFF\xff\xff\0\0WEBP"];
        check(&[beginnings[kind], &bytes].concat());
    }

    #[test]
    fn a_harmed_picture_does_no_harm(
        which in any::<Index>(),
        changes in vec((any::<Index>(), any::<u8>()), 0..8),
        cut in prop::option::of(any::<Index>()),
        doubled in prop::option::of((any::<Index>(), any::<Index>())),
    ) {
        let pictures = pictures();
        let mut upload = which.get(&pictures).clone();
        for (at, byte) in changes {
            let at = at.index(upload.len());
            upload[at] = byte;
        }
        if let Some((from, to)) = doubled {
            let piece = upload[from.index(upload.len())..].to_vec();
            let to = to.index(upload.len());
            upload.splice(to..to, piece);
        }
        if let Some(cut) = cut {
            upload.truncate(cut.index(upload.len()));
        }
        if upload.starts_with(b"\x89PNG") {
            mend(&mut upload);
        }
        check(&upload);
    }
}
