//! Chat text with light markdown as HTML.
//!
//! `eddyline_syntax` finds the blocks, the code within lines and the addresses. `line` renders what
//! is within one line; `delimiters` says which `*`, `_` and `~~` begin and end an element, and
//! `words` where mentions and tags end. `highlight` marks the parts of code, by what `languages`
//! says.

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

use eddyline_syntax::{Alignment, Block, ListItem, Table, blocks};

use self::highlight::write_highlighted;
use self::line::write_line;
pub use self::plain::chat_text;

/// The plain text of a chat message as HTML, with its light markdown.
///
/// | text | HTML |
/// |---|---|
/// | `**bold**`, `*italic*`, `_italic_`, `~~gone~~` | `<b>`, `<i>`, `<i>`, `<s>` |
/// | code between runs of as many backticks | `<code>` |
/// | code between fences of three backticks or more, and indented lines | `<pre><code>` |
/// | lines that begin with `> ` | `<blockquote>` |
/// | lines that begin with `- `, `* ` or `1. ` | `<ul>`, `<ol>` |
/// | `- [ ] task`, `- [x] task` | `<li class="task">` with a check box |
/// | lines that begin with `# ` to `###### ` | `<h1>` to `<h6>` |
/// | a table of GitHub's | `<table>` |
/// | `https://example.org`, `www.example.org`, `[text](https://example.org)` | `<a href="…">` |
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
/// block is left out, because it would show as an empty line there.
///
/// The work grows linearly with the text, and the output is at most 12 times as long (24 times as a
/// table of empty cells), but for the
/// tags of one empty quote or block.
#[must_use]
pub fn chat(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + text.len() / 4);
    write_blocks(&mut html, &blocks(text));
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

fn write_blocks(html: &mut String, blocks: &[Block<'_>]) {
    let mut is_after_line = false;
    for block in blocks {
        if let Block::Line(line) = block {
            if is_after_line {
                html.push('\n');
            }
            write_line(html, line);
            is_after_line = true;
            continue;
        }
        is_after_line = false;
        write_block(html, block);
    }
}

fn write_block(html: &mut String, block: &Block<'_>) {
    match block {
        Block::Line(line) => write_line(html, line),
        Block::Code { language, lines } => write_code(html, *language, &lines.join("\n")),
        Block::Quote(blocks) => {
            html.push_str("<blockquote>");
            write_blocks(html, blocks);
            html.push_str("</blockquote>");
        }
        Block::Heading { level, text } => {
            html.push_str(&format!("<h{level}>"));
            write_line(html, text);
            html.push_str(&format!("</h{level}>"));
        }
        Block::List { is_ordered, items } => write_list(html, *is_ordered, items),
        Block::Table(table) => write_table(html, table),
    }
}

fn write_list(html: &mut String, is_ordered: bool, items: &[ListItem<'_>]) {
    let name = if is_ordered { "ol" } else { "ul" };
    html.extend(["<", name, ">"]);
    let mut expected = 1;
    for item in items {
        match item.number.filter(|number| *number != expected) {
            // A number is shown as it was typed.
            Some(number) => html.push_str(&format!("<li value=\"{number}\">")),
            None if item.task.is_some() => html.push_str("<li class=\"task\">"),
            None => html.push_str("<li>"),
        }
        expected = item.number.unwrap_or_default() + 1;
        match item.task {
            None => write_blocks(html, &item.blocks),
            Some(is_done) => {
                let checked = if is_done { " checked" } else { "" };
                html.extend(["<label><input type=\"checkbox\" disabled", checked, "> "]);
                let (task, rest) = item.blocks.split_at(item.blocks.len().min(1));
                write_blocks(html, task);
                html.push_str("</label>");
                write_blocks(html, rest);
            }
        }
        html.push_str("</li>");
    }
    html.extend(["</", name, ">"]);
}

fn write_table(html: &mut String, table: &Table<'_>) {
    html.push_str("<table>");
    let mut write_row = |name: &str, cells: &[&str]| {
        html.push_str("<tr>");
        for (cell, alignment) in cells.iter().zip(&table.columns) {
            let class = match alignment {
                Alignment::Start => "",
                Alignment::Center => " class=\"center\"",
                Alignment::End => " class=\"end\"",
            };
            html.extend(["<", name, class, ">"]);
            write_line(html, &cell.replace("\\|", "|"));
            html.extend(["</", name, ">"]);
        }
        html.push_str("</tr>");
    };
    write_row("th", &table.header);
    for row in &table.rows {
        write_row("td", row);
    }
    html.push_str("</table>");
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
