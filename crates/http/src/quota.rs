//! How many files and forms the server receives at the same time, and how many it sends.

use eddyline_app::Quota;
use http::HeaderMap;
use http::header::CONTENT_LENGTH;

const MIB: u64 = 1024 * 1024;

/// Bytes of files that are received into memory: pictures of users, and files as Base64 in JSON.
pub(crate) const FILE_BODIES: Quota = Quota::new(320 * MIB, 160 * MIB, 32 * MIB);

/// Bytes of longer bodies without files, as long as their requests are worked on.
pub(crate) const BODIES: Quota = Quota::new(256 * MIB, 128 * MIB, 32 * MIB);

/// The least that a file in memory counts, whatever its length.
const LEAST_FILE_BODY: u64 = MIB;

/// Forms with files. None takes much memory, and each takes as long as its sender needs: what one
/// organization has is not given back soon.
pub(crate) const FORMS: Quota = Quota::new(512, 128, 16).capped_for_organizations(256);

/// How many files are sent, of `total` in all. The caller who asked for a link is charged for the
/// download. As forms, each takes as long as its reader needs.
pub(crate) fn downloads(total: usize) -> Quota {
    let part = |of: usize| total.div_ceil(of) as u64;
    Quota {
        network: part(2),
        ..Quota::new(total as u64, part(4), part(16)).capped_for_organizations(part(2))
    }
}

/// How many bytes of memory a body needs of which there will be `copies`: as long as it was
/// announced to be, or as long as it may be.
pub(crate) fn file_body(headers: &HeaderMap, most: usize, copies: u64) -> u64 {
    body(headers, most)
        .saturating_mul(copies)
        .max(LEAST_FILE_BODY)
}

/// How long a body was announced to be, or may be.
pub(crate) fn body(headers: &HeaderMap, most: usize) -> u64 {
    let announced = headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    announced.unwrap_or(u64::MAX).min(most as u64)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn a_body_counts_as_long_as_it_was_announced() {
        let announced =
            |length| HeaderMap::from_iter([(CONTENT_LENGTH, HeaderValue::from_static(length))]);
        let most = 5 * 1024 * 1024;
        assert_eq!(file_body(&announced("3000000"), most, 1), 3_000_000);
        assert_eq!(file_body(&announced("3000000"), most, 3), 9_000_000);
        assert_eq!(file_body(&announced("1"), most, 1), LEAST_FILE_BODY);
        assert_eq!(file_body(&announced("99999999999"), most, 1), 5 * MIB);
        assert_eq!(file_body(&HeaderMap::new(), most, 1), 5 * MIB);
    }

    #[test]
    fn small_bounds_leave_everybody_a_download() {
        assert_eq!(
            downloads(1),
            Quota {
                network: 1,
                ..Quota::new(1, 1, 1).capped_for_organizations(1)
            }
        );
        assert_eq!(
            downloads(512),
            Quota {
                network: 256,
                ..Quota::new(512, 128, 32).capped_for_organizations(256)
            }
        );
    }
}
