//! docs/conformance.md is complete, and documents name tests that exist.

use std::collections::BTreeSet;
use std::fs;

struct Row {
    number: String,
    tests: String,
}

/// The rows of the tables, as they stand on the page.
fn rows() -> Vec<Row> {
    let page = fs::read_to_string(super::root().join("docs/conformance.md")).unwrap();
    page.lines().filter_map(row).collect()
}

fn row(line: &str) -> Option<Row> {
    let cells: Vec<&str> = line.strip_prefix('|')?.split('|').map(str::trim).collect();
    if !cells[0].starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    assert_eq!(cells.len(), 4, "three cells in {line}");
    assert!(!cells[2].is_empty(), "no tests and no reason in {line}");
    Some(Row {
        number: cells[0].to_owned(),
        tests: cells[2].to_owned(),
    })
}

/// The numbers of the statements of docs/specification.md, in their order.
fn statements() -> Vec<String> {
    let page = fs::read_to_string(super::root().join("docs/specification.md")).unwrap();
    page.lines()
        .filter_map(statement)
        .map(str::to_owned)
        .collect()
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

/// The names between backticks, without their paths.
fn test_names(cell: &str) -> impl Iterator<Item = &str> {
    let quoted = cell.split('`').skip(1).step_by(2);
    quoted.map(|path| path.rsplit("::").next().unwrap_or(path))
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

#[test]
fn every_statement_has_its_row() {
    let found: Vec<String> = rows().into_iter().map(|row| row.number).collect();
    assert_eq!(found, statements());
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

#[test]
fn every_test_that_a_row_names_exists() {
    let functions = functions();
    let mut missing = Vec::new();
    for row in rows() {
        let names = test_names(&row.tests).filter(|name| !functions.contains(*name));
        missing.extend(names.map(|name| format!("{}: {name}", row.number)));
    }
    assert!(
        missing.is_empty(),
        "docs/conformance.md names unknown tests:\n{}",
        missing.join("\n")
    );
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
