#![doc = include_str!("../README.md")]

use std::fmt::Write as _;

use ring::rand::{SecureRandom, SystemRandom};

/// Fills `bytes` with random ones, good enough for secrets.
///
/// # Panics
/// When the operating system has no random bytes to give, which no system here knows.
pub fn fill(bytes: &mut [u8]) {
    SystemRandom::new()
        .fill(bytes)
        .expect("the operating system gives random bytes");
}

/// So many random bytes.
///
/// # Panics
/// As [`fill`].
#[must_use]
pub fn bytes<const COUNT: usize>() -> [u8; COUNT] {
    let mut bytes = [0; COUNT];
    fill(&mut bytes);
    bytes
}

/// A random number.
///
/// # Panics
/// As [`fill`].
#[must_use]
pub fn number() -> u64 {
    u64::from_le_bytes(bytes())
}

/// So many random bytes as hexadecimal digits, two for each.
///
/// # Panics
/// As [`fill`].
#[must_use]
pub fn hex<const BYTES: usize>() -> String {
    to_hex(&bytes::<BYTES>())
}

/// Bytes as lower-case hexadecimal digits, two for each.
#[must_use]
pub fn to_hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::with_capacity(2 * bytes.len()), |mut hex, byte| {
            // Writing to a String cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
}

/// Whether a text is this many lower-case hexadecimal digits.
#[must_use]
pub fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_with_two_digits_each() {
        assert_eq!(to_hex(&[0, 10, 255]), "000aff");
        assert_eq!(to_hex(&[]), "");
    }

    #[test]
    fn random_digits_are_as_many_as_asked_for_and_never_the_same() {
        let (one, two) = (hex::<16>(), hex::<16>());
        assert!(is_hex(&one, 32) && is_hex(&two, 32) && one != two);
        assert_ne!(number(), number());
    }

    #[test]
    fn only_lower_case_digits_of_the_right_number_are_hexadecimal() {
        for text in ["00ff", "abcd"] {
            assert!(is_hex(text, 4), "{text}");
        }
        for text in ["", "00f", "00fff", "00FF", "00fg", "é0f"] {
            assert!(!is_hex(text, 4), "{text}");
        }
    }
}
