//! What a file is kept under.

use std::fmt;

/// The name under which bytes are kept: 128 random bits as 32 lower-case hexadecimal digits. So it
/// can stand in a path and a URL as it is, and never leads out of the place where files are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileKey(String);

impl FileKey {
    const LENGTH: usize = 32;

    /// A new key, unlike any other.
    #[must_use]
    pub fn random() -> Self {
        Self(eddyline_random::hex::<{ Self::LENGTH / 2 }>())
    }

    /// A key as it was stored; `None` for a text that is no key.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        eddyline_random::is_hex(text, Self::LENGTH).then(|| Self(text.to_owned()))
    }

    /// The key as it is stored.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// By which part of 256 the key is found, and that part's name.
    pub(crate) fn part(&self) -> (usize, &str) {
        let name = &self.0[..2];
        (
            usize::from_str_radix(name, 16).expect("a key is made of hexadecimal digits"),
            name,
        )
    }
}

impl fmt::Display for FileKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_new_key_is_read_back() {
        let key = FileKey::random();
        assert_eq!(FileKey::parse(key.as_str()), Some(key.clone()));
        assert_ne!(key, FileKey::random());
        assert_eq!(
            FileKey::parse("ff000000000000000000000000000000").map(|key| key.part().0),
            Some(255)
        );
    }

    #[test]
    fn what_could_lead_elsewhere_is_no_key() {
        for text in [
            "",
            ".",
            "../../../../../../../../etc/passwd",
            "/etc/passwd",
            "a/b",
            "A0000000000000000000000000000000",
        ] {
            assert_eq!(FileKey::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn only_hexadecimal_digits_make_a_key(text in "\\PC{30,34}") {
            prop_assert_eq!(FileKey::parse(&text), None);
        }
    }
}
