//! No crate declares a dependency that its code does not name, and the workspace says of each what
//! it is for.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::vocabulary::has_word;

/// Dependencies that no code of their crate names, each with the reason.
const NOT_NAMED: &[(&str, &str, &str)] = &[
    (
        "eddyline-storage",
        "libsqlite3-sys",
        "its feature bundles SQLite",
    ),
    ("eddyline-storage", "pq-sys", "its feature builds libpq"),
    (
        "eddyline-tests",
        "eddyline-app",
        "the documents that it compiles name it",
    ),
    (
        "eddyline-tests",
        "eddyline-http",
        "the documents that it compiles name it",
    ),
    (
        "eddyline-tests",
        "eddyline-storage",
        "the documents that it compiles name it",
    ),
];

/// The files of a crate that can name a dependency of this kind. Dependencies for tests are also
/// named by the tests in the library's own modules and by the example in the README.
fn readers(files: &[PathBuf], folder: &Path, kind: Option<&str>) -> Vec<PathBuf> {
    let places: &[&str] = match kind {
        Some("build") => &["build.rs"],
        Some("dev") => &["src", "tests", "benches", "examples", "README.md"],
        _ => &["src"],
    };
    files
        .iter()
        .filter(|file| {
            let is_text = file
                .extension()
                .is_some_and(|extension| extension == "rs" || extension == "md");
            is_text
                && file
                    .strip_prefix(folder)
                    .is_ok_and(|path| places.iter().any(|place| path.starts_with(place)))
        })
        .cloned()
        .collect()
}

#[test]
fn every_dependency_is_named_by_the_code_of_its_crate() {
    let files = super::files();
    let mut unused = Vec::new();
    for package in super::arrows::metadata()["packages"].as_array().unwrap() {
        let crate_name = package["name"].as_str().unwrap();
        let folder = Path::new(package["manifest_path"].as_str().unwrap())
            .parent()
            .unwrap();
        for dependency in package["dependencies"].as_array().unwrap() {
            let name = dependency["name"].as_str().unwrap();
            let in_code = dependency["rename"]
                .as_str()
                .unwrap_or(name)
                .replace('-', "_");
            let texts = readers(&files, folder, dependency["kind"].as_str()).into_iter();
            let is_named = texts
                .map(|path| fs::read_to_string(path).unwrap())
                .any(|text| has_word(&text, &in_code));
            let is_excepted = NOT_NAMED
                .iter()
                .any(|(of, excepted, _)| *of == crate_name && *excepted == name);
            if is_named == is_excepted {
                unused.push(format!("{crate_name}: {name} ({})", kind(dependency)));
            }
        }
    }
    assert!(
        unused.is_empty(),
        "dependencies that no code names, or that NOT_NAMED lists although code names them:\n{}",
        unused.join("\n")
    );
}

fn kind(dependency: &Value) -> &str {
    dependency["kind"].as_str().unwrap_or("normal")
}

#[test]
fn every_dependency_of_the_workspace_says_what_it_is_for() {
    let manifest = fs::read_to_string(super::root().join("Cargo.toml")).unwrap();
    let (_, dependencies) = manifest.split_once("[workspace.dependencies]\n").unwrap();
    let (dependencies, _) = dependencies.split_once("\n[").unwrap();
    let lines: Vec<&str> = dependencies.lines().collect();
    let silent: Vec<&str> = lines
        .windows(2)
        .filter(|pair| {
            let (above, line) = (pair[0], pair[1]);
            // docs/architecture.md says it of our own crates.
            let is_foreign = line.contains(" = ") && !line.starts_with(['#', ' ']);
            is_foreign && !line.starts_with("eddyline-") && !above.starts_with("# ")
        })
        .map(|pair| pair[1])
        .collect();
    assert!(
        silent.is_empty(),
        "lines of [workspace.dependencies] without a comment above them:\n{}",
        silent.join("\n")
    );
}
