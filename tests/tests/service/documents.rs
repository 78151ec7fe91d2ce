//! What the documents show works as it stands: every block of code is checked by its language.
//!
//! The house tests compile the Rust, and `command_line::demonstration` runs the `curl` commands of
//! the README.

use std::path::Path;

use eddyline_tests::snippets::{self, Block};

mod commands;
pub(crate) mod proxies;
mod requests;
mod settings;
pub(crate) mod walkthroughs;

/// The languages that a test checks, and `text` for what programs print.
const LANGUAGES: [&str; 12] = [
    "caddyfile",
    "console",
    "ini",
    "json",
    "nginx",
    "python",
    "rust",
    "sh",
    "sql",
    "text",
    "toml",
    "yaml",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The blocks of all documents in these languages, of which there is one at least.
pub(crate) fn blocks_in(languages: &[&str]) -> Vec<Block> {
    let mut blocks = snippets::blocks(root()).unwrap();
    blocks.retain(|block| languages.contains(&block.language.as_str()));
    assert!(
        !blocks.is_empty(),
        "no document has a block in {languages:?}: its test checks nothing"
    );
    blocks
}

/// Where a block stands, for messages.
fn place(block: &Block) -> String {
    format!("{}:{}", block.document, block.line)
}

#[test]
fn every_block_is_in_a_language_that_a_test_checks() {
    for block in snippets::blocks(root()).unwrap() {
        let language = block.language.as_str();
        assert!(
            LANGUAGES.contains(&language),
            "{}: no test checks blocks in {language:?}; name one of {LANGUAGES:?}, or write a test",
            place(&block)
        );
    }
}

#[test]
fn blocks_of_json_can_be_read() {
    for block in blocks_in(&["json"]) {
        let read = serde_json::from_str::<serde_json::Value>(&block.text);
        assert!(read.is_ok(), "{}: {read:?}", place(&block));
    }
}
