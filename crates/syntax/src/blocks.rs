//! The blocks of a text.

use crate::fences::{Fenced, Fences};
use crate::lists::{self, ItemText, Marker};
use crate::tables::{Table, table};

/// The deepest nesting of quotes and lists. What is nested deeper is text.
pub const MAX_DEPTH: usize = 6;
/// The highest level of a heading.
const MAX_LEVEL: usize = 6;

/// A part of a text. All are slices of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block<'t> {
    /// A line of text.
    Line(&'t str),
    /// A block of code: between fences, or indented.
    Code {
        /// The name of the language behind the first fence.
        language: Option<&'t str>,
        /// Its lines.
        lines: Vec<&'t str>,
    },
    /// Lines that begin with `> `.
    Quote(Vec<Block<'t>>),
    /// A line that begins with `# `, or up to six of these signs.
    Heading {
        /// How many signs it has: 1 to 6.
        level: usize,
        /// The text behind them.
        text: &'t str,
    },
    /// Lines that begin with `- `, `* ` or `1. `.
    List {
        /// Whether its items are numbered.
        is_ordered: bool,
        /// Its items, at least one.
        items: Vec<ListItem<'t>>,
    },
    /// A table with a header.
    Table(Table<'t>),
}

/// An item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListItem<'t> {
    /// Its number in an ordered list.
    pub number: Option<u32>,
    /// Whether a task is done (`[x]`); `None` for an item that is no task.
    pub task: Option<bool>,
    /// What it holds.
    pub blocks: Vec<Block<'t>>,
}

/// Divides a text into blocks. Lines end with `\n`, `\r\n` or `\r`.
#[must_use]
pub fn blocks(text: &str) -> Vec<Block<'_>> {
    of_lines(&lines(text), 0)
}

fn lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    for line in text.split('\n') {
        lines.extend(line.strip_suffix('\r').unwrap_or(line).split('\r'));
    }
    lines
}

fn of_lines<'t>(lines: &[&'t str], depth: usize) -> Vec<Block<'t>> {
    let mut blocks = Vec::new();
    let mut fences = Fences::default();
    let mut rest = lines;
    while let [line, ..] = rest {
        let taken = match special(rest, depth) {
            Some((block, taken)) => {
                blocks.push(block);
                taken
            }
            None => match fences.next(rest) {
                Some(found) => push_fenced(&mut blocks, found, depth),
                None => {
                    blocks.push(Block::Line(line));
                    1
                }
            },
        };
        rest = &rest[taken..];
    }
    blocks
}

/// Adds a block of code with the text around it, and returns how many lines that takes.
fn push_fenced<'t>(blocks: &mut Vec<Block<'t>>, found: Fenced<'t>, depth: usize) -> usize {
    blocks.extend(
        found
            .before
            .filter(|text| !text.is_empty())
            .map(Block::Line),
    );
    blocks.push(Block::Code {
        language: found.language,
        lines: found.code,
    });
    if let Some(text) = found.after {
        blocks.extend(of_lines(&[text], depth));
    }
    found.lines
}

/// The block other than a line and a fence that begins these lines, and how many of them it takes.
fn special<'t>(lines: &[&'t str], depth: usize) -> Option<(Block<'t>, usize)> {
    let line = lines.first()?;
    if without_indent(line).is_some_and(|line| !line.trim().is_empty()) {
        return Some(indented(lines));
    }
    if depth < MAX_DEPTH && quoted(line).is_some() {
        let inside: Vec<&str> = lines.iter().copied().map_while(quoted).collect();
        return Some((Block::Quote(of_lines(&inside, depth + 1)), inside.len()));
    }
    if let Some((level, text)) = heading(line) {
        return Some((Block::Heading { level, text }, 1));
    }
    if depth < MAX_DEPTH
        && let Some(marker) = Marker::of(line)
    {
        let (items, taken) = lists::items(lines, &marker);
        let items: Vec<_> = items
            .into_iter()
            .map(|item| to_item(&item, depth))
            .collect();
        let is_ordered = items[0].number.is_some();
        return Some((Block::List { is_ordered, items }, taken));
    }
    table(lines).map(|(table, taken)| (Block::Table(table), taken))
}

fn to_item<'t>(item: &ItemText<'t>, depth: usize) -> ListItem<'t> {
    ListItem {
        number: item.number,
        task: item.task,
        blocks: of_lines(&item.lines, depth + 1),
    }
}

/// A line without the indent of code.
fn without_indent(line: &str) -> Option<&str> {
    line.strip_prefix("    ")
        .or_else(|| line.strip_prefix('\t'))
}

/// The code of indented lines, and of empty ones between them.
fn indented<'t>(lines: &[&'t str]) -> (Block<'t>, usize) {
    let is_blank = |line: &&str| line.trim().is_empty();
    let is_code = |line: &&&str| without_indent(line).is_some() || is_blank(line);
    let taken = lines.iter().take_while(is_code).count();
    let trailing = lines[..taken]
        .iter()
        .rev()
        .take_while(|line| is_blank(line))
        .count();
    let lines = &lines[..taken - trailing];
    let code = lines
        .iter()
        .map(|line| without_indent(line).unwrap_or_default());
    let code = Block::Code {
        language: None,
        lines: code.collect(),
    };
    (code, lines.len())
}

/// The text that a line quotes.
fn quoted(line: &str) -> Option<&str> {
    line.strip_prefix("> ").or_else(|| {
        line.strip_prefix('>')
            .filter(|rest| rest.is_empty() || rest.starts_with("> "))
    })
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    let text = rest.strip_prefix(' ')?.trim();
    // Signs at the end close it (CommonMark, section 4.2).
    let unclosed = text.trim_end_matches('#');
    let text = match unclosed.len() < text.len() && unclosed.ends_with(' ') {
        true => unclosed.trim_end(),
        false => text,
    };
    ((1..=MAX_LEVEL).contains(&level) && !text.is_empty()).then_some((level, text))
}

#[cfg(test)]
mod tests;
