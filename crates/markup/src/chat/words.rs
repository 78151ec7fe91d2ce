//! Mentions and tags in chat text.
//!
//! The rules follow `eddyline_model::tags`, which decides what a message is tagged with and whom it
//! mentions, so that what looks like a tag is one. This crate knows no other of ours and has no
//! roster, so it differs in two points. A mention is a run of letters, digits, `_`, `-` and `.`,
//! whether or not somebody has that nick. A tag needs a letter, because `#16` in a chat is mostly a
//! number.

/// The most characters of a nick: those of the model, which may be twice as many before they are
/// composed.
const MAX_NICK: usize = 80;
/// The most characters of a tag.
const MAX_TAG: usize = 100;

/// Joiners, which the spelling of some scripts needs inside a word.
const JOINERS: [char; 2] = ['\u{200c}', '\u{200d}'];

/// The length in bytes of the nick that `text` begins with. `text` is what follows an `@`;
/// `is_delimiter_open` says that a `_` at its end closes something.
pub(super) fn nick_length(text: &str, is_delimiter_open: bool) -> Option<usize> {
    let nick = run(text, |c| c == '.')?.trim_end_matches(|c| {
        matches!(c, '-' | '.') || JOINERS.contains(&c) || (c == '_' && is_delimiter_open)
    });
    let fits = nick.chars().nth(MAX_NICK).is_none();
    (fits && nick.contains(char::is_alphanumeric)).then_some(nick.len())
}

/// The length in bytes of the tag that `text` begins with, which is what follows a `#`.
pub(super) fn tag_length(text: &str) -> Option<usize> {
    let tag = run(text, |_| false)?.trim_end_matches(|c| c == '-' || JOINERS.contains(&c));
    let fits = tag.chars().nth(MAX_TAG).is_none();
    (fits && tag.contains(char::is_alphabetic)).then_some(tag.len())
}

/// What `text` begins with of the characters of tags and those of `more`. `None` when a tag cannot
/// begin so, or when the run is the scheme of an address.
fn run(text: &str, more: impl Fn(char) -> bool) -> Option<&str> {
    if !text.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-')) {
        return None;
    }
    let is_part = |c| is_word_char(c) || c == '-' || JOINERS.contains(&c) || more(c);
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    (!text[end..].starts_with("://")).then_some(&text[..end])
}

/// Whether a character belongs to a word: a letter, a digit, `_`, or a combining mark.
pub(super) fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || is_combining_mark(c)
}

/// Whether a letter belongs to a script that puts no space between words or before particles: Han,
/// Hiragana, Katakana and Hangul.
pub(super) fn is_cjk(c: char) -> bool {
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
            | '\u{20000}'..='\u{3ffff}'
    )
}

/// Whether a character is a combining mark of a script in common use that `char::is_alphanumeric`
/// does not count: accents, points, and the signs of Indic scripts that take a vowel away. The
/// table spares the crate a dependency; a script that it lacks ends a tag at such a sign.
fn is_combining_mark(c: char) -> bool {
    matches!(
        c,
        '\u{300}'..='\u{36f}'
            | '\u{483}'..='\u{487}'
            | '\u{591}'..='\u{5bd}'
            | '\u{5bf}'
            | '\u{5c1}'..='\u{5c2}'
            | '\u{5c4}'..='\u{5c5}'
            | '\u{5c7}'
            | '\u{610}'..='\u{61a}'
            | '\u{64b}'..='\u{65f}'
            | '\u{6d6}'..='\u{6dc}'
            | '\u{6df}'..='\u{6e4}'
            | '\u{6e7}'..='\u{6e8}'
            | '\u{6ea}'..='\u{6ed}'
            | '\u{730}'..='\u{74a}'
            | '\u{7eb}'..='\u{7f3}'
            | '\u{898}'..='\u{89f}'
            | '\u{8ca}'..='\u{8e1}'
            | '\u{8e3}'..='\u{8ff}'
            | '\u{93c}'
            | '\u{94d}'
            | '\u{951}'..='\u{954}'
            | '\u{9bc}'
            | '\u{9cd}'
            | '\u{9fe}'
            | '\u{a3c}'
            | '\u{a4d}'
            | '\u{abc}'
            | '\u{acd}'
            | '\u{afa}'..='\u{aff}'
            | '\u{b3c}'
            | '\u{b4d}'
            | '\u{b55}'
            | '\u{bcd}'
            | '\u{c3c}'
            | '\u{c4d}'
            | '\u{cbc}'
            | '\u{ccd}'
            | '\u{d3b}'..='\u{d3c}'
            | '\u{d4d}'
            | '\u{dca}'
            | '\u{e3a}'
            | '\u{e47}'..='\u{e4e}'
            | '\u{eba}'
            | '\u{ec8}'..='\u{ecd}'
            | '\u{f18}'..='\u{f19}'
            | '\u{f35}'
            | '\u{f37}'
            | '\u{f39}'
            | '\u{f82}'..='\u{f84}'
            | '\u{f86}'..='\u{f87}'
            | '\u{1037}'
            | '\u{1039}'..='\u{103a}'
            | '\u{135d}'..='\u{135f}'
            | '\u{17c9}'..='\u{17d3}'
            | '\u{17dd}'
            | '\u{1ab0}'..='\u{1abd}'
            | '\u{1dc0}'..='\u{1dff}'
            | '\u{20d0}'..='\u{20dc}'
            | '\u{302a}'..='\u{302f}'
            | '\u{3099}'..='\u{309a}'
            | '\u{fe20}'..='\u{fe2f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_nothing_but_marks() {
        // What a person would take for a letter, a digit, a space or punctuation, by blocks.
        for c in ('\u{0}'..='\u{2ff}')
            .chain('\u{2000}'..='\u{20cf}')
            .chain('\u{2100}'..='\u{3029}')
        {
            assert!(!is_combining_mark(c), "{c:?}");
        }
        for c in "।॥฿๏๚༄༅၊။៖៛،؛؟۔־׃".chars() {
            assert!(!is_combining_mark(c), "{c:?}");
        }
    }
}
