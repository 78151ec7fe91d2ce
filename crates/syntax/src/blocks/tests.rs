use proptest::prelude::*;

use super::*;
use crate::{Prose, prose};

/// The structure of a text in short: `L` line, `C` code, `Q` quote, `H` heading, `U` list, `T` table.
fn outline(text: &str) -> String {
    write(&blocks(text))
}

fn write(blocks: &[Block<'_>]) -> String {
    let parts = blocks.iter().map(|block| match block {
        Block::Line(text) => format!("L:{text}"),
        Block::Code { lines, .. } => format!("C:{}", lines.join("/")),
        Block::Quote(blocks) => format!("Q[{}]", write(blocks)),
        Block::Heading { level, text } => format!("H{level}:{text}"),
        Block::List { items, .. } => {
            let items: Vec<String> = items.iter().map(|item| write(&item.blocks)).collect();
            format!("U[{}]", items.join(";"))
        }
        Block::Table(table) => format!("T:{}", table.header.join("/")),
    });
    parts.collect::<Vec<_>>().join(",")
}

#[test]
fn a_text_is_divided_into_blocks() {
    for (text, expected) in [
        ("", "L:"),
        ("a\r\nb\rc", "L:a,L:b,L:c"),
        ("```\na\n```\nb", "C:a,L:b"),
        ("a\n```\nb", "L:a,C:b"),
        ("```a b\nc", "L:```a b,L:c"),
        ("```a b\nc\n```", "C:a b/c"),
        ("```\na```\nb", "C:a,L:b"),
        ("```\na\n``` b", "C:a,L:b"),
        ("````\n```\n````", "C:```"),
        ("```\n````", "C:"),
        ("x ```a()\nb``` y", "L:x,C:a()/b,L:y"),
        ("x ```y\nz", "L:x ```y,L:z"),
        ("    a\n\n\tb\n\nc", "C:a//b,L:,L:c"),
        ("> a\n> ```\n> b\nc", "Q[L:a,C:b],L:c"),
        ("> > a", "Q[Q[L:a]]"),
        ("- a\n  b\n- c\nd", "U[L:a,L:b;L:c],L:d"),
        ("- a\n    - b", "U[L:a,U[L:b]]"),
        ("- a\n\n\n- b", "U[L:a],L:,L:,U[L:b]"),
        ("# a", "H1:a"),
        ("a|b\n-|-", "T:a/b"),
    ] {
        assert_eq!(outline(text), expected, "{text:?}");
    }
}

#[test]
fn fences_that_no_line_closes_are_text() {
    let text = "```(\n".repeat(3);
    assert_eq!(outline(&text), "L:```(,L:```(,L:```(,L:");
    assert_eq!(outline("```(\na\n```\n```(\nb"), "C:(/a,L:```(,L:b");
    assert_eq!(outline("````(\n```(\na\n```"), "L:````(,C:(/a");
    assert_eq!(outline("x ````a\ny ```b\nc```"), "L:x ````a,L:y,C:c");
}

#[test]
fn nesting_is_bounded() {
    let depth = outline(&"> ".repeat(100)).matches("Q[").count();
    assert_eq!(depth, MAX_DEPTH);
    let depth = outline(&("- ".repeat(100) + "a")).matches("U[").count();
    assert_eq!(depth, MAX_DEPTH);
}

#[test]
fn prose_is_what_is_no_code() {
    let parts = |text: &'static str| -> Vec<(&str, bool)> {
        let parts = prose(text).into_iter();
        parts
            .map(|Prose { text, is_quoted }| (text, is_quoted))
            .collect()
    };
    assert_eq!(parts("a\nb"), [("a\nb", false)]);
    assert_eq!(parts("a `b` c"), [("a ", false), (" c", false)]);
    assert_eq!(parts("> a\nb"), [("a", true), ("b", false)]);
    assert_eq!(parts("```\na\n```\n    b\nc"), [("c", false)]);
    assert_eq!(
        parts("- `a`\n\n- > b"),
        [("", false), ("", false), ("b", true)]
    );
}

proptest! {
    #[test]
    fn every_part_is_a_slice_of_the_text_in_order(text in "([`~>|#*\n -]|[a1]|    |\t|``|```|- |> ){0,60}") {
        let mut end = text.as_ptr().addr();
        for part in prose(&text) {
            let begin = part.text.as_ptr().addr();
            prop_assert!(begin >= end, "{text:?}");
            end = begin + part.text.len();
        }
        prop_assert!(end <= text.as_ptr().addr() + text.len());
    }
}
