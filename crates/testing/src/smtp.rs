//! A throw-away mail server that keeps what it takes, for the test to look at.
//!
//! It is aiosmtpd, a server independent of Eddyline, and needs a Python that has it (on Debian
//! `python3-aiosmtpd`). Where there is none, tests that need it are passed over, with a line that
//! says so; where `EDDYLINE_TEST_REQUIRE` names `smtp` they fail.
//!
//! ```no_run
//! use eddyline_testing::smtp::{Options, SmtpServer};
//!
//! let Some(server) = SmtpServer::start(&Options::default()) else { return };
//! // … have mail sent to 127.0.0.1 and server.port() …
//! let mail = server.wait_for("ada@example.org");
//! assert_eq!(mail.subject, "Welcome");
//! // … follow mail.link() …
//! ```
//!
//! Two kinds of recipients are turned away: `refused@…` always, with 550, and `later@…` the first
//! time, with 451.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use crate::python;

const SERVER: &str = include_str!("smtp.py");

/// How long a mail is waited for; far more than it takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// What kind of mail server it is. By default it is not encrypted, and everybody may send.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How connections are encrypted.
    pub encryption: Encryption,
    /// Name and password that a client must sign in with before it may send.
    pub login: Option<(String, String)>,
    /// Whether it does without SMTPUTF8, and so refuses addresses that are not ASCII.
    pub ascii_only: bool,
}

/// How connections to the mail server are encrypted.
#[derive(Clone, Debug, Default)]
pub enum Encryption {
    /// Not at all.
    #[default]
    None,
    /// By STARTTLS, which must come before any mail.
    StartTls(Identity),
    /// From the first byte.
    Tls(Identity),
}

/// What the server proves itself with. A certificate should be for `localhost` or `127.0.0.1`.
#[derive(Clone, Debug)]
pub struct Identity {
    /// In PEM.
    pub certificate: String,
    /// Its private key, in PEM.
    pub key: String,
}

/// A mail server on a port of loopback. It stops when this is dropped.
pub struct SmtpServer {
    process: Child,
    port: u16,
    directory: PathBuf,
    /// Mail that was read from the directory and that nobody has asked for.
    unclaimed: Mutex<VecDeque<ReceivedMail>>,
}

/// A mail that the server took, for one of its recipients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedMail {
    /// The sender in the envelope.
    pub from: String,
    /// The recipient in the envelope.
    pub to: String,
    /// Whether it came over an encrypted connection.
    pub tls: bool,
    /// Who had signed in, if anybody.
    pub user: Option<String>,
    /// The client's port: mails with the same one came over the same connection.
    pub client_port: u16,
    /// The decoded subject.
    pub subject: String,
    /// The decoded text, if the mail is plain text.
    pub text: String,
    /// The mail as it came, header and all.
    pub data: String,
}

impl ReceivedMail {
    /// The first web address in the text.
    ///
    /// # Panics
    /// When there is none.
    pub fn link(&self) -> &str {
        let link = self
            .text
            .split_whitespace()
            .find(|word| word.starts_with("http"));
        link.unwrap_or_else(|| panic!("there is no link in the mail: {}", self.text))
    }
}

impl SmtpServer {
    /// Starts a mail server, or gives `None` when there is no Python with aiosmtpd.
    ///
    /// # Panics
    /// When it is required and not there, or there and does not start.
    pub fn start(options: &Options) -> Option<Self> {
        let python = python::with("smtp", &["aiosmtpd"])?;
        let mut process = command(python, options)
            .spawn()
            .expect("it was there just now");
        let mut answer = String::new();
        let output = process.stdout.take().expect("standard output is a pipe");
        BufReader::new(output)
            .read_line(&mut answer)
            .expect("a pipe can be read");
        let Some((port, directory)) = answer.trim().split_once(' ') else {
            let mut error = String::new();
            let _ = process
                .stderr
                .take()
                .map(|mut pipe| pipe.read_to_string(&mut error));
            let _ = process.wait();
            panic!("the mail server did not start: {error}");
        };
        Some(Self {
            process,
            port: port.parse().expect("it tells its port"),
            directory: directory.into(),
            unclaimed: Mutex::default(),
        })
    }

