//! docs/conformance.md is what the marks of the tests give, and documents name tests that exist.
//!
//! `EDDYLINE_TEST_UPDATE=1 cargo test -p eddyline-tests --test house conformance` writes the page
//! anew, and so does `just conformance`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use super::marks::marked;

const SUMMARIES: &str = include_str!("statements.txt");

const HEAD: &str = "\
# Conformance

<!-- Written by `just conformance`: changes by hand are lost. -->

Every statement of the [specification](specification.md) has a row here, under its number there, with a summary and
the tests that show it. The tests say themselves which statements they show, in a line `/// Shows: 4.2, 8.17`, and
`tests/tests/house/statements.txt` has the summaries; `just conformance` makes this page of both. A check fails when
it is out of date, when a statement has no test, and when a mark names no statement.

The names are those of `cargo test`, after the crate, or after the test program: `service` has the tests of the whole
server, `store` those of the store. Where a function is run on several databases, the page names the function.
";

/// A section of docs/specification.md.
struct Section {
    /// With its number, such as `8. Limits`.
    title: String,
    /// The numbers of its statements, in their order.
    statements: Vec<String>,
}

fn sections() -> Vec<Section> {
    let page = fs::read_to_string(super::root().join("docs/specification.md")).unwrap();
    let mut sections: Vec<Section> = Vec::new();
    for line in page.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            sections.push(Section {
                title: title.to_owned(),
                statements: Vec::new(),
            });
        }
        if let Some(number) = statement(line) {
            let section = sections.last_mut().expect("statements stand in sections");
            section.statements.push(number.to_owned());
        }
    }
    sections
}

/// The number of the statement that a line begins: as `**4.7**` in a paragraph, as `| 3.4 |` in a
/// table. Parts of statements have three numbers, and are none.
fn statement(line: &str) -> Option<&str> {
    let (number, _) = match line.strip_prefix("**") {
        Some(rest) => rest.split_once("**")?,
        None => line.strip_prefix("| ")?.split_once(" |")?,
    };
    place(number).map(|_| number)
}

/// The section of a statement, and its place there.
fn place(number: &str) -> Option<(usize, usize)> {
    let (section, place) = number.split_once('.')?;
    Some((section.parse().ok()?, place.parse().ok()?))
}

/// The numbers of all statements of docs/specification.md, in their order.
fn statements() -> Vec<String> {
    let sections = sections().into_iter();
    sections.flat_map(|section| section.statements).collect()
}

/// The summaries of statements.txt by the numbers of their statements.
fn summaries() -> BTreeMap<&'static str, &'static str> {
    let lines = SUMMARIES
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            line.split_once(' ')
                .unwrap_or_else(|| panic!("{line:?} is a number and a summary"))
        })
        .collect()
}

/// The tests of each statement, by their names.
fn tests() -> BTreeMap<String, BTreeSet<String>> {
    let mut tests: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for marked in marked() {
        for statement in marked.statements {
            let new = tests
                .entry(statement)
                .or_default()
                .insert(marked.test.clone());
            assert!(new, "{} names a statement twice", marked.test);
        }
    }
    tests
}

fn page_path() -> PathBuf {
    super::root().join("docs/conformance.md")
}

/// docs/conformance.md as it should be.
fn page() -> String {
    let (tests, summaries) = (tests(), summaries());
    let mut page = HEAD.to_owned();
    for section in sections() {
        let title = section.title;
        write!(
            page,
            "\n## {title}\n\n| number | statement | tests |\n|---|---|---|\n"
        )
        .unwrap();
        for number in section.statements {
            let summary = summaries.get(number.as_str()).copied().unwrap_or_default();
            let names: Vec<String> = tests
                .get(&number)
                .into_iter()
                .flatten()
                .map(|name| format!("`{name}`"))
                .collect();
            writeln!(page, "| {number} | {summary} | {} |", names.join(", ")).unwrap();
        }
    }
    page
}

#[test]
fn the_page_is_what_the_marks_of_the_tests_give() {
    let page = page();
    if std::env::var_os("EDDYLINE_TEST_UPDATE").is_some() {
        fs::write(page_path(), &page).unwrap();
    }
    let written = fs::read_to_string(page_path()).unwrap();
    let differing: Vec<String> = page
        .lines()
        .filter(|line| !written.lines().any(|other| other == *line))
        .map(|line| format!("+{line}"))
        .chain(
            written
                .lines()
                .filter(|line| !page.lines().any(|other| other == *line))
                .map(|line| format!("-{line}")),
        )
        .collect();
    assert!(
        page == written,
        "docs/conformance.md is out of date; `just conformance` writes it anew:\n{}",
        differing.join("\n")
    );
}

#[test]
fn every_statement_has_a_test_and_a_summary() {
    let (tests, summaries) = (tests(), summaries());
    for number in statements() {
        assert!(
            tests.contains_key(&number),
            "no test says `/// Shows: {number}`"
        );
        assert!(
            summaries.contains_key(number.as_str()),
            "statements.txt has no {number}"
        );
    }
}

#[test]
fn every_mark_and_every_summary_is_of_a_statement() {
    let statements: BTreeSet<String> = statements().into_iter().collect();
    for marked in marked() {
        for number in marked.statements {
            assert!(
                statements.contains(&number),
                "{} shows {number:?}, which is no statement",
                marked.test
            );
        }
    }
    for (number, _) in summaries() {
        assert!(
            statements.contains(number),
            "statements.txt has {number:?}, which is no statement"
        );
    }
}

#[test]
fn statements_are_numbered_without_gaps() {
    let mut last = (0, 0);
    for number in statements() {
        let found = place(&number).unwrap();
        let next = [(last.0, last.1 + 1), (last.0 + 1, 1)];
        assert!(
            next.contains(&found),
            "{number} follows {}.{}",
            last.0,
            last.1
        );
        last = found;
    }
    assert_eq!(last.0, 9, "the last section");
}

/// The names of all functions of the project's Rust files.
fn functions() -> BTreeSet<String> {
    let sources = super::files()
        .into_iter()
        .filter(|path| path.extension() == Some("rs".as_ref()));
    let mut names = BTreeSet::new();
    for source in sources {
        let text = fs::read_to_string(source).unwrap();
        for rest in text.split("fn ").skip(1) {
            let end = rest
                .find(|c: char| c != '_' && !c.is_alphanumeric())
                .unwrap_or(rest.len());
            names.insert(rest[..end].to_owned());
        }
    }
    names
}

/// The tests that SECURITY.md and docs/limits.md name: what stands between backticks and has a
/// path.
#[test]
fn every_test_that_another_document_names_exists() {
    let functions = functions();
    let mut missing = Vec::new();
    for document in ["SECURITY.md", "docs/limits.md"] {
        let page = fs::read_to_string(super::root().join(document)).unwrap();
        let quoted = page
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|text| text.contains("::"));
        let names = quoted.map(|path| path.rsplit("::").next().unwrap_or(path));
        let unknown = names.filter(|name| !functions.contains(*name));
        missing.extend(unknown.map(|name| format!("{document}: {name}")));
    }
    assert!(
        missing.is_empty(),
        "documents name unknown tests:\n{}",
        missing.join("\n")
    );
}
