//! `eddyline admin mail test`: one mail at once, and what became of it.

use std::process::{Command, Output};

use eddyline_client::Json;
use eddyline_testing::smtp::{Options, SmtpServer};
use eddyline_tests::eddyline;
use tempfile::TempDir;

use crate::mail::{dead_port, plain};

fn send(data: &TempDir, to: &str, options: &[String]) -> Output {
    let mut command: Command = eddyline();
    command
        .args(["admin", "mail", "test", to, "--json", "--data-dir"])
        .arg(data.path())
        .args(options);
    command.output().unwrap()
}

fn refused(output: &Output, words: &[&str]) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for word in words {
        assert!(said.contains(word), "{word} is missing in {said}");
    }
}

#[test]
fn a_mail_goes_out_at_once_and_the_answer_of_the_mail_server_is_shown() {
    let Some(mail) = SmtpServer::start(&Options::default()) else {
        return;
    };
    let data = TempDir::new().unwrap();
    let output = send(&data, "ada@example.org", &plain(mail.port()));
    assert!(output.status.success(), "{output:?}");
    let answer: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["answer"], "250 2.0.0 taken");
    assert_eq!(answer["server"], format!("127.0.0.1:{}", mail.port()));
    let received = mail.wait_for("ada@example.org");
    assert_eq!(received.from, "eddyline@acme.example");
}

#[test]
fn the_step_that_failed_is_named() {
    let Some(mail) = SmtpServer::start(&Options::default()) else {
        return;
    };
    let data = TempDir::new().unwrap();
    let recipient = send(&data, "refused@example.org", &plain(mail.port()));
    refused(&recipient, &["the recipient was refused", "550"]);
    let nowhere = send(&data, "ada@example.org", &plain(dead_port()));
    refused(&nowhere, &["connecting failed", "smtp_port"]);
    let mut encrypted = plain(mail.port());
    let security = encrypted.iter().position(|word| word == "none").unwrap();
    encrypted[security] = "starttls".to_owned();
    refused(
        &send(&data, "ada@example.org", &encrypted),
        &["TLS failed", "smtp_security"],
    );
    encrypted[security] = "tls".to_owned();
    refused(&send(&data, "ada@example.org", &encrypted), &["TLS failed"]);
    refused(
        &send(&data, "no address", &plain(mail.port())),
        &["the mail could not be written"],
    );
}

#[test]
fn a_password_that_is_not_taken_is_named() {
    let login = Some(("eddyline".to_owned(), "sesame".to_owned()));
    let Some(mail) = SmtpServer::start(&Options {
        login,
        ..Options::default()
    }) else {
        return;
    };
    let data = TempDir::new().unwrap();
    let with = |password: &str| {
        let login = ["--smtp-user", "eddyline", "--smtp-password", password];
        [plain(mail.port()), login.map(str::to_owned).to_vec()].concat()
    };
    let output = send(&data, "ada@example.org", &with("wrong"));
    refused(&output, &["signing in failed", "smtp_password"]);
    assert!(!String::from_utf8_lossy(&output.stderr).contains("wrong"));
    assert!(
        send(&data, "ada@example.org", &with("sesame"))
            .status
            .success()
    );
    refused(
        &send(&data, "ada@example.org", &plain(mail.port())),
        &["signing in failed", "530"],
    );
}

#[test]
fn without_a_mail_server_the_mail_is_a_file() {
    let data = TempDir::new().unwrap();
    let output = send(&data, "ada@example.org", &[]);
    let answer: Json = serde_json::from_slice(&output.stdout).unwrap();
    let text = std::fs::read_to_string(answer["file"].as_str().unwrap()).unwrap();
    assert!(text.contains("To: ada@example.org"), "{text}");
}
