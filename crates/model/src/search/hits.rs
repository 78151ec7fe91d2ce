//! Where the words of a search stand in a text that was found by them.

use std::ops::Range;

use super::fold::{CharClass, kind};
use super::{SearchQuery, query, tokens};

/// The stretches of a text that a search finds, in bytes, ascending and apart: whole words, also
/// where only a beginning or a part of an identifier was meant.
#[must_use]
pub fn hits(text: &str, wanted: &SearchQuery) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    if wanted.is_empty() {
        return found;
    }
    let mut add = |hit: Range<usize>| match found.last_mut() {
        Some(last) if hit.start <= last.end => last.end = last.end.max(hit.end),
        _ => found.push(hit),
    };
    for stretch in stretches(text) {
        let part = &text[stretch.clone()];
        match part.chars().next().map(kind) {
            Some(CharClass::Unspaced) => {
                for hit in pairs(part, wanted) {
                    add(stretch.start + hit.start..stretch.start + hit.end);
                }
            }
            _ if tokens(part).iter().any(|token| wanted.wants(token)) => add(stretch),
            _ => {}
        }
    }
    found
}

/// The words, the sequences of characters of scripts without words, and the symbols of a text.
fn stretches(text: &str) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    let mut open: Option<CharClass> = None;
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        let class = kind(c);
        let goes_on = match (open, class) {
            (Some(CharClass::Word | CharClass::Unspaced), CharClass::Mark) => true,
            (Some(open), class) => {
                open == class && matches!(class, CharClass::Word | CharClass::Unspaced)
            }
            (None, _) => false,
        };
        match all.last_mut() {
            Some(last) if goes_on => last.end = end,
            _ => {
                open = match class {
                    CharClass::Mark | CharClass::Other => None,
                    class => Some(class),
                };
                if open.is_some() {
                    all.push(at..end);
                }
            }
        }
    }
    all
}

/// What is wanted in a sequence of characters that are looked up in pairs.
fn pairs(part: &str, wanted: &SearchQuery) -> Vec<Range<usize>> {
    // A mark is part of the character before it.
    let characters = part.char_indices();
    let starts: Vec<usize> = characters
        .filter(|&(_, c)| kind(c) != CharClass::Mark)
        .map(|(at, _)| at)
        .collect();
    let end = |index: usize| starts.get(index).copied().unwrap_or(part.len());
    let mut found = Vec::new();
    for (index, start) in starts.iter().enumerate() {
        for length in [1, 2] {
            let hit = *start..end(index + length);
            if query(&part[hit.clone()])
                .words()
                .iter()
                .any(|word| wanted.wants(&word.token))
            {
                found.push(hit);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn marked(text: &str, search: &str) -> Vec<String> {
        let hits = hits(text, &query(search)).into_iter();
        hits.map(|hit| text[hit].to_owned()).collect()
    }

    #[test]
    fn what_was_looked_for_is_marked_as_it_was_written() {
        for (text, search, expected) in [
            ("Tea, or TEA?", "tea", &["Tea", "TEA"][..]),
            ("teapot", "tea", &["teapot"]),
            ("teapot", "\"tea\"", &[]),
            ("Crème brûlée", "creme BRULEE", &["Crème", "brûlée"]),
            ("see parseHTTP_body here", "http", &["parseHTTP_body"]),
            ("shipped 🚀 today", "🚀", &["🚀"]),
            ("今日は良い天気です", "天気", &["天気"]),
            ("โรงพยาบาลไม่เปิดวันนี้", "วันนี้", &["วันนี้"]),
            ("Eine Maß Bier", "mass", &["Maß"]),
            ("今日は良い天気です", "良い天気", &["良い天気"]),
            ("a <b> tea", "b", &["b"]),
            ("", "tea", &[]),
            ("tea", "!!!", &[]),
        ] {
            assert_eq!(marked(text, search), expected, "{text} by {search}");
        }
    }

    proptest! {
        #[test]
        fn hits_are_stretches_of_the_text_in_their_order(
            text in "[a-c é今天🚀👍🏽ﬁ_ ]{0,24}", search in "[a-cé今天🚀👍ﬁ_ ]{0,6}"
        ) {
            let mut last = 0;
            for hit in hits(&text, &query(&search)) {
                prop_assert!(hit.start >= last && hit.end > hit.start);
                prop_assert!(text.get(hit.clone()).is_some());
                last = hit.end;
            }
        }
    }
}
