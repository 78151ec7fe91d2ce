//! One full name is stored; SCIM speaks of a given and a family name (specification, sections 2
//! and 4).
//!
//! What providers mean by their two names is lost when a given name has a space: `Mary Ann` and
//! `Smith` are shown as `Mary` and `Ann Smith` afterwards. That is the rule of the specification.

/// The part of a full name before its first space, and everything after it.
///
/// White space around either is not part of it. Only the common space (U+0020) separates: other
/// scripts have others, which belong to the name and would not come back when the two are joined.
///
/// ```
/// use eddyline_scim::names::split;
///
/// assert_eq!(split("Ada King Lovelace"), ("Ada", "King Lovelace"));
/// assert_eq!(split("Ada"), ("Ada", ""));
/// ```
#[must_use]
pub fn split(full: &str) -> (&str, &str) {
    let full = full.trim();
    match full.split_once(' ') {
        Some((given, family)) => (given.trim_end(), family.trim_start()),
        None => (full, ""),
    }
}

/// The full name of a given and a family name: one space between them, none when one is empty, and
/// no white space around.
#[must_use]
pub fn join(given: &str, family: &str) -> String {
    let (given, family) = (given.trim(), family.trim());
    if given.is_empty() || family.is_empty() {
        return format!("{given}{family}");
    }
    format!("{given} {family}")
}

/// What stands behind this given name in the full name, or behind the one that [`split`] finds.
///
/// So a given name with a space can be set to what it is already, and nothing happens.
pub(crate) fn family_beside<'a>(full: &'a str, given: &str) -> &'a str {
    let full = full.trim();
    match full.strip_prefix(given.trim()) {
        Some("") => "",
        Some(family) if family.starts_with(' ') => family.trim(),
        _ => split(full).1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_space_separates() {
        for (full, given, family) in [
            ("Ada Lovelace", "Ada", "Lovelace"),
            ("Ada King Lovelace", "Ada", "King Lovelace"),
            ("Ada", "Ada", ""),
            ("", "", ""),
            ("  Ada   Lovelace ", "Ada", "Lovelace"),
            ("王 小明", "王", "小明"),
            ("王小明", "王小明", ""),
            ("Zoë\u{301} Ñandú 🦩", "Zoë\u{301}", "Ñandú 🦩"),
            ("山田\u{3000}太郎", "山田\u{3000}太郎", ""),
            ("Ada\u{a0}B Lovelace", "Ada\u{a0}B", "Lovelace"),
        ] {
            assert_eq!(split(full), (given, family), "{full:?}");
        }
    }

    #[test]
    fn one_space_joins_two_names_and_none_a_single_one() {
        for (given, family, full) in [
            ("Ada", "Lovelace", "Ada Lovelace"),
            (" Ada ", " King Lovelace ", "Ada King Lovelace"),
            ("Ada", "", "Ada"),
            ("", "Lovelace", "Lovelace"),
            (" ", "\t", ""),
            ("🦩", "Ñandú", "🦩 Ñandú"),
        ] {
            assert_eq!(join(given, family), full, "{given:?} {family:?}");
        }
    }

    #[test]
    fn a_given_name_with_a_space_is_known_again() {
        assert_eq!(family_beside("Mary Ann Smith", "Mary Ann"), "Smith");
        assert_eq!(family_beside("Mary Ann", "Mary Ann"), "");
        assert_eq!(family_beside("Mary Ann Smith", "Mary"), "Ann Smith");
        assert_eq!(family_beside("Mary Ann Smith", "Ma"), "Ann Smith");
        assert_eq!(family_beside("Mary Ann Smith", "Jane"), "Ann Smith");
        assert_eq!(family_beside("Mary Ann Smith", "Smith"), "Ann Smith");
    }

    proptest! {
        #[test]
        fn a_split_name_joins_to_itself_but_for_spaces(full in "\\PC*") {
            let (given, family) = split(&full);
            let joined = join(given, family);
            prop_assert_eq!(split(&joined), (given, family));
            let without = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(without(&joined), without(&full));
        }

        #[test]
        fn two_names_come_back_when_the_given_one_is_a_single_word(
            given in "[^\\s\\p{C}]{1,20}",
            family in "[^\\s\\p{C}]{1,9}( [^\\s\\p{C}]{1,9}){0,3}",
        ) {
            let full = join(&given, &family);
            prop_assert_eq!(split(&full), (given.as_str(), family.as_str()));
        }

        #[test]
        fn setting_a_given_name_again_changes_nothing(full in "\\PC*", given in "\\PC*") {
            let once = join(&given, family_beside(&full, &given));
            // A given name that is taken away uncovers another.
            prop_assume!(!given.trim().is_empty());
            prop_assert_eq!(join(&given, family_beside(&once, &given)), once);
        }
    }
}
