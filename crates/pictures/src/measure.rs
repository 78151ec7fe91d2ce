//! The size of a picture, from the head of its file.

use std::io::{self, BufReader, Read, Seek, SeekFrom};

use image::metadata::Orientation;

use crate::memory::{Coding, Measured};
use crate::{Format, is_on_its_side, sniff};

/// How many segments of a JPEG file are gone through. Pictures with large profiles and previews
/// have some hundreds before their frame.
const MAX_SEGMENTS: usize = 4096;

/// How many bytes are passed over in search of a segment.
const MAX_FILLING: usize = 64 * 1024;

/// How many chunks of a WebP file are gone through. A moving picture has up to three for each
/// frame.
const MAX_CHUNKS: usize = 16 * 1024;

/// The flag and the position of a frame of a moving WebP picture, before its own chunks.
const FRAME_HEAD: i64 = 16;

const END: u8 = 0xd9;
const SCAN: u8 = 0xda;

/// Measures the picture in a file, read from its beginning; `None` for anything that is not a
/// picture. What the file claims is told as it is, and can be gigantic.
///
/// # Errors
///
/// Those of reading and seeking.
pub fn measure(file: &mut (impl Read + Seek)) -> io::Result<Option<Measured>> {
    let mut file = BufReader::new(file);
    file.seek(SeekFrom::Start(0))?;
    let mut head = Vec::new();
    file.by_ref().take(30).read_to_end(&mut head)?;
    let Some(format) = sniff(&head) else {
        return Ok(None);
    };
    let (size, coding) = match format {
        Format::Png => (png(&head), png_coding(&head)),
        Format::Gif => (gif(&head), Coding::Gif),
        Format::WebP => {
            file.seek(SeekFrom::Start(12))?;
            (
                webp(&head),
                Coding::WebP {
                    lossless: lossless(&mut file)?,
                },
            )
        }
        Format::Jpeg => {
            file.seek(SeekFrom::Start(2))?;
            match jpeg(&mut file) {
                Ok(Some((size, coding))) => (Some(size), coding),
                Ok(None) => (None, Coding::JpegScans),
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    (None, Coding::JpegScans)
                }
                Err(error) => return Err(error),
            }
        }
    };
    let size = size.filter(|(width, height)| *width > 0 && *height > 0);
    Ok(Some(Measured {
        format,
        size,
        coding,
    }))
}

fn part<const N: usize>(head: &[u8], at: usize) -> Option<[u8; N]> {
    head.get(at..)?.first_chunk().copied()
}

fn png(head: &[u8]) -> Option<(u32, u32)> {
    let is_header = part(head, 12)? == *b"IHDR";
    let size = (
        u32::from_be_bytes(part(head, 16)?),
        u32::from_be_bytes(part(head, 20)?),
    );
    // The highest bit is always 0.
    (is_header && size.0 <= i32::MAX as u32 && size.1 <= i32::MAX as u32).then_some(size)
}

/// How many bytes a pixel becomes: an index a colour, a colour that is named as transparent another
/// sample, and fewer than 8 bits become 8.
fn png_coding(head: &[u8]) -> Coding {
    let samples = match head.get(25) {
        Some(0 | 4) => 2,
        _ => 4,
    };
    let bytes_per_pixel = if head.get(24) == Some(&16) {
        2 * samples
    } else {
        samples
    };
    Coding::Png { bytes_per_pixel }
}

fn gif(head: &[u8]) -> Option<(u32, u32)> {
    Some((
        u16::from_le_bytes(part(head, 6)?).into(),
        u16::from_le_bytes(part(head, 8)?).into(),
    ))
}

