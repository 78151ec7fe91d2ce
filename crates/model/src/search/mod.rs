//! The words a message is found by.
//!
//! Text to be found and text to search for go through the same rules, in whatever database the
//! words end up:
//!
//! - Case and accents do not count, nor do compatibility forms: `ﬁ` is `fi`, full width is half,
//!   `ß` is `ss`, `ł` is `l`, `æ` is `ae`.
//! - A word is an unbroken sequence of letters, digits and `_` of any script. Everything else
//!   separates: `foo::bar`, `it's` and `a-b` are two words each.
//! - An identifier is found whole and by its parts: `parseHTTP_body` by itself, by `parsehttp`,
//!   `parse`, `http` and `body`.
//! - Chinese, Japanese, Korean, Thai, Lao, Burmese and Khmer, which do not set their words apart,
//!   are found by any sequence of characters; a sequence is looked up as overlapping pairs.
//! - An emoji or another symbol outside ASCII is a word of its own, in any skin tone.
//!
//! A token holds nothing but letters, digits, `_` and combining marks, or else one symbol: no
//! white space, no control character, and in ASCII nothing that means something to a query
//! language.

use std::borrow::Cow;

pub(crate) use self::documents::{discussed, document_author, heading, text_of_html};
pub use self::fold::has_former_tokens;
use self::fold::{CharClass, kind, lower, plain};
pub use self::hits::hits;
pub use self::query::{QueryWord, SearchQuery, query};
use crate::events::MessageKind;

mod documents;
mod fold;
mod hits;
mod query;

/// The longest token, in characters. Longer words are the same when they begin with the same
/// `MAX_TOKEN` characters.
pub const MAX_TOKEN: usize = 64;

/// The tokens under which a message is filed: distinct and in ascending order. One text rather than
/// many, since every message has some and databases take them as one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchTokens(String);

impl SearchTokens {
    /// The tokens, with a space between each two.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each token.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.split_ascii_whitespace()
    }
}

/// The tokens under which a message with this text is filed.
#[must_use]
pub fn tokens(text: &str) -> SearchTokens {
    let text = plain(text);
    let mut bag = Bag::with_capacity(text.len());
    each_run(&text, |run| match run {
        Run::Word(word) => {
            bag.add(word);
            add_parts(word, &mut bag);
        }
        Run::Unspaced(characters) => add_pairs(characters, true, &mut bag),
        Run::Symbol(symbol) => bag.add(symbol),
    });
    SearchTokens(bag.distinct().join(" "))
}

/// The tokens under which a message of this kind with this content is filed: those of its text, or,
/// where that is a document, of what can be read in it. HTML in it must have been sanitised.
#[must_use]
pub fn of_message(event: MessageKind, content: &str) -> SearchTokens {
    tokens(&text_to_search(event, content))
}

/// The text whose tokens a message of this kind is filed under.
#[must_use]
pub fn text_to_search(event: MessageKind, content: &str) -> Cow<'_, str> {
    match event {
        _ if event.has_text() => content.into(),
        MessageKind::Activity | MessageKind::Discussion | MessageKind::File | MessageKind::Mail => {
            documents::text_of(content).into()
        }
        _ => "".into(),
    }
}

/// What can be read in the content of a message of this kind.
#[must_use]
pub fn text_of_message(event: MessageKind, content: &str) -> Cow<'_, str> {
    match event {
        MessageKind::Activity | MessageKind::Discussion | MessageKind::Mail => {
            documents::text_of(content).into()
        }
        // Its name says nothing about anybody.
        MessageKind::File | MessageKind::Action => "".into(),
        _ => content.into(),
    }
}

/// The number of different words of a text that is searched for. A sequence of characters of a
/// script without words counts as one.
#[must_use]
pub fn count_words(text: &str) -> usize {
    let text = plain(text);
    let mut bag = Bag::with_capacity(text.len());
    let mut sequences = 0;
    each_run(&text, |run| match run {
        Run::Word(word) | Run::Symbol(word) => bag.add(word),
        Run::Unspaced(_) => sequences += 1,
    });
    bag.distinct().len() + sequences
}

/// Whether a character belongs to a word: a letter, a digit, `_`, or a mark that combines with
/// one. Variation selectors and the keycap, which follow symbols as well, do not.
#[must_use]
pub fn is_word_char(c: char) -> bool {
    matches!(
        kind(c),
        CharClass::Word | CharClass::Unspaced | CharClass::Mark
    )
}

/// Whether a character is a letter of a script that does not set its words apart.
#[must_use]
pub fn is_unspaced(c: char) -> bool {
    kind(c) == CharClass::Unspaced
}

