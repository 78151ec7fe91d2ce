//! The words of a text, without its code.

use crate::blocks::{Block, blocks};
use crate::spans::code_spans;

/// A part of a text that is no code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prose<'t> {
    /// The part. Beside it is the end of a line, of a cell, or code.
    pub text: &'t str,
    /// Whether it is quoted.
    pub is_quoted: bool,
}

/// Returns the parts of a text that are no code, in their order.
#[must_use]
pub fn prose(text: &str) -> Vec<Prose<'_>> {
    let mut parts = Vec::new();
    if may_have_structure(text) {
        add_blocks(&mut parts, &blocks(text), false);
    } else {
        parts.push(Prose {
            text,
            is_quoted: false,
        });
    }
    parts
}

/// Returns `false` for most texts: those without code and quotes.
fn may_have_structure(text: &str) -> bool {
    text.bytes()
        .any(|byte| matches!(byte, b'`' | b'>' | b'~' | b'\t'))
        || text.contains("    ")
}

fn add_blocks<'t>(parts: &mut Vec<Prose<'t>>, blocks: &[Block<'t>], is_quoted: bool) {
    for block in blocks {
        match block {
            Block::Line(text) | Block::Heading { text, .. } => add_line(parts, text, is_quoted),
            Block::Code { .. } => {}
            Block::Quote(blocks) => add_blocks(parts, blocks, true),
            Block::List { items, .. } => {
                for item in items {
                    add_blocks(parts, &item.blocks, is_quoted);
                }
            }
            Block::Table(table) => {
                for cell in table.header.iter().chain(table.rows.iter().flatten()) {
                    add_line(parts, cell, is_quoted);
                }
            }
        }
    }
}

fn add_line<'t>(parts: &mut Vec<Prose<'t>>, line: &'t str, is_quoted: bool) {
    let mut begin = 0;
    for span in code_spans(line) {
        parts.push(Prose {
            text: &line[begin..span.range.start],
            is_quoted,
        });
        begin = span.range.end;
    }
    parts.push(Prose {
        text: &line[begin..],
        is_quoted,
    });
}
