//! Mails to a real mail server, over every kind of connection, and everything it may answer.

#![allow(
    clippy::disallowed_methods,
    reason = "the tasks of a test end with its runtime"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

use eddyline_mail::{
    Config, Delivery, MailMessage, Mailer, Security, SendError, SetupError, SmtpConfig,
    SmtpCredentials, SmtpPassword,
};
use eddyline_testing::smtp::{Encryption, Identity, Options, SmtpServer};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use tempfile::TempDir;

fn message(to: &str) -> MailMessage {
    MailMessage {
        to: to.into(),
        to_name: Some("Ædá".into()),
        subject: "Grüße".into(),
        text: "Good day,\n.\n..\nhttps://example.org/?a=b\nGrüße\n".into(),
        id: "hello-1".into(),
    }
}

fn plain(port: u16) -> SmtpConfig {
    SmtpConfig {
        port: Some(port),
        security: Security::None,
        ..SmtpConfig::new("127.0.0.1")
    }
}

fn mailer(config: SmtpConfig) -> Mailer {
    let from = "Eddyline <eddyline@example.org>".to_owned();
    Mailer::new(Config {
        delivery: Delivery::Smtp(config),
        from,
    })
    .expect("it can be set up")
}

fn refused(config: SmtpConfig) -> SetupError {
    let delivery = Delivery::Smtp(config);
    Mailer::new(Config {
        delivery,
        from: "eddyline@example.org".into(),
    })
    .expect_err("it cannot be set up")
}

/// A certificate for this machine, also as a file that a client can trust.
struct Authority {
    identity: Identity,
    folder: TempDir,
}

impl Authority {
    fn new() -> Self {
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(names).expect("it can be signed");
        let identity = Identity {
            certificate: cert.pem(),
            key: signing_key.serialize_pem(),
        };
        let authority = Self {
            identity,
            folder: TempDir::new().expect("there is room"),
        };
        std::fs::write(authority.file(), &authority.identity.certificate).expect("there is room");
        authority
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("authority.pem")
    }
}

fn sesame(password: &str) -> Option<SmtpCredentials> {
    Some(SmtpCredentials {
        user: "eddyline".into(),
        password: SmtpPassword::new(password),
    })
}

fn login() -> Option<(String, String)> {
    Some(("eddyline".into(), "sesame".into()))
}

#[tokio::test]
async fn a_letter_arrives_as_it_was_written() {
    let Some(server) = SmtpServer::start(&Options::default()) else {
        return;
    };
    mailer(plain(server.port()))
        .send(&message("ada@example.com"))
        .await
        .unwrap();
    let mail = server.wait_for("ada@example.com");
    assert_eq!(
        (mail.from.as_str(), mail.tls, mail.user.as_deref()),
        ("eddyline@example.org", false, None)
    );
    assert_eq!(mail.subject, "Grüße");
    assert_eq!(mail.text, message("").text);
    assert!(
        mail.data.is_ascii() && mail.data.contains("Message-ID: <hello-1@example.org>"),
        "{}",
        mail.data
    );
}

#[tokio::test]
async fn over_starttls_and_tls_it_signs_in_when_the_authority_is_known() {
    for security in [Security::StartTls, Security::Tls] {
        let authority = Authority::new();
        let encryption = match security {
            Security::StartTls => Encryption::StartTls(authority.identity.clone()),
            _ => Encryption::Tls(authority.identity.clone()),
        };
        let options = Options {
            encryption,
            login: login(),
            ..Options::default()
        };
        let Some(server) = SmtpServer::start(&options) else {
            return;
        };
        for host in ["localhost", "127.0.0.1"] {
            let config = SmtpConfig {
                host: host.into(),
                security,
                credentials: sesame("sesame"),
                ca_file: Some(authority.file()),
                ..plain(server.port())
            };
            mailer(config.clone())
                .send(&message("ada@example.com"))
                .await
                .unwrap();
            let mail = server.wait_for("ada@example.com");
            assert_eq!(
                (mail.tls, mail.user.as_deref()),
                (true, Some("eddyline")),
                "{security:?}"
            );

            let stranger = SmtpConfig {
                ca_file: None,
                ..config
            };
            let error = mailer(stranger)
                .send(&message("ada@example.com"))
                .await
                .unwrap_err();
            assert!(
                !error.permanent && error.text.contains("certificate"),
                "{error:?}"
            );
        }
        assert_eq!(server.take_all(), []);
    }
}

