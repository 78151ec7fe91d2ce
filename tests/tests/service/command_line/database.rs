//! Which commands make a database, and what is said of one that cannot be read.

use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;

use eddyline_testing::postgres::{self, Cluster, TLS_PASSWORD};
use eddyline_tests::{Certificate, Patience, Server, Setting, eddyline};
use tempfile::TempDir;

/// Commands that need a database.
const OTHERS: [&[&str]; 5] = [
    &["org", "list"],
    &["user", "list"],
    &["user", "token", "--email", "ada@acme.example"],
    &["scim", "enable", "--org", "acme"],
    &["secret-key", "reset"],
];

fn admin(place: &[&str], arguments: &[&str]) -> Output {
    eddyline()
        .arg("admin")
        .args(place)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn error_of(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Tries all commands where there is no database yet.
fn try_commands(place: &[&str], named: &str) {
    for command in OTHERS {
        let output = admin(place, command);
        let error = error_of(&output);
        assert!(!output.status.success(), "{command:?}");
        assert!(
            error.contains("there is no database") && error.contains(named),
            "{command:?}: {error}"
        );
    }
    let create = ["org", "create", "--name", "Acme", "--json"];
    let output = admin(place, &create);
    assert!(output.status.success(), "{output:?}");
    let said = error_of(&output);
    assert!(
        said.starts_with("made the database ") && said.contains(named),
        "{said}"
    );
    let output = admin(place, &["org", "list"]);
    assert!(
        output.status.success() && error_of(&output).is_empty(),
        "{output:?}"
    );
    assert!(
        error_of(&admin(place, &create)).contains("taken"),
        "it is made once"
    );
}

#[test]
fn only_making_an_organization_makes_a_database_sqlite() {
    let directory = TempDir::new().unwrap();
    let data = directory.path().join("data");
    let file = data.join("eddyline.db");
    let place = ["--data-dir", data.to_str().unwrap()];
    assert!(!admin(&place, OTHERS[0]).status.success());
    assert!(!data.exists(), "nothing is made");
    try_commands(&place, file.to_str().unwrap());
}

#[test]
fn only_making_an_organization_makes_a_database_postgres() {
    let Some(database) = postgres::database() else {
        return;
    };
    let directory = TempDir::new().unwrap();
    let place = [
        "--data-dir",
        directory.path().to_str().unwrap(),
        "--database",
        database.url(),
    ];
    try_commands(&place, "postgres");
}

/// Commands that work on a database, and would upgrade its tables if they opened it as `serve` does.
const ON_TABLES: [&[&str]; 5] = [
    &["admin", "org", "list"],
    &["admin", "secret-key", "reset"],
    &["status"],
    &["check", "--repair"],
    &["backup", "--unencrypted", "--to", "copy.tar"],
];

#[test]
fn tables_of_another_version_are_refused_with_what_to_do() {
    let Some(database) = postgres::database() else {
        return;
    };
    let directory = TempDir::new().unwrap();
    let place = [
        "--data-dir",
        directory.path().to_str().unwrap(),
        "--database",
        database.url(),
    ];
    let create = ["org", "create", "--name", "Acme"];
    assert!(admin(&place, &create).status.success());
    let refusal = |arguments: &[&str]| {
        let output = eddyline()
            .args(arguments)
            .args(place)
            .current_dir(directory.path())
            .output()
            .unwrap();
        assert!(!output.status.success(), "{arguments:?}: {output:?}");
        error_of(&output)
    };
    let versions = "select version from __diesel_schema_migrations order by version desc limit 1";
    let last = database.run(versions).unwrap();
    let remove = format!(
        "delete from __diesel_schema_migrations where version = '{}'",
        last.trim()
    );
    database.run(&remove).unwrap();
    for command in ON_TABLES {
        let said = refusal(command);
        assert!(
            said.contains("an older version of Eddyline has made the tables")
                && said.contains("start `eddyline serve`"),
            "{command:?}: {said}"
        );
    }
    assert_ne!(database.run(versions).unwrap(), last, "nothing is upgraded");

    let insert = "insert into __diesel_schema_migrations (version) values ('99990101000000')";
    database.run(insert).unwrap();
    let serve: &[&str] = &[
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--stream-listen",
        "127.0.0.1:0",
    ];
    for command in ON_TABLES.into_iter().chain([serve]) {
        let said = refusal(command);
        assert!(
            said.contains("migration 99990101000000")
                && said.contains("Install that version or a later one"),
            "{command:?}: {said}"
        );
    }
}

#[test]
fn the_lines_of_a_batch_make_a_database_when_one_is_needed() {
    let directory = TempDir::new().unwrap();
    let lines = directory.path().join("lines");
    fs::write(&lines, "user list\norg create --name Acme\nuser list\n").unwrap();
    let data = directory.path().join("data");
    let mut batch = eddyline();
    batch
        .args(["admin", "batch", "--json", "--data-dir"])
        .arg(&data);
    let output = batch
        .stdin(fs::File::open(&lines).unwrap())
        .output()
        .unwrap();
    let answers = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<&str> = answers.lines().collect();
    assert!(
        answers[0].contains("there is no database") && answers[1].contains("Acme"),
        "{answers:?}"
    );
    assert_eq!(answers[2], "{\"users\":[]}");
}

#[test]
fn the_password_of_postgresql_may_come_from_the_environment() {
    let certificate = Certificate::new("127.0.0.1");
    let cluster = Cluster::with_tls(&certificate.certificate_pem(), &certificate.key_pem());
    let Some(cluster) = cluster else {
        return;
    };
    let database = cluster.database().without_password();
    let setting = Setting {
        database: Some(database.clone()),
        environment: vec![("PGPASSWORD".to_owned(), TLS_PASSWORD.to_owned())],
        ..Setting::default()
    };
    let _server = Server::start_in(setting, &[]);
    let listening = "select count(*) from pg_stat_activity where query = 'listen eddyline_log'";
    let patience = Patience::until("the server listens for notifications");
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        while database.run(listening).as_deref() != Ok("1\n") {
            patience.goes_on().await;
        }
    });
}

