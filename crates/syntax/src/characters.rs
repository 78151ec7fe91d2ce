//! Classes of characters.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory as _};

/// Returns `true` for a letter of a script that puts no space between words or before particles:
/// Han, Hiragana, Katakana and Hangul.
#[must_use]
pub fn is_cjk(c: char) -> bool {
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

/// Returns `true` for a character at which a bare address ends: white space, a control or
/// invisible character, a change of the writing direction, a quotation mark, a bracket beyond
/// ASCII, and the punctuation of East Asia, which follows an address without a space.
pub(crate) fn ends_address(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_whitespace()
            || c.is_ascii_control()
            || matches!(c, '<' | '>' | '"' | '`');
    }
    let is_of_class = matches!(
        c.general_category(),
        GeneralCategory::OpenPunctuation
            | GeneralCategory::ClosePunctuation
            | GeneralCategory::InitialPunctuation
            | GeneralCategory::FinalPunctuation
            | GeneralCategory::SpaceSeparator
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator
            | GeneralCategory::Control
            | GeneralCategory::Format
    );
    is_of_class || is_blank(c) || is_east_asian_punctuation(c)
}

/// Characters that show nothing although they are letters or marks.
fn is_blank(c: char) -> bool {
    matches!(
        c,
        '\u{34f}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{ffa0}'
    )
}

/// The punctuation of Chinese, Japanese and Korean, and the wide and narrow forms of ASCII's.
fn is_east_asian_punctuation(c: char) -> bool {
    matches!(
        c,
        '…' | '‥'
            | '・'
            | '\u{3000}'..='\u{3004}'
            | '\u{3008}'..='\u{3020}'
            | '\u{3030}'
            | '\u{303d}'
            | '\u{fe10}'..='\u{fe1f}'
            | '\u{fe30}'..='\u{fe6f}'
            | '\u{ff01}'..='\u{ff0f}'
            | '\u{ff1a}'..='\u{ff20}'
            | '\u{ff3b}'..='\u{ff40}'
            | '\u{ff5b}'..='\u{ff65}'
    )
}
