//! What is found out of pictures.

use std::io::Cursor;

use eddyline_files::{FileKey, MAX_DECODED_BYTES, PictureInfo, Stored, THUMBNAIL_SIDE};
use image::{DynamicImage, ImageFormat, RgbImage, RgbaImage};

use crate::Store;

fn encoded(picture: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    picture.into().write_to(&mut file, format).unwrap();
    file.into_inner()
}

async fn uploaded(file: Vec<u8>) -> Stored {
    Store::folder()
        .upload(&FileKey::random(), file)
        .await
        .unwrap()
}

fn without_thumbnail(width: u32, height: u32) -> Option<PictureInfo> {
    Some(PictureInfo {
        width,
        height,
        thumbnail: None,
    })
}

#[tokio::test]
async fn a_picture_has_a_type_a_size_and_a_thumbnail() {
    for store in Store::all() {
        for (format, content_type) in [
            (ImageFormat::Png, "image/png"),
            (ImageFormat::Jpeg, "image/jpeg"),
            (ImageFormat::Gif, "image/gif"),
            (ImageFormat::WebP, "image/webp"),
        ] {
            let file = encoded(RgbImage::new(640, 480), format);
            let stored = store
                .upload(&FileKey::random(), file.clone())
                .await
                .unwrap();
            assert_eq!(stored.content_type, Some(content_type));
            assert_eq!(stored.size, file.len() as u64);
            let picture = stored.picture.unwrap();
            assert_eq!((picture.width, picture.height), (640, 480));
            let thumbnail = picture.thumbnail.unwrap();
            assert_eq!((thumbnail.width, thumbnail.height), (THUMBNAIL_SIDE, 240));
            let shown = image::load_from_memory(&thumbnail.bytes).unwrap();
            assert_eq!((shown.width(), shown.height()), (320, 240));
        }
    }
}

#[tokio::test]
async fn a_small_picture_is_not_enlarged() {
    let picture = uploaded(encoded(RgbaImage::new(16, 9), ImageFormat::Png))
        .await
        .picture
        .unwrap();
    let thumbnail = picture.thumbnail.unwrap();
    assert_eq!((thumbnail.width, thumbnail.height), (16, 9));
    assert_eq!(thumbnail.content_type, "image/png");
}

#[tokio::test]
async fn a_photograph_taken_sideways_stands_upright() {
    let jpeg = encoded(RgbImage::new(640, 480), ImageFormat::Jpeg);
    let sideways =
        b"\xff\xe1\0\x22Exif\0\0II\x2a\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
    let picture = uploaded([&jpeg[..2], sideways, &jpeg[2..]].concat())
        .await
        .picture
        .unwrap();
    assert_eq!((picture.width, picture.height), (480, 640));
    let thumbnail = picture.thumbnail.unwrap();
    assert_eq!((thumbnail.width, thumbnail.height), (240, 320));
}

#[tokio::test]
async fn a_broken_picture_has_no_size_and_no_thumbnail() {
    let file = encoded(RgbImage::new(640, 480), ImageFormat::Png);
    for length in [file.len() / 2, 50, 20] {
        let stored = uploaded(file[..length].to_vec()).await;
        assert_eq!(
            (stored.content_type, stored.picture),
            (Some("image/png"), None),
            "{length}"
        );
    }
}

#[tokio::test]
async fn a_picture_that_claims_gigabytes_has_no_thumbnail() {
    let mut gif = encoded(RgbImage::new(8, 8), ImageFormat::Gif);
    gif[6..10].fill(0xff);
    assert_eq!(
        uploaded(gif).await.picture,
        without_thumbnail(65_535, 65_535)
    );
}

#[tokio::test]
async fn a_file_too_large_to_unpack_has_no_thumbnail() {
    let mut file = encoded(RgbImage::new(64, 48), ImageFormat::Png);
    file.resize(MAX_DECODED_BYTES as usize, 0);
    assert!(
        uploaded(file.clone())
            .await
            .picture
            .unwrap()
            .thumbnail
            .is_some()
    );
    file.push(0);
    assert_eq!(uploaded(file).await.picture, without_thumbnail(64, 48));
}

#[tokio::test]
async fn the_name_of_a_type_does_not_make_a_picture() {
    for file in [
        &b"<svg xmlns='http://www.w3.org/2000/svg'/>"[..],
        b"BM\0\0",
        b"II*\0",
        b"\x89PNG",
    ] {
        let stored = uploaded(file.to_vec()).await;
        assert_eq!((stored.content_type, stored.picture), (None, None));
    }
}
