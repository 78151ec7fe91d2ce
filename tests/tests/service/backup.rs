//! Backups: what they have, where they can be restored, and that damage is found.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use eddyline_client::Json;
use eddyline_testing::postgres::{self, Database};
use eddyline_testing::s3::S3Server;
use eddyline_tests::{Backend, Caller, Server, Setting, eddyline, note_secret};
use tempfile::TempDir;

use crate::files::in_json;

mod archives;
mod checks;
mod continuous;
mod damage;
mod drill;
mod rotation;
mod status;

pub(crate) const RECIPIENT: &str = "age1jersunee65a6gpq29hv4jfttgcp2gxvz0q5v02das8mh00ydnyaqtz5d6g";
const IDENTITY: &str = "AGE-SECRET-KEY-17ZHLP0JU7S7PDMK9N27KL3TH0ZUNUSMDUGKWCGT72KQAKNQF0KWSRYMP5P";

/// A place for all data of a server.
pub(crate) struct Site {
    pub(crate) directory: TempDir,
    database: Option<Database>,
    store: Option<S3Server>,
}

impl Site {
    /// An empty place; `None` where the backend is not to be had.
    pub(crate) fn new(backend: Backend, is_in_store: bool) -> Option<Self> {
        let database = match backend {
            Backend::Sqlite => None,
            Backend::Postgres => Some(postgres::database()?),
        };
        let store = is_in_store.then(S3Server::start);
        if let Some(store) = &store {
            note_secret(store.secret_key());
        }
        Some(Self {
            directory: TempDir::new().unwrap(),
            database,
            store,
        })
    }

    /// The place of this database, with files in a folder.
    fn of_database(database: Database) -> Self {
        Self {
            directory: TempDir::new().unwrap(),
            database: Some(database),
            store: None,
        }
    }

    /// Another empty place of this kind.
    fn another(&self) -> Self {
        let backend = match self.database {
            Some(_) => Backend::Postgres,
            None => Backend::Sqlite,
        };
        Self::new(backend, self.store.is_some()).expect("there was one before")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// The database of PostgreSQL, where it is one.
    pub(crate) fn database(&self) -> Option<&Database> {
        self.database.as_ref()
    }

    /// The options that say where the files are.
    fn file_options(&self) -> Vec<String> {
        let Some(store) = &self.store else {
            return Vec::new();
        };
        let options = [
            ("--files-s3-bucket", store.bucket()),
            ("--files-s3-endpoint", &store.endpoint()),
            ("--files-s3-region", store.region()),
            ("--files-s3-access-key", store.access_key()),
            ("--files-s3-allow-http", "on"),
        ];
        let options = options.iter().flat_map(|(name, value)| [*name, *value]);
        options.map(str::to_owned).collect()
    }

    /// The keys of the objects in the store, where the files are in one.
    pub(crate) fn objects(&self) -> Vec<String> {
        self.store.as_ref().map_or_else(Vec::new, S3Server::objects)
    }

    fn environment(&self) -> Vec<(String, String)> {
        let secret = self.store.iter().map(S3Server::secret_key);
        let name = "EDDYLINE_FILES_S3_SECRET_KEY";
        secret
            .map(|secret| (name.to_owned(), secret.to_owned()))
            .collect()
    }

    /// A command on this place. The last of the arguments may want a value, which follows.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = eddyline();
        command.arg(arguments[0]);
        self.complete(command, &arguments[1..])
    }

    /// The same of a command of `eddyline admin`.
    pub(crate) fn admin_command(&self, arguments: &[&str]) -> Command {
        let mut command = eddyline();
        command.args(["admin", arguments[0]]);
        self.complete(command, &arguments[1..])
    }

    /// Adds the options of the place to a command, and then its arguments.
    fn complete(&self, mut command: Command, arguments: &[&str]) -> Command {
        command.arg("--data-dir").arg(self.data());
        command.args(self.file_options()).envs(self.environment());
        if let Some(database) = &self.database {
            command.args(["--database", database.url()]);
        }
        command.args(arguments);
        command
    }

    /// Writes an archive, and gives the answer.
    fn back_up(&self, archive: &Path) -> Json {
        let arguments = ["backup", "--recipient", RECIPIENT, "--json", "--to"];
        last_line(self.command(&arguments).arg(archive))
    }

    /// Fills the place from an archive.
    fn restore(&self, archive: &Path) -> Json {
        let identity = self.directory.path().join("key.txt");
        std::fs::write(&identity, format!("# a comment\n{IDENTITY}\n")).unwrap();
        note_secret(IDENTITY);
        let arguments = ["restore", "--json", "--from"];
        let mut command = self.command(&arguments);
        last_line(command.arg(archive).arg("--identity").arg(identity))
    }

    /// Starts a server on it.
    pub(crate) fn serve(&self) -> Server {
        self.serve_with(&[])
    }

    /// Starts a server on it, with more options.
    fn serve_with(&self, options: &[String]) -> Server {
        let options = [&self.file_options()[..], options].concat();
        let options: Vec<_> = options.iter().map(String::as_str).collect();
        let setting = Setting {
            database: self.database.clone(),
            data: Some(self.data()),
            environment: self.environment(),
            ..Setting::default()
        };
        Server::start_in(setting, &options)
    }
}

/// A server with a file for each of these texts, and the keys of the files.
fn serve_files(site: &Site, texts: &[&str]) -> (Server, Vec<String>) {
    let server = site.serve();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let acme = server.acme();
    for text in texts {
        let file = in_json("a.txt", "text/plain", text.as_bytes());
        runtime.block_on(acme.ada.post("acme/main", &file));
    }
    let keys = server.kept_files();
    (server, keys)
}

/// The same user at a restored server.
fn again(server: &Server, caller: &Caller) -> Caller {
    Caller {
        id: caller.id,
        token: caller.token.clone(),
        client: server.client().api_token(&caller.token).build().unwrap(),
        email: caller.email.clone(),
    }
}

/// Runs a command that must succeed.
fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaints}");
    output
}

/// The last line that a command prints, after those about progress.
pub(crate) fn last_line(command: &mut Command) -> Json {
    let printed = String::from_utf8(run(command).stdout).unwrap();
    let last = printed.lines().last().expect("it answers");
    serde_json::from_str(last).unwrap()
}
