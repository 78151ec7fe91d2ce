//! Searches: the words that a message must have, and the phrases among them.

use std::cell::OnceCell;

use super::fold::{CharClass, kind, lower, plain};
use super::{Bag, Run, SearchTokens, add_pairs, each_run, tokens};

/// The most tokens that a search looks up. Only a pasted sentence of a script that is searched by
/// pairs has more, and so many pairs tell it from other texts.
pub(super) const MAX_QUERY_TOKENS: usize = 64;
/// The most words of phrases that are looked for in each message. A word that is repeated counts
/// each time here, and so many tell a message from others.
const MAX_PHRASE_WORDS: usize = 64;
/// The shortest word that finds those that begin with it. Shorter ones begin too many.
const MIN_BEGINNING: usize = 3;

/// What a search asks for, from [`query`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchQuery {
    words: Vec<QueryWord>,
    phrases: Vec<Phrase>,
}

/// A token that a message must have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueryWord {
    /// A token as [`tokens`] makes it, or the beginning of one.
    pub token: String,
    /// Whether a token that begins with it is enough.
    pub is_beginning: bool,
}

impl QueryWord {
    /// Whether a token of a message is the word, or begins with it where that is enough.
    #[must_use]
    pub fn accepts(&self, token: &str) -> bool {
        match self.is_beginning {
            true => token.starts_with(&self.token),
            false => token == self.token,
        }
    }
}

/// Words that must stand together.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Phrase {
    words: Vec<PhraseWord>,
    /// The signs that must follow the last word, as in `C++`.
    signs: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct PhraseWord {
    gap: Gap,
    /// In lower case.
    text: String,
    is_unspaced: bool,
    is_beginning: bool,
}

/// The text between a word of a phrase and the word before it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Gap {
    /// Anything that is no word.
    Any,
    /// These signs.
    Signs(String),
}

impl Gap {
    fn accepts(&self, text: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Signs(signs) => signs == text,
        }
    }
}

/// A run of a text that is a word, and where it stands.
struct Piece<'a> {
    run: Run<'a>,
    /// In lower case.
    word: String,
    /// The tokens of the run, once they were asked for.
    tokens: OnceCell<SearchTokens>,
    start: usize,
    end: usize,
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    each_run(text, |run| {
        let Some(word) = lower_word(&run) else { return };
        let run_text = run.text();
        // The run is a slice of the text.
        let start = run_text.as_ptr() as usize - text.as_ptr() as usize;
        pieces.push(Piece {
            run,
            word,
            tokens: OnceCell::new(),
            start,
            end: start + run_text.len(),
        });
    });
    pieces
}

/// The word of a run; `None` of a run that makes no token, such as `_`.
fn lower_word(run: &Run<'_>) -> Option<String> {
    if let Run::Unspaced(characters) = run {
        return Some(characters.chars().map(lower).collect());
    }
    let mut bag = Bag::with_capacity(run.text().len());
    bag.add(run.text());
    bag.distinct().first().map(|word| (*word).to_owned())
}

/// The search for a text: its words, each of which finds what begins with it. A part in quotation
/// marks is a phrase: its words are found whole, and together. So are words that stand together
/// without white space, such as `10.4.2`, `foo::bar` and `C++`, with the signs between them; a hyphen
/// also finds white space. A text without a word finds nothing.
#[must_use]
pub fn query(text: &str) -> SearchQuery {
    let text = plain(text);
    let mut reading = Reading::default();
    let mut rest = &*text;
    while let Some(at) = rest.find(is_quotation_mark) {
        let inside = &rest[at..][first_length(&rest[at..])..];
        let Some(length) = inside.find(is_quotation_mark) else {
            break;
        };
        reading.add_unquoted(&rest[..at]);
        reading.add_phrase(&inside[..length]);
        rest = &inside[length..][first_length(&inside[length..])..];
    }
    reading.add_unquoted(rest);
    reading.finish()
}

