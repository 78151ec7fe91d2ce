//! The commands of shells, in blocks and in the text: those of the project are run, and what others
//! are given must be there.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use eddyline_tests::{PASSWORD, eddyline, snippets};
use tempfile::TempDir;

use super::{Block, blocks_in, place, root};

/// Where documents have the data of a server.
const DATA: &str = "/var/lib/eddyline";
/// Where they have the configuration of an installed one.
const CONFIGURATION: &str = "/etc/eddyline/eddyline.toml";

/// The commands of a block, as words: comments are left out, and what `&&` and `|` join is apart.
pub(super) fn commands(block: &Block) -> Vec<Vec<String>> {
    let text = block.text.replace("\\\n", " ");
    let (mut commands, mut begun) = (Vec::new(), String::new());
    for line in text.lines() {
        begun = begun + line + "\n";
        // What is quoted can have several lines.
        let Some(words) = shlex::split(&begun) else {
            continue;
        };
        begun.clear();
        commands.extend(
            words
                .split(|word| word == "&&" || word == "|")
                .map(<[String]>::to_vec),
        );
    }
    assert!(begun.is_empty(), "{}: {begun} does not end", place(block));
    commands.retain(|words| !words.is_empty());
    commands
}

/// What a document's commands share.
#[derive(Default)]
struct Shell {
    aliases: HashMap<String, Vec<String>>,
    /// Whether there is an organization `acme` with its flow `acme/main`.
    has_scene: bool,
}

impl Shell {
    /// Runs a command, or checks it.
    fn run(&mut self, words: &[String], data: &TempDir) {
        let program = words[0].as_str();
        if let Some(body) = self.aliases.get(program) {
            let words = [body.as_slice(), &words[1..]].concat();
            return self.run(&words, data);
        }
        match program {
            "alias" => {
                let (name, body) = words[1].split_once('=').expect("an alias has a name");
                self.aliases.insert(
                    name.to_owned(),
                    shlex::split(body).expect("an alias is a command"),
                );
            }
            "./target/release/eddyline" | "eddyline" => {
                self.set_scene(&words[1..], data);
                run_eddyline(&words[1..], data);
            }
            "cargo" => run_cargo(&words[1..], data),
            "just" => check_recipe(&words[1..]),
            "sudo" => {
                assert_eq!(words[1], "-u", "{words:?}");
                self.run(&words[3..], data);
            }
            // They change the machine.
            "apt" | "cp" | "createdb" | "createuser" | "sed" | "systemctl" => {}
            "docker" | "kubectl" => check_paths(words),
            _ if program.starts_with("deploy/") => check_paths(words),
            // `requests` runs these.
            "curl" => {}
            // `backup::continuous` runs these.
            "litestream" | "pg_basebackup" => {}
            _ => panic!("no test knows the program {program}"),
        }
    }

    /// Makes the organization and the flow that documents speak of, unless the document itself does.
    fn set_scene(&mut self, words: &[String], data: &TempDir) {
        let is_of_operators = words.first().is_some_and(|word| word == "admin");
        if self.has_scene || !is_of_operators {
            return;
        }
        self.has_scene = true;
        if words.iter().any(|word| word == "org") {
            return;
        }
        for what in ["org", "flow"] {
            let mut command = eddyline();
            command
                .args(["admin", what, "create", "--data-dir"])
                .arg(data.path());
            command.args(match what {
                "org" => ["--name", "Acme"].as_slice(),
                _ => &["--org", "acme", "--name", "Main"],
            });
            // A command before may have made it.
            let _ = command.output().unwrap();
        }
    }
}

#[test]
fn commands_of_the_documents_work_in_their_order() {
    let (mut document, mut shell) = (String::new(), Shell::default());
    let mut data = TempDir::new().unwrap();
    for block in blocks_in(&["sh", "console"]) {
        if block.document != document {
            document.clone_from(&block.document);
            (shell, data) = (Shell::default(), TempDir::new().unwrap());
        }
        for words in commands(&block) {
            shell.run(&words, &data);
        }
    }
}

