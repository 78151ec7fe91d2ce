//! Browsers that wait for the next test of the process.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::driver::Driver;

/// How many wait at most. Each takes some 200 MB of memory.
const MOST: usize = 6;

struct Idle {
    javascript: bool,
    driver: Driver,
}

/// They end with the process: its end closes the pipes by which they are kept.
static IDLE: Mutex<Vec<Idle>> = Mutex::new(Vec::new());

/// Takes a browser that runs scripts of pages, or one that does not.
pub(super) fn take(javascript: bool) -> Option<Driver> {
    let mut idle = lock();
    let at = idle.iter().position(|idle| idle.javascript == javascript)?;
    Some(idle.swap_remove(at).driver)
}

/// Empties a browser and keeps it. It ends when that fails, or when enough of them wait.
pub(super) fn keep(driver: Driver, javascript: bool) {
    if let Err(text) = driver.empty() {
        crate::say(&format!("a browser cannot be used again: {text}"));
        return;
    }
    let mut idle = lock();
    if idle.len() < MOST {
        idle.push(Idle { javascript, driver });
    }
}

fn lock() -> MutexGuard<'static, Vec<Idle>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}
