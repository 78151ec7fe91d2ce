//! Comparing message authentication codes.

/// Whether two codes are equal. The time does not depend on where they differ, so that it tells
/// nothing of the right one.
pub(crate) fn is_same_mac(one: &[u8], other: &[u8]) -> bool {
    let difference = one.iter().zip(other).fold(0, |diff, (x, y)| diff | (x ^ y));
    one.len() == other.len() && difference == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_the_same_when_all_bytes_are() {
        assert!(is_same_mac(b"abc", b"abc"));
        for other in [&b"abd"[..], b"xbc", b"ab", b"abcd", b""] {
            assert!(!is_same_mac(b"abc", other));
        }
    }
}