fn run_eddyline(words: &[String], data: &TempDir) {
    let directory = data.path().to_str().unwrap();
    let words = placed(words, data);
    let mut command = eddyline();
    command
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    match words.first().map(String::as_str) {
        Some(
            "backup" | "check" | "doctor" | "export" | "import" | "move" | "restore" | "status"
            | "verify",
        ) => {
            // A server has made it.
            let _ = eddyline()
                .args([
                    "admin",
                    "org",
                    "create",
                    "--name",
                    "Acme",
                    "--data-dir",
                    directory,
                ])
                .output();
            // No server is there for the doctor to ask.
            command
                .env("EDDYLINE_LISTEN", "127.0.0.1:1")
                .env("EDDYLINE_STREAM_LISTEN", "127.0.0.1:2");
            let output = command.args(&words).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{words:?}: {said}");
            if words[1] == "--new-key" {
                fs::write(data.path().join(PUBLIC_KEY), output.stdout).unwrap();
            }
        }
        Some("admin") => {
            let mut process = command.args(&words).spawn().unwrap();
            let _ = writeln!(process.stdin.take().unwrap(), "{PASSWORD}");
            let output = process.wait_with_output().unwrap();
            assert!(
                output.status.success(),
                "{words:?}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Some("serve" | "demo") => {
            // In place of the usual ports, where they are not given.
            command
                .env("EDDYLINE_LISTEN", "127.0.0.1:0")
                .env("EDDYLINE_STREAM_LISTEN", "127.0.0.1:0");
            let mut process = command.args(&words).spawn().unwrap();
            let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
            let first = lines.next().map(Result::unwrap);
            let id = process.id().to_string();
            assert!(
                Command::new("kill")
                    .args(["-TERM", &id])
                    .status()
                    .unwrap()
                    .success()
            );
            let output = process.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(
                first.is_some() && output.status.success(),
                "{words:?}: {said}"
            );
        }
        // `packages::health` asks a server.
        Some("healthcheck") => {
            let output = command.args(&words).arg("--help").output().unwrap();
            assert!(output.status.success(), "{words:?}");
        }
        _ => panic!("{words:?} does nothing"),
    }
}

/// The words of a command with places and ports that a test may have.
fn placed(words: &[String], data: &TempDir) -> Vec<String> {
    let directory = data.path().to_str().unwrap();
    let configuration = data.path().join("installed.toml");
    let installed = fs::read_to_string(root().join("deploy/debian/eddyline.toml")).unwrap();
    fs::write(&configuration, installed.replace(DATA, directory)).unwrap();
    let words = words.iter().map(|word| {
        word.replace(DATA, directory)
            .replace(CONFIGURATION, configuration.to_str().unwrap())
    });
    let words = words.map(|word| free_port(&word)).collect();
    with_public_key(words, data)
}

/// The file with the public key that a command of the document has made.
const PUBLIC_KEY: &str = "public-key";

/// The words with that key in the place of the one that the document shows.
fn with_public_key(words: Vec<String>, data: &TempDir) -> Vec<String> {
    let Ok(key) = fs::read_to_string(data.path().join(PUBLIC_KEY)) else {
        return words;
    };
    let words = words
        .into_iter()
        .map(|word| match word.starts_with("age1") {
            true => key.trim().to_owned(),
            false => word,
        });
    words.collect()
}

/// An address of the documents at a port that is free.
fn free_port(word: &str) -> String {
    word.replace("127.0.0.1:8080", "127.0.0.1:0")
        .replace("127.0.0.1:8081", "127.0.0.1:0")
}

fn run_cargo(words: &[String], data: &TempDir) {
    let end = words
        .iter()
        .position(|word| word == "--")
        .unwrap_or(words.len());
    let (own, rest) = (&words[..end], words.get(end + 1..).unwrap_or_default());
    let own: Vec<&str> = own
        .iter()
        .map(String::as_str)
        .filter(|word| !word.starts_with('+'))
        .collect();
    match own[..] {
        ["build", "--release"] | ["test", "--workspace"] | ["install", ..] => {}
        ["run"] => run_eddyline(rest, data),
        ["run", "--release", "-p", "eddyline-bench"] => check_bench_options(rest),
        ["fuzz", "run", target] => check_fuzzing(target, rest),
        _ => panic!("no test knows the command cargo {own:?}"),
    }
}

/// What a command names of the project is there.
fn check_paths(words: &[String]) {
    for word in words.iter().filter(|word| word.starts_with("deploy/")) {
        assert!(root().join(word).exists(), "{words:?}: {word} is missing");
    }
}

/// The options of the benchmark are the fields of its arguments.
fn check_bench_options(words: &[String]) {
    let arguments = fs::read_to_string(root().join("crates/bench/src/arguments.rs")).unwrap();
    for option in words.iter().filter_map(|word| word.strip_prefix("--")) {
        let field = format!("pub(crate) {}:", option.replace('-', "_"));
        assert!(
            arguments.contains(&field),
            "the benchmark has no option --{option}"
        );
    }
}

fn check_fuzzing(target: &str, options: &[String]) {
    let manifest = fs::read_to_string(root().join("fuzz/Cargo.toml")).unwrap();
    assert!(
        manifest.contains(&format!("name = \"{target}\"")),
        "there is no fuzz target {target}"
    );
    for dictionary in options
        .iter()
        .filter_map(|word| word.strip_prefix("-dict="))
    {
        assert!(root().join(dictionary).is_file(), "{dictionary} is missing");
    }
}

/// A recipe is there, and takes as many arguments.
fn check_recipe(words: &[String]) {
    let recipes = fs::read_to_string(root().join("justfile")).unwrap();
    let heads = recipes.lines().filter_map(|line| line.strip_suffix(':'));
    let heads: Vec<Vec<&str>> = heads.map(|head| head.split(' ').collect()).collect();
    let recipe = heads.iter().find(|head| head[0] == words[0]);
    let recipe = recipe.unwrap_or_else(|| panic!("there is no recipe {}", words[0]));
    let takes_all = recipe.iter().any(|parameter| parameter.starts_with('*'));
    assert!(
        takes_all || words.len() <= recipe.len(),
        "{words:?} are too many for {recipe:?}"
    );
    if words[0] == "bench" {
        check_bench_options(&words[1..]);
    }
}

#[test]
fn commands_named_in_the_text_are_there() {
    let mut checked = 0;
    for document in snippets::documents(root()).unwrap() {
        let page = fs::read_to_string(root().join(&document)).unwrap();
        for span in spans(&page).filter(|span| span.starts_with("eddyline ")) {
            let words = span
                .split_whitespace()
                .skip(1)
                .take_while(|word| *word != "…");
            let words = words.map(|word| if word == "NUMBER" { "1" } else { word });
            // What is wrong before it is refused, and nothing happens.
            let output = eddyline().args(words).arg("--help").output().unwrap();
            let text = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{document} names `{span}`: {text}");
            checked += 1;
        }
    }
    assert!(checked > 20, "only {checked} commands were found");
}

/// What stands between backticks, outside of blocks.
fn spans(page: &str) -> impl Iterator<Item = &str> {
    let text = page.split("```").step_by(2);
    text.flat_map(|text| text.split('`').skip(1).step_by(2))
}
