//! Chat text without its light markdown.

use std::borrow::Cow;

use super::{chat, with_plain_breaks};

/// What light markdown is written with.
const SIGNS: [char; 7] = ['*', '_', '~', '`', '>', '[', '|'];
/// Lines that begin with these may be code or headings.
const BEGINNINGS: [char; 3] = ['\t', ' ', '#'];
/// What [`chat`] writes around blocks, which begin and end a line.
const BLOCKS: [&str; 13] = [
    "pre",
    "blockquote",
    "ul",
    "ol",
    "li",
    "tr",
    "table",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
];

/// The text of a chat message as a reader sees it: without the signs of the light markdown that
/// [`chat`] knows. Of a link only its text is left, and the items of lists have their signs and
/// numbers. The result is no HTML.
#[must_use]
pub fn chat_text(text: &str) -> String {
    let may_name_emoji = |text: &str| text.matches(':').nth(1).is_some();
    let is_plain = |text: &str| {
        let begins_block = text.lines().any(|line| line.starts_with(BEGINNINGS));
        !text.contains(SIGNS) && !may_name_emoji(text) && !begins_block
    };
    match with_plain_breaks(text) {
        text if is_plain(&text) => text.into_owned(),
        text => words_of(&chat(&text)),
    }
}

/// The words of HTML that [`chat`] has made: it writes a `<` for nothing but tags.
fn words_of(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    // The number of the next item of each ordered list that is open, from the outermost.
    let mut lists: Vec<Option<u32>> = Vec::new();
    let mut pieces = html.split('<');
    text.push_str(&read(pieces.next().unwrap_or_default()));
    for piece in pieces {
        let Some((tag, rest)) = piece.split_once('>') else {
            continue;
        };
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        let is_block = BLOCKS.contains(&name.trim_start_matches('/'));
        let begins_item = text.ends_with("- ") || text.ends_with(". ");
        // What begins an item stands in its line.
        let is_beside = begins_item && name != "li";
        let begins_line = text.is_empty() || text.ends_with('\n') || is_beside;
        if is_block && !begins_line {
            text.push('\n');
        }
        match name {
            "ul" => lists.push(None),
            "ol" => lists.push(Some(1)),
            "/ul" | "/ol" => drop(lists.pop()),
            "li" => begin_item(&mut text, &mut lists, attributes),
            "input" => text.push_str(match attributes.contains("checked") {
                true => "[x]",
                false => "[ ]",
            }),
            "td" | "th" if !text.is_empty() && !text.ends_with('\n') => text.push_str(" | "),
            _ => {}
        }
        text.push_str(&read(rest));
    }
    if html.ends_with('>') && text.ends_with('\n') {
        text.pop();
    }
    text
}

/// Writes what an item of the innermost list begins with.
fn begin_item(text: &mut String, lists: &mut [Option<u32>], attributes: &str) {
    let value = attributes.strip_prefix("value=\"");
    let value = value.and_then(|value| value.trim_end_matches('"').parse().ok());
    text.push_str(&"  ".repeat(lists.len().saturating_sub(1)));
    match lists.last_mut() {
        Some(Some(next)) => {
            let number = value.unwrap_or(*next);
            text.push_str(&format!("{number}. "));
            *next = number + 1;
        }
        _ => text.push_str("- "),
    }
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
            ("# *Plan*\nsoon", "Plan\nsoon"),
            ("* a\n  * **b**\n* c\nso", "- a\n  - b\n- c\nso"),
            ("3. *a*\n4. b\n9. c", "3. a\n4. b\n9. c"),
            ("- [ ] *a*\n- [x] b", "- [ ] a\n- [x] b"),
            ("|a|b|\n|-|-|\n|1|`2`|", "a | b\n1 | 2"),
            ("- a\n  ```\n  x\n  ```", "- a\nx"),
        ] {
            assert_eq!(chat_text(text), seen, "{text:?}");
        }
    }
}
