//! What `eddyline demo` prints can be pasted.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};

use eddyline_tests::eddyline;
use serde_json::Value;
use tempfile::TempDir;

mod life;

/// Ends a process with the test, however that ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_commands_of_the_demonstration_work_as_printed() {
    let (_demo, welcome) = demonstrate(&[]);
    let commands: Vec<_> = welcome
        .iter()
        .map(|line| line.trim())
        .filter(|line| line.starts_with("curl "))
        .collect();
    let [post, list, listen, invite] = commands[..] else {
        panic!("{welcome:?}")
    };

    let mut listening = Running(shell(listen).stdout(Stdio::piped()).spawn().unwrap());
    let mut heard = BufReader::new(listening.0.stdout.take().unwrap());
    // The first byte says that the stream is open.
    heard.read_exact(&mut [0]).unwrap();

    let posted = output(post);
    assert!(
        posted == "{}" || posted.contains("Hello from curl"),
        "{posted}"
    );
    let listed: Vec<Value> = serde_json::from_str(&output(list)).unwrap();
    assert_eq!(listed.len(), 5);
    assert!(
        listed
            .iter()
            .any(|message| message["content"] == "Hello from curl #demo"),
        "{listed:?}"
    );
    let message = heard
        .lines()
        .map(Result::unwrap)
        .find(|line| line.contains("Hello from curl #demo"));
    let message: Value = serde_json::from_str(&message.expect("the stream is open")).unwrap();
    assert_eq!(message["event"], "message");

    let invitation: Value = serde_json::from_str(&output(invite)).unwrap();
    assert_eq!(invitation["state"], "pending", "{invitation}");
    let mailbox = welcome
        .iter()
        .find_map(|line| line.split_once("is put into "))
        .unwrap()
        .1;
    let mailbox = std::path::Path::new(mailbox.trim_end_matches("):"));
    assert!(mailbox.is_dir(), "{}", mailbox.display());
}

#[test]
fn the_commands_of_the_readme_work_with_what_the_demonstration_sets() {
    let (_demo, welcome) = demonstrate(&[]);
    let sets = welcome
        .iter()
        .find_map(|line| line.trim().strip_prefix("export "))
        .unwrap();
    let variables: Vec<_> = sets
        .split(' ')
        .map(|set| set.split_once('=').unwrap())
        .collect();
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let commands: Vec<_> = readme
        .lines()
        .filter(|line| line.starts_with("curl "))
        .collect();
    let [invite, post, search, listen] = commands[..] else {
        panic!("{commands:?}")
    };

    let command = |line: &str| {
        let mut command = shell(line);
        command.envs(variables.iter().copied());
        command
    };
    let mut listening = Running(command(listen).stdout(Stdio::piped()).spawn().unwrap());
    let mut heard = BufReader::new(listening.0.stdout.take().unwrap());
    // The first byte says that the stream is open.
    heard.read_exact(&mut [0]).unwrap();
    let run = |line: &str| String::from_utf8(command(line).output().unwrap().stdout).unwrap();
    let posted = run(post);
    assert!(
        posted == "{}" || posted.contains("Shipping today"),
        "{posted}"
    );
    assert!(
        heard
            .lines()
            .map(Result::unwrap)
            .any(|line| line.contains("Shipping today #release"))
    );
    let found: Vec<Value> = serde_json::from_str(&run(search)).unwrap();
    assert!(
        found
            .iter()
            .any(|message| message["content"] == "Shipping today #release"),
        "{found:?}"
    );
    let invitation: Value = serde_json::from_str(&run(invite)).unwrap();
    assert_eq!(invitation["email"], "grace@example.org", "{invitation}");
}

