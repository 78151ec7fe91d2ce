//! Which delimiters of emphasis begin and end an element: `*`, `**`, `_` and `~~`.

use eddyline_syntax::is_cjk;

use super::words::is_word_char;

/// Whether there is a character beside a delimiter that the delimiter can touch.
pub(super) fn is_visible(c: Option<char>) -> bool {
    c.is_some_and(|c| !c.is_whitespace())
}

/// Whether a delimiter beside this character stands within a word. `_` does not count, because it
/// can be a delimiter itself. Scripts without spaces do not count either, so that a part of a
/// sentence can be set in bold.
pub(super) fn is_in_word(c: Option<char>) -> bool {
    c.is_some_and(|c| is_word_char(c) && c != '_' && !is_cjk(c))
}

/// Whether a delimiter between these characters may begin an element. A delimiter between two signs
/// may not, because it is mostly part of an emoticon such as `^_^`, unless the first sign is a
/// bracket, a quotation mark or another delimiter.
pub(super) fn may_open(before: Option<char>, after: Option<char>) -> bool {
    let Some(before) = before else { return true };
    !is_in_word(Some(before))
        && (before.is_whitespace()
            || is_cjk(before)
            || after.is_some_and(char::is_alphanumeric)
            || "([{\"'“„‘«‹「*_~".contains(before))
}

/// How many markers an opener and a closing delimiter, each with so many left, have for one
/// element. Two of a pair are not taken apart.
pub(super) fn shared_length(opener: usize, closer: usize) -> Option<usize> {
    match (opener, closer) {
        (1, 1 | 3) => Some(1),
        (2, 2 | 3) => Some(2),
        (3, _) => Some(closer.min(2)),
        _ => None,
    }
}
