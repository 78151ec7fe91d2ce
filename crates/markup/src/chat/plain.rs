//! Chat text without its light markdown.

use std::borrow::Cow;

use super::{chat, with_plain_breaks};

/// What light markdown is written with.
const SIGNS: [char; 6] = ['*', '_', '~', '`', '>', '['];
/// Lines that begin with these are code.
const INDENTS: [char; 2] = ['\t', ' '];
/// What [`chat`] writes around blocks, which begin and end a line.
const BLOCKS: [&str; 2] = ["pre", "blockquote"];

/// The text of a chat message as a reader sees it: without the signs of the light markdown that
/// [`chat`] knows. Of a link only its text is left. The result is no HTML.
#[must_use]
pub fn chat_text(text: &str) -> String {
    let may_name_emoji = |text: &str| text.matches(':').nth(1).is_some();
    let is_plain = |text: &str| {
        let begins_code = text.lines().any(|line| line.starts_with(INDENTS));
        !text.contains(SIGNS) && !may_name_emoji(text) && !begins_code
    };
    match with_plain_breaks(text) {
        text if is_plain(&text) => text.into_owned(),
        text => words_of(&chat(&text)),
    }
}

/// The words of HTML that [`chat`] has made: it writes a `<` for nothing but tags.
fn words_of(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut pieces = html.split('<');
    text.push_str(&read(pieces.next().unwrap_or_default()));
    for piece in pieces {
        let Some((tag, rest)) = piece.split_once('>') else {
            continue;
        };
        let is_block = BLOCKS.contains(&tag.trim_start_matches('/'));
        if is_block && !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&read(rest));
    }
    text
}

/// Undoes what `escape` does.
fn read(html: &str) -> Cow<'_, str> {
    if !html.contains('&') {
        return Cow::Borrowed(html);
    }
    let text = html.replace("&lt;", "<").replace("&gt;", ">");
    let text = text.replace("&quot;", "\"").replace("&#39;", "'");
    Cow::Owned(text.replace("&amp;", "&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_sees_the_words() {
        for (text, seen) in [
            ("", ""),
            ("plain, 5 < 6 & 'so'", "plain, 5 < 6 & 'so'"),
            ("**bold** *italic* _it_ ~~gone~~", "bold italic it gone"),
            (
                "run `cargo test`, @ada in #math",
                "run cargo test, @ada in #math",
            ),
            (
                "[the build](https://example.org/7) fails",
                "the build fails",
            ),
            (
                "see https://example.org/a_b_c?x=1&y=2",
                "see https://example.org/a_b_c?x=1&y=2",
            ),
            ("> quoted\n> twice\nanswer", "quoted\ntwice\nanswer"),
            (
                "look:\n```rust\nlet a = \"<b>\";\n```\nso",
                "look:\nlet a = \"<b>\";\nso",
            ),
            (
                "2 * 3 * 4, snake_case, a&amp;b <i>",
                "2 * 3 * 4, snake_case, a&amp;b <i>",
            ),
            (":tada: it is 10:30:15", "🎉 it is 10:30:15"),
            ("a\r\nb", "a\nb"),
        ] {
            assert_eq!(chat_text(text), seen, "{text:?}");
        }
    }
}