    /// The port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The next mail for a recipient, which is waited for; each mail is given once. What a client
    /// was told to be taken is here already.
    ///
    /// # Panics
    /// When there is none after a minute.
    pub fn wait_for(&self, recipient: &str) -> ReceivedMail {
        let begin = Instant::now();
        loop {
            let mut unclaimed = self.collect();
            if let Some(index) = unclaimed.iter().position(|mail| mail.to == recipient) {
                return unclaimed.remove(index).expect("it was found there");
            }
            let others: Vec<_> = unclaimed.iter().map(|mail| mail.to.clone()).collect();
            drop(unclaimed);
            assert!(
                begin.elapsed() < PATIENCE,
                "no mail came for {recipient}, only for {others:?}"
            );
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// All mail that is here and was not given yet, in the order in which it came.
    pub fn take_all(&self) -> Vec<ReceivedMail> {
        self.collect().drain(..).collect()
    }

    fn collect(&self) -> std::sync::MutexGuard<'_, VecDeque<ReceivedMail>> {
        let mut unclaimed = self.unclaimed.lock().expect("a test that failed is over");
        let mails = read_all(&self.directory).expect("the server's directory is there");
        unclaimed.extend(mails);
        unclaimed
    }
}

impl Drop for SmtpServer {
    fn drop(&mut self) {
        // Closes its standard input first, which tells it to stop.
        let _ = self.process.wait();
    }
}

fn command(python: &str, options: &Options) -> Command {
    use std::os::unix::process::CommandExt;
    let (encryption, identity) = match &options.encryption {
        Encryption::None => ("none", None),
        Encryption::StartTls(identity) => ("starttls", Some(identity)),
        Encryption::Tls(identity) => ("tls", Some(identity)),
    };
    let mut command = Command::new(python);
    command.args([
        "-c",
        SERVER,
        encryption,
        if options.ascii_only { "ascii" } else { "utf8" },
    ]);
    if let Some((user, password)) = &options.login {
        command.args([user, password]);
    }
    if let Some(Identity { certificate, key }) = identity {
        command
            .env("EDDYLINE_SMTP_CERTIFICATE", certificate)
            .env("EDDYLINE_SMTP_KEY", key);
    }
    // An interrupt at the terminal is not for the server, which then can tidy up.
    command
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Reads the mails in a directory, in their order, and removes them there.
fn read_all(directory: &Path) -> io::Result<Vec<ReceivedMail>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "mail")
        {
            paths.push(path);
        }
    }
    paths.sort();
    let mut mails = Vec::new();
    for path in paths {
        mails.push(parse(&fs::read(&path)?));
        fs::remove_file(&path)?;
    }
    Ok(mails)
}

fn parse(file: &[u8]) -> ReceivedMail {
    let end = file
        .windows(2)
        .position(|two| two == b"\n\n")
        .expect("there is an empty line");
    let (head, rest) = file.split_at(end + 2);
    let head = String::from_utf8_lossy(head);
    let field = |name: &str| {
        let values = head.lines().filter_map(|line| line.split_once(": "));
        values
            .into_iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value.to_owned())
            .unwrap_or_default()
    };
    let (text, data) = rest.split_at(field("text").parse().expect("it is a length"));
    ReceivedMail {
        from: field("from"),
        to: field("to"),
        tls: field("tls") == "yes",
        user: Some(field("user")).filter(|user| !user.is_empty()),
        client_port: field("port").parse().expect("it is a port"),
        subject: field("subject"),
        text: String::from_utf8_lossy(text).into_owned(),
        data: String::from_utf8_lossy(data).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::TcpStream;

    /// Says lines to the server, each after the answer to the one before, and gives the answers.
    fn session(port: u16, lines: &[&str]) -> Vec<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        let mut answers = BufReader::new(stream.try_clone().expect("it can be cloned"));
        let mut answer = || {
            let mut line = String::new();
            while line
                .lines()
                .last()
                .is_none_or(|last| last.get(3..4) != Some(" "))
            {
                assert!(
                    answers.read_line(&mut line).expect("it answers") > 0,
                    "it hung up"
                );
            }
            line
        };
        let mut all = vec![answer()];
        for line in lines {
            stream
                .write_all(format!("{line}\r\n").as_bytes())
                .expect("it listens");
            all.push(answer());
        }
        all
    }

    #[test]
    fn what_the_server_took_is_there_with_its_envelope() {
        let Some(server) = SmtpServer::start(&Options::default()) else {
            return;
        };
        let mail = "Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n\r\nSee http://localhost/a now.\r\n.";
        for to in ["ada@example.org", "bob@example.org"] {
            let to = format!("RCPT TO:<{to}>");
            session(
                server.port(),
                &["EHLO me", "MAIL FROM:<eve@example.org>", &to, "DATA", mail],
            );
        }
        let bob = server.wait_for("bob@example.org");
        assert_eq!(
            (bob.from.as_str(), bob.tls, bob.user.as_deref()),
            ("eve@example.org", false, None)
        );
        assert_eq!(
            (bob.subject.as_str(), bob.link()),
            ("Grüße", "http://localhost/a")
        );
        assert!(bob.data.starts_with("Subject: =?utf-8?"), "{}", bob.data);
        let rest = server.take_all();
        assert_eq!(
            rest.iter().map(|mail| mail.to.as_str()).collect::<Vec<_>>(),
            ["ada@example.org"]
        );
        assert_eq!(server.take_all(), []);
    }

    #[test]
    fn some_recipients_are_refused_and_some_put_off() {
        let Some(server) = SmtpServer::start(&Options::default()) else {
            return;
        };
        let answers = session(
            server.port(),
            &[
                "EHLO me",
                "MAIL FROM:<eve@example.org>",
                "RCPT TO:<refused@example.org>",
                "RCPT TO:<later@example.org>",
                "RCPT TO:<later@example.org>",
            ],
        );
        let codes: Vec<_> = answers.iter().skip(3).map(|answer| &answer[..3]).collect();
        assert_eq!(codes, ["550", "451", "250"]);
    }

    #[test]
    fn who_must_sign_in_is_told_so() {
        let login = Some(("eddyline".to_owned(), "sesame".to_owned()));
        let Some(server) = SmtpServer::start(&Options {
            login,
            ..Options::default()
        }) else {
            return;
        };
        let answers = session(server.port(), &["EHLO me", "MAIL FROM:<eve@example.org>"]);
        assert!(answers[2].starts_with("530"), "{answers:?}");
    }
}
