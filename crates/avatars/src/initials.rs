//! The initials of a name, in any script.

use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};
use unicode_segmentation::UnicodeSegmentation;

/// Enough for every emoji there is. Marks can be piled on a letter without end.
const MAX_BYTES: usize = 48;

/// The first letters of the first and the last word; one for a single word, none for a name without
/// letters. Digits and pictures count as letters, punctuation and invisible signs do not.
pub(crate) fn of(name: &str) -> Vec<String> {
    let mut initials = name.split_whitespace().filter_map(of_word);
    let first = initials.next();
    first.into_iter().chain(initials.next_back()).collect()
}

fn of_word(word: &str) -> Option<String> {
    let letter = word
        .graphemes(true)
        .find(|grapheme| grapheme.starts_with(counts))?;
    let letter = &letter[..letter.floor_char_boundary(MAX_BYTES)];
    let mut rest = letter.chars();
    let base = rest.next()?;
    Some(std::iter::once(upper(base)).chain(rest).collect())
}

fn counts(c: char) -> bool {
    matches!(
        c.general_category_group(),
        GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number
    ) || c.general_category() == GeneralCategory::OtherSymbol
}

/// The capital of a letter that has one.
fn upper(c: char) -> char {
    // Georgian has capitals for whole words only, and many fonts lack them.
    if ('\u{10d0}'..='\u{10ff}').contains(&c) {
        return c;
    }
    let mut capitals = c.to_uppercase();
    match (capitals.next(), capitals.next()) {
        (Some(capital), None) => capital,
        // `ß` would become two letters.
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: &[&str]) {
        assert_eq!(of(name), expected, "{name}");
    }

    #[test]
    fn the_first_and_the_last_word_count() {
        check("Ada Lovelace", &["A", "L"]);
        check("Ada King Countess of Lovelace", &["A", "L"]);
        check("ada lovelace", &["A", "L"]);
        check("  Ada \t Lovelace\n", &["A", "L"]);
        check("Jean-Luc Picard", &["J", "P"]);
        check("Ada", &["A"]);
    }

    #[test]
    fn what_is_not_a_letter_is_passed_over() {
        check("(ada) \"lovelace\"", &["A", "L"]);
        check("@ada", &["A"]);
        check("Ada - Support", &["A", "S"]);
        check("Ada !!!", &["A"]);
        check("R2 D2", &["R", "D"]);
        check("\u{202e}ada \u{200f}lovelace", &["A", "L"]);
    }

    #[test]
    fn marks_stay_with_their_letter() {
        check("A\u{30a}sa O\u{308}berg", &["A\u{30a}", "O\u{308}"]);
        check("e\u{301}mile zola", &["E\u{301}", "Z"]);
        check("क्षितिज शर्मा", &["क्षि", "श"]);
        check("\u{1112}\u{1161}\u{11ab}", &["\u{1112}\u{1161}\u{11ab}"]);
        check("\u{301} ada", &["A"]);
    }

    #[test]
    fn every_script_has_initials() {
        check("山田 太郎", &["山", "太"]);
        check("山田太郎", &["山"]);
        check("김철수", &["김"]);
        check("Лев Толстой", &["Л", "Т"]);
        check("محمد علي", &["م", "ع"]);
        check("דוד כהן", &["ד", "כ"]);
        check("ნინო", &["ნ"]);
        check("ßeta", &["ß"]);
        check("ǆamija", &["Ǆ"]);
    }

    #[test]
    fn an_emoji_is_kept_whole() {
        check("👩🏽‍🚀 Ada", &["👩🏽‍🚀", "A"]);
        check("🇸🇪", &["🇸🇪"]);
        check("👨‍👩‍👧‍👦", &["👨‍👩‍👧‍👦"]);
    }

    #[test]
    fn a_name_without_letters_has_no_initials() {
        check("", &[]);
        check(" \u{a0}\u{3000}", &[]);
        check("--- ?", &[]);
        check("\0\u{ffff}\u{200b}", &[]);
    }

    #[test]
    fn marks_without_end_are_cut() {
        let piled = format!("a{}", "\u{301}".repeat(10_000));
        let initials = of(&piled);
        assert!(initials[0].starts_with("A\u{301}") && initials[0].len() <= MAX_BYTES);
    }
}
