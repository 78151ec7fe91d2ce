//! A throw-away PostgreSQL cluster, one for each test process and started when first asked for.
//!
//! With `EDDYLINE_TEST_POSTGRES_URL` (a URL of a role that may create databases, without a
//! database's name) an existing server is used instead. When neither that nor the programs of
//! PostgreSQL are there, tests that need it are passed over, with a line that says so; where
//! `EDDYLINE_TEST_REQUIRE` contains `postgres` they fail.

use std::env;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{self, Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

const START: &str = include_str!("cluster.sh");

struct Cluster {
    /// Address of the server, without a database.
    url: String,
    psql: PathBuf,
    /// Holds the pipe whose end stops the server; absent for a server that was there before.
    _keeper: Option<Child>,
}

/// An empty database, dropped with this value.
pub struct Database {
    name: String,
    url: String,
}

impl Database {
    /// Address of the database.
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Some(cluster) = cluster() {
            // A database that stays behind goes with its cluster.
            let _ = cluster.run(&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
        }
    }
}

/// Creates an empty database, or gives `None` when there is no PostgreSQL.
///
/// # Panics
/// When PostgreSQL is required or there, and does not work.
pub fn database() -> Option<Database> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let cluster = cluster()?;
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("eddyline_test_{}_{number}", process::id());
    if let Err(text) = cluster.run(&format!("CREATE DATABASE {name} TEMPLATE template0")) {
        panic!("PostgreSQL created no database: {text}");
    }
    let url = format!("{}/{name}", cluster.url);
    Some(Database { name, url })
}

fn cluster() -> Option<&'static Cluster> {
    static CLUSTER: OnceLock<Option<Cluster>> = OnceLock::new();
    CLUSTER.get_or_init(find_or_start).as_ref()
}

fn find_or_start() -> Option<Cluster> {
    let required = env::var("EDDYLINE_TEST_REQUIRE").is_ok_and(|list| list.contains("postgres"));
    if let Ok(url) = env::var("EDDYLINE_TEST_POSTGRES_URL") {
        say("using the PostgreSQL of EDDYLINE_TEST_POSTGRES_URL");
        let psql = programs().map_or("psql".into(), |bin| bin.join("psql"));
        return Some(Cluster { url: url.trim_end_matches('/').to_owned(), psql, _keeper: None });
    }
    let Some(bin) = programs() else {
        assert!(!required, "PostgreSQL is required by EDDYLINE_TEST_REQUIRE and was not found");
        say("PostgreSQL was not found; tests that need it are passed over");
        return None;
    };
    // Another program may take the port between our look and PostgreSQL's: then another is tried.
    let mut attempts = (0..5).map(|_| start(&bin));
    let mut last = String::new();
    let cluster = attempts.find_map(|attempt| attempt.map_err(|text| last = text).ok());
    assert!(cluster.is_some(), "PostgreSQL in {} did not start: {last}", bin.display());
    say(&format!("using PostgreSQL from {}", bin.display()));
    cluster
}

fn start(bin: &Path) -> Result<Cluster, String> {
    let port = TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .map_err(|error| error.to_string())?
        .port();
    let mut keeper = unprivileged("sh")
        .args(["-c", START, "cluster.sh"])
        .arg(bin)
        .arg(port.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut output = BufReader::new(keeper.stdout.take().expect("standard output is a pipe"));
    let mut line = String::new();
    output.read_line(&mut line).map_err(|error| error.to_string())?;
    if line.trim() != "ready" {
        let _ = output.read_to_string(&mut line);
        let _ = keeper.wait();
        return Err(line);
    }
    let url = format!("postgres://eddyline@127.0.0.1:{port}");
    Ok(Cluster { url, psql: bin.join("psql"), _keeper: Some(keeper) })
}

impl Cluster {
    fn run(&self, statement: &str) -> Result<(), String> {
        let output = Command::new(&self.psql)
            .args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-c", statement])
            .arg(format!("{}/postgres", self.url))
            .stdin(Stdio::null())
            .output()
            .map_err(|error| error.to_string())?;
        if output.status.success() {
            return Ok(());
        }
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// A command run as a user that PostgreSQL accepts, which refuses to run as root, and in a process
/// group of its own, so that an interrupt at the terminal lets it stop its server in order.
fn unprivileged(program: &str) -> Command {
    use std::os::unix::process::CommandExt;
    let mut command = if output_of("id", &["-u"]).as_deref() == Some("0") {
        let user = ["postgres", "nobody"].into_iter().find(|user| output_of("id", &[user]).is_some());
        let mut command = Command::new("runuser");
        command.args(["-u", user.unwrap_or("nobody"), "--", program]);
        command
    } else {
        Command::new(program)
    };
    command.process_group(0);
    command
}

/// The directory of PostgreSQL's programs; the newest where Debian has several.
fn programs() -> Option<PathBuf> {
    let told = output_of("pg_config", &["--bindir"]).map(PathBuf::from);
    let mut debian: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .map(|versions| versions.flatten().map(|version| version.path().join("bin")).collect())
        .unwrap_or_default();
    debian.sort();
    told.into_iter()
        .chain(debian.into_iter().rev())
        .find(|bin| ["initdb", "pg_ctl", "psql"].iter().all(|program| bin.join(program).exists()))
}

fn output_of(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// Written past the test harness, which would show it for failed tests only.
fn say(text: &str) {
    let _ = writeln!(io::stderr(), "eddyline tests: {text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_database_is_empty_and_its_own() {
        let (Some(one), Some(two)) = (database(), database()) else { return };
        assert_ne!(one.url(), two.url());
        let psql = &cluster().expect("a database has a cluster").psql;
        for database in [&one, &two] {
            let create = ["-X", "-q", "-c", "CREATE TABLE t ()", database.url()];
            let status = Command::new(psql).args(create).status().expect("psql runs");
            assert!(status.success());
        }
    }
}
