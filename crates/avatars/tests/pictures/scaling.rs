//! Other sizes of a stored picture.

use eddyline_avatars::{SIDES, accept, scale, shrink};
use image::{ImageFormat, Rgb};

use crate::samples::*;

#[test]
fn a_stored_picture_comes_in_every_smaller_size() {
    for upload in [
        encoded(gradient(600, 600), ImageFormat::Png),
        encoded(disc(600), ImageFormat::Png),
    ] {
        let stored = accept(&upload).unwrap();
        for side in [16, 40, 511] {
            let picture = scale(&stored.bytes, side).unwrap();
            assert_eq!(
                (picture.content_type, picture.side),
                (stored.content_type, side)
            );
            decoded(&picture);
            assert_eq!(stored.scaled(side), Ok(picture));
        }
    }
}

#[test]
fn a_side_out_of_range_is_rounded_into_it() {
    let stored = accept(&encoded(gradient(600, 600), ImageFormat::Png)).unwrap();
    for (asked, given) in [
        (0, *SIDES.start()),
        (15, 16),
        (513, 512),
        (u32::MAX, *SIDES.end()),
    ] {
        assert_eq!(scale(&stored.bytes, asked).unwrap().side, given);
    }
}

#[test]
fn a_picture_that_is_small_already_comes_back_as_it_is() {
    let stored = accept(&encoded(gradient(50, 50), ImageFormat::Png)).unwrap();
    for side in [50, 64, 512] {
        assert_eq!(scale(&stored.bytes, side), Ok(stored.clone()));
    }
    assert_eq!(scale(&stored.bytes, 49).unwrap().side, 49);
}

#[test]
fn bytes_from_elsewhere_become_a_picture_too() {
    let upload = encoded(gradient(50, 30), ImageFormat::Gif);
    let picture = scale(&upload, 512).unwrap();
    assert_eq!((picture.content_type, picture.side), ("image/jpeg", 30));
}

#[test]
fn a_copy_of_a_picture_from_elsewhere_is_opaque_and_made_anew() {
    let copy = shrink(&encoded(disc(600), ImageFormat::Png), 96).unwrap();
    assert_eq!((copy.content_type, copy.side), ("image/jpeg", 96));
    let picture = decoded(&copy);
    assert_near(&picture, (48, 48), GREEN);
    assert_near(&picture, (2, 2), Rgb([255, 255, 255]));
    let small = encoded(gradient(50, 50), ImageFormat::Jpeg);
    let copy = shrink(&small, 96).unwrap();
    assert_eq!((copy.content_type, copy.side), ("image/jpeg", 50));
    assert_ne!(copy.bytes, small);
}
