//! Mentions and tags in chat text.
//!
//! The rules follow `eddyline_model::tags`, which decides what a message is tagged with and whom it
//! mentions, so that what looks like a tag is one. This crate knows no other of ours and has no
//! roster, so it differs in two points. A mention is a run of letters, digits, `_`, `-` and `.`,
//! also when no user has that nick. A tag needs a letter, because `#16` in a chat is mostly a
//! number.

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory as _};

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

/// Whether a character is a combining mark: an accent, a point, or the sign of an Indic script that
/// takes a vowel away. `char::is_alphanumeric` does not count these.
fn is_combining_mark(c: char) -> bool {
    c.general_category_group() == GeneralCategoryGroup::Mark
}
