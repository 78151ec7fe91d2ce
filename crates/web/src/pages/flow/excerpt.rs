//! Stretches of messages as lists of what was found show them, with the words that were looked for.

use eddyline_markup::chat_text;
use eddyline_model::messages::MessageKind;
use eddyline_model::search::{SearchQuery, hits};

use super::message::PageMessage;

/// How many characters stand before the first word that was found.
const BEFORE: usize = 60;
/// How many characters a stretch has at most.
const MOST: usize = 240;

/// A part of a stretch.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) text: String,
    /// Whether it was looked for.
    pub(super) marked: bool,
}

/// The stretch of a message's text around the first word that a search finds, in one line.
pub(super) fn excerpt(message: &PageMessage, words: &SearchQuery) -> Vec<Piece> {
    cut(&one_line(&text_of(message)), words)
}

/// What can be read in a message.
fn text_of(message: &PageMessage) -> String {
    if let Some(text) = &message.text {
        return chat_text(text);
    }
    if message.event == MessageKind::File {
        let name = message.attachments.first().map(|file| &file.file_name);
        return name.cloned().unwrap_or_default();
    }
    let parts = [&message.title, &message.body].into_iter().flatten();
    let texts: Vec<String> = parts.map(|html| eddyline_markup::text(html)).collect();
    texts.join(" ")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn cut(text: &str, words: &SearchQuery) -> Vec<Piece> {
    let hits = hits(text, words);
    let first = hits.first().map_or(0, |hit| hit.start);
    let before = text[..first].char_indices().rev().take(BEFORE).last();
    let start = match before {
        Some((at, _)) if at > 0 => text[at..first].find(' ').map_or(at, |space| at + space + 1),
        _ => 0,
    };
    let rest = &text[start..];
    let end = rest
        .char_indices()
        .nth(MOST)
        .map_or(text.len(), |(at, _)| start + at);
    let mut pieces = Vec::new();
    let mut add = |text: &str, marked| {
        if !text.is_empty() {
            let text = text.to_owned();
            pieces.push(Piece { text, marked });
        }
    };
    add(if start > 0 { "… " } else { "" }, false);
    let mut at = start;
    for hit in hits.into_iter().filter(|hit| hit.end <= end) {
        add(&text[at..hit.start], false);
        add(&text[hit.clone()], true);
        at = hit.end;
    }
    add(&text[at..end], false);
    add(if end < text.len() { "…" } else { "" }, false);
    pieces
}

#[cfg(test)]
mod tests {
    use eddyline_model::search::query;

    use super::*;

    fn shown(text: &str, search: &str) -> String {
        let pieces = cut(text, &query(search)).into_iter();
        pieces
            .map(|piece| match piece.marked {
                true => format!("[{}]", piece.text),
                false => piece.text,
            })
            .collect()
    }

    #[test]
    fn what_was_looked_for_is_marked() {
        assert_eq!(shown("Tea, <b>tea</b>!", "tea"), "[Tea], <b>[tea]</b>!");
        assert_eq!(shown("no words", ""), "no words");
        assert_eq!(shown("", "tea"), "");
    }

    #[test]
    fn a_long_text_is_cut_around_the_first_word() {
        let long = format!("{}tea {}", "word ".repeat(100), "é ".repeat(400));
        let shown = shown(&long, "tea");
        assert!(shown.starts_with("… word word"), "{shown}");
        assert!(shown.contains(" [tea] é é"), "{shown}");
        assert!(shown.ends_with('…'), "{shown}");
        assert!(shown.chars().count() <= MOST + 5, "{shown}");
    }
}
