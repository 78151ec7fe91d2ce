//! `eddyline admin` for tests: a process for each command, or processes that stay.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

use serde_json::Value;

use crate::secrets;
use crate::server::Server;

/// Processes of `eddyline admin batch` that wait for commands. Starting one for each command takes
/// ten times as long as the command.
#[derive(Default)]
pub(crate) struct Operators(Mutex<Vec<Operator>>);

impl Operators {
    fn run(&self, server: &Server, arguments: &[&str]) -> Result<Value, String> {
        let idle = self.0.lock().unwrap().pop();
        let mut operator = idle.unwrap_or_else(|| Operator::start(server));
        let answer = operator.run(arguments);
        self.0.lock().unwrap().push(operator);
        answer
    }
}

/// One such process. It ends with its input.
struct Operator {
    process: Child,
    commands: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Operator {
    fn start(server: &Server) -> Self {
        let mut process = server
            .admin_command(&["batch", "--json"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(server.append_to_log())
            .spawn()
            .unwrap();
        let answers = BufReader::new(process.stdout.take().unwrap());
        Self {
            commands: process.stdin.take(),
            answers,
            process,
        }
    }

    fn run(&mut self, arguments: &[&str]) -> Result<Value, String> {
        let line = shlex::try_join(arguments.iter().copied()).unwrap();
        writeln!(self.commands.as_mut().unwrap(), "{line}").unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        let answer: Value =
            serde_json::from_str(&answer).map_err(|error| format!("{error}: {answer}"))?;
        match answer["error"].as_str() {
            Some(error) => Err(error.to_owned()),
            None => Ok(answer),
        }
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        drop(self.commands.take());
        let _ = self.process.wait();
    }
}

impl Server {
    /// Runs `eddyline admin` with these arguments and gives its JSON answer.
    ///
    /// # Panics
    ///
    /// When the command fails.
    pub fn admin(&self, arguments: &[&str]) -> Value {
        match self.try_admin(arguments) {
            Ok(answer) => answer,
            Err(text) => panic!("eddyline admin {}: {text}", arguments.join(" ")),
        }
    }

    /// Runs `eddyline admin` with these arguments; a failure gives what it said about it.
    ///
    /// # Errors
    ///
    /// When the command fails: what it wrote to its standard error.
    pub fn try_admin(&self, arguments: &[&str]) -> Result<Value, String> {
        let answer = match &self.operators {
            Some(operators) => operators.run(self, arguments)?,
            None => run_once(self.admin_command(arguments))?,
        };
        secrets::note_secrets_of(&answer);
        Ok(answer)
    }

    /// `eddyline admin` with these arguments on this server's data, ready to run.
    pub fn admin_command(&self, arguments: &[&str]) -> Command {
        let mut command = self.eddyline(&["admin"]);
        command.args(arguments).args(self.data());
        command
    }
}

fn run_once(mut command: Command) -> Result<Value, String> {
    let output = command.arg("--json").output().unwrap();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())
}
