//! A throw-away PostgreSQL cluster, one for each test process and started when first asked for; and
//! clusters of a test's own, which it may stop and start.
//!
//! With `EDDYLINE_TEST_POSTGRES_URL` (a URL of a role that may create databases, without a
//! database's name) an existing server is used instead. When neither that nor the programs of
//! PostgreSQL are there, tests that need it are passed over, with a line that says so; where
//! `EDDYLINE_TEST_REQUIRE` contains `postgres` they fail.

use std::env;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{self, Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use crate::say;

const START: &str = include_str!("cluster.sh");
/// The variable of the script with the password of the role, where the server asks for one.
const PASSWORD: &str = "EDDYLINE_CLUSTER_PASSWORD";

/// The password of a server that [`Cluster::with_tls`] starts.
pub const TLS_PASSWORD: &str = "open sesame";
const PASSWORD_IN_URL: &str = ":open%20sesame";

/// A PostgreSQL server. A clone is the same one; a test's own ends with its last clone and its last
/// database.
#[derive(Clone)]
pub struct Cluster(Arc<Shared>);

struct Shared {
    /// Address of the server, without a database.
    url: String,
    psql: PathBuf,
    /// Absent for a server that was there before.
    keeper: Option<Mutex<Keeper>>,
}

/// The process that started the server, obeys orders about it, and stops it in the end.
struct Keeper {
    process: Child,
    answers: BufReader<ChildStdout>,
}

/// How a server is told to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Sessions are ended and their transactions rolled back; then it stops in order.
    Fast,
    /// All its processes end at once, as in a crash. The next start recovers from the log.
    Immediate,
}

/// An empty database, dropped with the last clone of this value.
#[derive(Clone)]
pub struct Database {
    url: String,
    shared: Arc<SharedDatabase>,
}

struct SharedDatabase {
    name: String,
    cluster: Cluster,
}

impl Database {
    /// Address of the database.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its name in the server.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// Host and port of the server, as `host:port`; the database is still reached there when
    /// [`Database::reached_at`] gave it another address.
    pub fn server(&self) -> &str {
        self.shared
            .cluster
            .0
            .url
            .rsplit('@')
            .next()
            .expect("an address has a host")
    }

    /// The same database with an address (`host:port`) from which one gets to the server.
    #[must_use]
    pub fn reached_at(mut self, address: &str) -> Self {
        self.url = self.url.replacen(self.server(), address, 1);
        self
    }

    /// The same database with an address that does not have the password of its server.
    #[must_use]
    pub fn without_password(mut self) -> Self {
        self.url = self.url.replacen(PASSWORD_IN_URL, "", 1);
        self
    }

    /// Has the server word its messages to sessions of this database in the language of its
    /// environment (`LANGUAGE`), where that is installed. In the locale C, which clusters have,
    /// nothing is translated.
    ///
    /// # Errors
    /// As [`Database::run`].
    pub fn use_translations(&self) -> Result<(), String> {
        self.run(&format!(
            "ALTER DATABASE {} SET lc_messages = 'C.UTF-8'",
            self.shared.name
        ))
        .map(drop)
    }

    /// Runs SQL in the database, by `psql`, and gives the values that came of it, a row a line.
    ///
    /// # Errors
    /// What `psql` said, when it failed.
    pub fn run(&self, sql: &str) -> Result<String, String> {
        self.shared.cluster.run(&self.shared.name, sql)
    }

    /// A command of `psql` that reads statements from its standard input, and answers each before it
    /// reads the next.
    #[must_use]
    pub fn session(&self) -> Command {
        self.shared.cluster.psql(&self.shared.name)
    }

    /// Runs SQL in a transaction that stays open, with the locks it has taken, until the value is
    /// dropped. It may still wait for a lock when this returns.
    ///
    /// # Panics
    /// When `psql` does not run.
    pub fn hold(&self, sql: &str) -> HeldTransaction {
        let mut process = self
            .shared
            .cluster
            .psql(&self.shared.name)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("psql runs");
        let statements = process.stdin.as_mut().expect("standard input is a pipe");
        writeln!(statements, "begin; {sql};").expect("psql reads");
        HeldTransaction(process)
    }
}

/// A transaction that is rolled back when this is dropped.
#[must_use]
pub struct HeldTransaction(Child);

impl Drop for HeldTransaction {
    fn drop(&mut self) {
        // Closes the pipe first: `psql` ends with its input, and the server rolls back.
        let _ = self.0.wait();
    }
}

impl Drop for SharedDatabase {
    fn drop(&mut self) {
        // A database that stays behind goes with its cluster.
        let _ = self.cluster.run(
            "postgres",
            &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name),
        );
    }
}