/// A stretch of text of one nature.
enum Run<'a> {
    Word(&'a str),
    Unspaced(&'a str),
    Symbol(&'a str),
}

impl<'a> Run<'a> {
    fn text(&self) -> &'a str {
        match self {
            Self::Word(text) | Self::Unspaced(text) | Self::Symbol(text) => text,
        }
    }
}

/// Calls `found` with the runs of `text` in their order.
fn each_run<'a>(text: &'a str, mut found: impl FnMut(Run<'a>)) {
    if text.is_ascii() {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        return words
            .filter(|word| !word.is_empty())
            .for_each(|word| found(Run::Word(word)));
    }
    let mut open: Option<(usize, CharClass)> = None;
    let mut close = |open: &mut Option<(usize, CharClass)>, end| match open.take() {
        Some((start, CharClass::Unspaced)) => found(Run::Unspaced(&text[start..end])),
        Some((start, CharClass::Symbol)) => found(Run::Symbol(&text[start..end])),
        Some((start, _)) => found(Run::Word(&text[start..end])),
        None => {}
    };
    for (at, c) in text.char_indices() {
        let kind = kind(c);
        match (kind, open) {
            (CharClass::Mark, Some((_, CharClass::Word | CharClass::Unspaced))) => {}
            (CharClass::Word, Some((_, CharClass::Word)))
            | (CharClass::Unspaced, Some((_, CharClass::Unspaced))) => {}
            (CharClass::Word | CharClass::Unspaced | CharClass::Symbol, _) => {
                close(&mut open, at);
                open = Some((at, kind));
            }
            (CharClass::Mark | CharClass::Other, _) => close(&mut open, at),
        }
    }
    close(&mut open, text.len());
}

/// Adds what lies between the `_` of an identifier, and between its humps.
fn add_parts(word: &str, bag: &mut Bag) {
    // Without `_` the only part is the word itself, which is there already.
    let several = word.contains('_');
    for part in word.split('_') {
        if several {
            bag.add(part);
        }
        add_humps(part, bag);
    }
}

/// Adds the words run together in `camelCase`; the capitals of `HTTPRequest` belong together up
/// to the one that begins the next word.
fn add_humps(part: &str, bag: &mut Bag) {
    // Most words are in lower case, and have no humps.
    if part
        .bytes()
        .all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase())
    {
        return;
    }
    let mut start = 0;
    // The last two letters or digits, with the position of the last.
    let mut before: Option<char> = None;
    let mut last: Option<(usize, char)> = None;
    for (at, c) in part
        .char_indices()
        .filter(|&(_, c)| kind(c) != CharClass::Mark)
    {
        let border = match (before, last) {
            (_, Some((_, last))) if last.is_lowercase() && c.is_uppercase() => Some(at),
            (Some(before), Some((last_at, last)))
                if before.is_uppercase() && last.is_uppercase() && c.is_lowercase() =>
            {
                Some(last_at)
            }
            _ => None,
        };
        if let Some(border) = border.filter(|&border| border > start) {
            bag.add(&part[start..border]);
            start = border;
        }
        before = last.map(|(_, c)| c);
        last = Some((at, c));
    }
    if start > 0 {
        bag.add(&part[start..]);
    }
}

/// Adds the pairs of neighbours, and singles where they are needed: all of them to be found by,
/// and to look for the one character of a sequence that has no pair.
fn add_pairs(characters: &str, for_index: bool, bag: &mut Bag) {
    // A mark is part of the character before it.
    let mut starts = characters
        .char_indices()
        .filter(|&(_, c)| kind(c) != CharClass::Mark)
        .map(|(at, _)| at)
        .skip(1)
        .chain([characters.len()]);
    let mut single = 0..starts.next().unwrap_or(characters.len());
    if for_index || single.end == characters.len() {
        bag.add(&characters[single.clone()]);
    }
    for end in starts {
        bag.add(&characters[single.start..end]);
        single = single.end..end;
        if for_index {
            bag.add(&characters[single.clone()]);
        }
    }
}

/// Tokens in the order they were met, in one buffer; made distinct at the end, so that a repeated
/// word costs no allocation.
struct Bag {
    text: String,
    spans: Vec<(usize, usize)>,
}

impl Bag {
    fn with_capacity(bytes: usize) -> Self {
        Self {
            text: String::with_capacity(bytes),
            spans: Vec::with_capacity(bytes / 5 + 1),
        }
    }

    /// Adds the lower-case form of a word, cut to the limit. What begins with a mark or with `_`
    /// does not begin there, and an empty word is no token.
    fn add(&mut self, word: &str) {
        let start = self.text.len();
        if word.is_ascii() {
            let word = word.trim_start_matches('_');
            self.text.push_str(&word[..word.len().min(MAX_TOKEN)]);
            self.text[start..].make_ascii_lowercase();
        } else {
            let word = word.trim_start_matches(|c| c == '_' || kind(c) == CharClass::Mark);
            self.text.extend(word.chars().map(lower).take(MAX_TOKEN));
        }
        let end = start + self.text[start..].trim_end_matches('_').len();
        self.text.truncate(end);
        if end > start {
            self.spans.push((start, end));
        }
    }

    fn distinct(&self) -> Vec<&str> {
        let mut tokens: Vec<&str> = self
            .spans
            .iter()
            .map(|&(start, end)| &self.text[start..end])
            .collect();
        tokens.sort_unstable();
        tokens.dedup();
        tokens
    }
}

#[cfg(test)]
mod tests;
