//! `eddyline admin check-config`: every option with its value and its place, and every mistake.

use std::fs;
use std::process::Output;

use eddyline_client::Json;
use eddyline_tests::eddyline;
use tempfile::TempDir;

/// Checks the configuration of a file with this text.
fn check(text: &str, arguments: &[&str]) -> (Output, Json) {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("given.toml");
    fs::write(&file, text).unwrap();
    let output = eddyline()
        .args(["admin", "check-config", "--json", "--config"])
        .arg(&file)
        .args(arguments)
        .env("EDDYLINE_MAIL_FROM", "chat@acme.example")
        .env("EDDYLINE_LISTEM", "127.0.0.1:1")
        .output()
        .unwrap();
    let answer = serde_json::from_slice(&output.stdout).unwrap();
    (output, answer)
}

fn option<'a>(answer: &'a Json, key: &str) -> &'a Json {
    let options = answer["options"].as_array().unwrap();
    options.iter().find(|one| one["option"] == key).unwrap()
}

#[test]
fn each_value_is_shown_with_the_place_that_it_comes_from() {
    let text = "smtp_host = \"localhost\"\nsmtp_user = \"me\"\nsmtp_password = \"sesame\"\n\
                database = \"postgres://me:sesame@127.0.0.1/chat\"\n";
    let (output, answer) = check(text, &["--max-connections", "500"]);
    assert_eq!(output.status.code(), Some(0), "{answer:#}");
    for (key, value, source) in [
        ("max_connections", "500", "flag"),
        ("mail_from", "chat@acme.example", "environment"),
        ("smtp_host", "localhost", "file"),
        ("smtp_password", "(hidden)", "file"),
        ("database", "postgres://127.0.0.1/chat", "file"),
        ("listen", "127.0.0.1:8080", "default"),
    ] {
        let found = option(&answer, key);
        assert_eq!(
            (&found["value"], &found["source"]),
            (&value.into(), &source.into())
        );
    }
    let place = option(&answer, "smtp_host")["place"].as_str().unwrap();
    assert!(place.ends_with("given.toml: smtp_host"), "{place}");
    assert!(!answer.to_string().contains("sesame"), "{answer:#}");
    let remarks = answer["remarks"].to_string();
    assert!(
        remarks.contains("EDDYLINE_LISTEM is not a known variable"),
        "{remarks}"
    );
}

#[test]
fn all_mistakes_are_told_with_their_options_and_places() {
    let text = "profile = \"modern\"\nlisten = \"everywhere\"\nlistem = 1\n";
    let (output, answer) = check(text, &["--readers", "0"]);
    assert_eq!(output.status.code(), Some(2), "{answer:#}");
    let mistakes = answer["mistakes"].as_array().unwrap();
    let found: Vec<_> = mistakes
        .iter()
        .map(|one| {
            (
                one["option"].as_str().unwrap(),
                one["source"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("listem", "file"),
            ("listen", "file"),
            ("profile", "file"),
            ("readers", "flag"),
        ]
    );
    let hint = mistakes[0]["problem"].as_str().unwrap();
    assert!(hint.contains("did you mean listen?"), "{hint}");
}

#[test]
fn what_options_get_wrong_together_or_name_in_vain_is_told() {
    let (output, answer) = check("smtp_user = \"me\"\n", &["--tls-cert", "a.pem"]);
    assert_eq!(output.status.code(), Some(2));
    let problems = answer["mistakes"].to_string();
    for words in [
        "tls_key must be given",
        "smtp_password must be",
        "smtp_host must be",
    ] {
        assert!(problems.contains(words), "{words} is missing in {problems}");
    }
    let (output, answer) = check("", &["--tls-cert", "no.pem", "--tls-key", "no.pem"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        answer["mistakes"].to_string().contains("no.pem"),
        "{answer:#}"
    );
    let (output, _) = check("smtp_host = \"localhost\"\nsmtp_ca = \"no.pem\"\n", &[]);
    assert_eq!(output.status.code(), Some(2));
}
