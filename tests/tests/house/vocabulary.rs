//! Words that were given up do not come back.

use std::fs;
use std::path::Path;

const WORDS: &str = include_str!("vocabulary.txt");

/// A word that nothing uses, and where it is looked for.
enum Given<'a> {
    Identifier(&'a str),
    Prose(&'a str),
}

fn words() -> Vec<Given<'static>> {
    let lines = WORDS
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let read = lines.map(|line| match line.split_once(' ') {
        Some(("identifier", word)) => Given::Identifier(word),
        Some(("prose", word)) => Given::Prose(word),
        _ => panic!("{line:?} is no entry"),
    });
    read.collect()
}

/// Whether a text has a word with no letter, digit or `_` beside it.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part)
    })
}

/// The words of the list that a file uses, each with the line.
fn found(path: &Path, text: &str, words: &[Given<'_>]) -> Vec<String> {
    let is_code = path.extension().is_some_and(|extension| extension == "rs");
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let lower = line.to_lowercase();
        for word in words {
            let (word, is_found) = match word {
                Given::Identifier(word) => (word, is_code && has_word(line, word)),
                Given::Prose(word) => (word, has_word(&lower, word)),
            };
            if is_found {
                found.push(format!("{}:{}: {word}", path.display(), number + 1));
            }
        }
    }
    found
}

#[test]
fn no_file_uses_a_word_that_was_given_up() {
    let words = words();
    let read = ["rs", "md", "html"];
    let files = super::files().into_iter().filter(|path| {
        path.extension()
            .is_some_and(|extension| read.iter().any(|wanted| extension == *wanted))
    });
    let all: Vec<String> = files
        .flat_map(|path| found(&path, &fs::read_to_string(&path).unwrap(), &words))
        .collect();
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn a_word_is_found_by_itself_and_not_within_another() {
    let words = [Given::Identifier("Quux"), Given::Prose("whilom")];
    for line in ["enum Quux {", "(Quux)", "// Whilom, it was so."] {
        assert_eq!(found(Path::new("a.rs"), line, &words).len(), 1, "{line}");
    }
    for line in ["enum Quuxes", "my_Quux", "quux", "whilomer"] {
        assert!(found(Path::new("a.rs"), line, &words).is_empty(), "{line}");
    }
    assert!(
        found(Path::new("a.md"), "A Quux.", &words).is_empty(),
        "identifiers are looked for in code"
    );
}
