//! The server under test.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::Result;
use crate::arguments::Arguments;
use crate::child::Running;
use crate::process::Family;

/// Where the binary is.
#[derive(Clone, Debug)]
pub(crate) struct Binary {
    path: PathBuf,
    /// The database, when it is not a file in the data directory.
    database: Option<String>,
}

impl Binary {
    /// The binary that was named, or else the one beside this program.
    pub(crate) fn find(arguments: &Arguments) -> Result<Self> {
        let path = match &arguments.server {
            Some(path) => path.clone(),
            None => std::env::current_exe()?.with_file_name("eddyline"),
        };
        if path.is_file() {
            Ok(Self {
                path,
                database: None,
            })
        } else {
            let path = path.display();
            Err(
                format!("there is no server at {path}: cargo build --release -p eddyline-server")
                    .into(),
            )
        }
    }

    /// The same binary on another database than that of the data directory.
    pub(crate) fn on_database(&self, url: Option<&str>) -> Self {
        Self {
            database: url.map(str::to_owned),
            ..self.clone()
        }
    }

    /// Runs `eddyline admin` on a data directory and gives its answer.
    pub(crate) fn admin(&self, data: &Path, arguments: &[&str]) -> Result<Value> {
        let output = self
            .command()
            .args(["admin", "--json"])
            .args(arguments)
            .args(self.at(data))
            .output()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("eddyline admin {}: {said}", arguments.join(" ")).into());
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// Runs commands of `eddyline admin` on a data directory, one in a line.
    pub(crate) fn admin_batch(&self, data: &Path, commands: &str) -> Result<()> {
        let mut lines = tempfile::tempfile()?;
        lines.write_all(commands.as_bytes())?;
        lines.rewind()?;
        let output = self
            .command()
            .args(["admin", "batch"])
            .args(self.at(data))
            .stdin(lines)
            .output()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("eddyline admin batch: {said}").into());
        }
        Ok(())
    }

    /// Starts the server on a data directory.
    pub(crate) fn serve(&self, data: &Path) -> Result<Server> {
        self.serve_with(data, &[])
    }

    /// Starts the server on a data directory, with further options.
    pub(crate) fn serve_with(&self, data: &Path, options: &[&str]) -> Result<Server> {
        let log = File::options()
            .create(true)
            .append(true)
            .open(data.join("server.log"))?;
        let mut command = self.command();
        command
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--stream-listen",
                "127.0.0.1:0",
                "--log",
                "warn",
            ])
            .args(options)
            .args(self.at(data))
            .stderr(log);
        let (running, line, start_up) = Running::start_listening(&mut command)?;
        let family = running.family()?;
        Ok(Server {
            running,
            family,
            start_up,
            api: address(&line, "base=")?,
            stream: address(&line, "stream=")?,
        })
    }

    /// What is set in the environment for another server does not reach it.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("EDDYLINE_") {
                command.env_remove(name);
            }
        }
        command
    }

    fn at<'a>(&'a self, data: &'a Path) -> Vec<&'a OsStr> {
        let mut arguments = vec!["--data-dir".as_ref(), data.as_os_str()];
        if let Some(database) = &self.database {
            arguments.extend([OsStr::new("--database"), database.as_ref()]);
        }
        arguments
    }
}

/// Finds the socket address in `NAMEhttp://ADDRESS`.
fn address(line: &str, name: &str) -> Result<SocketAddr> {
    let url = line
        .split_whitespace()
        .find_map(|part| part.strip_prefix(name))
        .unwrap_or_default();
    let address = url
        .strip_prefix("http://")
        .ok_or_else(|| format!("no {name} in {line:?}"))?;
    Ok(address.parse()?)
}

/// A running server.
pub(crate) struct Server {
    running: Running,
    /// Its process.
    pub(crate) family: Family,
    /// Time from its start until it listened.
    pub(crate) start_up: Duration,
    /// Address of the API.
    pub(crate) api: SocketAddr,
    /// Address of the stream.
    pub(crate) stream: SocketAddr,
}

impl Server {
    /// Ends it in order.
    pub(crate) async fn stop(self) -> Result<()> {
        self.running.stop().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_addresses_stand_in_the_line() {
        let line = "base=http://127.0.0.1:4000 stream=http://127.0.0.1:4001";
        assert_eq!(
            address(line, "stream=").unwrap(),
            "127.0.0.1:4001".parse().unwrap()
        );
        assert!(address("base=elsewhere", "base=").is_err());
    }
}
