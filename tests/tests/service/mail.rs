//! Mail on its way out: to a real mail server, which may be down, slow to accept, or say no.

use std::time::Duration;

use eddyline_client::{Json, Method};
use eddyline_testing::smtp::{Encryption, Identity, Options, ReceivedMail, SmtpServer};
use eddyline_tests::{Acme, Backend, Caller, Certificate, Server, run};
use serde_json::json;
use tempfile::TempDir;

/// How long something may take that must happen.
const PATIENCE: Duration = Duration::from_secs(60);
const INVITATIONS: &str = "/flows/acme/main/invitations";
const FROM: [&str; 2] = ["--mail-from", "Eddyline <eddyline@acme.example>"];

/// Makes two tests of each of these `async fn NAME(backend: Backend)`.
macro_rules! on_both_databases_with_mail {
    ($($test:ident),+ $(,)?) => {
        $(
            mod $test {
                #[test]
                fn sqlite() {
                    super::$test(eddyline_tests::Backend::Sqlite);
                }

                #[test]
                fn postgres() {
                    super::$test(eddyline_tests::Backend::Postgres);
                }
            }
        )+
    };
}

pub(crate) use on_both_databases_with_mail;

on_both_databases_with_mail![
    mail_goes_to_the_mail_server_encrypted_and_signed_in,
    mail_that_is_put_off_is_tried_again,
    mail_that_is_refused_is_given_up_and_the_rest_goes_on,
    mail_waits_while_the_mail_server_is_down_and_goes_out_after_a_restart,
    mail_about_what_is_over_is_not_sent,
    of_two_servers_one_sends_each_mail,
];

pub(crate) fn plain(port: u16) -> Vec<String> {
    let port = port.to_string();
    let options = [
        "--smtp-host",
        "127.0.0.1",
        "--smtp-port",
        &port,
        "--smtp-security",
        "none",
    ];
    let retry = ["--mail-retry-seconds", "1"];
    options
        .into_iter()
        .chain(FROM)
        .chain(retry)
        .map(str::to_owned)
        .collect()
}

pub(crate) fn borrowed(options: &[String]) -> Vec<&str> {
    options.iter().map(String::as_str).collect()
}

/// A port of this machine on which nobody listens.
pub(crate) fn dead_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

pub(crate) async fn invite(caller: &Caller, email: &str) -> Json {
    let answer = caller
        .send(Method::POST, INVITATIONS, &json!({"email": email}))
        .await;
    answer.success().unwrap().json()
}

pub(crate) fn wait_for(mail: &SmtpServer, recipient: &str) -> ReceivedMail {
    tokio::task::block_in_place(|| mail.wait_for(recipient))
}

