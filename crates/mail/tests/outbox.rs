//! Mails as files: what stands in them, whatever users call themselves, and who may read them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use eddyline_mail::{Config, Delivery, MailMessage, Mailer, SetupError};
use mail_parser::{Message, MessageParser};
use tempfile::TempDir;

fn message() -> MailMessage {
    MailMessage {
        to: "ada@example.com".into(),
        to_name: Some("Ada Lovelace".into()),
        subject: "Hello".into(),
        text: "Open this:\n\nhttps://example.org/secret?a=b\n".into(),
        id: "hello-1".into(),
    }
}

fn mailer(folder: &Path) -> Mailer {
    let from = "Eddyline <eddyline@example.org>".to_owned();
    Mailer::new(Config {
        delivery: Delivery::Outbox(folder.into()),
        from,
    })
    .expect("it can be set up")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("it can be read").path())
        .collect();
    paths.sort();
    paths
}

/// The mail that is written for a mail.
async fn written(message: &MailMessage) -> String {
    let folder = TempDir::new().expect("there is room");
    mailer(folder.path())
        .send(message)
        .await
        .expect("it can be written");
    let files = files(folder.path());
    assert_eq!(files.len(), 1, "{files:?}");
    fs::read_to_string(&files[0]).expect("it is text")
}

fn read(mail: &str) -> Message<'_> {
    MessageParser::default().parse(mail).expect("it is mail")
}

/// The names of the header's fields.
fn fields(mail: &str) -> Vec<&str> {
    let head = mail.split("\r\n\r\n").next().unwrap_or_default();
    let starts = head.lines().filter(|line| !line.starts_with([' ', '\t']));
    starts
        .map(|line| line.split(':').next().unwrap_or_default())
        .collect()
}

const FIELDS: [&str; 9] = [
    "Date",
    "Message-ID",
    "From",
    "To",
    "Subject",
    "Auto-Submitted",
    "MIME-Version",
    "Content-Type",
    "Content-Transfer-Encoding",
];

#[tokio::test]
async fn a_letter_is_a_plain_text_mail() {
    let mail = written(&message()).await;
    assert_eq!(fields(&mail), FIELDS);
    for line in [
        "Message-ID: <hello-1@example.org>\r\n",
        "From: Eddyline <eddyline@example.org>\r\n",
        "To: \"Ada Lovelace\" <ada@example.com>\r\n",
        "Subject: Hello\r\n",
        "Auto-Submitted: auto-generated\r\n",
        "Content-Type: text/plain; charset=utf-8\r\n",
    ] {
        assert!(mail.contains(line), "{line:?} in {mail}");
    }
    assert!(
        mail.ends_with("\r\n\r\nOpen this:\r\n\r\nhttps://example.org/secret?a=b\r\n"),
        "{mail}"
    );
    let age = read(&mail).date().expect("there is a date").to_timestamp() - now();
    assert!((-60..=0).contains(&age), "{age}");
}

fn now() -> i64 {
    let since = std::time::UNIX_EPOCH
        .elapsed()
        .expect("it is later than 1970");
    i64::try_from(since.as_secs()).expect("it is not that late")
}

#[tokio::test]
async fn a_link_can_be_read_in_the_file_even_when_it_is_long_or_the_text_is_not_ascii() {
    let link = format!("https://example.org/{}?a=b", "x".repeat(300));
    for name in ["Ada", "Ædá"] {
        let mail = written(&MailMessage {
            text: format!("Hello {name}\n{link}\n"),
            ..message()
        })
        .await;
        assert!(
            mail.contains(&format!("Hello {name}\r\n{link}\r\n")),
            "{mail}"
        );
    }
}

#[tokio::test]
async fn the_subject_comes_out_as_it_went_in() {
    for subject in [
        "Ada invites you to Engines",
        "Grüße aus Köln",
        "Ада приглашает вас в поток «Машины» и надеется, что вы придёте",
        "エイダがあなたを「エンジン」に招待しました",
        "half ascii, half ünïcödé, and then some more ascii to make it fold over the line",
        "🎉 100 % = \"fun\" <really>; a_b?",
        &"x".repeat(200),
    ] {
        let mail = written(&MailMessage {
            subject: subject.into(),
            ..message()
        })
        .await;
        let head = mail.split("\r\n\r\n").next().unwrap_or_default();
        assert!(
            head.is_ascii() && head.lines().all(|line| line.len() <= 998),
            "{head}"
        );
        assert_eq!(read(&mail).subject(), Some(subject));
    }
}

#[tokio::test]
async fn the_recipients_name_comes_out_as_it_went_in() {
    for name in [
        "Ada",
        "Ada Lovelace",
        "Lovelace, Ada",
        "Ada \"the\" <Great>",
        "Ædá Łøvelåce",
        "a\\b",
    ] {
        let mail = written(&MailMessage {
            to_name: Some(name.into()),
            ..message()
        })
        .await;
        let message = read(&mail);
        let to = message
            .to()
            .and_then(|to| to.first())
            .expect("there is a recipient");
        assert_eq!(
            (to.name(), to.address()),
            (Some(name), Some("ada@example.com")),
            "{mail}"
        );
    }
    let mail = written(&MailMessage {
        to_name: Some(" \r\n ".into()),
        ..message()
    })
    .await;
    assert!(mail.contains("\r\nTo: ada@example.com\r\n"), "{mail}");
}

