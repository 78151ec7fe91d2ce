//! Every crate that is meant for others can be published as it is, and so can the Debian package.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// The crates that are meant for others.
fn published() -> Vec<Value> {
    let all = super::arrows::metadata()["packages"]
        .as_array()
        .unwrap()
        .clone();
    all.into_iter()
        .filter(|package| package["publish"].is_null())
        .collect()
}

fn has_library(package: &Value) -> bool {
    let targets = package["targets"].as_array().unwrap();
    targets.iter().any(|target| {
        let kinds = target["kind"].as_array().unwrap();
        kinds
            .iter()
            .any(|kind| kind == "lib" || kind == "proc-macro")
    })
}

#[test]
fn every_published_crate_says_what_it_is_for() {
    for package in published() {
        let name = package["name"].as_str().unwrap();
        let is_filled = |key: &str| package[key].as_array().is_some_and(|list| !list.is_empty());
        assert!(
            package["description"].is_string() && package["license"].is_string(),
            "{name}"
        );
        assert!(is_filled("keywords") && is_filled("categories"), "{name}");
        let folder = Path::new(package["manifest_path"].as_str().unwrap())
            .parent()
            .unwrap();
        let readme = folder.join(
            package["readme"]
                .as_str()
                .unwrap_or_else(|| panic!("{name} has no README")),
        );
        assert!(fs::read_to_string(readme).is_ok(), "{name}");
    }
}

#[test]
fn the_readme_of_a_library_is_its_documentation_and_has_an_example() {
    for package in published().iter().filter(|package| has_library(package)) {
        let name = package["name"].as_str().unwrap();
        let folder = Path::new(package["manifest_path"].as_str().unwrap())
            .parent()
            .unwrap();
        let root = fs::read_to_string(folder.join("src/lib.rs")).unwrap();
        assert!(
            root.starts_with("#![doc = include_str!(\"../README.md\")]\n"),
            "{name}"
        );
        let readme = fs::read_to_string(folder.join("README.md")).unwrap();
        assert!(
            readme.starts_with(&format!("# {name}\n")) && readme.contains("\n```rust"),
            "{name}"
        );
    }
}

/// `cargo publish` drops dependencies for tests that have no version; all others need one.
#[test]
fn every_dependency_of_a_published_crate_has_a_version() {
    for package in published() {
        for dependency in package["dependencies"].as_array().unwrap() {
            let is_for_tests = dependency["kind"] == "dev" && !dependency["path"].is_null();
            assert!(
                is_for_tests || dependency["req"] != "*",
                "{}: {}",
                package["name"],
                dependency["name"]
            );
        }
    }
}

/// What deploy/package makes is not there before.
#[test]
fn every_file_of_the_debian_package_is_there() {
    let all = super::arrows::metadata()["packages"]
        .as_array()
        .unwrap()
        .clone();
    let server = all
        .iter()
        .find(|package| package["name"] == "eddyline-server");
    let deb = &server.unwrap()["metadata"]["deb"];
    let folder = super::root().join("crates/server");
    let listed = deb["assets"].as_array().unwrap().iter();
    let sources = listed.map(|asset| asset[0].as_str().unwrap());
    let sources = sources.filter(|source| !source.starts_with("target/release/"));
    let others = ["changelog", "license-file", "maintainer-scripts"];
    let others = others.map(|key| deb[key].as_str().unwrap());
    for source in sources.chain(others) {
        let path = folder.join(source.strip_suffix("*.md").unwrap_or(source));
        assert!(path.exists(), "{source}");
    }
}
