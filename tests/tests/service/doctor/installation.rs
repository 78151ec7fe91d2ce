//! A whole installation: a server behind nginx, with a mail server that asks for a password, a store
//! of files, and a database that keeps what it is told.

use std::process::Output;
use std::thread::{self, JoinHandle};

use eddyline_client::Json;
use eddyline_testing::postgres::Cluster;
use eddyline_testing::s3::S3Server;
use eddyline_testing::smtp::{Encryption, Identity, Options, SmtpServer};
use eddyline_tests::{Backend, Certificate, Server, Setting, note_secret};
use tempfile::TempDir;

use super::nginx::{self, Buffering, Nginx};

/// The password of the mail server.
const PASSWORD: &str = "let me out";

/// What makes up the installation, gone with this value.
pub(super) struct Installation {
    pub(super) server: Server,
    /// The options of the server, as flags with values.
    options: Vec<(String, String)>,
    _proxy: Nginx,
    _mail: SmtpServer,
    _store: S3Server,
    files: TempDir,
}

impl Installation {
    /// Starts everything, or gives `None` where a part of it is not installed.
    pub(super) async fn start(backend: Backend) -> Option<Self> {
        // Its commits reach the disk, unlike those of the server that tests share.
        let database = match backend {
            Backend::Sqlite => None,
            Backend::Postgres => Some(Cluster::own(&[])?.database()),
        };
        let certificate = Certificate::new("localhost");
        let mail = SmtpServer::start(&Options {
            encryption: Encryption::StartTls(Identity {
                certificate: certificate.certificate_pem(),
                key: certificate.key_pem(),
            }),
            login: Some(("eddyline".to_owned(), PASSWORD.to_owned())),
            ..Options::default()
        })?;
        let (store, files) = (S3Server::start(), TempDir::new().unwrap());
        note_secret(store.secret_key());
        let authority = files.path().join("ca.pem");
        std::fs::write(&authority, certificate.certificate_pem()).unwrap();
        let port = nginx::port();
        let options: Vec<(String, String)> = [
            ("base-url", &*format!("http://127.0.0.1:{port}")),
            ("trusted-proxy", "127.0.0.1/32"),
            ("max-connections", "500"),
            ("smtp-host", "localhost"),
            ("smtp-port", &mail.port().to_string()),
            ("smtp-user", "eddyline"),
            ("smtp-password", PASSWORD),
            ("smtp-ca", authority.to_str().unwrap()),
            ("mail-from", "Eddyline <eddyline@acme.example>"),
            ("files-s3-bucket", store.bucket()),
            ("files-s3-endpoint", &store.endpoint()),
            ("files-s3-region", store.region()),
            ("files-s3-access-key", store.access_key()),
            ("files-s3-secret-key", store.secret_key()),
            ("files-s3-allow-http", "on"),
        ]
        .map(|(flag, value)| (format!("--{flag}"), value.to_owned()))
        .into();
        let words: Vec<&str> = options
            .iter()
            .flat_map(|(flag, value)| [&**flag, &**value])
            .collect();
        let setting = Setting {
            database,
            ..Setting::default()
        };
        let server = Server::start_in(setting, &words);
        server.admin(&["org", "create", "--name", "Acme"]);
        Some(Self {
            _proxy: Nginx::start(port, server.listen(), Buffering::Off).await,
            _mail: mail,
            _store: store,
            server,
            options,
            files,
        })
    }

    /// A folder for what a test needs besides.
    pub(super) fn folder(&self) -> &std::path::Path {
        self.files.path()
    }

    /// The value of one of the options.
    pub(super) fn option(&self, flag: &str) -> &str {
        let found = self.options.iter().find(|(name, _)| name == flag);
        &found.expect("it is given").1
    }

    /// Starts the doctor with the options of the server, but for these. With `most_files`, in a
    /// session that may have so many open.
    pub(super) fn consult(
        &self,
        instead: &[(&str, &str)],
        most_files: Option<u32>,
    ) -> JoinHandle<Diagnosis> {
        let kept = self
            .options
            .iter()
            .filter(|(flag, _)| instead.iter().all(|(other, _)| flag != other));
        let words: Vec<&str> = kept
            .map(|(flag, value)| (&**flag, &**value))
            .chain(instead.iter().copied())
            .flat_map(|(flag, value)| [flag, value])
            .collect();
        let words = [&["doctor", "--json"], &words[..]].concat();
        let mut command = self.server.command(&words);
        if let Some(most) = most_files {
            let limited = format!("ulimit -n {most}; exec \"$@\"");
            let mut shell = std::process::Command::new("sh");
            shell
                .args(["-c", &limited, "sh"])
                .arg(command.get_program())
                .args(command.get_args());
            command = shell;
        }
        thread::spawn(move || Diagnosis::of(&command.output().unwrap()))
    }
}

/// What the doctor found.
#[derive(Debug)]
pub(super) struct Diagnosis {
    findings: Vec<Json>,
    status: Option<i32>,
}

impl Diagnosis {
    pub(super) fn of(output: &Output) -> Self {
        let text = String::from_utf8_lossy(&output.stdout);
        let findings = text.lines().map(|line| serde_json::from_str(line).unwrap());
        Self {
            findings: findings.collect(),
            status: output.status.code(),
        }
    }

    /// The checks that found something, in the order of their names.
    pub(super) fn faults(&self) -> Vec<&str> {
        let faults = self.findings.iter().filter(|one| one["severity"] != "ok");
        let mut names: Vec<&str> = faults.map(|one| one["check"].as_str().unwrap()).collect();
        names.sort_unstable();
        names
    }

    /// How many checks found nothing.
    pub(super) fn passed(&self) -> usize {
        self.findings.len() - self.faults().len()
    }

    /// Makes sure that these checks, and no others, found something, that the first of them says
    /// this, and that the exit status goes with it.
    pub(super) fn shows(&self, checks: &[&str], severity: &str, words: &str) {
        assert_eq!(self.faults(), checks, "{self:#?}");
        let is_first = |one: &&Json| one["check"] == checks[0] && one["severity"] != "ok";
        let found = self.findings.iter().find(is_first);
        let found = found.unwrap();
        assert_eq!(found["severity"], severity, "{found:#}");
        assert!(
            found.to_string().contains(words),
            "{words} is not in {found:#}"
        );
        let text = |name: &str| found[name].as_str().is_some_and(|text| !text.is_empty());
        assert!(
            text("subject") && text("seen") && text("advice"),
            "{found:#}"
        );
        let is_wrong = self.findings.iter().any(|one| one["severity"] == "error");
        assert_eq!(self.status, Some(i32::from(is_wrong)), "{self:#?}");
    }

    pub(super) fn status(&self) -> Option<i32> {
        self.status
    }
}
