//! A server of its own for a test: started, killed, restarted as the test wants.

pub(crate) mod operator;

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use eddyline_client::{Client, ClientBuilder, Json};
use eddyline_testing::postgres::{self, Database};
use tempfile::TempDir;

use self::operator::Operators;
use crate::binary;
use crate::ports::free_address;
use crate::secrets;
use crate::{contract, record};

/// How long a server may take to start or to stop before the test gives it up.
const PATIENCE: Duration = Duration::from_secs(60);

/// The database under a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// A file in the data directory.
    Sqlite,
    /// A database of the throw-away PostgreSQL.
    Postgres,
}

/// What a server is started on, where [`Server::start`] does not do.
#[derive(Default)]
pub struct Setting {
    /// A database of PostgreSQL; without it the data is a file in the data directory.
    pub database: Option<Database>,
    /// The data directory; without it one that is gone with the server.
    pub data: Option<PathBuf>,
    /// Environment variables of the server, but not of `eddyline admin`.
    pub environment: Vec<(String, String)>,
    /// A socket for the API that is passed to each process, as systemd does.
    pub socket: Option<TcpListener>,
    /// Another binary, until [`Server::upgrade`].
    pub binary: Option<PathBuf>,
}

/// A running server and its data. Both are gone when the value is dropped; when the test panicked
/// the server's log is printed first.
pub struct Server {
    home: Arc<Home>,
    options: Vec<String>,
    running: Option<Child>,
    /// Another binary than that of this build.
    binary: Option<PathBuf>,
    listen: String,
    stream_listen: String,
    base_url: String,
    stream_url: String,
    log: PathBuf,
    /// Absent where a process for each command shows more, or holds less open.
    pub(crate) operators: Option<Operators>,
}

/// What outlives a process of the server.
struct Home {
    directory: TempDir,
    setting: Setting,
}

impl Server {
    /// Starts a server on empty data, or gives `None` when the backend is not there (see
    /// [`eddyline_testing::postgres`]).
    pub fn start(backend: Backend) -> Option<Self> {
        Self::start_with(backend, &[])
    }

    /// Starts a server with these options of `eddyline serve`.
    pub fn start_with(backend: Backend, options: &[&str]) -> Option<Self> {
        let database = match backend {
            Backend::Sqlite => None,
            Backend::Postgres => Some(postgres::database()?),
        };
        Some(Self::start_in(
            Setting {
                database,
                ..Setting::default()
            },
            options,
        ))
    }

    /// Starts a server in this setting with these options of `eddyline serve`.
    pub fn start_in(setting: Setting, options: &[&str]) -> Self {
        let home = Arc::new(Home {
            directory: TempDir::new().unwrap(),
            setting,
        });
        Self::on(home, "node-1.log", options)
    }

    /// Starts another process on the same data.
    pub fn another_node(&self, name: &str, options: &[&str]) -> Self {
        Self::on(Arc::clone(&self.home), &format!("{name}.log"), options)
    }

    fn on(home: Arc<Home>, log: &str, options: &[&str]) -> Self {
        let log = home.directory.path().join(log);
        let options = options.iter().map(|&option| option.to_owned()).collect();
        let passed = home.setting.socket.as_ref();
        let passed = passed.map(|socket| socket.local_addr().unwrap().to_string());
        let binary = home.setting.binary.clone();
        let mut server = Self {
            home,
            options,
            running: None,
            binary,
            listen: passed.unwrap_or_else(free_address),
            stream_listen: free_address(),
            base_url: String::new(),
            stream_url: String::new(),
            log,
            operators: None,
        };
        server.run();
        server
    }

    /// The REST address.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Where the API listens, as `host:port`, also where a proxy is in front.
    pub fn listen(&self) -> &str {
        &self.listen
    }

    /// The streaming address.
    pub fn stream_url(&self) -> &str {
        &self.stream_url
    }

    /// Starts a client of this server. It waits for as long as a server may take to start, since
    /// the machine may do other things beside the tests.
    pub fn client(&self) -> ClientBuilder {
        let client = Client::builder(&self.base_url)
            .stream_url(&self.stream_url)
            .timeout(2 * PATIENCE);
        let is_classic = self.options.iter().any(|option| option == "classic");
        client.inspect(move |exchange| {
            contract::check(exchange, is_classic);
            if record::is_on() {
                record::exchange(exchange);
            }
        })
    }

