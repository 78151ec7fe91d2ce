//! The log in JSON: also of what stands at its beginning and its end.

use std::process::{Command, Output, Stdio};

use eddyline_client::Json;
use eddyline_tests::eddyline;
use tempfile::TempDir;

fn serve(directory: &TempDir, options: &[&str]) -> Command {
    let mut command = eddyline();
    command.args([
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--stream-listen",
        "127.0.0.1:0",
        "--data-dir",
    ]);
    command.arg(directory.path()).args(options);
    command
}

fn lines(text: &[u8]) -> Vec<Json> {
    let text = String::from_utf8(text.to_vec()).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}")))
        .collect()
}

/// Ends a server once it listens.
fn run_shortly(mut command: Command) -> Output {
    let mut server = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0];
    std::io::Read::read_exact(server.stdout.as_mut().unwrap(), &mut first).unwrap();
    let ended = Command::new("kill")
        .args(["-TERM", &server.id().to_string()])
        .status()
        .unwrap();
    assert!(ended.success());
    let mut output = server.wait_with_output().unwrap();
    output.stdout.insert(0, first[0]);
    output
}

#[test]
fn that_the_server_listens_is_a_line_like_the_others() {
    let directory = TempDir::new().unwrap();
    let output = run_shortly(serve(&directory, &["--log-format", "json"]));
    let [listening] = &lines(&output.stdout)[..] else {
        panic!("{output:?}")
    };
    assert_eq!(
        (&listening["message"], &listening["level"]),
        (&"listening".into(), &"INFO".into())
    );
    assert!(
        listening["base"]
            .as_str()
            .unwrap()
            .starts_with("http://127.0.0.1:"),
        "{listening}"
    );
    assert!(
        listening["stream"]
            .as_str()
            .unwrap()
            .starts_with("http://127.0.0.1:"),
        "{listening}"
    );
    let log = lines(&output.stderr);
    assert!(log.len() > 1);
    for line in log.iter().chain([listening]) {
        for field in ["timestamp", "level", "message", "target"] {
            assert!(line[field].is_string(), "{field} is missing in {line}");
        }
    }
    // Without it, scripts read what they always did.
    let output = run_shortly(serve(&directory, &[]));
    assert!(
        output
            .stdout
            .starts_with(b"listening base=http://127.0.0.1:"),
        "{output:?}"
    );
}

#[test]
fn what_ends_a_server_is_a_line_like_the_others() {
    let directory = TempDir::new().unwrap();
    let json = ["--log-format", "json"];
    let config = directory.path().join("config.toml");
    std::fs::write(&config, "log_format = \"json\"\nlisten = \"everywhere\"\n").unwrap();
    let from_file = ["--config", config.to_str().unwrap()];
    for (options, words) in [
        (
            &[&json[..], &["--tls-cert", "no.pem", "--tls-key", "no.pem"]].concat()[..],
            "no.pem",
        ),
        (&[&json[..], &["--profile", "modern"]].concat(), "modern"),
        (&from_file, "everywhere"),
    ] {
        let output = serve(&directory, options).output().unwrap();
        assert!(!output.status.success());
        let log = lines(&output.stderr);
        let last = log.last().unwrap();
        assert_eq!(last["level"], "ERROR");
        assert!(
            last["message"].as_str().unwrap().contains(words),
            "{words} is missing in {last}"
        );
    }
    let mut command = serve(&directory, &["--profile", "modern"]);
    let output = command.env("EDDYLINE_LOG_FORMAT", "json").output().unwrap();
    assert_eq!(lines(&output.stderr).last().unwrap()["level"], "ERROR");
    let mut command = eddyline();
    command
        .args(["admin", "org", "list", "--data-dir"])
        .arg(directory.path());
    let output = command.env("EDDYLINE_LOG_FORMAT", "json").output().unwrap();
    assert!(
        output.stderr.starts_with(b"error: "),
        "an operator reads text: {output:?}"
    );
}

#[test]
fn no_cause_is_told_twice() {
    let directory = TempDir::new().unwrap();
    let missing = directory.path().join("missing.pem");
    let missing = missing.to_str().unwrap();
    for options in [
        &["--tls-cert", missing, "--tls-key", missing][..],
        &["--config", missing],
        &["--secret-key-file", missing],
        &[
            "--smtp-host",
            "mail.example",
            "--mail-from",
            "a@mail.example",
            "--smtp-ca",
            missing,
        ],
        &["--database", "sqlite:/dev/null/eddyline.db"],
        &["--files", "/dev/null/files"],
    ] {
        let output = serve(&directory, options).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let said = said
            .lines()
            .find(|line| line.starts_with("error: "))
            .unwrap_or_else(|| panic!("{said}"));
        for text in ["(os error", "No such file or directory", "Not a directory"] {
            assert!(
                said.matches(text).count() < 2,
                "{text} is told twice in {said}"
            );
        }
    }
}
