//! Finding the nick that a piece of text begins with.

use crate::UserId;
use crate::names::{EVERYONE, MAX_NICK, write_key};
use crate::search::{is_unspaced, is_word_char};

use super::Roster;

/// How many characters of a text may be a nick; composed they may be half as many.
pub(super) const MAX_RUN: usize = 2 * MAX_NICK;

/// In how many places a piece of text is tried as a nick, so that a text of nothing but
/// punctuation costs no more than another.
const MAX_ENDS: usize = 8;

/// What a nick or the name of a group stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Addressee<'r> {
    Everyone,
    User(UserId),
    /// A group with these members.
    Group(&'r [UserId]),
}

/// What the nick or name with this key stands for.
pub(super) fn addressee<'r, R: Roster>(key: &str, roster: &'r R) -> Option<Addressee<'r>> {
    if EVERYONE.contains(&key) {
        return Some(Addressee::Everyone);
    }
    roster
        .by_nick(key)
        .map(Addressee::User)
        .or_else(|| roster.group(key).map(Addressee::Group))
}

/// The longest nick at the beginning of `run`, as `find` knows it by its key, and its length in
/// bytes. `key` is a buffer, which has the key of the nick afterwards.
///
/// A nick can hold any punctuation, but the punctuation after it may belong to the sentence
/// (`@bob's`, `@bob.`), so shorter pieces are tried as well. `.`, `-` and `_` with a letter or
/// digit behind them do not end a nick: `@bob-smith` is never `bob`.
pub(super) fn longest<T>(
    run: &str,
    mention: bool,
    key: &mut String,
    mut find: impl FnMut(&str) -> Option<T>,
) -> Option<(T, usize)> {
    // Most words are letters and digits alone, where no nick ends before the last.
    if !run.is_empty() && run.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        key.clear();
        write_key(run, key);
        return find(key).map(|found| (found, run.len()));
    }
    let mut ends = [(0, 0); MAX_ENDS];
    let mut count = 0;
    let mut folded = 0;
    key.clear();
    let mut end = |at: usize, count: &mut usize| {
        // No letter is composed of characters on both sides of an end.
        write_key(&run[folded..at], key);
        folded = at;
        ends[*count] = (at, key.len());
        *count += 1;
    };
    let mut characters = run.char_indices().peekable();
    let mut is_cut = false;
    while let Some((at, c)) = characters.next() {
        let next = characters.peek().map(|&(_, next)| next);
        if at > 0 && may_end_before(c, next, mention) {
            if count == MAX_ENDS - 1 {
                is_cut = true;
                break;
            }
            end(at, &mut count);
        }
    }
    // The runs behind words overlap: to fold all of each would take time that is the square of the
    // text. Those of mentions do not overlap.
    if mention || !is_cut {
        end(run.len(), &mut count);
    }
    let (addressed, end, length) = ends[..count]
        .iter()
        .rev()
        .filter(|(end, _)| *end > 0)
        .find_map(|&(end, length)| Some((find(&key[..length])?, end, length)))?;
    key.truncate(length);
    Some((addressed, end))
}

fn may_end_before(c: char, next: Option<char>, mention: bool) -> bool {
    match c {
        '.' | '-' | '_' => !next.is_some_and(char::is_alphanumeric),
        // Vowels and finals of Hangul belong to the syllable before.
        '\u{1160}'..='\u{11ff}' => false,
        // Scripts without spaces put none after a nick.
        _ if mention && is_unspaced(c) => true,
        _ => !is_word_char(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(run: &str) -> Option<&'static str> {
        let nicks = ["bob", "bob-smith", "j.r", "o'neil", "田中", "bob!"];
        let find = |key: &str| nicks.into_iter().find(|nick| *nick == key);
        longest(run, true, &mut String::new(), find).map(|(nick, length)| {
            assert!(run.is_char_boundary(length));
            nick
        })
    }

    #[test]
    fn the_longest_nick_wins_and_punctuation_is_left_to_the_sentence() {
        for (run, expected) in [
            ("bob", Some("bob")),
            ("BOB", Some("bob")),
            ("bob.", Some("bob")),
            ("bob...", Some("bob")),
            ("bob's", Some("bob")),
            ("bob)", Some("bob")),
            ("bob_", Some("bob")),
            ("bob-", Some("bob")),
            ("bob--really", Some("bob")),
            ("bob!", Some("bob!")),
            ("bob!!", Some("bob!")),
            ("bob/alice", Some("bob")),
            ("bob-smith.", Some("bob-smith")),
            ("bob-smith-jones", None),
            ("bob.org", None),
            ("bobby", None),
            ("J.R.", Some("j.r")),
            ("O'Neil's", Some("o'neil")),
            ("田中さんへ", Some("田中")),
            ("bob你好", Some("bob")),
            ("bobสวัสดี", Some("bob")),
            ("bob/1/2/3/4/5/6/7/8/9", Some("bob")),
            ("", None),
            ("!!!!!!!!!!!!!!!!!!!!", None),
        ] {
            assert_eq!(found(run), expected, "{run}");
        }
    }
}
