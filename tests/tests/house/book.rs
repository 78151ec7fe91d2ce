//! The documents are a book: the summary has each page once, and each link leads somewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use eddyline_tests::snippets;

const SUMMARY: &str = "docs/SUMMARY.md";

fn read(document: &str) -> String {
    fs::read_to_string(super::root().join(document)).unwrap()
}

/// The lines outside of blocks of code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_fence && !is_code
    })
}

/// A line without what is between backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

/// The targets of the links and pictures of a document.
fn links(text: &str) -> Vec<String> {
    let mut links = Vec::new();
    for line in prose(text) {
        let line = without_code(line);
        let targets = line.split("](").skip(1);
        links.extend(targets.filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())));
        let sources = line.split("src=\"").skip(1);
        links.extend(sources.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())));
    }
    links
}

/// The anchors of a document: its headings as mdBook and GitHub name them, and those set by hand.
fn anchors(text: &str) -> BTreeSet<String> {
    let (mut anchors, mut counts) = (BTreeSet::new(), BTreeMap::<String, usize>::new());
    for line in prose(text) {
        if let Some(heading) = line.strip_prefix('#') {
            let heading = heading.trim_start_matches('#').trim().to_lowercase();
            let kept = heading
                .chars()
                .filter(|&c| c.is_alphanumeric() || " -_".contains(c));
            let name: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
            let count = counts.entry(name.clone()).or_default();
            anchors.insert(match *count {
                0 => name,
                number => format!("{name}-{number}"),
            });
            *count += 1;
        }
        let set = line.split("id=\"").skip(1);
        anchors.extend(set.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())));
    }
    anchors
}

/// What is wrong with a link of a document.
fn fault(document: &str, link: &str) -> Option<String> {
    if link.starts_with("https://") || link.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let folder = Path::new(document).parent().unwrap();
    let target = match path {
        "" => document.to_owned(),
        _ => folder.join(path).to_string_lossy().into_owned(),
    };
    if !super::root().join(&target).exists() {
        return Some(format!("{document}: nothing is at {link}"));
    }
    let is_there = anchor.is_empty() || anchors(&read(&target)).contains(anchor);
    (!is_there).then(|| format!("{document}: {target} has no heading for {link}"))
}

#[test]
fn the_summary_has_each_page_once() {
    let mut named = links(&read(SUMMARY));
    named.sort();
    let documents = snippets::documents(super::root()).unwrap();
    let pages = documents
        .iter()
        .filter_map(|document| document.strip_prefix("docs/"));
    let pages: Vec<&str> = pages.filter(|page| *page != "SUMMARY.md").collect();
    assert_eq!(named, pages);
}

#[test]
fn each_link_leads_to_a_file_and_a_heading() {
    let documents = snippets::documents(super::root()).unwrap();
    let mut faults = Vec::new();
    let mut checked = 0;
    for document in &documents {
        for link in links(&read(document)) {
            faults.extend(fault(document, &link));
            checked += 1;
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(checked > 100, "only {checked} links were found");
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    assert!(fault("README.md", "docs/operating.md#behind-a-proxy").is_none());
    assert!(fault("README.md", "docs/operating.md#upgrades").is_some());
    assert!(fault("docs/operating.md", "missing.md").is_some());
    let text = "# A heading, twice\n## A heading, twice\n```sh\n# no heading\n```\n";
    let expected = ["a-heading-twice", "a-heading-twice-1"].map(str::to_owned);
    assert_eq!(anchors(text), BTreeSet::from(expected));
}
