//! The key that secrets of applications are sealed with: lost, replaced, given up.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use eddyline_client::Json;
use eddyline_tests::{Backend, Robot, Server, Setting, eddyline};
use serde_json::json;
use tempfile::TempDir;

/// A server whose data stays where the test finds it.
struct World {
    data: TempDir,
    server: Server,
}

impl World {
    fn new() -> Self {
        let data = TempDir::new().unwrap();
        let setting = Setting {
            data: Some(data.path().to_owned()),
            ..Setting::default()
        };
        let server = Server::start_in(setting, &[]);
        Self { data, server }
    }

    fn key(&self) -> PathBuf {
        self.data.path().join("eddyline.key")
    }

    /// What `serve` says that does not start.
    fn refusal(&self, options: &[&str]) -> String {
        let mut command = self.serve(options);
        let output = command.stdout(Stdio::null()).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    }

    fn serve(&self, options: &[&str]) -> Command {
        let mut command = eddyline();
        command.args([
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--stream-listen",
            "127.0.0.1:0",
            "--data-dir",
        ]);
        command.arg(self.data.path()).args(options);
        command
    }
}

fn block_on(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(test);
}

async fn is_known(robot: &Robot) -> bool {
    let answer = robot.ask("/oauth/introspect", &[("token", "x")]).await;
    assert!(
        [200, 401].contains(&answer.status.as_u16()),
        "{}",
        answer.text()
    );
    answer.status == 200
}

#[test]
fn a_lost_key_is_replaced_where_nothing_was_sealed() {
    let mut world = World::new();
    world.server.acme();
    assert!(world.server.terminate().success());
    let first = fs::read(world.key()).unwrap();
    fs::remove_file(world.key()).unwrap();
    // It does not start if it refuses.
    world.server.restart();
    assert_ne!(fs::read(world.key()).unwrap(), first);
    world.server.robot("acme", &[]);
    assert!(world.server.terminate().success());
    world.server.restart();
}

#[test]
fn a_lost_key_is_named_with_what_was_sealed() {
    let mut world = World::new();
    world.server.organization("acme");
    let robot = world.server.robot("acme", &[]);
    let calendar = [
        "app",
        "create",
        "--org",
        "acme",
        "--name",
        "Calendar",
        "--redirect-uri",
        "https://a.example/b",
    ];
    world.server.admin(&calendar);
    // One without a secret is none of them.
    world.server.admin(&[&calendar[..], &["--public"]].concat());
    assert!(world.server.terminate().success());
    let key = fs::read(world.key()).unwrap();
    fs::remove_file(world.key()).unwrap();

    for said in [
        world.refusal(&[]),
        world.server.try_admin(&["org", "list"]).unwrap_err(),
    ] {
        let path = world.key().display().to_string();
        let sealed = "the secrets of 2 applications (Robot, Calendar)";
        for words in [
            &*path,
            "is missing",
            sealed,
            "eddyline admin secret-key reset",
        ] {
            assert!(said.contains(words), "{words} is missing in {said}");
        }
        assert!(!said.contains("internal error"), "{said}");
        assert!(
            !world.key().exists(),
            "no other key is put in the way of a backup"
        );
    }
    fs::write(world.key(), key).unwrap();
    world.server.restart();
    block_on(async { assert!(is_known(&robot).await) });
}

#[test]
fn another_key_is_refused_with_its_place() {
    let mut world = World::new();
    world.server.organization("acme");
    world.server.robot("acme", &[]);
    // Also while the server with the right one runs.
    let key = "another key of more than 32 characters";
    let options = ["--secret-key", key];
    let said = world.refusal(&options);
    for words in [
        "the secret key is another",
        "1 application (Robot)",
        "given as secret_key",
    ] {
        assert!(
            said.contains(words) && !said.contains(key),
            "{words} is missing in {said}"
        );
    }
    assert!(world.server.terminate().success());
    let file = world.data.path().join("other.key");
    fs::write(&file, key).unwrap();
    let said = world.refusal(&["--secret-key-file", file.to_str().unwrap()]);
    assert!(
        said.contains("other.key") && said.contains("1 application (Robot)"),
        "{said}"
    );
    fs::write(&file, "short").unwrap();
    let said = world.refusal(&["--secret-key-file", file.to_str().unwrap()]);
    assert!(
        said.contains("other.key") && said.contains("fewer than 32"),
        "{said}"
    );
}

#[test]
fn another_key_is_refused_while_a_server_runs_with_the_first() {
    let world = World::new();
    world.server.organization("acme");
    let said = world.refusal(&["--secret-key", "another key of more than 32 characters"]);
    assert!(
        said.contains("another than the one of a server that runs"),
        "{said}"
    );
    world.server.robot("acme", &[]);
}

fn reset_gives_up_what_was_sealed(backend: Backend) {
    let options = ["--secret-key", "the first key, of more than 32 characters"];
    let Some(mut server) = Server::start_with(backend, &options) else {
        return;
    };
    let reset = |server: &Server, key: &str| {
        let mut command = server.admin_command(&["secret-key", "reset", "--json"]);
        command.env("EDDYLINE_SECRET_KEY", key).output().unwrap()
    };
    let admin = |server: &Server, line: &[&str]| -> Json {
        let mut command = server.admin_command(line);
        let output = command
            .arg("--json")
            .env("EDDYLINE_SECRET_KEY", options[1])
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    admin(&server, &["org", "create", "--name", "Acme"]);
    let app = [
        "app",
        "create",
        "--org",
        "acme",
        "--name",
        "Calendar",
        "--redirect-uri",
        "https://a.example/b",
    ];
    let before = admin(&server, &app);
    admin(&server, &[&app[..], &["--public"]].concat());

    let other = "the other key, of more than 32 characters";
    let said = |output: std::process::Output| {
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(said(reset(&server, options[1])).contains("nothing to reset"));
    let refused = said(reset(&server, other));
    assert!(refused.contains("stop it first"), "{refused}");
    assert!(server.terminate().success());
    let output = reset(&server, other);
    assert!(output.status.success(), "{output:?}");
    let renewed: Json = serde_json::from_slice(&output.stdout).unwrap();
    let renewed = renewed["applications"].as_array().unwrap();
    assert_eq!(renewed.len(), 1, "only one has a secret: {renewed:?}");
    assert_eq!(
        (&renewed[0]["client_id"], &renewed[0]["name"]),
        (&before["client_id"], &json!("Calendar"))
    );
    assert_ne!(renewed[0]["client_secret"], before["client_secret"]);

    let server = server.another_node("with-the-other-key", &["--secret-key", other]);
    block_on(async {
        for (secret, status) in [
            (&renewed[0]["client_secret"], 200),
            (&before["client_secret"], 401),
        ] {
            let form = [
                ("client_id", before["client_id"].as_str().unwrap()),
                ("client_secret", secret.as_str().unwrap()),
                ("token", "x"),
            ];
            let client = server.client().build().unwrap();
            let request = client
                .request(eddyline_client::Method::POST, "/oauth/introspect")
                .form(&form);
            assert_eq!(request.send().await.unwrap().status, status);
        }
    });
}

#[test]
fn reset_gives_up_what_was_sealed_sqlite() {
    reset_gives_up_what_was_sealed(Backend::Sqlite);
}

#[test]
fn reset_gives_up_what_was_sealed_postgres() {
    reset_gives_up_what_was_sealed(Backend::Postgres);
}
