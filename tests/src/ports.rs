//! Addresses that a server can come back to.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};

/// Below the ports that the system hands out by itself: while a server is down between two runs,
/// neither a connection nor another test's server takes its place.
const FIRST: u16 = 16_000;
const COUNT: u16 = 16_000;

/// An address of this machine on which nobody listens, never given twice by a test process.
pub(crate) fn free_address() -> String {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Processes that run side by side begin at different places.
    let start = u16::try_from(std::process::id() % 251).expect("less than 251") * 63;
    loop {
        let number = start.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % COUNT;
        let address = format!("127.0.0.1:{}", FIRST + number);
        if TcpListener::bind(&address).is_ok() {
            return address;
        }
    }
}