#[tokio::test]
async fn a_server_without_starttls_gets_neither_letter_nor_password() {
    let Some(server) = SmtpServer::start(&Options {
        login: login(),
        ..Options::default()
    }) else {
        return;
    };
    let config = SmtpConfig {
        security: Security::StartTls,
        credentials: sesame("sesame"),
        ..plain(server.port())
    };
    let error = mailer(config)
        .send(&message("ada@example.com"))
        .await
        .unwrap_err();
    assert!(
        !error.permanent && error.text.contains("STARTTLS"),
        "{error:?}"
    );
    assert_eq!(server.take_all(), []);
}

#[tokio::test]
async fn a_wrong_password_may_be_put_right_and_is_not_shown() {
    let Some(server) = SmtpServer::start(&Options {
        login: login(),
        ..Options::default()
    }) else {
        return;
    };
    let wrong = SmtpConfig {
        credentials: sesame("wrong-password"),
        ..plain(server.port())
    };
    let error = mailer(wrong)
        .send(&message("ada@example.com"))
        .await
        .unwrap_err();
    assert!(!error.permanent && error.text.contains("535"), "{error:?}");
    assert!(
        !format!("{error:?} {error}").contains("wrong-password"),
        "{error:?}"
    );

    let none = mailer(plain(server.port()))
        .send(&message("ada@example.com"))
        .await
        .unwrap_err();
    assert!(!none.permanent && none.text.contains("530"), "{none:?}");

    let right = SmtpConfig {
        credentials: sesame("sesame"),
        ..plain(server.port())
    };
    mailer(right)
        .send(&message("ada@example.com"))
        .await
        .unwrap();
    assert_eq!(
        server.wait_for("ada@example.com").user.as_deref(),
        Some("eddyline")
    );
}

#[tokio::test]
async fn a_refused_recipient_is_permanent_and_one_put_off_is_not() {
    let Some(server) = SmtpServer::start(&Options::default()) else {
        return;
    };
    let mailer = mailer(plain(server.port()));
    let error = mailer
        .send(&message("refused@example.com"))
        .await
        .unwrap_err();
    assert!(error.permanent && error.text.contains("550"), "{error:?}");

    let error = mailer
        .send(&message("later@example.com"))
        .await
        .unwrap_err();
    assert!(!error.permanent && error.text.contains("451"), "{error:?}");
    mailer.send(&message("later@example.com")).await.unwrap();
    let all = server.take_all();
    assert_eq!(
        all.iter().map(|mail| mail.to.as_str()).collect::<Vec<_>>(),
        ["later@example.com"]
    );
}

#[tokio::test]
async fn international_recipients_reach_servers_that_know_them() {
    let Some(server) = SmtpServer::start(&Options::default()) else {
        return;
    };
    let mailer = mailer(plain(server.port()));
    for (to, written) in [
        ("ada@bücher.example", "ada@xn--bcher-kva.example"),
        ("ædá@bücher.example", "ædá@xn--bcher-kva.example"),
    ] {
        mailer.send(&message(to)).await.unwrap();
        let mail = server.wait_for(written);
        assert!(mail.data.contains(&format!("<{written}>")), "{}", mail.data);
    }
}

#[tokio::test]
async fn without_smtputf8_only_the_domain_may_be_international() {
    let Some(server) = SmtpServer::start(&Options {
        ascii_only: true,
        ..Options::default()
    }) else {
        return;
    };
    let mailer = mailer(plain(server.port()));
    let error = mailer
        .send(&message("ædá@bücher.example"))
        .await
        .unwrap_err();
    assert!(error.permanent, "{error:?}");
    mailer.send(&message("ada@bücher.example")).await.unwrap();
    assert_eq!(server.take_all().len(), 1);
}

