//! Characters that are not seen: which of them a name may hold, and which of them tell two names
//! apart.

use icu_properties::props::{DefaultIgnorableCodePoint, ExtendedPictographic, Script};
use icu_properties::{CodePointMapData, CodePointSetData};

/// It looks like a space and is none.
const BLANK_BRAILLE: char = '\u{2800}';

/// The scripts whose spelling needs joiners: letters are shaped by whether they are joined.
const JOINED: [Script; 18] = [
    Script::Arabic,
    Script::Syriac,
    Script::Mandaic,
    Script::Mongolian,
    Script::Nko,
    Script::PhagsPa,
    Script::Devanagari,
    Script::Bengali,
    Script::Gurmukhi,
    Script::Gujarati,
    Script::Oriya,
    Script::Tamil,
    Script::Telugu,
    Script::Kannada,
    Script::Malayalam,
    Script::Sinhala,
    Script::Khmer,
    Script::Myanmar,
];

/// Whether a character is not shown where it is not supported (Unicode: default ignorable). Two
/// names that differ only in these look the same.
#[must_use]
pub fn is_ignorable(c: char) -> bool {
    !c.is_ascii() && CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(c)
}

/// Whether a text holds an invisible character in a place where no spelling needs one.
pub(super) fn has_misplaced(text: &str) -> bool {
    if text.is_ascii() {
        return false;
    }
    let (mut before, mut letter) = (None, None);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        // The ends of lines and paragraphs, and what marks a place in a text for other programs.
        let is_odd = matches!(c, '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}');
        if is_odd
            || (is_ignorable(c)
                && !belongs(
                    c,
                    Around {
                        before,
                        letter,
                        after: rest.peek().copied(),
                    },
                ))
        {
            return true;
        }
        before = Some(c);
        if !is_mark(c) {
            letter = Some(c);
        }
    }
    false
}

/// Whether anything of a text is seen.
pub(super) fn shows_anything(text: &str) -> bool {
    text.chars()
        .any(|c| !(c.is_whitespace() || c.is_control() || c == BLANK_BRAILLE || is_ignorable(c)))
}

/// What stands around an invisible character.
#[derive(Clone, Copy)]
struct Around {
    /// The character before it.
    before: Option<char>,
    /// The same without marks, which go with a letter.
    letter: Option<char>,
    after: Option<char>,
}

/// Whether an invisible character belongs where it is.
fn belongs(c: char, around: Around) -> bool {
    let Around {
        before: Some(before),
        letter,
        after,
    } = around
    else {
        return false;
    };
    match c {
        '\u{200c}' | '\u{200d}' => {
            let joins = |c: Option<char>| c.is_some_and(|c| JOINED.contains(&script(c)));
            let is_in_emoji =
                c == '\u{200d}' && is_emoji_end(before) && after.is_some_and(is_pictographic);
            (joins(letter) && joins(after)) || is_in_emoji
        }
        // Forms of emoji, and of keys.
        '\u{fe0e}' | '\u{fe0f}' => {
            is_pictographic(before)
                || (matches!(before, '#' | '*' | '0'..='9') && after == Some('\u{20e3}'))
        }
        // Forms of Chinese characters and of Mongolian letters.
        '\u{fe00}'..='\u{fe02}' | '\u{e0100}'..='\u{e01ef}' => script(before) == Script::Han,
        '\u{180b}'..='\u{180d}' | '\u{180f}' => script(before) == Script::Mongolian,
        _ => false,
    }
}

fn script(c: char) -> Script {
    CodePointMapData::<Script>::new().get(c)
}

/// Whether a mark goes with the script of the letter before it.
fn is_mark(c: char) -> bool {
    script(c) == Script::Inherited && !is_ignorable(c)
}

fn is_pictographic(c: char) -> bool {
    !c.is_ascii() && CodePointSetData::new::<ExtendedPictographic>().contains(c)
}

/// Whether an emoji can end with it: itself, its form, or the colour of a skin.
fn is_emoji_end(c: char) -> bool {
    is_pictographic(c) || matches!(c, '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_no_spelling_needs_are_misplaced() {
        for bad in [
            "a\u{200d}da",
            "ad\u{200c}a",
            "ada\u{34f}",
            "ada\u{fe0f}",
            "ada\u{115f}",
            "ada\u{3164}",
            "\u{3164}",
            "\u{115f}",
            "ada\u{202e}",
            "\u{2066}ada",
            "a\u{200b}da",
            "a\u{ad}da",
            "a\u{61c}da",
            "a\u{e0061}da",
            "\u{ffa0}",
            "ada\u{17b4}",
            "a\u{2028}da",
            "a\u{2029}da",
            "\u{645}\u{200c}",
            "\u{200c}\u{645}",
            "\u{645}\u{200c}a",
            "a\u{200c}\u{645}",
            "\u{645}\u{200c}\u{200c}\u{645}",
            "\u{1f680}\u{200c}\u{1f680}",
            "a\u{e0100}",
            "a\u{fff9}b",
            "e\u{301}\u{200c}\u{301}",
            "ada1\u{fe0f}",
        ] {
            assert!(has_misplaced(bad), "{bad:?}");
        }
    }

    #[test]
    fn spellings_keep_what_they_need() {
        for good in [
            "ada",
            "zoë",
            "zoe\u{308}",
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "ශ්\u{200d}රී",
            "田中",
            "葛\u{e0100}城",
            "👩🏽\u{200d}🚀",
            "❤\u{fe0f}",
            "1\u{fe0f}\u{20e3}",
            "שלום",
            "ᠮᠣᠩᠭᠣᠯ\u{180b}",
            "\u{645}\u{64e}\u{200c}\u{645}",
        ] {
            assert!(!has_misplaced(good), "{good:?}");
        }
    }

    #[test]
    fn a_text_of_blanks_shows_nothing() {
        for blank in [
            "",
            " ",
            "\u{a0}\u{3000}",
            "\u{2800}",
            "\u{3164}",
            "\u{115f}\u{1160}",
            "\u{200b}\t",
        ] {
            assert!(!shows_anything(blank), "{blank:?}");
        }
        for shown in ["a", ".", "م", "\u{2800}a"] {
            assert!(shows_anything(shown), "{shown:?}");
        }
    }
}