#[tokio::test]
async fn nothing_a_user_writes_becomes_a_header() {
    for evil in [
        "x\r\nBcc: eve@example.com",
        "x\nBcc: eve@example.com\n\nbody",
        "x\r\rBcc: eve@example.com",
        "x\u{2028}Bcc: eve@example.com",
        "x\" <eve@example.com>, \"y",
        "x <eve@example.com>, y",
        "=?utf-8?q?x=0D=0ABcc:_eve=40example.com?=",
        "=\u{202e}?utf-8?q?x=0D=0ABcc:_eve=40example.com?=",
        "ü\r\nBcc: eve@example.com",
    ] {
        let message = MailMessage {
            to_name: Some(evil.into()),
            subject: evil.into(),
            ..message()
        };
        let mail = written(&message).await;
        assert_eq!(fields(&mail), FIELDS, "{evil:?}");
        let message = read(&mail);
        let to: Vec<_> = message.to().into_iter().flat_map(|to| to.iter()).collect();
        assert_eq!(to.len(), 1, "{evil:?} in {mail}");
        assert_eq!(to[0].address(), Some("ada@example.com"), "{evil:?}");
        for shown in [message.subject(), to[0].name()] {
            assert!(
                !shown.unwrap_or_default().contains(['\r', '\n']),
                "{evil:?} in {mail}"
            );
        }
    }
}

#[tokio::test]
async fn what_cannot_be_written_is_refused_for_good() {
    let folder = TempDir::new().unwrap();
    let mailer = mailer(folder.path());
    let with_to = |to: &str| MailMessage {
        to: to.into(),
        ..message()
    };
    let with_id = |id: &str| MailMessage {
        id: id.into(),
        ..message()
    };
    for message in [
        with_to("ada"),
        with_to("ada@example.com\r\nBcc: eve@example.com"),
        with_to("ada@example.com, eve@example.com"),
        with_id(""),
        with_id("a b"),
        with_id("a\r\nBcc: eve@example.com"),
        with_id("../../etc/passwd"),
        with_id(&"x".repeat(129)),
    ] {
        let error = mailer
            .send(&message)
            .await
            .expect_err("it cannot be written");
        assert!(
            error.permanent && !error.text.contains(['\r', '\n']),
            "{error:?}"
        );
    }
    assert_eq!(files(folder.path()), [] as [PathBuf; 0]);
}

#[tokio::test]
async fn an_international_domain_is_written_in_ascii() {
    let mail = written(&MailMessage {
        to: "ada@bücher.example".into(),
        to_name: None,
        ..message()
    })
    .await;
    assert!(
        mail.contains("\r\nTo: ada@xn--bcher-kva.example\r\n"),
        "{mail}"
    );
}

#[tokio::test]
async fn only_the_server_may_read_the_folder_and_its_letters() {
    let above = TempDir::new().unwrap();
    let folder = above.path().join("mail").join("outbox");
    mailer(&folder).send(&message()).await.unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let files = files(&folder);
    assert_eq!(
        files.iter().map(|path| mode(path)).collect::<Vec<_>>(),
        [0o600]
    );
}

#[tokio::test]
async fn letters_sort_by_the_order_in_which_they_were_sent() {
    let folder = TempDir::new().unwrap();
    let mailer = mailer(folder.path());
    for id in ["b", "a", "c", "a"] {
        mailer
            .send(&MailMessage {
                id: id.into(),
                ..message()
            })
            .await
            .unwrap();
    }
    let names: Vec<_> = files(folder.path())
        .iter()
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    let ids: Vec<_> = names
        .iter()
        .map(|name| name.rsplit('-').next().unwrap())
        .collect();
    assert_eq!(ids, ["b.eml", "a.eml", "c.eml", "a.eml"], "{names:?}");
}

#[tokio::test]
async fn a_folder_that_went_away_is_an_error_that_may_pass() {
    let above = TempDir::new().unwrap();
    let folder = above.path().join("outbox");
    let mailer = mailer(&folder);
    fs::remove_dir(&folder).unwrap();
    let error = mailer
        .send(&message())
        .await
        .expect_err("there is no folder");
    assert!(!error.permanent, "{error:?}");
}

#[test]
fn a_folder_that_cannot_be_made_is_told_at_once() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let delivery = Delivery::Outbox(file.path().join("outbox"));
    let error = Mailer::new(Config {
        delivery,
        from: "eddyline@example.org".into(),
    })
    .expect_err("it is a file");
    assert!(matches!(error, SetupError::Outbox { .. }), "{error}");
}

#[test]
fn letters_must_be_from_an_address() {
    let folder = TempDir::new().unwrap();
    for from in ["", "Eddyline", "Eddyline <eddyline>", "süd@example.org"] {
        let delivery = Delivery::Outbox(folder.path().into());
        let error = Mailer::new(Config {
            delivery,
            from: from.into(),
        })
        .expect_err("it is no address");
        assert!(matches!(error, SetupError::From { .. }), "{error}");
    }
}