async fn wait_for_log(server: &Server, words: &str) {
    let said = async {
        while !server.log().contains(words) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    assert!(
        tokio::time::timeout(PATIENCE, said).await.is_ok(),
        "{words:?} is not in the log"
    );
}

/// Runs a test with a server that sends its mail to a real mail server, encrypted and with a
/// password.
pub(crate) fn with_mail(backend: Backend, test: impl AsyncFnOnce(Server, SmtpServer)) {
    let certificate = Certificate::new("localhost");
    let identity = Identity {
        certificate: certificate.certificate_pem(),
        key: certificate.key_pem(),
    };
    let login = Some(("eddyline".to_owned(), "let me out".to_owned()));
    let options = Options {
        encryption: Encryption::StartTls(identity),
        login,
        ..Options::default()
    };
    let Some(mail) = SmtpServer::start(&options) else {
        return;
    };
    let files = TempDir::new().unwrap();
    let authority = files.path().join("ca.pem");
    std::fs::write(&authority, certificate.certificate_pem()).unwrap();
    let port = mail.port().to_string();
    let options = [
        ["--smtp-host", "localhost"],
        ["--smtp-port", &port],
        ["--smtp-user", "eddyline"],
        ["--smtp-password", "let me out"],
        ["--smtp-ca", authority.to_str().unwrap()],
        FROM,
    ];
    run(backend, options.as_flattened(), async |server| {
        test(server, mail).await;
    });
}

/// Shows: 4.35
fn mail_goes_to_the_mail_server_encrypted_and_signed_in(backend: Backend) {
    with_mail(backend, async |server, mail| {
        let Acme { ada, .. } = server.acme();
        invite(&ada, "grace@hopper.example").await;
        let letter = wait_for(&mail, "grace@hopper.example");
        assert!(
            letter.tls && letter.user.as_deref() == Some("eddyline"),
            "{letter:?}"
        );
        assert_eq!(letter.from, "eddyline@acme.example");
        assert_eq!(letter.subject, "ada invites you to main");
        assert!(
            letter
                .link()
                .starts_with(&format!("{}/invitations/", server.base_url()))
        );
        assert!(
            server.letters_to("grace@hopper.example").is_empty(),
            "no outbox where there is a server"
        );
        let secret = letter.link().rsplit('/').next().unwrap();
        assert!(!server.log().contains(secret) && !server.log().contains("let me out"));
    });
}

fn mail_that_is_put_off_is_tried_again(backend: Backend) {
    let Some(mail) = SmtpServer::start(&Options::default()) else {
        return;
    };
    run(backend, &borrowed(&plain(mail.port())), async |server| {
        let Acme { ada, .. } = server.acme();
        // The mail server says 451 to the first attempt.
        invite(&ada, "later@hopper.example").await;
        let letter = wait_for(&mail, "later@hopper.example");
        assert!(letter.link().starts_with(server.base_url()));
        assert!(server.log().contains("a mail could not be sent yet"));
        assert_eq!(mail.take_all(), [], "it comes once");
    });
}

fn mail_that_is_refused_is_given_up_and_the_rest_goes_on(backend: Backend) {
    let Some(mail) = SmtpServer::start(&Options::default()) else {
        return;
    };
    run(backend, &borrowed(&plain(mail.port())), async |server| {
        let Acme { ada, .. } = server.acme();
        invite(&ada, "refused@hopper.example").await;
        wait_for_log(&server, "a mail was refused and is given up").await;
        invite(&ada, "grace@hopper.example").await;
        wait_for(&mail, "grace@hopper.example");
        let given_up = server.log().matches("is given up").count();
        assert_eq!(given_up, 1, "it is not tried again");
        assert!(
            server.log().contains("refused@hopper.example"),
            "the log names the recipient"
        );
    });
}

fn mail_waits_while_the_mail_server_is_down_and_goes_out_after_a_restart(backend: Backend) {
    let Some(mail) = SmtpServer::start(&Options::default()) else {
        return;
    };
    run(
        backend,
        &borrowed(&plain(dead_port())),
        async |mut server| {
            let Acme { ada, .. } = server.acme();
            let addresses: Vec<String> = (0..30)
                .map(|number| format!("p{number}@hopper.example"))
                .collect();
            let list = json!({"list": addresses.join(",")});
            ada.send(Method::POST, &format!("{INVITATIONS}/import"), &list)
                .await
                .success()
                .unwrap();
            wait_for_log(&server, "a mail could not be sent yet").await;
            server.terminate();
            let again = server.another_node("node-2", &borrowed(&plain(mail.port())));
            for address in &addresses {
                let letter = wait_for(&mail, address);
                assert!(
                    letter
                        .link()
                        .starts_with(&format!("{}/invitations/", again.base_url()))
                );
            }
            assert_eq!(mail.take_all(), [], "each comes once");
        },
    );
}

fn mail_about_what_is_over_is_not_sent(backend: Backend) {
    let Some(mail) = SmtpServer::start(&Options::default()) else {
        return;
    };
    run(
        backend,
        &borrowed(&plain(dead_port())),
        async |mut server| {
            let Acme { ada, .. } = server.acme();
            let cancelled = invite(&ada, "cancelled@hopper.example").await;
            server.organization("other");
            let gus = server.user("other", "gus");
            let accepted = invite(&ada, &gus.email).await;
            let accept = json!({"state": "accepted"});
            gus.does(
                Method::PUT,
                &format!("{INVITATIONS}/{}", accepted["id"]),
                &accept,
            )
            .await;
            ada.does(
                Method::DELETE,
                &format!("{INVITATIONS}/{}", cancelled["id"]),
                &Json::Null,
            )
            .await;
            invite(&ada, "grace@hopper.example").await;
            server.terminate();
            let _again = server.another_node("node-2", &borrowed(&plain(mail.port())));
            wait_for(&mail, "grace@hopper.example");
            assert_eq!(mail.take_all(), []);
        },
    );
}

fn of_two_servers_one_sends_each_mail(backend: Backend) {
    let Some(mail) = SmtpServer::start(&Options::default()) else {
        return;
    };
    let options = plain(mail.port());
    run(backend, &borrowed(&options), async |server| {
        let _other = server.another_node("node-2", &borrowed(&options));
        let Acme { ada, .. } = server.acme();
        let addresses: Vec<String> = (0..60)
            .map(|number| format!("p{number}@hopper.example"))
            .collect();
        let list = json!({"list": addresses.join(",")});
        ada.send(Method::POST, &format!("{INVITATIONS}/import"), &list)
            .await
            .success()
            .unwrap();
        for address in &addresses {
            wait_for(&mail, address);
        }
        assert_eq!(mail.take_all(), [], "each comes once");
    });
}
