//! The two trees of migrations stay twins.

use std::collections::BTreeSet;
use std::fs;

/// The files of one database's tree: `<migration>/<file>`.
fn tree(database: &str) -> BTreeSet<String> {
    let top = super::root().join("migrations").join(database);
    let files = super::files()
        .into_iter()
        .filter(|path| path.starts_with(&top));
    files
        .map(|path| {
            path.strip_prefix(&top)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned()
        })
        .collect()
}

#[test]
fn both_databases_have_the_same_migrations() {
    assert_eq!(tree("sqlite"), tree("postgres"));
}

#[test]
fn there_are_trees_for_these_two_databases_only() {
    let entries = fs::read_dir(super::root().join("migrations")).unwrap();
    let names: BTreeSet<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, BTreeSet::from(["postgres".into(), "sqlite".into()]));
}
