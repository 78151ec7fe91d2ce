//! Options, variables, the file, and the help about them.

use std::path::Path;
use std::process::{Command, Output};

use eddyline_tests::eddyline;
use tempfile::TempDir;

#[test]
fn an_unknown_key_of_the_file_is_refused_by_name() {
    let directory = TempDir::new().unwrap();
    for (text, words) in [
        ("listem = \"127.0.0.1:0\"\n", ["listem", "unknown key"]),
        ("data-dir = \"x\"\n", ["data-dir", "did you mean data_dir?"]),
        (
            "[server]\nlisten = \"127.0.0.1:0\"\n",
            ["server", "unknown key"],
        ),
    ] {
        refused(serve_with_file(directory.path(), text), &words);
    }
}

#[test]
fn a_wrong_value_is_refused_by_the_name_of_its_place() {
    let directory = TempDir::new().unwrap();
    for (text, words) in [
        ("profile = \"modern\"\n", ["profile", "modern"]),
        ("listen = \"everywhere\"\n", ["listen", "everywhere"]),
        ("max_connections = true\n", ["max_connections", "boolean"]),
        (
            "trusted_proxy = [\"10.0.0.0/8\", \"far away\"]\n",
            ["trusted_proxy", "far away"],
        ),
        ("profile = \n", ["eddyline.toml", "not valid TOML"]),
    ] {
        refused(serve_with_file(directory.path(), text), &words);
    }
    let directory = TempDir::new().unwrap();
    refused(
        serve(directory.path()).args(["--database", "mysql://x"]),
        &["--database", "sqlite:PATH"],
    );
    refused(
        serve(directory.path()).args(["--tls-cert", "cert.pem"]),
        &["--tls-cert", "tls_key"],
    );
    refused(
        serve(directory.path()).env("EDDYLINE_LOG_FORMAT", "xml"),
        &["EDDYLINE_LOG_FORMAT", "xml"],
    );
    refused(
        serve(directory.path()).args(["--config", "nowhere.toml"]),
        &["nowhere.toml"],
    );
}

#[test]
fn what_stands_in_the_way_of_a_start_is_said() {
    let directory = TempDir::new().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    refused(
        serve(directory.path()).args(["--listen", &address]),
        &["cannot listen", &address],
    );
    let file = directory.path().join("a file");
    std::fs::write(&file, "").unwrap();
    refused(anywhere(serve(&file)), &["a file", "Not a directory"]);
    let files = ["--tls-cert", "no.pem", "--tls-key", "no.pem"];
    refused(anywhere(serve(directory.path())).args(files), &["no.pem"]);
}

#[test]
fn the_help_leads_a_newcomer_on() {
    let help = said(&["--help"]);
    for word in [
        "serve",
        "demo",
        "admin",
        "Examples:",
        "eddyline serve --data-dir",
    ] {
        assert!(help.contains(word), "{word} is missing in\n{help}");
    }
    for option in [
        "--data-dir",
        "--listen",
        "--stream-listen",
        "--database",
        "--base-url",
        "--profile",
        "EDDYLINE_LISTEN",
    ] {
        assert!(said(&["serve", "--help"]).contains(option), "{option}");
    }
    let admin_help = said(&["admin", "--help"]);
    let listed = commands(&["admin"]);
    assert!(
        listed.len() > 30 && listed.contains(&"org domain list".to_owned()),
        "{listed:?}"
    );
    for command in &listed {
        assert!(
            admin_help.contains(&format!("\n  {command} ")),
            "{command} is missing in\n{admin_help}"
        );
        let mut arguments = vec!["admin"];
        arguments.extend(command.split(' '));
        arguments.push("--help");
        let help = said(&arguments);
        assert!(
            help.contains("--json") && help.contains("--data-dir"),
            "{help}"
        );
    }
    assert!(said(&["--version"]).starts_with("eddyline "));
    // Nothing to do is no success, and the help tells what there is.
    let output = eddyline().output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("demo"));
}

fn serve(directory: &Path) -> Command {
    let mut command = eddyline();
    command
        .args(["serve", "--stream-listen", "127.0.0.1:0", "--data-dir"])
        .arg(directory);
    command.current_dir(std::env::temp_dir());
    command
}

/// The same with ports that nothing else has.
fn anywhere(mut command: Command) -> Command {
    command.env("EDDYLINE_LISTEN", "127.0.0.1:0");
    command
}

fn serve_with_file(directory: &Path, text: &str) -> Command {
    std::fs::write(directory.join("eddyline.toml"), text).unwrap();
    serve(directory)
}

fn refused(mut command: impl std::borrow::BorrowMut<Command>, words: &[&str]) {
    let output: Output = command.borrow_mut().output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{words:?}");
    for word in words {
        assert!(
            error.starts_with("error: ") && error.contains(word),
            "{word} is missing in {error}"
        );
    }
    assert!(!error.contains("panicked"), "{error}");
}

/// All commands below another that do something themselves, as the help of each names those below
/// it.
fn commands(path: &[&str]) -> Vec<String> {
    let help = said(&[path, &["--help"]].concat());
    let Some((_, below)) = help.split_once("\nCommands:\n") else {
        return vec![path[1..].join(" ")];
    };
    let lines = below.lines().take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| {
        line.strip_prefix("  ")?
            .split(' ')
            .next()
            .filter(|name| !name.is_empty())
    });
    names
        .flat_map(|name| commands(&[path, &[name]].concat()))
        .collect()
}

fn said(arguments: &[&str]) -> String {
    let output = eddyline().args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}
