//! What in a text may become a tag, in one pass.

use eddyline_syntax::{link_at, other_address_at};

use crate::names::{is_ascii_nick_char, is_nick_char};
use crate::search::is_word_char;

use super::MAX_TAG_CHARS;
use super::nicks::MAX_RUN;

/// Something in a text that may become a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// A link with `http://`, `https://` or `www.`.
    Url,
    /// A hashtag without its `#`.
    Hashtag(&'a str),
    /// What follows an `@`, up to where no nick can go on.
    Mention(&'a str),
    /// What begins with a word, up to where no nick can go on.
    Word(&'a str),
}

/// Reads a text without code from front to back. Links have no pieces in them.
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// Where the piece given last begins.
    piece: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            piece: 0,
        }
    }

    /// Passes over the first `length` bytes of the mention or word given last, which have found
    /// their meaning.
    pub(super) fn consume(&mut self, length: usize) {
        self.at = self.at.max(self.piece + length);
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn before(&self) -> Option<char> {
        self.text[..self.at].chars().next_back()
    }

    fn after_word(&self) -> bool {
        self.before().is_some_and(is_word_char)
    }

    /// At what an address may begin with: passes over it, and tells whether the web is meant.
    fn address(&mut self) -> Option<Piece<'a>> {
        let link = link_at(self.rest(), self.before(), |_| false)?;
        let is_web = !self.rest().starts_with(['m', 'M']);
        self.at += link.length;
        is_web.then_some(Piece::Url)
    }

    /// At `://`: passes over the address when there is a scheme before it, and tells whether the
    /// web is meant.
    fn other_address(&mut self) -> Option<Piece<'a>> {
        // Looked at first: measuring an address reads to its end.
        if !self.before().is_some_and(|c| c.is_ascii_alphanumeric()) {
            return None;
        }
        let length = other_address_at(self.rest(), |_| false)?;
        let before = &self.text[..self.at];
        let is_part = |c: char| c.is_ascii_alphanumeric();
        let scheme = before.rsplit(|c| !is_part(c)).next().unwrap_or_default();
        self.at += length;
        ["http", "https"]
            .iter()
            .any(|web| scheme.eq_ignore_ascii_case(web))
            .then_some(Piece::Url)
    }

    /// At a `#` of `sign` bytes: passes over the hashtag it begins, if it does.
    fn hashtag(&mut self, sign: usize) -> Option<Piece<'a>> {
        // `&#39;` is an HTML entity, and `/#` a part of an address that was written in short.
        let begins = !self.after_word() && !matches!(self.before(), Some('&' | '/'));
        self.at += sign;
        let rest = self.rest();
        if !begins || !rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-')) {
            return None;
        }
        let body = &rest[..rest.find(|c| !is_hashtag_char(c)).unwrap_or(rest.len())];
        if rest[body.len()..].starts_with("://") {
            return None;
        }
        self.at += body.len();
        let tag = body.trim_end_matches(['-', '\u{200c}', '\u{200d}']);
        let fits = tag.chars().nth(MAX_TAG_CHARS).is_none();
        (fits && tag.contains(char::is_alphanumeric)).then_some(Piece::Hashtag(tag))
    }

    /// At an `@` of `sign` bytes: passes over the sign and gives what follows it.
    fn mention(&mut self, sign: usize) -> Option<Piece<'a>> {
        // One `_` before it, which begins no word, is emphasis.
        let before = &self.text[..self.at];
        let outside = before.strip_suffix('_').unwrap_or(before);
        let begins = !outside.chars().next_back().is_some_and(is_word_char);
        self.at += sign;
        self.piece = self.at;
        if !begins {
            return None;
        }
        let run = self.nick_run();
        let named = !run.is_empty() && !self.rest()[run.len()..].starts_with("://");
        named.then_some(Piece::Mention(run))
    }

    /// At the first letter of a word: passes over the word, and gives it with what follows unless
    /// it is joined to what is before it, or part of an e-mail address.
    fn word(&mut self) -> Option<Piece<'a>> {
        self.piece = self.at;
        let mut before = self.text[..self.at].chars().rev();
        let joined = match before.next() {
            Some('@' | '＠') => true,
            Some('.' | '-') => before.next().is_some_and(char::is_alphanumeric),
            _ => false,
        };
        let rest = self.rest();
        let run = self.nick_run();
        self.at += ascii_run(rest, rest.len(), |byte| {
            byte.is_ascii_alphanumeric() || byte == b'_'
        })
        .unwrap_or_else(|| rest.find(|c| !is_word_char(c)).unwrap_or(rest.len()));
        let alone = !joined && !rest[run.len()..].starts_with('@');
        alone.then_some(Piece::Word(run))
    }

    /// What a nick that begins here could be made of.
    fn nick_run(&self) -> &'a str {
        let rest = self.rest();
        if let Some(end) = ascii_run(rest, MAX_RUN, is_ascii_nick_char) {
            return &rest[..end];
        }
        let end = rest
            .char_indices()
            .enumerate()
            .find(|&(count, (_, c))| count == MAX_RUN || !is_nick_char(c))
            .map_or(rest.len(), |(_, (at, _))| at);
        &rest[..end]
    }
}

impl<'a> Iterator for Scanner<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        loop {
            let c = self.rest().chars().next()?;
            let from = self.at;
            let piece = match c {
                ':' => self.other_address(),
                'h' | 'H' | 'm' | 'M' | 'w' | 'W' => self.address(),
                '#' | '＃' => self.hashtag(c.len_utf8()),
                '@' | '＠' => self.mention(c.len_utf8()),
                _ => None,
            };
            if piece.is_some() {
                return piece;
            }
            if self.at > from {
                continue;
            }
            if !is_word_char(c) {
                self.at += c.len_utf8();
            } else if let Some(word) = self.word() {
                return Some(word);
            }
        }
    }
}

/// The length of what `text` begins with that satisfies `is_part`, `max` bytes at most. `None` when
/// it is followed by a character beyond ASCII, which only the caller can judge. Most texts are
/// ASCII, and a byte is judged faster.
fn ascii_run(text: &str, max: usize, is_part: impl Fn(u8) -> bool) -> Option<usize> {
    let bytes = text.as_bytes();
    let max = bytes.len().min(max);
    let end = bytes[..max]
        .iter()
        .position(|&byte| !is_part(byte))
        .unwrap_or(max);
    (end == max || bytes[end].is_ascii()).then_some(end)
}

/// Letters, digits, `-`, `_`, marks, and the joiners that some scripts need inside a word.
fn is_hashtag_char(c: char) -> bool {
    is_word_char(c) || matches!(c, '-' | '\u{200c}' | '\u{200d}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_run_of_ascii_ends_where_one_of_characters_does(
            start in "[a-z_.]{0,90}",
            rest in "[a-z_. @é東\u{301}]{0,12}",
        ) {
            let text = start + &rest;
            let nick: String = text.chars().take_while(|c| is_nick_char(*c)).take(MAX_RUN).collect();
            prop_assert_eq!(Scanner::new(&text).nick_run(), nick);
            let word = text.find(|c| !is_word_char(c)).unwrap_or(text.len());
            let bytes = ascii_run(&text, text.len(), |byte| byte.is_ascii_alphanumeric() || byte == b'_');
            prop_assert!(bytes.is_none_or(|end| end == word));
            prop_assert!(bytes.is_some() || !text.is_ascii());
        }
    }
}