#[test]
fn a_demonstration_in_a_named_directory_can_be_taken_up_again() {
    let directory = TempDir::new().unwrap();
    let data = ["--data-dir", directory.path().to_str().unwrap()];
    let mut passwords = Vec::new();
    for round in 1..=2 {
        let (_demo, welcome) = demonstrate(&data);
        let find = |name: &str| {
            welcome
                .iter()
                .find_map(|line| line.strip_prefix(name))
                .unwrap()
                .trim()
                .to_owned()
        };
        let (address, token) = (find("API:"), find("API token:"));
        let flow = format!("{address}/flows/demo/main");
        output(&format!(
            "curl -u {token}: -d event=message -d content=round-{round} {flow}/messages"
        ));
        let found = output(&format!("curl -u {token}: '{flow}/messages?search=round'"));
        assert_eq!(
            found.matches("\"event\":\"message\"").count(),
            round,
            "{found}"
        );
        let sign_in = find("Sign-in:");
        let (email, password) = sign_in.split_once(" with password ").unwrap();
        assert!(
            output(&format!("curl -u {email}:{password} {address}/user")).contains("Ada Lovelace")
        );
        passwords.push(password.to_owned());

        let threads: Vec<Value> =
            serde_json::from_str(&output(&format!("curl -u {token}: {flow}/threads"))).unwrap();
        let items = threads.iter().filter(|thread| !thread["source"].is_null());
        assert_eq!(items.count(), 6, "the tools go on in the same threads");
        let build = threads
            .iter()
            .find(|thread| thread["title"] == "Build of main")
            .unwrap();
        let action = format!("{flow}/threads/{}/actions/0", build["id"].as_str().unwrap());
        let pressed = output(&format!("curl -u {token}: -X POST {action}"));
        assert_eq!(pressed, "{}", "and their buttons work in round {round}");
    }
    assert_ne!(passwords[0], passwords[1], "each start makes up its own");
}

#[test]
fn the_link_of_the_demonstration_signs_in_once() {
    let (_demo, welcome) = demonstrate(&[]);
    let link = welcome
        .iter()
        .map(|line| line.trim())
        .find(|line| line.contains("/sign-in/"))
        .unwrap();
    let jar = TempDir::new().unwrap();
    let jar = jar.path().join("cookies");
    let curl = |rest: &str| output(&format!("curl -s -b {0} -c {0} {rest}", jar.display()));
    let page = curl(link);
    let again = curl(link);
    assert!(
        page.contains("Sign in as Ada Lovelace") && again.contains("Sign in as"),
        "reading uses nothing up"
    );
    let csrf = again
        .split("name=\"csrf\" value=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    let origin = &link[..link.find("/sign-in/").unwrap()];
    let submit = format!(
        "-H 'Origin: {origin}' -d csrf={csrf} -w '%{{http_code}} %{{redirect_url}}' -o /dev/null {link}"
    );
    assert_eq!(curl(&submit), format!("303 {origin}/"));
    assert!(curl(&format!("{origin}/app")).contains("Ada Lovelace"));
    assert_eq!(
        curl(&format!("-w '%{{http_code}}' -o /dev/null {link}")),
        "404"
    );
    let other = format!("{origin}/sign-in/{}", "0".repeat(64));
    assert_eq!(
        curl(&format!("-w '%{{http_code}}' -o /dev/null {other}")),
        "404"
    );
}

/// A running demonstration, and what it says first.
fn demonstrate(arguments: &[&str]) -> (Running, Vec<String>) {
    let mut command = eddyline();
    command
        .args([
            "demo",
            "--listen",
            "127.0.0.1:0",
            "--stream-listen",
            "127.0.0.1:0",
        ])
        .args(arguments);
    let mut demo = Running(
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    let mut welcome = Vec::new();
    for line in BufReader::new(demo.0.stdout.take().unwrap()).lines() {
        welcome.push(line.unwrap());
        if welcome
            .last()
            .is_some_and(|line| line.starts_with("Stop with"))
        {
            break;
        }
    }
    (demo, welcome)
}

fn shell(command: &str) -> Command {
    let mut shell = Command::new("sh");
    // The shell becomes the command, so that ending the one ends the other.
    shell
        .args(["-c", &format!("exec {command}")])
        .stderr(Stdio::null());
    shell
}

fn output(command: &str) -> String {
    let output = shell(command).output().unwrap();
    assert!(
        output.status.success(),
        "{command}: {}; is curl installed?",
        output.status
    );
    String::from_utf8(output.stdout).unwrap()
}
