//! Chat text with light markdown as HTML.
//!
//! The scanner is our own. Libraries for CommonMark turn `# foo`, `1. x` and four spaces into
//! headings, lists and code. In a chat they must stay text.
//!
//! This module finds the blocks: code and quotes. `line` renders what is within one line;
//! `delimiters` says which `*`, `_` and `~~` begin and end an element, `addresses` where addresses
//! end, and `words` where mentions and tags end. `highlight` marks the parts of code, by what
//! `languages` says.

mod addresses;
mod delimiters;
mod highlight;
mod languages;
mod line;
mod plain;
#[cfg(test)]
mod tests;
mod words;

use std::borrow::Cow;

use self::highlight::write_highlighted;
use self::line::write_line;
pub use self::plain::chat_text;

/// What begins and ends a block of code.
const FENCE: &str = "```";
/// The most bytes of the name of a language behind a fence.
const MAX_LANGUAGE: usize = 20;

/// The plain text of a chat message as HTML, with its light markdown.
///
/// | text | HTML |
/// |---|---|
/// | `**bold**`, `*italic*`, `_italic_`, `~~gone~~` | `<b>`, `<i>`, `<i>`, `<s>` |
/// | code between single or double backticks | `<code>` |
/// | code between lines of three backticks, or a message of indented lines only | `<pre><code>` |
/// | lines that begin with `> ` | `<blockquote>` |
/// | `https://example.org`, `[text](https://example.org)` | `<a href="…">` |
/// | `:tada:`, a name of an emoji at the edges of a word | the emoji |
/// | `@nick` | `<b class="at">` |
/// | `#tag` | `<b class="tag">` |
///
/// The name of a language behind the first fence becomes the attribute `data-language` of the
/// `code`, and if it is a common one, parts of the code have a class: comments `<i class="c">`,
/// keywords `<b class="k">`, strings, numbers and keys `<span>` with `s`, `n` and `a`, lines that a
/// diff adds or removes `add` and `del`. Links lead to `http:`, `https:` or `mailto:`, open a new tab,
/// and have `rel`. Everything else is escaped text, so the HTML is safe whatever the text holds. A
/// mention is marked by its form. The function does not check that a user has that nick.
///
/// Line breaks stay `\n`, which a page shows with `white-space: pre-line`. A line break beside a
/// `pre` or a `blockquote` is left out, because it would show as an empty line there.
///
/// The work grows linearly with the text, and the output is at most 12 times as long, but for the
/// tags of one empty quote or block.
#[must_use]
pub fn chat(text: &str) -> String {
    let text = with_plain_breaks(text);
    let mut html = String::with_capacity(text.len() + text.len() / 4);
    if let Some(code) = indented(&text) {
        write_code(&mut html, None, &code);
        return html;
    }
    let mut lines = text.split('\n').peekable();
    let mut is_after_text = false;
    while let Some(line) = lines.next() {
        if let Some(code) = one_line_block(line) {
            write_code(&mut html, None, code);
        } else if let Some(block) = opened_block(line, &mut lines) {
            write_code(&mut html, block.language, &block.code);
        } else if let Some(first) = quoted(line) {
            html.push_str("<blockquote>");
            write_line(&mut html, first, true);
            while let Some(next) = lines.peek().copied().and_then(quoted) {
                html.push('\n');
                write_line(&mut html, next, true);
                lines.next();
            }
            html.push_str("</blockquote>");
        } else {
            if is_after_text {
                html.push('\n');
            }
            // The model finds no mentions and tags in an indented line, either.
            write_line(&mut html, line, without_indent(line).is_none());
            is_after_text = true;
            continue;
        }
        is_after_text = false;
    }
    html
}

/// The text with `\n` for every line break, as a browser would read it.
fn with_plain_breaks(text: &str) -> Cow<'_, str> {
    if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

/// A line without the indent of code.
fn without_indent(line: &str) -> Option<&str> {
    line.strip_prefix("    ")
        .or_else(|| line.strip_prefix('\t'))
}

/// The code of a message that has nothing but indented lines, and empty ones between them.
fn indented(text: &str) -> Option<String> {
    if text.trim().is_empty() {
        return None;
    }
    let is_blank = |line: &str| line.trim().is_empty();
    if !text
        .split('\n')
        .all(|line| without_indent(line).is_some() || is_blank(line))
    {
        return None;
    }
    let lines: Vec<&str> = text
        .split('\n')
        .map(|line| without_indent(line).unwrap_or_default())
        .collect();
    Some(lines.join("\n"))
}

/// The code of a line that begins and ends with a fence.
fn one_line_block(line: &str) -> Option<&str> {
    let code = line
        .strip_prefix(FENCE)?
        .trim_end()
        .strip_suffix(FENCE)?
        .trim();
    (!code.is_empty() && !code.contains(FENCE)).then_some(code)
}

struct CodeBlock<'a> {
    language: Option<&'a str>,
    code: String,
}

/// The block that a line opens, up to the next fence or the end of the text. `None` when the line
/// opens none; then nothing was taken of the lines that follow, except blank ones at the end.
fn opened_block<'a>(
    line: &'a str,
    following: &mut impl Iterator<Item = &'a str>,
) -> Option<CodeBlock<'a>> {
    let rest = line.strip_prefix(FENCE)?;
    // Such a line is code within a sentence, and would take the rest of the message with it.
    if rest.contains('`') {
        return None;
    }
    let word = rest.trim();
    let is_language = (1..=MAX_LANGUAGE).contains(&word.len())
        && word
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'#' | b'-'));
    let mut code = String::new();
    // Many put the first line of the code directly behind the fence.
    if !is_language && !word.is_empty() {
        code.extend([rest, "\n"]);
    }
    let mut is_closed = false;
    for line in following {
        if line.trim_end() == FENCE {
            is_closed = true;
            break;
        }
        code.extend([line, "\n"]);
    }
    // A fence at the end of the text encloses nothing, and shows what was typed.
    (is_closed || !code.trim().is_empty()).then_some(CodeBlock {
        language: is_language.then_some(word),
        code,
    })
}

/// What a line quotes.
fn quoted(line: &str) -> Option<&str> {
    line.strip_prefix("> ")
        .or_else(|| line.strip_prefix('>').filter(|rest| rest.is_empty()))
}

fn write_code(html: &mut String, language: Option<&str>, code: &str) {
    html.push_str("<pre><code");
    if let Some(language) = language {
        html.extend([" data-language=\"", language, "\""]);
    }
    html.push('>');
    write_highlighted(html, language, code.trim_end_matches('\n'));
    html.push_str("</code></pre>");
}