fn is_quotation_mark(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„' | '«' | '»')
}

fn first_length(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

#[derive(Default)]
struct Reading<'a> {
    words: Vec<QueryWord>,
    unspaced: Vec<&'a str>,
    phrases: Vec<Phrase>,
    phrase_words: usize,
}

impl<'a> Reading<'a> {
    fn add_unquoted(&mut self, text: &'a str) {
        for together in text.split_whitespace() {
            self.add_together(together);
        }
    }

    /// Adds words without white space between them.
    fn add_together(&mut self, text: &'a str) {
        let pieces = pieces(text);
        let Some(last) = pieces.last() else { return };
        let rest = &text[last.end..];
        let signs = match last.run {
            Run::Word(_) => &rest[..rest.find(|c| c != '+' && c != '#').unwrap_or(rest.len())],
            _ => "",
        };
        let mut words = Vec::with_capacity(pieces.len());
        let mut end = 0;
        for (index, piece) in pieces.iter().enumerate() {
            let is_last = index + 1 == pieces.len();
            let between = &text[end..piece.start];
            let gap = match between {
                "-" | "'" | "’" | "\u{2010}" | "\u{2011}" => Gap::Any,
                _ if index == 0 => Gap::Any,
                signs => Gap::Signs(signs.to_owned()),
            };
            end = piece.end;
            words.push(self.add_piece(piece, gap, is_last && signs.is_empty()));
        }
        self.add_words_of_phrase(words, signs);
    }

    /// Adds the words between two quotation marks.
    fn add_phrase(&mut self, text: &'a str) {
        let pieces = pieces(text);
        let words = pieces.iter();
        let words = words.map(|piece| self.add_piece(piece, Gap::Any, false));
        let words = words.collect();
        self.add_words_of_phrase(words, "");
    }

    /// Adds a word of a phrase to those that are looked up.
    fn add_piece(&mut self, piece: &Piece<'a>, gap: Gap, may_begin: bool) -> PhraseWord {
        let text = piece.word.clone();
        let is_unspaced = matches!(piece.run, Run::Unspaced(_));
        let is_beginning =
            may_begin && matches!(piece.run, Run::Word(_)) && may_be_beginning(&text);
        match piece.run {
            Run::Unspaced(characters) => self.unspaced.push(characters),
            _ => self.words.push(QueryWord {
                token: text.clone(),
                is_beginning,
            }),
        }
        PhraseWord {
            gap,
            text,
            is_unspaced,
            is_beginning,
        }
    }

    fn add_words_of_phrase(&mut self, words: Vec<PhraseWord>, signs: &str) {
        // One word, or a pair of characters, is found by its tokens alone.
        let is_told_by_tokens = match words.as_slice() {
            [] => true,
            [word] => signs.is_empty() && !(word.is_unspaced && word.text.chars().count() > 2),
            _ => false,
        };
        if is_told_by_tokens {
            return;
        }
        let mut phrase = Phrase {
            words,
            signs: signs.to_owned(),
        };
        let left = MAX_PHRASE_WORDS.saturating_sub(self.phrase_words);
        if phrase.words.len() > left {
            phrase.words.truncate(left);
            phrase.signs.clear();
        }
        if !phrase.words.is_empty() && !self.phrases.contains(&phrase) {
            self.phrase_words += phrase.words.len();
            self.phrases.push(phrase);
        }
    }

    fn finish(mut self) -> SearchQuery {
        let mut bag = Bag::with_capacity(0);
        for characters in &self.unspaced {
            add_pairs(characters, false, &mut bag);
        }
        self.make_words_distinct();
        let left = MAX_QUERY_TOKENS.saturating_sub(self.words.len());
        let pairs = bag.distinct().into_iter().map(|token| QueryWord {
            token: token.to_owned(),
            is_beginning: false,
        });
        self.words.extend(pairs.take(left));
        self.words.truncate(MAX_QUERY_TOKENS);
        self.make_words_distinct();
        SearchQuery {
            words: self.words,
            phrases: self.phrases,
        }
    }

