//! The areas of the store: their methods begin with the verbs that the crate lists, and none has
//! too many of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use quote::ToTokens as _;
use syn::{ImplItem, Item, Type, Visibility};

/// How many public methods a type may have. The areas are methods of `Reader` and of `Tx`.
const MOST: usize = 40;

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources(&path, found),
            false => found.push(path),
        }
    }
}

/// The verbs of one of the lists in the documentation of the crate: those in backquotes before the
/// explanations.
fn verbs(text: &str, heading: &str) -> BTreeSet<String> {
    let (_, list) = text
        .split_once(heading)
        .unwrap_or_else(|| panic!("the crate has a list {heading:?}"));
    let list = list.trim_start().strip_prefix("//!").unwrap().trim_start();
    let list = list.split("//!\n").next().unwrap();
    let words = list
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|word| word.chars().all(char::is_alphabetic));
    words.map(str::to_owned).collect()
}

#[test]
fn a_method_of_an_area_begins_with_its_verb() {
    let crate_root = super::root().join("crates/storage/src");
    let text = fs::read_to_string(crate_root.join("lib.rs")).unwrap();
    let reading = verbs(&text, "//! These read, with a [`Reader`] or a [`Tx`]:\n");
    let writing = verbs(&text, "//! These write, with a [`Tx`]:\n");
    let declared = fs::read_to_string(crate_root.join("areas.rs")).unwrap();
    let areas: BTreeSet<&str> = declared
        .lines()
        .filter_map(|line| {
            line.strip_prefix("    ")?
                .strip_suffix(',')?
                .split_once(": ")
        })
        .filter(|(name, _)| name.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
        .map(|(_, handle)| handle)
        .collect();
    assert!(
        areas.contains("Users"),
        "the handles are not where they are looked for"
    );
    let mut files = Vec::new();
    sources(&crate_root, &mut files);
    let (mut wrong, mut counts) = (String::new(), BTreeMap::<String, usize>::new());
    for file in files {
        let parsed = syn::parse_file(&fs::read_to_string(&file).unwrap()).unwrap();
        for block in parsed.items.iter().filter_map(|item| match item {
            Item::Impl(block) if block.trait_.is_none() => Some(block),
            _ => None,
        }) {
            let Type::Path(of) = &*block.self_ty else {
                continue;
            };
            let of = of.path.segments.last().unwrap();
            let handle = of.ident.to_string();
            let verbs = match of.arguments.to_token_stream().to_string().contains("Tx") {
                true => &writing,
                false => &reading,
            };
            for item in &block.items {
                let ImplItem::Fn(method) = item else { continue };
                if !matches!(method.vis, Visibility::Public(_)) {
                    continue;
                }
                *counts.entry(handle.clone()).or_default() += 1;
                let name = method.sig.ident.to_string();
                if areas.contains(handle.as_str())
                    && !verbs.contains(name.split('_').next().unwrap())
                {
                    wrong += &format!("{handle}::{name}\n");
                }
            }
        }
    }
    assert!(
        areas.iter().all(|area| counts.contains_key(*area)),
        "an area without a method"
    );
    for of in ["Reader", "Tx"] {
        *counts.entry(of.into()).or_default() += areas.len();
    }
    wrong.extend(
        counts
            .iter()
            .filter(|(_, count)| **count > MOST)
            .map(|(of, count)| format!("{of}: {count}\n")),
    );
    assert!(
        wrong.is_empty(),
        "methods that do not begin with a verb of the list, and types with too many:\n{wrong}"
    );
}
