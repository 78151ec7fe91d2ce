//! Which characters are the same to a search, and of what nature they are.

use std::borrow::Cow;

use eddyline_syntax::is_cjk;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// The nature of a character in folded text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CharClass {
    /// Letter, digit or `_`.
    Word,
    /// Letter of a script that does not set words apart, which is searched by pairs.
    Unspaced,
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
        return if in_unspaced_blocks(c) {
            CharClass::Unspaced
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
/// Greek and Cyrillic accents gone, Latin letters that Unicode does not decompose written as
/// [`base_letters`], and what is left composed. Case stays, since it shows where the parts of an
/// identifier meet. ASCII is returned as it is.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    text.chars()
        .flat_map(set_apart)
        .nfkd()
        .filter(|&c| !is_dropped(c))
        .flat_map(Letters::of)
        .nfc()
        .collect::<String>()
        .into()
}

/// The letters of ASCII that people type for a letter of another alphabet, as the tables of names
/// of most systems have them. The full case folding of Unicode makes `ss` of `ß` as well.
fn base_letters(c: char) -> Option<&'static str> {
    Some(match c {
        'ß' => "ss",
        'ẞ' => "SS",
        'ł' => "l",
        'Ł' => "L",
        'ø' => "o",
        'Ø' => "O",
        'đ' | 'ð' | 'ɗ' => "d",
        'Đ' | 'Ð' | 'Ɗ' => "D",
        'ı' => "i",
        'æ' => "ae",
        'Æ' => "AE",
        'œ' => "oe",
        'Œ' => "OE",
        'þ' => "th",
        'Þ' => "TH",
        'ħ' => "h",
        'Ħ' => "H",
        'ŧ' => "t",
        'Ŧ' => "T",
        'ŋ' => "n",
        'Ŋ' => "N",
        'ɓ' => "b",
        'Ɓ' => "B",
        'ƙ' => "k",
        'Ƙ' => "K",
        'ƴ' => "y",
        'Ƴ' => "Y",
        'ǥ' => "g",
        'Ǥ' => "G",
        _ => return None,
    })
}

/// A character, or what is written for it.
enum Letters {
    Same(Option<char>),
    Base(std::str::Chars<'static>),
}

impl Letters {
    fn of(c: char) -> Self {
        match base_letters(c) {
            Some(letters) => Self::Base(letters.chars()),
            None => Self::Same(Some(c)),
        }
    }
}

impl Iterator for Letters {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        match self {
            Self::Same(c) => c.take(),
            Self::Base(letters) => letters.next(),
        }
    }
}

/// Whether earlier versions filed a text under other tokens: it has Latin letters without a
/// decomposition, such as `ß`, or letters of scripts that they did not search by pairs.
#[must_use]
pub fn has_former_tokens(text: &str) -> bool {
    let changed = |c: char| base_letters(c).is_some() || in_southeast_asian_blocks(c);
    !text.is_ascii() && text.nfkd().any(changed)
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

/// Scripts that do not set their words apart. What of these blocks is no letter, the caller has
/// sorted out.
fn in_unspaced_blocks(c: char) -> bool {
    in_southeast_asian_blocks(c) || is_cjk(c)
}

/// Thai, Lao, Burmese, Khmer, and the scripts of their neighbours.
fn in_southeast_asian_blocks(c: char) -> bool {
    matches!(
        c,
        '\u{e00}'..='\u{eff}'
            | '\u{1000}'..='\u{109f}'
            | '\u{1780}'..='\u{17ff}'
            | '\u{1950}'..='\u{19df}'
            | '\u{1a20}'..='\u{1aaf}'
            | '\u{a9e0}'..='\u{a9ff}'
            | '\u{aa60}'..='\u{aa7f}'
            | '\u{aa80}'..='\u{aadf}'
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
            ("Maß", "MASS"),
            ("STRAẞE", "strasse"),
            ("Łódź", "lodz"),
            ("Ørsted", "orsted"),
            ("Đà Nẵng", "da nang"),
            ("ILIK", "ılık"),
            ("Ǽsop", "aesop"),
            ("cœur", "COEUR"),
            ("Þór", "thor"),
        ] {
            assert_eq!(fold(a), fold(b), "{a:?} {b:?}");
        }
    }

    #[test]
    fn texts_whose_tokens_have_changed_are_told_from_others() {
        for changed in ["Maß", "ǣ", "Łódź", "ไทย", "ဆေးရုံ"] {
            assert!(has_former_tokens(changed), "{changed}");
        }
        for same in ["", "mass", "é", "東京", "привет", "हिन्दी", "👍"] {
            assert!(!has_former_tokens(same), "{same}");
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