#[tokio::test]
async fn letters_share_connections_even_after_a_refusal() {
    let Some(server) = SmtpServer::start(&Options::default()) else {
        return;
    };
    let mailer = mailer(plain(server.port()));
    for to in [
        "a@example.com",
        "refused@example.com",
        "b@example.com",
        "later@example.com",
        "c@example.com",
    ] {
        let _ = mailer.send(&message(to)).await;
    }
    let mut ports: Vec<_> = server
        .take_all()
        .iter()
        .map(|mail| mail.client_port)
        .collect();
    assert_eq!(ports.len(), 3);
    ports.dedup();
    assert_eq!(ports.len(), 1);
}

#[tokio::test]
async fn many_letters_at_once_go_over_few_connections() {
    let Some(server) = SmtpServer::start(&Options::default()) else {
        return;
    };
    let mailer = mailer(plain(server.port()));
    let sending: Vec<_> = (0..450)
        .map(|n| {
            let mailer = mailer.clone();
            tokio::spawn(
                async move { mailer.send(&message(&format!("user{n}@example.com"))).await },
            )
        })
        .collect();
    for sent in sending {
        sent.await.unwrap().unwrap();
    }
    let mails = server.take_all();
    let mut recipients: Vec<_> = mails.iter().map(|mail| mail.to.as_str()).collect();
    recipients.sort_unstable();
    recipients.dedup();
    assert_eq!((mails.len(), recipients.len()), (450, 450));
    let mut ports: Vec<_> = mails.iter().map(|mail| mail.client_port).collect();
    ports.sort_unstable();
    let shared: Vec<_> = ports.chunk_by(|a, b| a == b).map(<[u16]>::len).collect();
    // At most a hundred mails go over one, so that 450 need five at least, and four at a time
    // work.
    assert!(
        shared.len() <= 8 && shared.iter().all(|messages| *messages <= 100),
        "{shared:?}"
    );
}

#[tokio::test]
async fn a_connection_that_waits_too_long_is_closed() {
    let Some(server) = SmtpServer::start(&Options::default()) else {
        return;
    };
    let mailer = mailer(plain(server.port()));
    mailer.send(&message("a@example.com")).await.unwrap();
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(31)).await;
    // The sweeper has its turn while this waits.
    tokio::time::sleep(Duration::from_secs(1)).await;
    tokio::time::resume();
    mailer.send(&message("b@example.com")).await.unwrap();
    assert_ne!(
        server.wait_for("a@example.com").client_port,
        server.wait_for("b@example.com").client_port
    );
}

/// Speaks for a mail server until it has one whole mail, which is not answered yet.
fn take_letter(stream: &TcpStream) {
    let mut output = stream;
    let mut say = |line: &str| {
        output
            .write_all(format!("{line}\r\n").as_bytes())
            .expect("somebody listens");
    };
    say("220 here");
    let mut within = false;
    for line in BufReader::new(stream).lines() {
        match line.expect("it is text").as_str() {
            "." => return,
            "DATA" => {
                within = true;
                say("354 go on");
            }
            _ if within => {}
            _ => say("250 fine"),
        }
    }
    panic!("the client went away");
}

#[tokio::test]
async fn a_server_that_hung_up_meanwhile_is_connected_to_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mailer = mailer(plain(listener.local_addr().unwrap().port()));
    let server = std::thread::spawn(move || {
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().expect("somebody comes");
            take_letter(&stream);
            stream
                .write_all(b"250 taken\r\n")
                .expect("somebody listens");
        }
    });
    mailer.send(&message("a@example.com")).await.unwrap();
    mailer.send(&message("b@example.com")).await.unwrap();
    server.join().unwrap();
}

#[tokio::test]
async fn a_connection_whose_letter_was_given_up_is_not_used_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mailer = mailer(plain(listener.local_addr().unwrap().port()));
    let (has_letter, mut letter_is_there) = tokio::sync::mpsc::channel(1);
    let server = std::thread::spawn(move || {
        let (mut stalled, _) = listener.accept().expect("somebody comes");
        take_letter(&stalled);
        has_letter.blocking_send(()).expect("the test waits");
        let (mut stream, _) = listener.accept().expect("somebody comes again");
        take_letter(&stream);
        stream
            .write_all(b"250 taken\r\n")
            .expect("somebody listens");
        assert_eq!(
            stalled.read(&mut [0]).expect("it can be read"),
            0,
            "nothing more is said on the first"
        );
    });
    let first = message("a@example.com");
    tokio::select! {
        sent = mailer.send(&first) => panic!("nobody has answered: {sent:?}"),
        _ = letter_is_there.recv() => {}
    }
    mailer.send(&message("b@example.com")).await.unwrap();
    server.join().unwrap();
}

