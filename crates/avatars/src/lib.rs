//! Users' pictures.
//!
//! Who has not uploaded a picture gets one from [`draw`]: their initials on a colour of their own,
//! as SVG. Who uploads one hands over bytes of any kind, and [`accept`] makes a small clean picture
//! of them, or says in words for the uploader why not. [`scale`] makes another size of a stored one.
//!
//! The crate is made of pure functions. It does no I/O and knows nothing of users, requests or where
//! pictures are kept.
//!
//! Unpacking a large picture takes a second or two of computing and, for that time, up to half a
//! gibibyte of memory. So call [`accept`] and [`scale`] on a thread that may block, and only few at
//! once.

mod colour;
mod drawing;
mod initials;
mod upload;

use std::ops::RangeInclusive;

pub use drawing::draw;
pub use upload::{MAX_UPLOAD_BYTES, MAX_UPLOAD_SIDE, Picture, Refused, accept, scale};

/// The sides of the pictures there are, in pixels. A size asked for is a hint, so that every
/// function here takes the nearest of these in place of another one.
pub const SIDES: RangeInclusive<u32> = 16..=512;

/// The nearest side there is.
fn side_near(wanted: u32) -> u32 {
    wanted.clamp(*SIDES.start(), *SIDES.end())
}
