//! Nothing but pixels is left of an upload.

use eddyline_avatars::accept;
use image::ImageFormat;

use crate::samples::*;

/// Stands in every piece of metadata here.
const SECRET: &[u8] = b"59.3293 N, 18.0686 E";

#[track_caller]
fn assert_holds_no(bytes: &[u8], needle: &[u8]) {
    assert!(!bytes.windows(needle.len()).any(|window| window == needle));
}

/// The markers of a JPEG file's segments, up to its pixels.
fn markers(jpeg: &[u8]) -> Vec<u8> {
    let mut markers = Vec::new();
    let mut rest = &jpeg[2..];
    loop {
        assert_eq!(rest[0], 0xff);
        markers.push(rest[1]);
        if rest[1] == 0xda {
            return markers;
        }
        rest = &rest[2 + usize::from(u16::from_be_bytes([rest[2], rest[3]]))..];
    }
}

/// The names of a PNG file's chunks.
fn names(png: &[u8]) -> Vec<&[u8]> {
    let mut names = Vec::new();
    let mut rest = &png[8..];
    while let [a, b, c, d, after @ ..] = rest {
        names.push(&after[..4]);
        rest = &after[8 + u32::from_be_bytes([*a, *b, *c, *d]) as usize..];
    }
    names
}

/// JFIF's head, the quantization, the frame, the codes, and the scan. No EXIF, profile or comment.
#[track_caller]
fn assert_is_plain_jpeg(jpeg: &[u8]) {
    let mut markers = markers(jpeg);
    markers.dedup();
    markers.sort_unstable();
    markers.dedup();
    assert_eq!(markers, [0xc0, 0xc4, 0xda, 0xdb, 0xe0]);
    assert!(jpeg.ends_with(&[0xff, 0xd9]));
}

#[test]
fn where_a_photograph_was_taken_is_forgotten() {
    let gps = exif(6, 59);
    let jpeg = encoded(gradient(60, 40), ImageFormat::Jpeg);
    let upload = jpeg_with(&jpeg, &[(0xe1, &[b"Exif\0\0".as_slice(), &gps].concat())]);
    let picture = accept(&upload).unwrap();
    assert_is_plain_jpeg(&picture.bytes);
    assert_holds_no(&picture.bytes, b"Exif");
    assert_holds_no(&picture.bytes, &gps[gps.len() - 24..]);
}

#[test]
fn comments_profiles_and_previews_of_a_jpeg_are_forgotten() {
    let jpeg = encoded(gradient(60, 40), ImageFormat::Jpeg);
    let upload = jpeg_with(
        &jpeg,
        &[
            (0xfe, SECRET),
            (
                0xe1,
                &[b"http://ns.adobe.com/xap/1.0/\0".as_slice(), SECRET].concat(),
            ),
            (
                0xe2,
                &[b"ICC_PROFILE\0\x01\x01".as_slice(), SECRET].concat(),
            ),
            (0xed, &[b"Photoshop 3.0\0".as_slice(), SECRET].concat()),
        ],
    );
    let upload = [upload, SECRET.to_vec()].concat();
    let picture = accept(&upload).unwrap();
    assert_is_plain_jpeg(&picture.bytes);
    assert_holds_no(&picture.bytes, SECRET);
}

#[test]
fn texts_and_times_of_a_png_are_forgotten() {
    let extra = [
        png_chunk(b"tEXt", &[b"Comment\0".as_slice(), SECRET].concat()),
        png_chunk(
            b"iTXt",
            &[b"XML:com.adobe.xmp\0\0\0\0\0".as_slice(), SECRET].concat(),
        ),
        png_chunk(b"tIME", &[7, 0xe7, 1, 2, 3, 4, 5]),
        png_chunk(b"eXIf", &exif(1, 59)),
        png_chunk(b"gAMA", &45_455_u32.to_be_bytes()),
        png_chunk(b"prIv", SECRET),
    ];
    let opaque = png_with(&encoded(gradient(60, 40), ImageFormat::Png), &extra);
    let picture = accept(&opaque).unwrap();
    assert_is_plain_jpeg(&picture.bytes);
    assert_holds_no(&picture.bytes, SECRET);

    let transparent = png_with(&encoded(disc(40), ImageFormat::Png), &extra);
    let picture = accept(&[transparent, SECRET.to_vec()].concat()).unwrap();
    let mut chunks = names(&picture.bytes);
    chunks.dedup();
    assert_eq!(chunks, [b"IHDR", b"IDAT", b"IEND"]);
    assert_holds_no(&picture.bytes, SECRET);
}

#[test]
fn metadata_of_a_webp_is_forgotten() {
    let upload = webp(&[
        canvas(0x2c, 32, 24),
        chunk(b"ICCP", SECRET),
        chunk(b"VP8 ", lossy_frame()),
        chunk(b"EXIF", &exif(1, 59)),
        chunk(b"XMP ", SECRET),
    ]);
    let picture = accept(&[upload, SECRET.to_vec()].concat()).unwrap();
    assert_is_plain_jpeg(&picture.bytes);
    assert_holds_no(&picture.bytes, SECRET);
}

#[test]
fn the_comment_of_a_gif_is_forgotten() {
    let mut upload = encoded(gradient(32, 24), ImageFormat::Gif);
    let end = upload.pop();
    upload.extend([0x21, 0xfe, SECRET.len() as u8]);
    upload.extend(SECRET);
    upload.extend([0]);
    upload.extend(end);
    let picture = accept(&upload).unwrap();
    assert_holds_no(&picture.bytes, SECRET);
}