/// Creates an empty database, or gives `None` when there is no PostgreSQL. Its server does not wait
/// for the disk: what is to be measured needs a [`Cluster::own`].
///
/// # Panics
/// When PostgreSQL is required or there, and does not work.
pub fn database() -> Option<Database> {
    static SHARED: OnceLock<Option<Cluster>> = OnceLock::new();
    SHARED
        .get_or_init(find_or_start)
        .as_ref()
        .map(Cluster::database)
}

fn find_or_start() -> Option<Cluster> {
    if let Ok(url) = env::var("EDDYLINE_TEST_POSTGRES_URL") {
        say("using the PostgreSQL of EDDYLINE_TEST_POSTGRES_URL");
        let psql = programs().map_or("psql".into(), |bin| bin.join("psql"));
        let url = url.trim_end_matches('/').to_owned();
        return Some(Cluster(Arc::new(Shared {
            url,
            psql,
            keeper: None,
        })));
    }
    // No test ends the machine, and every test waits for its database.
    let cluster = Cluster::own(&[("EDDYLINE_CLUSTER_FSYNC", "off")])?;
    say(&format!("using PostgreSQL by {}", cluster.0.psql.display()));
    Some(cluster)
}

impl Cluster {
    /// Starts a server of the test's own, whose processes have these environment variables too, or
    /// gives `None` when PostgreSQL is not installed. `EDDYLINE_CLUSTER_SETTINGS` has lines for its
    /// configuration; `EDDYLINE_CLUSTER_BASE` names the folder of a base backup to begin with.
    ///
    /// # Panics
    /// When PostgreSQL is required and not there, or there and does not start.
    pub fn own(environment: &[(&str, &str)]) -> Option<Self> {
        let required =
            env::var("EDDYLINE_TEST_REQUIRE").is_ok_and(|list| list.contains("postgres"));
        let Some(bin) = programs() else {
            assert!(
                !required,
                "PostgreSQL is required by EDDYLINE_TEST_REQUIRE and was not found"
            );
            say("PostgreSQL was not found; tests that need it are passed over");
            return None;
        };
        // Another program may take the port between our look and PostgreSQL's: then another is
        // tried.
        let mut attempts = (0..5).map(|_| start(&bin, environment));
        let mut last = String::new();
        let cluster = attempts.find_map(|attempt| attempt.map_err(|text| last = text).ok());
        assert!(
            cluster.is_some(),
            "PostgreSQL in {} did not start: {last}",
            bin.display()
        );
        cluster
    }

    /// As [`Cluster::own`], a server that offers TLS with this certificate and its key, both in PEM
    /// form, and asks for a password (SCRAM). The addresses of its databases have the password.
    ///
    /// # Panics
    /// As [`Cluster::own`].
    pub fn with_tls(certificate: &str, key: &str) -> Option<Self> {
        Self::own(&[
            ("EDDYLINE_CLUSTER_CERTIFICATE", certificate),
            ("EDDYLINE_CLUSTER_KEY", key),
            (PASSWORD, TLS_PASSWORD),
        ])
    }

    /// Creates an empty database.
    ///
    /// # Panics
    /// When the server does not do so.
    pub fn database(&self) -> Database {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("eddyline_test_{}_{number}", process::id());
        if let Err(text) = self.run(
            "postgres",
            &format!("CREATE DATABASE {name} TEMPLATE template0"),
        ) {
            panic!("PostgreSQL created no database: {text}");
        }
        let url = format!("{}/{name}", self.0.url);
        let cluster = self.clone();
        Database {
            url,
            shared: Arc::new(SharedDatabase { name, cluster }),
        }
    }

    /// The database with this name, which is there already: in a cluster that was restored.
    #[must_use]
    pub fn database_named(&self, name: &str) -> Database {
        Database {
            url: format!("{}/{name}", self.0.url),
            shared: Arc::new(SharedDatabase {
                name: name.to_owned(),
                cluster: self.clone(),
            }),
        }
    }

    /// A command of a program of PostgreSQL that is about this server, run as the user of its
    /// processes.
    #[must_use]
    pub fn command(&self, program: &str) -> Command {
        let mut command = unprivileged(&self.0.psql.with_file_name(program).to_string_lossy());
        let server = self
            .0
            .url
            .rsplit('@')
            .next()
            .expect("an address has a host");
        let (host, port) = server.rsplit_once(':').expect("a server has a port");
        command
            .env("PGHOST", host)
            .env("PGPORT", port)
            .env("PGUSER", "eddyline");
        command
    }

    /// Stops the server, and answers when it has.
    ///
    /// # Panics
    /// When it does not stop, or is not a test's own.
    pub fn stop(&self, how: Stop) {
        self.order(match how {
            Stop::Fast => "stop fast",
            Stop::Immediate => "stop immediate",
        });
    }