    /// A whole word comes before the same word as a beginning, and says more.
    fn make_words_distinct(&mut self) {
        self.words.sort_unstable();
        self.words.dedup_by(|later, word| later.token == word.token);
    }
}

/// Numbers are found whole: `10` is another number than `100`.
fn may_be_beginning(word: &str) -> bool {
    let is_number = word.chars().all(char::is_numeric);
    !is_number
        && word
            .chars()
            .filter(|&c| kind(c) != CharClass::Mark)
            .nth(MIN_BEGINNING - 1)
            .is_some()
}

impl SearchQuery {
    /// Whether it has no word, and finds nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The tokens that a message must have all of: distinct and in ascending order.
    #[must_use]
    pub fn words(&self) -> &[QueryWord] {
        &self.words
    }

    /// Whether a message with the words must be looked at for its phrases.
    #[must_use]
    pub fn has_phrases(&self) -> bool {
        !self.phrases.is_empty()
    }

    /// Whether a text that has the words has the phrases.
    #[must_use]
    pub fn accepts_phrases(&self, text: &str) -> bool {
        if self.phrases.is_empty() {
            return true;
        }
        let text = plain(text);
        let pieces = pieces(&text);
        self.phrases
            .iter()
            .all(|phrase| phrase.is_in(&text, &pieces))
    }

    /// Whether a token is one of the words, or begins with one that may begin it.
    pub(super) fn wants(&self, token: &str) -> bool {
        self.words.iter().any(|word| word.accepts(token))
    }
}