    /// What the server has logged so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// How long the log is, in bytes.
    pub(crate) fn log_length(&self) -> u64 {
        std::fs::metadata(&self.log).map_or(0, |file| file.len())
    }

    /// Makes sure that the log, from a place on, tells no secret that a test knows of.
    ///
    /// # Panics
    ///
    /// When it does.
    pub(crate) fn tells_no_secret(&self, from: u64) {
        let log = std::fs::read(&self.log).unwrap_or_default();
        let from = usize::try_from(from).unwrap_or_default().min(log.len());
        let leaks = secrets::leaks(&String::from_utf8_lossy(&log[from..]));
        assert!(
            leaks.is_empty(),
            "secrets in {}:\n{}",
            self.log.display(),
            leaks.join("\n")
        );
    }

    /// Ends the process at once, as a power cut would.
    pub fn kill9(&mut self) {
        if let Some(mut process) = self.running.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    /// Asks the process to end (SIGTERM) and waits until it has.
    pub fn terminate(&mut self) -> ExitStatus {
        let process = self.running.take().expect("the server runs");
        let asked = Command::new("kill")
            .args(["-TERM", &process.id().to_string()])
            .status()
            .unwrap();
        assert!(
            asked.success(),
            "the server was gone before it was asked to end"
        );
        wait_for(process)
    }

    /// Waits until the process has ended by itself.
    pub fn ended(&mut self) -> ExitStatus {
        wait_for(self.running.take().expect("the server runs"))
    }

    /// Starts the server again on the same addresses and data; kills it first if it runs.
    pub fn restart(&mut self) {
        self.kill9();
        self.run();
    }

    /// From its next start on it is the binary of this build.
    pub fn upgrade(&mut self) {
        self.binary = None;
    }

    /// The address that it listens on, which with the option `--base-url` is not the REST address.
    pub fn listen_address(&self) -> &str {
        &self.listen
    }

    /// Where its data is, and its logs.
    pub(crate) fn directory(&self) -> &Path {
        self.home.directory.path()
    }

    /// The database of PostgreSQL under the server, if that is where its data is.
    pub fn database(&self) -> Option<&Database> {
        self.home.setting.database.as_ref()
    }

    /// The folder in which the server keeps files.
    pub fn files_folder(&self) -> PathBuf {
        self.data_directory().join("files")
    }

    /// The keys under which the server keeps files in its folder, in order.
    pub fn kept_files(&self) -> Vec<String> {
        let names = |folder: &Path| -> Vec<PathBuf> {
            let entries = std::fs::read_dir(folder).into_iter().flatten();
            entries.map(|entry| entry.unwrap().path()).collect()
        };
        let parts = names(&self.files_folder());
        let files = parts.iter().flat_map(|part| names(part));
        let mut keys: Vec<_> = files
            .map(|file| file.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        keys.sort();
        keys
    }

    /// Bytes of memory that the process has resident.
    pub fn resident_bytes(&self) -> u64 {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.process_id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line
            .and_then(|text| text.trim().strip_suffix(" kB"))
            .expect("a process has memory");
        kib.trim().parse::<u64>().unwrap() * 1024
    }

    /// The number of the running process.
    pub fn process_id(&self) -> u32 {
        self.running.as_ref().expect("the server runs").id()
    }

    /// Its log, to write more into it.
    pub(crate) fn append_to_log(&self) -> File {
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.log)
            .unwrap()
    }

    fn run(&mut self) {
        let log = self.append_to_log();
        let mut command = self.eddyline(&[
            "serve",
            "--listen",
            &self.listen,
            "--stream-listen",
            &self.stream_listen,
        ]);
        let setting = &self.home.setting;
        let environment = setting.environment.iter();
        command
            .args(self.data())
            .args(&self.options)
            .envs(environment.map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        if let Some(socket) = &setting.socket {
            command = with_socket(&command, socket);
        }
        let mut process = command
            .stdout(Stdio::piped())
            .stderr(log.try_clone().unwrap())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let (tell, told) = mpsc::channel();
        thread::spawn(move || copy_lines(output, log, &tell));
        self.running = Some(process);
        let Ok(addresses) = told.recv_timeout(PATIENCE) else {
            panic!("the server did not start");
        };
        (self.base_url, self.stream_url) = addresses;
    }

    /// A command of the program on this server's data, ready to run.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.eddyline(arguments);
        command.args(self.data());
        command
    }

    pub(crate) fn eddyline(&self, arguments: &[&str]) -> Command {
        let mut command = match &self.binary {
            Some(path) => binary::command_of(path),
            None => binary::eddyline(),
        };
        command
            .current_dir(self.home.directory.path())
            // What tests do most is to sign in, and what protects a real password is slow.
            .env("EDDYLINE_PASSWORD_HASH_KIB", "8")
            .args(arguments);
        command
    }

    /// Where its data is.
    pub fn data_directory(&self) -> PathBuf {
        let ours = || self.home.directory.path().join("data");
        self.home.setting.data.clone().unwrap_or_else(ours)
    }

    pub(crate) fn data(&self) -> Vec<String> {
        let directory = self.data_directory();
        let mut options = vec!["--data-dir".to_owned(), directory.display().to_string()];
        if let Some(database) = &self.home.setting.database {
            options.extend(["--database".to_owned(), database.url().to_owned()]);
        }
        options
    }
}

/// The command as a service manager runs it that has opened a socket for it. The descriptor goes by
/// the standard input to its place, since no other can be passed without unsafe code.
fn with_socket(command: &Command, socket: &TcpListener) -> Command {
    let mut shell = Command::new("sh");
    shell
        .args([
            "-c",
            "exec 3<&0 0</dev/null; LISTEN_PID=$$ exec \"$@\"",
            "sh",
        ])
        .arg(command.get_program())
        .args(command.get_args())
        .env("LISTEN_FDS", "1")
        .env("LISTEN_FDNAMES", "api")
        .stdin(OwnedFd::from(socket.try_clone().unwrap()));
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    if let Some(directory) = command.get_current_dir() {
        shell.current_dir(directory);
    }
    shell
}

impl Drop for Server {
    fn drop(&mut self) {
        if thread::panicking() {
            let mut error = std::io::stderr().lock();
            let _ = writeln!(error, "--- {} ---\n{}", self.log.display(), self.log());
        }
        if let Some(mut process) = self.running.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
        if !thread::panicking() {
            self.tells_no_secret(0);
        }
    }
}

/// Waits until a process has ended; kills it when that takes too long.
fn wait_for(mut process: Child) -> ExitStatus {
    let id = process.id().to_string();
    let (ended, end) = mpsc::channel();
    thread::spawn(move || ended.send(process.wait()));
    match end.recv_timeout(PATIENCE) {
        Ok(status) => status.unwrap(),
        Err(_) => {
            let _ = Command::new("kill").args(["-KILL", &id]).status();
            panic!("the server did not end");
        }
    }
}

type Addresses = (String, String);

/// Copies the server's standard output into its log, as long as there is any, so that the server
/// never waits for a reader; tells the addresses when the line with them comes by.
fn copy_lines(output: impl BufRead, mut log: File, tell: &mpsc::Sender<Addresses>) {
    for line in output.lines().map_while(Result::ok) {
        let _ = writeln!(log, "{line}");
        if let Some(addresses) = read_addresses(&line) {
            let _ = tell.send(addresses);
        }
    }
}

/// The addresses of the line that says that the server listens, in either format of the log.
fn read_addresses(line: &str) -> Option<Addresses> {
    if let Ok(line) = serde_json::from_str::<Json>(line) {
        let text = |name: &str| line[name].as_str().map(str::to_owned);
        return (line["message"] == "listening").then(|| Some((text("base")?, text("stream")?)))?;
    }
    let rest = line.strip_prefix("listening ")?;
    let find = |name: &str| {
        rest.split_whitespace()
            .find_map(|part| part.strip_prefix(name))
    };
    Some((find("base=")?.to_owned(), find("stream=")?.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_addresses_stand_in_one_line() {
        let line = "listening base=http://127.0.0.1:4000 stream=http://127.0.0.1:4001";
        let (base, stream) = read_addresses(line).unwrap();
        assert_eq!(base, "http://127.0.0.1:4000");
        assert_eq!(stream, "http://127.0.0.1:4001");
        assert_eq!(read_addresses("starting"), None);
        let line = r#"{"message":"listening","base":"http://127.0.0.1:4000","stream":"http://127.0.0.1:4001"}"#;
        assert_eq!(read_addresses(line), Some((base, stream)));
        assert_eq!(read_addresses(r#"{"message":"starting"}"#), None);
    }
}