    /// Starts the server again after [`Cluster::stop`], and answers when it takes connections.
    ///
    /// # Panics
    /// When it does not start, or is not a test's own.
    pub fn start(&self) {
        self.order("start");
    }

    fn order(&self, order: &str) {
        let keeper = self
            .0
            .keeper
            .as_ref()
            .expect("only a server of the test's own takes orders");
        let answer = keeper
            .lock()
            .expect("an order that failed ended the test")
            .order(order);
        assert_eq!(
            answer.as_deref(),
            Ok("ready"),
            "PostgreSQL did not obey: {order}"
        );
    }

    fn psql(&self, database: &str) -> Command {
        let mut command = Command::new(&self.0.psql);
        command
            .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d"])
            .arg(format!("{}/{database}", self.0.url));
        command
    }

    fn run(&self, database: &str, sql: &str) -> Result<String, String> {
        let output = self
            .psql(database)
            .args(["-c", sql])
            .stdin(Stdio::null())
            .output()
            .map_err(|error| error.to_string())?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

impl Keeper {
    /// Gives an order and the first line of the answer.
    fn order(&mut self, order: &str) -> Result<String, String> {
        let orders = self
            .process
            .stdin
            .as_mut()
            .expect("standard input is a pipe");
        writeln!(orders, "{order}").map_err(|error| error.to_string())?;
        self.answer()
    }

    fn answer(&mut self) -> Result<String, String> {
        let mut line = String::new();
        self.answers
            .read_line(&mut line)
            .map_err(|error| error.to_string())?;
        Ok(line.trim().to_owned())
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // Closes the pipe first, which tells it to stop the server.
        let _ = self.process.wait();
    }
}

fn start(bin: &Path, environment: &[(&str, &str)]) -> Result<Cluster, String> {
    let port = TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .map_err(|error| error.to_string())?
        .port();
    let mut process = unprivileged("sh")
        .args(["-c", START, "cluster.sh"])
        .arg(bin)
        .arg(port.to_string())
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let answers = BufReader::new(process.stdout.take().expect("standard output is a pipe"));
    let mut keeper = Keeper { process, answers };
    let mut line = keeper.answer()?;
    if line != "ready" {
        let _ = keeper.answers.read_to_string(&mut line);
        return Err(line);
    }
    let has_password = environment.iter().any(|(name, _)| *name == PASSWORD);
    let password = if has_password { PASSWORD_IN_URL } else { "" };
    let url = format!("postgres://eddyline{password}@127.0.0.1:{port}");
    Ok(Cluster(Arc::new(Shared {
        url,
        psql: bin.join("psql"),
        keeper: Some(Mutex::new(keeper)),
    })))
}

/// A command run as a user that PostgreSQL accepts, which refuses to run as root, and in a process
/// group of its own, so that an interrupt at the terminal lets it stop its server in order.
fn unprivileged(program: &str) -> Command {
    use std::os::unix::process::CommandExt;
    let mut command = if output_of("id", &["-u"]).as_deref() == Some("0") {
        let user = ["postgres", "nobody"]
            .into_iter()
            .find(|user| output_of("id", &[user]).is_some());
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
        .map(|versions| {
            versions
                .flatten()
                .map(|version| version.path().join("bin"))
                .collect()
        })
        .unwrap_or_default();
    debian.sort();
    told.into_iter()
        .chain(debian.into_iter().rev())
        .find(|bin| {
            ["initdb", "pg_ctl", "psql"]
                .iter()
                .all(|program| bin.join(program).exists())
        })
}

fn output_of(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(arguments)
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_database_is_empty_and_its_own() {
        let (Some(one), Some(two)) = (database(), database()) else {
            return;
        };
        for database in [&one, &two] {
            database
                .run("CREATE TABLE t (n int); INSERT INTO t VALUES (7)")
                .expect("it is empty");
            assert_eq!(database.run("SELECT n FROM t").as_deref(), Ok("7\n"));
        }
    }

    #[test]
    fn a_cluster_of_ones_own_keeps_its_data_while_it_is_stopped() {
        let Some(cluster) = Cluster::own(&[]) else {
            return;
        };
        let database = cluster.database();
        database
            .run("CREATE TABLE t (n int); INSERT INTO t VALUES (7)")
            .expect("it is empty");
        for how in [Stop::Fast, Stop::Immediate] {
            cluster.stop(how);
            assert!(database.run("SELECT n FROM t").is_err(), "nobody is there");
            cluster.start();
            assert_eq!(database.run("SELECT n FROM t").as_deref(), Ok("7\n"));
        }
    }
}
