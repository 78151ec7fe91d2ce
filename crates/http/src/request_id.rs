//! The id that a request and its lines in the log share.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use http::Request;
use http::header::{HeaderName, HeaderValue};

/// The header that bears it.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const MAX: usize = 64;

/// Tells this process from every other.
static PROCESS: LazyLock<u128> = LazyLock::new(|| uuid::Uuid::new_v4().as_u128());
static COUNT: AtomicU64 = AtomicU64::new(1);

/// The id that the proxy in front of us gave, if it is well-formed; else a new one.
#[must_use]
pub fn of<B>(request: &Request<B>) -> HeaderValue {
    let given = request
        .headers()
        .get(REQUEST_ID)
        .filter(|id| is_well_formed(id));
    given.cloned().unwrap_or_else(new)
}

fn is_well_formed(id: &HeaderValue) -> bool {
    let bytes = id.as_bytes();
    (1..=MAX).contains(&bytes.len())
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

/// A new id: a random number of this process and a counter, so that a request costs no call to the
/// system's random generator.
fn new() -> HeaderValue {
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let id = format!("{:032x}", PROCESS.wrapping_add(u128::from(count)));
    HeaderValue::from_str(&id).unwrap_or_else(|_| HeaderValue::from_static("none"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id_for(given: &str) -> HeaderValue {
        of(&Request::builder()
            .header(REQUEST_ID, given)
            .body(())
            .unwrap())
    }

    #[test]
    fn a_decent_id_is_kept() {
        for given in ["a", "A-1_b.c", &"x".repeat(64)] {
            assert_eq!(id_for(given), given);
        }
    }

    #[test]
    fn any_other_is_replaced_by_one_that_nobody_has() {
        let replaced = ["", "a b", "a\tb", &"x".repeat(65)].map(id_for);
        for (n, id) in replaced.iter().enumerate() {
            assert!(is_well_formed(id));
            assert!(!replaced[..n].contains(id));
        }
    }
}
