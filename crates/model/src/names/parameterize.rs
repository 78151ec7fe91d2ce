//! The form of a name that stands in URLs.

use deunicode::AsciiChars;
use unicode_normalization::UnicodeNormalization;

use crate::paths::RESERVED_NAMES;

/// The longest parameterized name, in characters.
pub const MAX_PARAMETERIZED: usize = 60;

/// The form of `name` for URLs: transliterated to ASCII, lower-case, every other sequence of
/// characters a single `-`, none at the ends, at most [`MAX_PARAMETERIZED`] characters.
///
/// Empty when the name has nothing that can be written so.
#[must_use]
pub fn parameterize(name: &str) -> String {
    // Some scripts are transliterated by the composed letter only.
    let composed: String = name.nfc().collect();
    let mut result = String::with_capacity(composed.len().min(MAX_PARAMETERIZED));
    let mut separated = false;
    for ascii in composed
        .ascii_chars()
        .flat_map(|letters| letters.unwrap_or(" ").bytes())
    {
        if !ascii.is_ascii_alphanumeric() {
            separated = true;
            continue;
        }
        if separated && !result.is_empty() {
            result.push('-');
        }
        separated = false;
        result.push(char::from(ascii.to_ascii_lowercase()));
        if result.len() >= MAX_PARAMETERIZED {
            break;
        }
    }
    cut(&mut result, MAX_PARAMETERIZED);
    result
}

/// How many forms of a name are tried before one that ends in random characters.
const NUMBERED: u64 = 10;

/// The forms of `name` for URLs in the order in which they are to be tried, without end: the plain
/// one, then with `-2` to `-10`, then with `-<random>`, which is free with near certainty however
/// many have the name, and then numbers again behind that. A reserved one is left out.
///
/// `random` stands in for a name with nothing to write in ASCII, as `flow-<random>`.
pub fn parameterized_candidates(name: &str, random: &str) -> impl Iterator<Item = String> + use<> {
    let mut base = parameterize(name);
    if base.is_empty() {
        base = parameterize(&format!("flow-{random}"));
    }
    let plain = (!RESERVED_NAMES.contains(&base.as_str())).then(|| base.clone());
    let random = parameterize(random);
    let suffixed = move |suffix: String| {
        let mut candidate = base.clone();
        cut(&mut candidate, MAX_PARAMETERIZED - suffix.len());
        candidate + &suffix
    };
    let numbered = (2..=NUMBERED).map(|number| format!("-{number}"));
    let last = format!("-{random}");
    let rest = (2_u64..).map({
        let last = last.clone();
        move |number| format!("{last}-{number}")
    });
    plain
        .into_iter()
        .chain(numbered.chain([last]).chain(rest).map(suffixed))
}

/// Shortens an ASCII name, and leaves no separator at its end.
fn cut(name: &mut String, length: usize) {
    name.truncate(length);
    name.truncate(name.trim_end_matches('-').len());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_name_is_written_in_ascii() {
        for (name, expected) in [
            ("Main flow", "main-flow"),
            ("  Ärzte & Söhne!! ", "arzte-sohne"),
            ("A\u{308}rzte", "arzte"),
            ("straße", "strasse"),
            ("don't", "don-t"),
            ("foo_bar/baz", "foo-bar-baz"),
            ("---", ""),
            ("", ""),
            ("\u{0}", ""),
            ("Москва", "moskva"),
            ("北京 2", "bei-jing-2"),
            ("한국", "hangug"),
            ("🚀", "rocket"),
        ] {
            assert_eq!(parameterize(name), expected, "{name:?}");
        }
    }

    #[test]
    fn a_long_name_is_cut_without_a_dash_at_its_end() {
        assert_eq!(parameterize(&"a".repeat(100)), "a".repeat(60));
        assert_eq!(
            parameterize(&format!("{} bcd", "a".repeat(59))),
            "a".repeat(59)
        );
    }

    #[test]
    fn a_taken_name_gets_a_number() {
        let names: Vec<String> = parameterized_candidates("Main", "x1").take(3).collect();
        assert_eq!(names, ["main", "main-2", "main-3"]);
    }

    #[test]
    fn a_name_that_is_often_taken_gets_random_characters() {
        let names: Vec<String> = parameterized_candidates("Main", "1f8a")
            .skip(9)
            .take(3)
            .collect();
        assert_eq!(names, ["main-10", "main-1f8a", "main-1f8a-2"]);
    }

    #[test]
    fn a_reserved_name_starts_with_number_two() {
        for word in RESERVED_NAMES {
            assert_eq!(
                parameterize(word),
                *word,
                "a reserved word is in its own form"
            );
            let first = parameterized_candidates(&word.to_uppercase(), "x1").next();
            assert_eq!(first, Some(format!("{word}-2")));
        }
    }

    #[test]
    fn a_name_that_cannot_be_written_in_ascii_is_random() {
        let names: Vec<String> = parameterized_candidates("!?", "1f8a").take(2).collect();
        assert_eq!(names, ["flow-1f8a", "flow-1f8a-2"]);
    }

    #[test]
    fn a_numbered_name_keeps_the_limit() {
        let second = parameterized_candidates(&"a".repeat(100), "x").nth(1);
        assert_eq!(second, Some(format!("{}-2", "a".repeat(58))));
    }

    proptest! {
        /// Shows: 2.1
        #[test]
        fn every_candidate_can_stand_in_a_path(name: String, random in "[0-9a-f]{8}") {
            for candidate in parameterized_candidates(&name, &random).take(12) {
                prop_assert!(!candidate.is_empty() && candidate.len() <= MAX_PARAMETERIZED);
                prop_assert!(candidate.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-')));
                prop_assert!(!candidate.starts_with('-') && !candidate.ends_with('-'));
                prop_assert!(!candidate.contains("--"));
                prop_assert!(!RESERVED_NAMES.contains(&candidate.as_str()));
            }
        }

        #[test]
        fn a_parameterized_name_is_its_own_form(name: String) {
            let form = parameterize(&name);
            prop_assert_eq!(parameterize(&form), form);
        }
    }
}