impl Phrase {
    fn is_in(&self, text: &str, pieces: &[Piece<'_>]) -> bool {
        pieces
            .windows(self.words.len())
            .any(|window| self.is_at(text, window))
    }

    fn is_at(&self, text: &str, window: &[Piece<'_>]) -> bool {
        let gaps = window.iter().zip(&window[1..]);
        let ends = window.last().map_or(0, |piece| piece.end);
        text[ends..].starts_with(&self.signs)
            && gaps
                .zip(&self.words[1..])
                .all(|((before, after), word)| word.gap.accepts(&text[before.end..after.start]))
            && window
                .iter()
                .zip(&self.words)
                .all(|(piece, word)| word.is_in(piece))
    }
}

impl PhraseWord {
    /// Whether a piece is the word, or an identifier with the word as a part of it.
    fn is_in(&self, piece: &Piece<'_>) -> bool {
        if self.is_unspaced {
            return matches!(piece.run, Run::Unspaced(_)) && piece.word.contains(&self.text);
        }
        let is_it = |token: &str| match self.is_beginning {
            true => token.starts_with(&self.text),
            false => token == self.text,
        };
        let tokens = || piece.tokens.get_or_init(|| tokens(piece.run.text()));
        is_it(&piece.word) || tokens().iter().any(is_it)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn finds(search: &str, text: &str) -> bool {
        let (query, tokens) = (query(search), tokens(text));
        let has = |word: &QueryWord| tokens.iter().any(|token| word.accepts(token));
        !query.is_empty() && query.words().iter().all(has) && query.accepts_phrases(text)
    }

    #[test]
    fn a_word_finds_what_begins_with_it() {
        for (search, text, found) in [
            ("deploy", "the deployment went well", true),
            ("DEPLOY", "Deployed!", true),
            ("deploy*", "the deployment", true),
            ("\"deploy\"", "the deployment", false),
            ("“deploy”", "deploy it", true),
            ("de", "the deployment", false),
            ("log", "logs", true),
            ("парол", "новые пароли", true),
            ("10", "100 of them", false),
            ("ployment", "deployment", false),
            ("v10", "v100", true),
            ("foo_b", "see foo_bar", true),
        ] {
            assert_eq!(finds(search, text), found, "{search} in {text}");
        }
    }

    #[test]
    fn a_phrase_finds_its_words_together() {
        for (search, text, found) in [
            ("\"blue whale\"", "saw a blue whale swim", true),
            ("\"blue whale\"", "Blue, whale", true),
            ("\"blue whale\"", "a whale, blue", false),
            ("\"blue whale\"", "blue whales", false),
            ("\"blue whale\" swim", "a blue whale swims", true),
            ("„blaue Straße“", "die blaue strasse", true),
            ("\"良い天気\"", "今日は良い天気です", true),
            ("\"天気良い\"", "天気は良い", false),
            ("say \"blue", "say blue", true),
            ("\"\" blue", "blue", true),
        ] {
            assert_eq!(finds(search, text), found, "{search} in {text}");
        }
    }

    #[test]
    fn words_that_stand_together_are_found_together() {
        for (search, text, found) in [
            ("10.4.2", "release version 10.4.2 out", true),
            ("10.4.2", "release 2.10 and 4 items", false),
            ("10.4.2", "10, 4, 2", false),
            ("10.4.2", "10.4.21", false),
            ("C++", "we use C++ there", true),
            ("C++", "vitamin C is healthy", false),
            ("c#", "in C# it is", true),
            ("c#", "in C it is", false),
            ("#sprint-42", "about #sprint-42 now", true),
            ("foo::bar", "call foo::bar", true),
            ("foo::bar", "foo or bar", false),
            ("model.tag", "see eddy.model.tags::scan", true),
            ("model.tags", "see a_model.tags", true),
            ("sign-in", "the sign in page", true),
            ("sign-in", "sign it, then in", false),
            ("it's", "it’s late", true),
            (
                "nora.p+it@mail.example",
                "to nora.p+it@mail.example please",
                true,
            ),
            ("20°C", "20℃", true),
            ("使用docker", "我使用docker部署", true),
        ] {
            assert_eq!(finds(search, text), found, "{search} in {text}");
        }
    }

    #[test]
    fn phrases_look_for_so_many_words_at_most() {
        let text = format!("c {}", "b_a ".repeat(2000));
        let long = query(&format!("\"{}c\"", "a ".repeat(240)));
        assert_eq!(long.phrases[0].words.len(), MAX_PHRASE_WORDS);
        assert!(long.accepts_phrases(&text));
        let same = query(&"a.b ".repeat(100));
        assert_eq!(same.phrases.len(), 1);
        let other = query(
            &(1..=20)
                .map(|n| format!("{n}.{n}.{n}.{n} "))
                .collect::<String>(),
        );
        let words: usize = other.phrases.iter().map(|phrase| phrase.words.len()).sum();
        assert_eq!(words, MAX_PHRASE_WORDS);
    }

    #[test]
    fn a_repeated_word_takes_no_place_of_another() {
        let search = format!("{}secret", "a ".repeat(100));
        assert!(!finds(&search, "a"));
        assert!(finds(&search, "a secret"));
    }

    proptest! {
        #[test]
        fn any_part_of_a_text_finds_it(
            words in proptest::collection::vec("[a-c0-9é東京ß_.:+#'\\-]{1,5}|C\\+\\+|🚀|\\PC{1,3}", 1..8),
            start in 0usize..8,
            count in 1usize..8,
        ) {
            let text = words.join(" ").replace(is_quotation_mark, "'");
            let words: Vec<&str> = text.split_whitespace().collect();
            let part = words.iter().skip(start).take(count).copied().collect::<Vec<_>>().join(" ");
            let has_word = !query(&part).is_empty();
            prop_assert_eq!(finds(&part, &text), has_word, "{} in {}", part, text);
            let quoted = format!("\"{part}\"");
            prop_assert_eq!(finds(&quoted, &text), has_word, "{} in {}", quoted, text);
        }
    }
}
