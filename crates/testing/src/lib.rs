//! What the tests of several crates share: throw-away servers, a PostgreSQL, one that takes mail
//! and (with the feature `s3`) one that keeps files, a browser, and finding a Python for a test's
//! helper.
//!
//! The crate knows nothing of Eddyline and has hardly any dependencies without its features, so
//! that every crate may use it in its tests.

#![allow(
    clippy::disallowed_methods,
    reason = "polls servers that do not say when they are ready"
)]

use std::io::{self, Write};

pub mod browser;
pub mod postgres;
pub mod python;
#[cfg(feature = "s3")]
pub mod s3;
pub mod smtp;

/// Written past the test harness, which would show it for failed tests only.
fn say(text: &str) {
    let _ = writeln!(io::stderr(), "eddyline tests: {text}");
}
