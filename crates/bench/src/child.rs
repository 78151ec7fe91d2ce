//! A child process that says on its standard output when it is ready.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::Result;
use crate::process::Family;

/// How long a child may take to start or to end.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// A running child. It is killed when the value is dropped.
pub(crate) struct Running {
    process: Child,
}

impl Running {
    /// Starts a child.
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let name = command.get_program().to_string_lossy().into_owned();
        let process = command
            .stdin(Stdio::null())
            .spawn()
            .map_err(|error| format!("{name} cannot be started: {error}"))?;
        Ok(Self { process })
    }

    /// Starts a child and waits for the line that begins with `listening `. Gives the rest of that
    /// line and how long it took.
    pub(crate) fn start_listening(command: &mut Command) -> Result<(Self, String, Duration)> {
        let started = Instant::now();
        let mut running = Self::start(command.stdout(Stdio::piped()))?;
        let output = running
            .process
            .stdout
            .take()
            .ok_or("the child has no output")?;
        let (tell, told) = mpsc::channel();
        // It goes on reading, so that the child never waits for a reader.
        thread::spawn(move || read_lines(output, &tell));
        let Ok((line, at)) = told.recv_timeout(PATIENCE) else {
            return Err(
                format!("{} did not start", command.get_program().to_string_lossy()).into(),
            );
        };
        Ok((running, line, at.duration_since(started)))
    }

    /// The process, for its memory and processor time.
    pub(crate) fn family(&self) -> Result<Family> {
        Family::of(self.process.id())
    }

    /// Asks the child to end, and waits until it has.
    pub(crate) async fn stop(mut self) -> Result<()> {
        let id = self.process.id().to_string();
        Command::new("kill").args(["-TERM", &id]).status()?;
        let asked = Instant::now();
        while self.process.try_wait()?.is_none() {
            if asked.elapsed() > PATIENCE {
                return Err("a child did not end when it was asked to".into());
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn read_lines(output: impl Read, tell: &mpsc::Sender<(String, Instant)>) {
    for line in BufReader::new(output)
        .lines()
        .map_while(std::result::Result::ok)
    {
        if let Some(rest) = line.strip_prefix("listening ") {
            let _ = tell.send((rest.to_owned(), Instant::now()));
        }
    }
}