/// What is said of a server that does nothing but this.
async fn sent_to(behaviour: fn(TcpListener)) -> SendError {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let port = listener.local_addr().expect("it is bound").port();
    let server = std::thread::spawn(move || behaviour(listener));
    let error = mailer(plain(port))
        .send(&message("ada@example.com"))
        .await
        .expect_err("it takes no mail");
    server.join().expect("it ends");
    error
}

#[tokio::test]
async fn a_server_that_hangs_up_or_is_not_one_may_be_put_right() {
    let gone = sent_to(drop).await;
    assert!(!gone.permanent, "{gone:?}");
    let hangs_up = sent_to(|listener| drop(listener.accept())).await;
    assert!(!hangs_up.permanent, "{hangs_up:?}");
    let busy = sent_to(|listener| {
        let (mut client, _) = listener.accept().expect("somebody comes");
        client
            .write_all(b"554 5.3.2 no service\r\n")
            .expect("somebody listens");
    })
    .await;
    assert!(!busy.permanent && busy.text.contains("554"), "{busy:?}");
    let web = sent_to(|listener| {
        let (mut client, _) = listener.accept().expect("somebody comes");
        client
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .expect("somebody listens");
    })
    .await;
    assert!(!web.permanent, "{web:?}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let error = mailer(plain(port))
        .send(&message("ada@example.com"))
        .await
        .unwrap_err();
    assert!(!error.permanent, "{error:?}");
}

#[test]
fn a_password_goes_unencrypted_only_to_this_machine() {
    let far = SmtpConfig {
        host: "mail.example.org".into(),
        credentials: sesame("sesame"),
        ..plain(25)
    };
    let error = refused(far.clone());
    assert!(
        matches!(&error, SetupError::UnencryptedPassword(host) if host == "mail.example.org"),
        "{error}"
    );
    for host in ["localhost", "127.0.0.1", "::1"] {
        mailer(SmtpConfig {
            host: host.into(),
            ..far.clone()
        });
    }
    mailer(SmtpConfig {
        security: Security::StartTls,
        ..far.clone()
    });
    mailer(SmtpConfig {
        credentials: None,
        ..far
    });
}

#[test]
fn a_host_must_be_one() {
    for host in [
        "",
        "mail example org",
        "smtp://mail.example.org",
        "mail.example.org:587",
    ] {
        let error = refused(SmtpConfig::new(host));
        assert!(matches!(&error, SetupError::Host(_)), "{host}: {error}");
    }
}

#[test]
fn the_file_of_authorities_must_hold_certificates() {
    let folder = TempDir::new().unwrap();
    let empty = folder.path().join("empty.pem");
    std::fs::write(&empty, "no certificate\n").unwrap();
    let broken = folder.path().join("broken.pem");
    std::fs::write(
        &broken,
        "-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----\n",
    )
    .unwrap();
    let wrong = folder.path().join("wrong.pem");
    std::fs::write(
        &wrong,
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    )
    .unwrap();
    for path in [folder.path().join("nowhere.pem"), empty, broken, wrong] {
        let config = SmtpConfig {
            ca_file: Some(path.clone()),
            ..SmtpConfig::new("mail.example.org")
        };
        let error = refused(config);
        assert!(
            matches!(&error, SetupError::Authorities { .. }),
            "{}: {error}",
            path.display()
        );
    }
}

#[test]
fn neither_passwords_nor_texts_are_printed() {
    let config = SmtpConfig {
        credentials: sesame("sesame"),
        ..SmtpConfig::new("mail.example.org")
    };
    let printed = format!("{config:?} {:?}", mailer(config.clone()));
    assert!(
        printed.contains("mail.example.org:587") && !printed.contains("sesame"),
        "{printed}"
    );
}
