//! The tools that copy a database all the time, set up as `docs/backups.md` says: what was posted
//! is there after the machine is gone, and so is what was there at an earlier moment.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::{env, fs, io};

use eddyline_client::StreamRequest;
use eddyline_testing::postgres::{Cluster, Stop};
use eddyline_testing::s3::S3Server;
use eddyline_tests::{Acme, Backend, Caller, Listener, Patience, Server, note_secret};
use tempfile::TempDir;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::task::block_in_place;

use super::{Site, again, last_line, run};
use crate::documents::blocks_in;

const MAIN: &str = "acme/main";
/// How many messages are posted before the moment, and how many after it.
const EACH: usize = 25;
/// The program, and how `EDDYLINE_TEST_REQUIRE` names it.
const LITESTREAM: &str = "litestream";

#[test]
fn litestream_copies_sqlite_into_a_folder() {
    on_runtime(litestream(None));
}

#[test]
fn litestream_copies_sqlite_into_a_store() {
    on_runtime(litestream(Some(S3Server::start())));
}

#[test]
fn postgres_archives_its_log() {
    on_runtime(archived());
}

fn on_runtime(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(test);
}

/// Two who talk while their database is copied.
struct Talk {
    poster: Caller,
    reader: Caller,
    stream: Listener,
}

impl Talk {
    async fn begin(server: &Server) -> Self {
        let Acme { ada, ben } = server.acme();
        let stream = Listener::to(&ada.client, &[MAIN]).await;
        Self {
            poster: ben,
            reader: ada,
            stream,
        }
    }

    /// Posts so many messages. Gives the id of the last one's event.
    async fn goes_on(&mut self, first: usize) -> String {
        for number in first..first + EACH {
            self.poster.say(MAIN, &text(number)).await;
        }
        self.stream.texts_through(&text(first + EACH - 1)).await;
        self.stream.last_event_id()
    }

    /// The restored server has the first `count` messages and no others, and its streams go on after
    /// the events that it has.
    async fn is_at(&self, site: &Site, count: usize, kept: &[&String], lost: &[&String]) {
        let checked = block_in_place(|| last_line(&mut site.command(&["check", "--json"])));
        assert_eq!(checked["defects"], serde_json::json!([]), "{checked}");
        let server = site.serve();
        let reader = again(&server, &self.reader);
        let all = format!("/flows/{MAIN}/messages?sort=asc&limit=100&event=message");
        let all = reader.get(&all).await;
        let all: Vec<_> = all.as_array().unwrap().iter().collect();
        let expected: Vec<_> = (0..count).map(text).collect();
        let found: Vec<_> = all.iter().map(|message| &message["content"]).collect();
        assert_eq!(found, expected.iter().collect::<Vec<_>>());
        for id in lost {
            let mut stream = Listener::open(&reader.client, &after(id)).await;
            assert_eq!(stream.next().await.json["event"], "reset", "{id}");
        }
        let new = again(&server, &self.poster).say(MAIN, "after all").await;
        for id in kept {
            let mut stream = Listener::open(&reader.client, &after(id)).await;
            let missed = stream.texts_through("after all").await;
            let expected = expected.iter().rev().take(missed.len() - 1).rev();
            assert!(missed.iter().take(missed.len() - 1).eq(expected), "{id}");
        }
        assert_eq!(new["content"], "after all");
    }
}

fn text(number: usize) -> String {
    format!("number {number}")
}

fn after(id: &str) -> StreamRequest {
    StreamRequest::new().flow(MAIN).after(id)
}

async fn litestream(store: Option<S3Server>) {
    if is_missing() {
        return;
    }
    let from = Site::new(Backend::Sqlite, false).unwrap();
    let mut server = from.serve();
    let tool = Litestream::new(from.data().join("eddyline.db"), store);
    let copies = tool.replicate().await;
    let mut talk = Talk::begin(&server).await;
    let early = talk.goes_on(0).await;
    block_in_place(|| tool.sync());
    let moment = OffsetDateTime::now_utc().format(&Rfc3339).unwrap();
    let late = talk.goes_on(EACH).await;
    block_in_place(|| tool.sync());
    server.kill9();
    drop(copies);

    let restored = |more: &[&str]| {
        let to = Site::new(Backend::Sqlite, false).unwrap();
        fs::create_dir(to.data()).unwrap();
        block_in_place(|| run(&mut tool.restore(&to.data().join("eddyline.db"), more)));
        let key = "eddyline.key";
        fs::copy(from.data().join(key), to.data().join(key)).unwrap();
        to
    };
    let all = restored(&[]);
    talk.is_at(&all, 2 * EACH, &[&early, &late], &[]).await;
    let half = restored(&["-timestamp", &moment]);
    talk.is_at(&half, EACH, &[&early], &[&late]).await;
}