#[test]
fn what_this_user_may_not_read_is_said_with_its_owner() {
    // Below a folder that everybody may pass.
    let directory = TempDir::new().unwrap();
    fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).unwrap();
    let data = directory.path().join("data");
    let place = ["--data-dir", data.to_str().unwrap()];
    assert!(
        admin(&place, &["org", "create", "--name", "Acme"])
            .status
            .success()
    );
    let stranger = Stranger::new(directory.path());
    let owner = owner_of(&data);

    let said = |denied: &Path| {
        let said = stranger.said(&["admin", "org", "list", "--data-dir", data.to_str().unwrap()]);
        let expected = format!("cannot read {}, owned by {owner}", denied.display());
        assert!(said.contains(&expected), "{expected} is missing in {said}");
    };
    fs::set_permissions(&data, Permissions::from_mode(0o000)).unwrap();
    said(&data);
    fs::set_permissions(&data, Permissions::from_mode(0o755)).unwrap();
    let file = data.join("eddyline.db");
    fs::set_permissions(&file, Permissions::from_mode(0o000)).unwrap();
    said(&file);
    fs::set_permissions(&data, Permissions::from_mode(0o700)).unwrap();
}

/// Another user where this one may read everything, else this one.
struct Stranger {
    /// A copy that the other user can run.
    binary: Option<std::path::PathBuf>,
}

/// The number of a user who owns nothing.
const NOBODY: u32 = 65_534;

impl Stranger {
    fn new(directory: &Path) -> Self {
        if !rustix::process::geteuid().is_root() {
            return Self { binary: None };
        }
        let binary = directory.join("eddyline");
        fs::copy(eddyline().get_program(), &binary).unwrap();
        fs::set_permissions(&binary, Permissions::from_mode(0o755)).unwrap();
        Self {
            binary: Some(binary),
        }
    }

    fn said(&self, arguments: &[&str]) -> String {
        let mut command = match &self.binary {
            Some(binary) => {
                let mut command = Command::new(binary);
                command.uid(NOBODY).gid(NOBODY);
                command
            }
            None => eddyline(),
        };
        command.args(arguments).current_dir("/");
        let output = loop {
            match command.output() {
                // Another test starts a process, which holds the file for a moment as it was written.
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => thread::yield_now(),
                output => break output.unwrap(),
            }
        };
        assert!(!output.status.success(), "{output:?}");
        error_of(&output)
    }
}

fn owner_of(path: &Path) -> String {
    let output = Command::new("stat")
        .args(["-c", "%U"])
        .arg(path)
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn a_closed_pipe_behind_a_list_is_no_error() {
    let directory = TempDir::new().unwrap();
    let place = ["--data-dir", directory.path().to_str().unwrap()];
    assert!(
        admin(&place, &["org", "create", "--name", "Acme"])
            .status
            .success()
    );
    for arguments in [
        &["org", "list"][..],
        &["org", "list", "--json"],
        &["org", "show", "--org", "acme"],
    ] {
        let (read, write) = std::io::pipe().unwrap();
        drop(read);
        let output = eddyline()
            .arg("admin")
            .args(place)
            .args(arguments)
            .stdout(write)
            .output()
            .unwrap();
        assert!(
            output.status.success() && error_of(&output).is_empty(),
            "{arguments:?}: {output:?}"
        );
    }
}
