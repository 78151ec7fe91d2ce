//! Bounds of what a record of an archive says, of which a stranger may have made any.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::texts::MAX_TEXT_CHARS;

/// The most bytes of what an archive calls a person, a room or a message.
pub(crate) const MAX_ID: usize = 256;
/// The most bytes of a name. Names here have a hundred characters, of four bytes at most.
pub(crate) const MAX_NAME: usize = 512;
/// The most messages into which the text of one of the archive is cut, and the most files that it
/// has: what it comes to is written in one transaction.
pub(super) const MAX_PARTS: usize = 100;
/// The most files, tags and reactions that a message may have, of each.
pub(crate) const MAX_LIST: usize = 10_000;
/// The most bytes to which the text of a message grows while names take the place of references.
pub(crate) const MAX_TEXT: usize = 4 << 20;

// Whatever can be said in the messages that a text becomes fits.
const _: () = assert!(MAX_TEXT > MAX_PARTS * MAX_TEXT_CHARS * 4);

/// Returns `true` for what can stand in a note of an import: databases cannot keep a NUL, or a key
/// that is longer than a page.
pub(crate) fn is_id(text: &str) -> bool {
    text.len() <= MAX_ID && !text.contains(char::is_control)
}

/// As much of a name as is kept.
pub(crate) fn cut_name(mut name: String) -> String {
    name.truncate(name.floor_char_boundary(MAX_NAME));
    name.shrink_to_fit();
    name
}

/// A text of a message that grows up to [`MAX_TEXT`].
#[derive(Debug, Default)]
pub(crate) struct GrowingText {
    pub(crate) text: String,
    /// `true` if there was more.
    pub(crate) is_cut: bool,
}

impl GrowingText {
    /// Adds as much as there is room for.
    pub(crate) fn push_str(&mut self, more: &str) {
        let left = MAX_TEXT - self.text.len();
        // Behind a gap, even what is short enough would be out of place.
        let end = if self.is_cut {
            0
        } else {
            more.floor_char_boundary(left)
        };
        self.text.push_str(&more[..end]);
        self.is_cut |= end < more.len();
    }
}

/// Reads a list of a message, or null for an empty one. It ends where there are too many entries.
pub(crate) fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    input: D,
) -> Result<Vec<T>, D::Error> {
    struct Entries<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }

        fn visit_unit<E>(self) -> Result<Vec<T>, E> {
            Ok(Vec::new())
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Vec<T>, A::Error> {
            let mut list = Vec::new();
            while let Some(entry) = entries.next_element()? {
                if list.len() == MAX_LIST {
                    return Err(A::Error::custom("a list has too many entries"));
                }
                list.push(entry);
            }
            Ok(list)
        }
    }

    input.deserialize_any(Entries(PhantomData))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_database_cannot_keep_is_no_id() {
        assert!(is_id("C1/ä"));
        assert!(is_id(&"C".repeat(MAX_ID)));
        for bad in ["C\0", "\u{9b}2J", "a\nb", &"C".repeat(MAX_ID + 1)] {
            assert!(!is_id(bad), "{bad:?}");
        }
    }

    #[test]
    fn a_name_is_cut_between_characters() {
        assert_eq!(cut_name("Ada".to_owned()), "Ada");
        let long = format!("a{}", "ä".repeat(MAX_NAME));
        assert_eq!(cut_name(long).len(), MAX_NAME - 1);
    }

    #[test]
    fn a_text_grows_up_to_its_bound() {
        let mut growing = GrowingText::default();
        growing.push_str(&"a".repeat(MAX_TEXT - 3));
        growing.push_str("");
        assert!(!growing.is_cut);
        growing.push_str("ää");
        assert_eq!((growing.text.len(), growing.is_cut), (MAX_TEXT - 1, true));
        growing.push_str("b");
        assert!(growing.text.ends_with("aä"));
    }
}
