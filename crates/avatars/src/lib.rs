#![doc = include_str!("../README.md")]

mod colour;
mod drawing;
mod initials;
mod upload;

use std::ops::RangeInclusive;

pub use drawing::draw;
pub use upload::{
    MAX_KEPT_BYTES, MAX_UPLOAD_BYTES, MAX_UPLOAD_SIDE, Picture, Refused, accept, memory_needed,
    scale, shrink,
};

/// The sides of the pictures there are, in pixels. A size asked for is a hint, so that every
/// function here takes the nearest of these in place of another one.
pub const SIDES: RangeInclusive<u32> = 16..=512;

/// The sides in which an uploaded picture is shown, in pixels, in ascending order. There are few of
/// them, so that requests for other sizes make no work.
pub const KEPT_SIDES: [u32; 6] = [32, 64, 96, 128, 256, 512];

/// The smallest of [`KEPT_SIDES`] that is not smaller than `wanted`, or the largest.
#[must_use]
pub fn kept_side(wanted: u32) -> u32 {
    let [.., largest] = KEPT_SIDES;
    KEPT_SIDES
        .into_iter()
        .find(|side| *side >= wanted)
        .unwrap_or(largest)
}

/// The nearest side there is.
fn side_near(wanted: u32) -> u32 {
    wanted.clamp(*SIDES.start(), *SIDES.end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_is_answered_with_the_next_larger_kept_one() {
        for (wanted, kept) in [
            (0, 32),
            (1, 32),
            (32, 32),
            (33, 64),
            (64, 64),
            (65, 96),
            (120, 128),
            (129, 256),
            (257, 512),
        ] {
            assert_eq!(kept_side(wanted), kept, "{wanted}");
        }
        assert_eq!(
            (kept_side(512), kept_side(513), kept_side(u32::MAX)),
            (512, 512, 512)
        );
        assert_eq!(KEPT_SIDES.last(), Some(SIDES.end()));
    }
}
