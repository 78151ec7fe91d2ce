//! Words that were given up do not come back.

use std::fs;
use std::path::Path;

const WORDS: &str = include_str!("vocabulary.txt");

/// A word that nothing uses, and where it is looked for.
enum Given<'a> {
    Identifier(&'a str),
    Prose(&'a str),
}

/// A name of types, and the crates that define one.
struct TypeName {
    name: &'static str,
    crates: Vec<&'static str>,
}

/// The entries of the list: their kinds, and what follows.
fn entries() -> impl Iterator<Item = (&'static str, &'static str)> {
    WORDS
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            line.split_once(' ')
                .unwrap_or_else(|| panic!("{line:?} is no entry"))
        })
}

fn words() -> Vec<Given<'static>> {
    let read = entries().filter_map(|(kind, word)| match kind {
        "identifier" => Some(Given::Identifier(word)),
        "prose" => Some(Given::Prose(word)),
        "type" => None,
        other => panic!("{other:?} is no kind of entry"),
    });
    read.collect()
}

fn type_names() -> Vec<TypeName> {
    let types = entries().filter(|(kind, _)| *kind == "type");
    let read = types.map(|(_, rest)| {
        let mut words = rest.split(' ');
        let name = words.next().unwrap();
        TypeName {
            name,
            crates: words.collect(),
        }
    });
    read.collect()
}

/// Whether a line defines a type of this name, outside of functions and other types.
fn defines(line: &str, name: &str) -> bool {
    let declared = match line.strip_prefix("pub") {
        None => line,
        Some(rest) if rest.starts_with('(') => rest.split_once(") ").map_or("", |(_, rest)| rest),
        Some(rest) => rest.trim_start(),
    };
    ["struct ", "enum ", "trait ", "type "]
        .iter()
        .filter_map(|keyword| declared.strip_prefix(keyword)?.strip_prefix(name))
        .any(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// Whether a text has a word with no letter, digit or `_` beside it.
pub(super) fn has_word(text: &str, word: &str) -> bool {
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

#[test]
fn a_name_of_types_stands_for_one_thing() {
    let sources: Vec<(String, String)> = super::files()
        .into_iter()
        .filter_map(|path| {
            let mut parts = path.iter().map(|part| part.to_string_lossy().into_owned());
            parts.find(|part| part == "crates")?;
            let crate_name = parts.next()?;
            let is_source = parts.next()? == "src" && path.extension()? == "rs";
            is_source.then(|| (crate_name, fs::read_to_string(&path).unwrap()))
        })
        .collect();
    assert!(sources.len() > 300, "{}", sources.len());
    for TypeName { name, mut crates } in type_names() {
        let mut found: Vec<&str> = Vec::new();
        for (crate_name, text) in &sources {
            found.extend(
                text.lines()
                    .filter(|line| defines(line, name))
                    .map(|_| crate_name.as_str()),
            );
        }
        found.sort_unstable();
        crates.sort_unstable();
        assert_eq!(found, crates, "types called {name}");
    }
}

#[test]
fn a_definition_is_known_from_a_use() {
    for line in [
        "struct Quux;",
        "pub enum Quux<T> {",
        "pub(crate) type Quux = u8;",
        "trait Quux {",
    ] {
        assert!(defines(line, "Quux"), "{line}");
    }
    for line in [
        "struct Quuxes;",
        "    type Quux = u8;",
        "impl Quux {",
        "use a::Quux;",
    ] {
        assert!(!defines(line, "Quux"), "{line}");
    }
}