fn webp(head: &[u8]) -> Option<(u32, u32)> {
    match &part::<4>(head, 12)? {
        // A canvas, whose sides are stored less one in three bytes each.
        b"VP8X" => {
            let side =
                |at| part(head, at).map(|[a, b, c]: [u8; 3]| u32::from_le_bytes([a, b, c, 0]) + 1);
            Some((side(24)?, side(27)?))
        }
        // 14 bits each, behind the mark of a key frame.
        b"VP8 " if part(head, 23)? == [0x9d, 0x01, 0x2a] => {
            let side = |at| part(head, at).map(|side| u32::from(u16::from_le_bytes(side) & 0x3fff));
            Some((side(26)?, side(28)?))
        }
        // 14 bits each, less one, behind a byte that marks a lossless picture.
        b"VP8L" if head.get(20) == Some(&0x2f) => {
            let bits = u32::from_le_bytes(part(head, 21)?);
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        _ => None,
    }
}

/// Goes from segment to segment up to the frame.
fn jpeg<R: Read + Seek>(file: &mut BufReader<R>) -> io::Result<Option<((u32, u32), Coding)>> {
    let mut orientation = None;
    for _ in 0..MAX_SEGMENTS {
        let marker = marker(file)?;
        // Those without content, and the end.
        if matches!(marker, 0x01 | 0xd0..=0xd8) {
            continue;
        }
        if matches!(marker, END | SCAN) {
            return Ok(None);
        }
        let Some(length) = u16::from_be_bytes(read(file)?).checked_sub(2) else {
            return Ok(None);
        };
        match marker {
            0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => {
                let [_, h1, h0, w1, w0] = read(file)?;
                let (width, height) = (
                    u16::from_be_bytes([w1, w0]).into(),
                    u16::from_be_bytes([h1, h0]).into(),
                );
                let is_turned = orientation.is_some_and(is_on_its_side);
                let size = if is_turned {
                    (height, width)
                } else {
                    (width, height)
                };
                let coding = if matches!(marker, 0xc0 | 0xc1) {
                    Coding::JpegLines
                } else {
                    Coding::JpegScans
                };
                return Ok(Some((size, coding)));
            }
            0xe1 if orientation.is_none() => {
                let mut content = vec![0; length.into()];
                file.read_exact(&mut content)?;
                orientation = content
                    .strip_prefix(b"Exif\0\0")
                    .and_then(Orientation::from_exif_chunk);
            }
            _ => file.seek_relative(length.into())?,
        }
    }
    Ok(None)
}

/// How long the longest chunk of a WebP file is that makes the decoder build code tables. Chunks
/// may claim to be longer than the file is.
fn lossless<R: Read + Seek>(file: &mut BufReader<R>) -> io::Result<u64> {
    let mut longest = 0;
    for _ in 0..MAX_CHUNKS {
        let (name, length): ([u8; 4], u32) = match (read(file), read(file)) {
            (Ok(name), Ok(length)) => (name, u32::from_le_bytes(length)),
            _ => return Ok(longest),
        };
        // Its own chunks follow the head of a moving frame.
        let skipped = if &name == b"ANMF" {
            FRAME_HEAD
        } else {
            i64::from(length) + i64::from(length % 2)
        };
        if matches!(&name, b"VP8L" | b"ALPH") {
            longest = longest.max(length.into());
        }
        file.seek_relative(skipped)?;
    }
    Ok(u32::MAX.into())
}

/// The next marker, behind bytes that fill up; the end's where there is none for long.
fn marker(file: &mut impl Read) -> io::Result<u8> {
    let mut before = 0;
    for _ in 0..MAX_FILLING {
        let [byte] = read(file)?;
        if before == 0xff && !matches!(byte, 0x00 | 0xff) {
            return Ok(byte);
        }
        before = byte;
    }
    Ok(END)
}

fn read<const N: usize>(file: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use image::{DynamicImage, ImageFormat, RgbImage};
    use proptest::prelude::*;

    use super::*;

    fn encoded(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
        let mut file = Cursor::new(Vec::new());
        let picture = DynamicImage::ImageRgb8(RgbImage::new(width, height));
        picture
            .write_to(&mut file, format)
            .expect("memory can be written to");
        file.into_inner()
    }

    fn measured(file: &[u8]) -> Option<Measured> {
        measure(&mut Cursor::new(file)).expect("memory can be read")
    }

    fn size(file: &[u8]) -> Option<(u32, u32)> {
        measured(file).expect("it is a picture").size
    }

    /// A JPEG of 30 by 20 pixels with these segments before its frame.
    fn jpeg_with(segments: &[(u8, &[u8])]) -> Vec<u8> {
        let jpeg = encoded(30, 20, ImageFormat::Jpeg);
        let mut file = jpeg[..2].to_vec();
        for (marker, content) in segments {
            file.extend([0xff, *marker]);
            file.extend((content.len() as u16 + 2).to_be_bytes());
            file.extend(*content);
        }
        file.extend(&jpeg[2..]);
        file
    }

    #[test]
    fn every_format_is_measured_by_its_head() {
        for (format, expected) in [
            (ImageFormat::Png, Format::Png),
            (ImageFormat::Jpeg, Format::Jpeg),
            (ImageFormat::Gif, Format::Gif),
            (ImageFormat::WebP, Format::WebP),
        ] {
            let file = encoded(300, 200, format);
            for file in [&file[..], &[&file[..], b"what follows"].concat()] {
                let found = measured(file).map(|found| (found.format, found.size));
                assert_eq!(found, Some((expected, Some((300, 200)))));
            }
        }
    }

    #[test]
    fn the_other_kinds_of_webp_are_measured_too() {
        let lossy = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x2c\x41\xc8\x80";
        assert_eq!(size(lossy), Some((300, 200)));
        let canvas = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x2b\x01\0\xc7\0\0";
        assert_eq!(size(canvas), Some((300, 200)));
    }

    #[test]
    fn the_head_tells_how_a_picture_is_coded() {
        let coding = |file: &[u8]| measured(file).expect("it is a picture").coding;
        let webp = |chunks: &[(&[u8; 4], usize)]| {
            let mut file = b"RIFF\0\0\0\0WEBP".to_vec();
            for (name, length) in chunks {
                file.extend(*name);
                file.extend(u32::try_from(*length).expect("it is short").to_le_bytes());
                file.extend(vec![0; length + length % 2]);
            }
            coding(&file)
        };
        assert_eq!(
            coding(&encoded(300, 200, ImageFormat::Jpeg)),
            Coding::JpegLines
        );
        let mut scans = encoded(300, 200, ImageFormat::Jpeg);
        let frame = scans
            .windows(2)
            .position(|pair| pair == [0xff, 0xc0])
            .expect("it has a frame");
        scans[frame + 1] = 0xc2;
        assert_eq!(coding(&scans), Coding::JpegScans);
        assert_eq!(coding(&encoded(300, 200, ImageFormat::Gif)), Coding::Gif);
        assert_eq!(
            webp(&[(b"VP8X", 10), (b"VP8 ", 500)]),
            Coding::WebP { lossless: 0 }
        );
        assert_eq!(
            webp(&[(b"VP8X", 10), (b"ALPH", 31), (b"VP8L", 30)]),
            Coding::WebP { lossless: 31 }
        );
        let mut moving = b"RIFF\0\0\0\0WEBPANMF\x38\0\0\0".to_vec();
        moving.extend([0; 16]);
        moving.extend(b"VP8L\x20\0\0\0");
        moving.extend([0; 32]);
        assert_eq!(coding(&moving), Coding::WebP { lossless: 32 });
        assert_eq!(
            webp(&vec![(b"VP8 ", 0); MAX_CHUNKS]),
            Coding::WebP {
                lossless: u32::MAX.into()
            }
        );
        for (depth, colour, bytes_per_pixel) in [
            (1, 0, 2),
            (8, 0, 2),
            (16, 0, 4),
            (8, 2, 4),
            (16, 2, 8),
            (4, 3, 4),
            (8, 4, 2),
            (16, 6, 8),
        ] {
            let mut png = encoded(300, 200, ImageFormat::Png);
            png[24..26].copy_from_slice(&[depth, colour]);
            assert_eq!(
                coding(&png),
                Coding::Png { bytes_per_pixel },
                "{depth} bits of kind {colour}"
            );
        }
    }

    #[test]
    fn a_photograph_taken_sideways_is_measured_upright() {
        let sideways =
            b"Exif\0\0II\x2a\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
        assert_eq!(size(&jpeg_with(&[])), Some((30, 20)));
        assert_eq!(size(&jpeg_with(&[(0xe1, sideways)])), Some((20, 30)));
    }

    #[test]
    fn the_frame_of_a_jpeg_is_found_behind_large_segments() {
        let profile = vec![0xc0; 65_000];
        let segments = vec![(0xe2, profile.as_slice()); 30];
        assert_eq!(size(&jpeg_with(&segments)), Some((30, 20)));
    }

    #[test]
    fn a_damaged_head_has_no_size() {
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP] {
            let file = encoded(300, 200, format);
            assert_eq!(size(&file[..20]), None, "{format:?}");
        }
        assert_eq!(size(b"GIF89a\0\0\x10\0"), None);
        assert_eq!(
            size(&[b"\xff\xd8\xff".as_slice(), &[0; 100_000]].concat()),
            None
        );
    }

    #[test]
    fn what_is_no_picture_is_not_measured() {
        assert_eq!(measured(b""), None);
        assert_eq!(
            measured(b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>"),
            None
        );
        assert_eq!(measured(b"%PDF-1.7"), None);
    }

    proptest! {
        #[test]
        fn no_file_makes_it_panic(
            head in prop_oneof![
                Just(b"\xff\xd8\xff".to_vec()),
                Just(b"\x89PNG\r\n\x1a\n".to_vec()),
                Just(b"GIF89a".to_vec()),
                Just(b"RIFF\0\0\0\0WEBPVP8L".to_vec()),
            ],
            rest: Vec<u8>,
        ) {
            let file = [head, rest].concat();
            prop_assert!(measured(&file).is_some());
        }
    }
}
