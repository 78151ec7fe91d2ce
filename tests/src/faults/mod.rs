//! Faults of the machine and the network, for single processes.
//!
//! Where the machine cannot do it (no C compiler, no right to mount) the tests that need it are
//! passed over, with a line that says so; where `EDDYLINE_TEST_REQUIRE` contains `cc` or `mount`
//! they fail.

mod cable;
mod disk;
mod mount;

use std::io::Write as _;

pub use cable::Cable;
pub use disk::{Disk, FaultyDisk};
pub use mount::SmallDisk;

/// Says why a test is passed over, written past the test harness.
pub(crate) fn passed_over(need: &str, why: &str) {
    let required = std::env::var("EDDYLINE_TEST_REQUIRE")
        .is_ok_and(|list| list.split(',').any(|name| name.trim() == need));
    assert!(
        !required,
        "{need} is required by EDDYLINE_TEST_REQUIRE: {why}"
    );
    let _ = writeln!(
        std::io::stderr(),
        "eddyline tests: {why}; tests that need it are passed over"
    );
}
