//! What the server is installed with: the unit of systemd, the Debian package, containers, manual
//! pages and completions. Nothing is installed on this machine, and no container is run.
//!
//! Where a program is missing, its checks are passed over, with a line that says so; where
//! `EDDYLINE_TEST_REQUIRE` names `packages` they fail.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use eddyline_tests::eddyline;

mod compose;
mod container;
mod debian;
mod health;
mod kubernetes;
mod manual;
mod unit;

/// A path of the project.
fn file(path: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    root.join(path)
}

fn text(path: &str) -> String {
    fs::read_to_string(file(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A program that checks, if it is installed.
fn checker(program: &str) -> Option<Command> {
    if Command::new(program).arg("--version").output().is_ok() {
        return Some(Command::new(program));
    }
    pass_over(&format!("{program} is not installed"));
    None
}

/// Says why checks are passed over, or fails where they are required.
fn pass_over(why: &str) {
    let required = env::var("EDDYLINE_TEST_REQUIRE").is_ok_and(|list| list.contains("packages"));
    assert!(
        !required,
        "EDDYLINE_TEST_REQUIRE asks for all checks, but {why}"
    );
    // Past the test harness, which would show it for failed tests only.
    let _ = writeln!(
        io::stderr(),
        "eddyline tests: {why}; its checks are passed over"
    );
}

/// Runs a program that must succeed, and gives all that it prints.
fn output_of(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{printed}");
    printed
}

/// Makes sure that the server knows these variables.
fn are_known<'a>(variables: impl IntoIterator<Item = &'a str>, place: &str) {
    let help = output_of(eddyline().args(["serve", "--help"]));
    let known: BTreeSet<&str> = help
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| word.starts_with("EDDYLINE_"))
        .collect();
    assert!(known.len() > 50, "{known:?}");
    for variable in variables {
        assert!(known.contains(variable), "{place}: {variable}");
    }
}

/// The tag of an image is there and says which version it is.
fn is_pinned(image: &str) -> bool {
    let name = image.rsplit('/').next().unwrap_or_default();
    let tag = name.split_once(':').map(|(_, tag)| tag);
    tag.is_some_and(|tag| !tag.is_empty() && tag != "latest")
}

#[test]
fn scripts_are_right() {
    let scripts = [
        "deploy/release",
        "deploy/package",
        "deploy/compose/prepare",
        "deploy/debian/postinst",
        "deploy/debian/prerm",
        "deploy/debian/postrm",
    ];
    let Some(mut shellcheck) = checker("shellcheck") else {
        return;
    };
    output_of(shellcheck.args(scripts.map(file)));
}

#[test]
fn an_image_without_a_version_is_known() {
    assert!(is_pinned("docker.io/library/postgres:17.6-bookworm"));
    assert!(is_pinned("localhost:5000/eddyline:0.1.0"));
    for image in [
        "postgres",
        "postgres:latest",
        "localhost:5000/eddyline",
        "eddyline:",
    ] {
        assert!(!is_pinned(image), "{image}");
    }
}