/// Litestream with the configuration of the document for a database.
struct Litestream {
    database: PathBuf,
    folder: TempDir,
    store: Option<S3Server>,
}

/// Ends the process with the value, as a machine does that is gone.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Litestream {
    fn new(database: PathBuf, store: Option<S3Server>) -> Self {
        let tool = Self {
            database,
            folder: TempDir::new().unwrap(),
            store,
        };
        let blocks = blocks_in(&["yaml"]);
        let block = blocks.iter().find(|block| block.text.contains(LITESTREAM));
        let mut settings = block.expect("the document configures it").text.clone();
        let place = match &tool.store {
            Some(store) => format!(
                "url: s3://{}/eddyline\n      endpoint: {}\n      region: {}",
                store.bucket(),
                store.endpoint(),
                store.region()
            ),
            None => format!("path: {}", tool.path("copy").display()),
        };
        for (shown, own) in [
            (
                "/var/lib/eddyline/eddyline.db",
                tool.database.to_str().unwrap(),
            ),
            ("path: /backup/litestream", &place),
        ] {
            assert_eq!(settings.matches(shown).count(), 1, "{shown} in {settings}");
            settings = settings.replace(shown, own);
        }
        // By this one it says when everything is copied.
        let socket = tool.path("control");
        let socket = format!("socket:\n  enabled: true\n  path: {}\n", socket.display());
        fs::write(tool.path("litestream.yml"), settings + &socket).unwrap();
        tool
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(LITESTREAM);
        // Litestream does not start with one, and the store here has no certificate.
        command.arg(name).env_remove("AWS_CA_BUNDLE");
        if let Some(store) = &self.store {
            note_secret(store.secret_key());
            command
                .env("LITESTREAM_ACCESS_KEY_ID", store.access_key())
                .env("LITESTREAM_SECRET_ACCESS_KEY", store.secret_key());
        }
        command
    }

    /// Starts copying.
    async fn replicate(&self) -> Running {
        let log = fs::File::create(self.path("log")).unwrap();
        let mut command = self.command("replicate");
        command.arg("-config").arg(self.path("litestream.yml"));
        let process = command.stdout(log.try_clone().unwrap()).stderr(log).spawn();
        let running = Running(process.unwrap());
        let patience = Patience::until("Litestream takes commands");
        while !self.path("control").exists() {
            patience.goes_on().await;
        }
        running
    }

    /// Waits until everything that was answered is copied.
    fn sync(&self) {
        let mut command = self.command("sync");
        command.args(["-wait", "-socket"]).arg(self.path("control"));
        run(command.arg(&self.database));
    }

    /// The command of the document that restores.
    fn restore(&self, to: &Path, more: &[&str]) -> Command {
        let blocks = blocks_in(&["sh"]);
        let words = blocks.iter().find_map(|block| {
            let line = block
                .text
                .lines()
                .find(|line| line.starts_with(LITESTREAM))?;
            Some(line.split(' ').collect::<Vec<_>>())
        });
        let [_, "restore", "-config", _, "-o", _, database] = words.as_deref().unwrap() else {
            panic!("the document restores otherwise: {words:?}");
        };
        assert_eq!(*database, "/var/lib/eddyline/eddyline.db");
        let mut command = self.command("restore");
        command.arg("-config").arg(self.path("litestream.yml"));
        command.arg("-o").arg(to).args(more).arg(&self.database);
        command
    }
}

