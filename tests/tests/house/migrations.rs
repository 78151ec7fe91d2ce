//! The two trees of migrations stay twins.

use std::collections::BTreeSet;
use std::fs;

/// The files of one database's tree: `<migration>/<file>`.
fn tree(database: &str) -> BTreeSet<String> {
    let top = super::root()
        .join("crates/storage/migrations")
        .join(database);
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

/// The last migration of 0.1.0, which stands in the table for all before it.
const FIRST_LISTED: &str = "2026-11-28-000001_inbox_markers";

#[test]
fn the_documents_say_of_each_migration_whether_servers_may_run_beside_it() {
    let databases = fs::read_to_string(super::root().join("docs/databases.md")).unwrap();
    let code =
        fs::read_to_string(super::root().join("crates/storage/src/connect/migrate.rs")).unwrap();
    let names: BTreeSet<String> = tree("postgres")
        .iter()
        .map(|file| file.split('/').next().unwrap().to_owned())
        .filter(|name| name.as_str() >= FIRST_LISTED)
        .collect();
    assert!(names.contains(FIRST_LISTED), "{names:?}");
    for name in names {
        let row = databases
            .lines()
            .find(|line| line.starts_with('|') && line.contains(&format!("`{name}`")));
        let row =
            row.unwrap_or_else(|| panic!("docs/databases.md, \"Upgrades\", has no row for {name}"));
        let version: String = name.chars().take(17).filter(char::is_ascii_digit).collect();
        let is_safe = code.contains(&format!("\"{version}\""));
        let said = if is_safe { "| yes |" } else { "| no |" };
        assert!(row.ends_with(said), "{row} does not end with {said}");
    }
}

#[test]
fn there_are_trees_for_these_two_databases_only() {
    let entries = fs::read_dir(super::root().join("migrations")).unwrap();
    let names: BTreeSet<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, BTreeSet::from(["postgres".into(), "sqlite".into()]));
}
