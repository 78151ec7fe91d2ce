//! Which characters are the same to a search, and of what nature they are.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// The nature of a character in folded text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CharClass {
    /// Letter, digit or `_`.
    Word,
    /// Letter of a script that is searched by pairs.
    Cjk,
    /// Mark that belongs to the letter before it.
    Mark,
    /// Emoji and other pictures.
    Symbol,
    /// All that separates words.
    Other,
}

pub(super) fn kind(c: char) -> CharClass {
    if c.is_ascii() {
        return if c.is_ascii_alphanumeric() || c == '_' {
            CharClass::Word
        } else {
            CharClass::Other
        };
    }
    if c.is_alphanumeric() {
        return if in_cjk_blocks(c) {
            CharClass::Cjk
        } else {
            CharClass::Word
        };
    }
    if is_combining_mark(c) {
        return if is_dropped(c) && !is_accent(c) {
            CharClass::Other
        } else {
            CharClass::Mark
        };
    }
    if is_symbol(c) {
        CharClass::Symbol
    } else {
        CharClass::Other
    }
}

/// Text with compatibility forms resolved (ligatures, full and half width, circled digits), Latin,
/// Greek and Cyrillic accents gone, and what is left composed. Case stays, since it shows where
/// the parts of an identifier meet. ASCII is returned as it is.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    text.chars()
        .flat_map(set_apart)
        .nfkd()
        .filter(|&c| !is_dropped(c))
        .nfc()
        .collect::<String>()
        .into()
}

/// The lower-case form of a character of plain text.
pub(super) fn lower(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    // Plain text has none of the letters whose lower-case form is more than one character.
    match c.to_lowercase().next() {
        Some('ς') => 'σ',
        Some(lower) => lower,
        None => c,
    }
}

/// Symbols are words of their own, also those that stand for letters: `Foo™` is found by `foo`.
fn set_apart(c: char) -> impl Iterator<Item = char> {
    let (characters, count) = if is_symbol(c) {
        ([' ', c, ' '], 3)
    } else {
        ([c, ' ', ' '], 1)
    };
    characters.into_iter().take(count)
}

fn is_symbol(c: char) -> bool {
    !c.is_ascii() && !c.is_alphanumeric() && c.general_category() == GeneralCategory::OtherSymbol
}

/// Accents, and what is there for the eye only: variation selectors, the keycap, joiners, the
/// soft hyphen and the byte order mark.
fn is_dropped(c: char) -> bool {
    is_accent(c)
        || matches!(
            c,
            '\u{ad}' | '\u{200c}' | '\u{200d}' | '\u{2060}' | '\u{feff}'
                | '\u{20e3}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}'
        )
}

fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// Han, Hiragana, Katakana and Hangul; what of these blocks is no letter, the caller has sorted
/// out.
fn in_cjk_blocks(c: char) -> bool {
    matches!(
        c,
        '\u{1100}'..='\u{11ff}'
            | '\u{2e80}'..='\u{2fdf}'
            | '\u{3005}'..='\u{3007}'
            | '\u{3021}'..='\u{30ff}'
            | '\u{3130}'..='\u{318f}'
            | '\u{31f0}'..='\u{31ff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{a960}'..='\u{a97f}'
            | '\u{ac00}'..='\u{d7ff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{ff66}'..='\u{ffdc}'
            | '\u{1aff0}'..='\u{1b16f}'
            | '\u{20000}'..='\u{3ffff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fold(text: &str) -> String {
        plain(text).chars().map(lower).collect()
    }

    #[test]
    fn forms_of_one_letter_fold_to_one() {
        for (a, b) in [
            ("É", "e"),
            ("e\u{301}", "E"),
            ("Ǆ", "dz"),
            ("ﬁn", "fin"),
            ("Ａ１", "a1"),
            ("ｶﾞ", "ガ"),
            ("İ", "i"),
            ("Й", "и"),
            ("ΟΔΌΣ", "οδος"),
            ("ſ", "s"),
            ("K", "k"),
            ("𝐇ello", "hello"),
            ("co\u{ad}operate", "cooperate"),
            ("葛\u{e0100}", "葛"),
        ] {
            assert_eq!(fold(a), fold(b), "{a:?} {b:?}");
        }
    }

    #[test]
    fn marks_that_make_another_letter_stay() {
        assert_ne!(fold("が"), fold("か"));
        assert_ne!(fold("कि"), fold("क"));
        assert_eq!(fold("한국"), "한국");
    }

    /// Folded text without the white space that sets symbols apart, of which there may be more
    /// after every folding.
    fn letters(text: &str) -> String {
        fold(text).split_whitespace().collect()
    }

    #[test]
    fn folding_any_character_twice_changes_nothing_more() {
        for c in '\0'..=char::MAX {
            let once = fold(&c.to_string());
            assert_eq!(letters(&once), letters(c.encode_utf8(&mut [0; 4])), "{c:?}");
        }
    }

    #[test]
    fn a_letter_in_lower_case_is_the_same_letter() {
        for c in ('\0'..=char::MAX).filter(|c| c.is_alphanumeric()) {
            let lower: String = c.to_lowercase().collect();
            assert_eq!(fold(&c.to_string()), fold(&lower), "{c:?}");
        }
    }

    proptest! {
        #[test]
        fn folding_twice_is_folding_once(text: String) {
            prop_assert_eq!(letters(&fold(&text)), letters(&text));
        }
    }
}