/// Whether the program is not installed, so that its test is passed over.
fn is_missing() -> bool {
    let found = Command::new(LITESTREAM)
        .arg("version")
        .stdout(Stdio::null())
        .status();
    let is_missing = found.is_err();
    let required = env::var("EDDYLINE_TEST_REQUIRE").is_ok_and(|list| list.contains(LITESTREAM));
    assert!(
        !(is_missing && required),
        "litestream is required by EDDYLINE_TEST_REQUIRE and was not found"
    );
    if is_missing {
        // Past the test harness, which would show it for failed tests only.
        let _ = io::Write::write_all(
            &mut io::stderr(),
            b"eddyline tests: litestream is not installed; its tests are passed over\n",
        );
    }
    is_missing
}

async fn archived() {
    // The server of PostgreSQL, which runs as a user of its own, writes here.
    let shared = TempDir::new().unwrap();
    let open = |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    open(shared.path());
    let (log, base) = (shared.path().join("wal"), shared.path().join("base"));
    fs::create_dir(&log).unwrap();
    open(&log);
    let settings = |name: &str| {
        let blocks = blocks_in(&["ini"]);
        let block = blocks.iter().find(|block| block.text.contains(name));
        let text = &block.expect("the document configures it").text;
        text.replace("/backup/wal", log.to_str().unwrap())
    };
    let set = |lines: &str| Cluster::own(&[("EDDYLINE_CLUSTER_SETTINGS", lines)]);
    let Some(cluster) = set(&settings("archive_command")) else {
        return;
    };
    let from = Site::of_database(cluster.database());
    let mut server = from.serve();
    let mut talk = Talk::begin(&server).await;
    // What is posted meanwhile is in the archive.
    let mut backup = tokio::process::Command::from(base_backup(&cluster, &base));
    let (output, early) = tokio::join!(backup.output(), talk.goes_on(0));
    let output = output.unwrap();
    assert!(output.status.success(), "{output:?}");
    let database = from.database.as_ref().unwrap();
    let moment = database.run("select clock_timestamp()").unwrap();
    let late = talk.goes_on(EACH).await;
    let last = database
        .run("select pg_walfile_name(pg_switch_wal())")
        .unwrap();
    let patience = Patience::until("the log is archived");
    let is_archived = format!(
        "select last_archived_wal >= '{}' from pg_stat_archiver",
        last.trim()
    );
    while database.run(&is_archived).unwrap().trim() != "t" {
        patience.goes_on().await;
    }
    server.kill9();
    let name = database.name().to_owned();
    cluster.stop(Stop::Immediate);

    let restored = async |settings: &str| {
        let environment = [
            ("EDDYLINE_CLUSTER_BASE", base.to_str().unwrap()),
            ("EDDYLINE_CLUSTER_SETTINGS", settings),
        ];
        let cluster = block_in_place(|| Cluster::own(&environment)).unwrap();
        let to = Site::of_database(cluster.database_named(&name));
        fs::create_dir(to.data()).unwrap();
        let patience = Patience::until("the cluster has recovered");
        while to.database.as_ref().unwrap().run("select 1").is_err() {
            patience.goes_on().await;
        }
        to
    };
    let target = settings("restore_command").replace("2026-11-29 12:00:00+00", moment.trim());
    let half = restored(&format!("{target}archive_mode = off\n")).await;
    talk.is_at(&half, EACH, &[&early], &[&late]).await;
    drop(half);
    let lines = target.lines().filter(|line| !line.contains("target_time"));
    let to_the_end = lines
        .chain(["archive_mode = off"])
        .collect::<Vec<_>>()
        .join("\n");
    let all = restored(&to_the_end).await;
    talk.is_at(&all, 2 * EACH, &[&early, &late], &[]).await;
}

/// The command of the document that takes a base backup.
fn base_backup(cluster: &Cluster, to: &Path) -> Command {
    const PROGRAM: &str = "pg_basebackup";
    let blocks = blocks_in(&["sh"]);
    let line = blocks
        .iter()
        .find_map(|block| block.text.lines().find(|line| line.starts_with(PROGRAM)));
    let words = line.expect("the document shows it").split(' ').skip(1);
    let mut command = cluster.command(PROGRAM);
    command.args(words.map(|word| word.replace("/backup/base", to.to_str().unwrap())));
    command
}
