//! `eddyline status`.

use eddyline_tests::{Backend, Patience};
use serde_json::json;
use tokio::runtime::Runtime;

use super::{RECIPIENT, Site, last_line, run};

#[test]
fn sqlite() {
    it_shows_servers_mail_and_backups(Backend::Sqlite);
}

#[test]
fn postgres() {
    it_shows_servers_mail_and_backups(Backend::Postgres);
}

fn it_shows_servers_mail_and_backups(backend: Backend) {
    let Some(site) = Site::new(backend, false) else {
        return;
    };
    let refused = site.command(&["status"]).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("there is no database"), "{said}");

    let place = site.directory.path().join("backups").display().to_string();
    let options = [
        // Nothing listens there, so that mail waits.
        "--smtp-host",
        "127.0.0.1",
        "--smtp-port",
        "1",
        "--smtp-security",
        "none",
        "--mail-from",
        "chat@example.org",
        "--backup-to",
        &place,
        "--backup-recipient",
        RECIPIENT,
    ];
    let mut server = site.serve_with(&options.map(str::to_owned));
    let runtime = Runtime::new().unwrap();
    let acme = server.acme();
    let invitation = json!({"email": "cleo@acme.example"});
    let path = "/flows/acme/main/invitations";
    let answer = runtime.block_on(
        acme.ada
            .send(eddyline_client::Method::POST, path, &invitation),
    );
    assert!(answer.status.is_success(), "{answer:?}");
    let patience = Patience::until("the first backup is taken");
    let status = runtime.block_on(async {
        loop {
            let status = last_line(&mut site.command(&["status", "--json"]));
            if !status["last_backup"].is_null() {
                return status;
            }
            patience.goes_on().await;
        }
    });
    assert_eq!(status["servers"].as_array().unwrap().len(), 1, "{status}");
    assert_eq!(status["mails_waiting"], 1, "{status}");
    assert_eq!(status["backup_failure"], json!(null), "{status}");
    let last = &status["last_backup"];
    assert!(
        last["archive"].as_str().unwrap().contains("-full"),
        "{last}"
    );
    let shown = String::from_utf8(run(&mut site.command(&["status"])).stdout).unwrap();
    for text in [
        "  Servers:        1\n",
        "  Mail waiting:   1\n",
        "-full.tar.age\n",
        "  Next backup:    20",
    ] {
        assert!(shown.contains(text), "{shown}");
    }
    server.terminate();
    let shown = String::from_utf8(run(&mut site.command(&["status"])).stdout).unwrap();
    assert!(shown.contains("none run"), "{shown}");
}
