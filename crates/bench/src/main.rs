//! `eddyline-bench` measures a server and says how that compares: with the disk under it, with
//! servers that do next to nothing, and with another one that is known to be fast.
//!
//! It starts everything itself, on this machine, and puts load on it from one thread, since it has
//! to share the processors with what it measures. What it knows of the server under test is its
//! command line and its protocol; only the room of a million messages is filled past it, through
//! the store.

#![allow(
    clippy::disallowed_methods,
    reason = "a benchmark reads clocks and waits"
)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a panic fails the test"))]

mod arguments;
mod child;
mod connection;
mod fanout;
mod fill;
mod histogram;
mod interval;
mod load;
mod machine;
mod nchan;
mod neighbour;
mod parts;
mod plan;
mod process;
mod random;
mod references;
mod report;
mod requests;
mod response;
mod rounds;
mod server;
mod session;
mod stage;
mod words;

use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser as _;
use tokio::signal::unix::{SignalKind, signal};

use crate::arguments::{Arguments, Command};

/// Why the program ended early. It is only shown, so it need not be told apart.
type BenchError = Box<dyn std::error::Error + Send + Sync>;
type Result<T> = std::result::Result<T, BenchError>;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match &arguments.command {
        Some(Command::Reference(reference)) => references::serve(reference).map(|()| true),
        None => measure(&arguments),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            progress("operations were lost, repeated or refused; see the table");
            ExitCode::FAILURE
        }
        Err(failure) => {
            progress(&format!("error: {failure}"));
            ExitCode::FAILURE
        }
    }
}

/// Measures and reports. `false` when there is a result, but operations failed.
fn measure(arguments: &Arguments) -> Result<bool> {
    rlimit::increase_nofile_limit(u64::MAX)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let local = tokio::task::LocalSet::new();
    let results = local.block_on(&runtime, async {
        let mut terminated = signal(SignalKind::terminate())?;
        // The servers and the data go with the future that is dropped here.
        tokio::select! {
            results = rounds::run(arguments) => results,
            _ = tokio::signal::ctrl_c() => Err("interrupted".into()),
            _ = terminated.recv() => Err("terminated".into()),
        }
    })?;
    report::write(arguments, &results)?;
    Ok(results.is_clean())
}

/// Tells the person in front of the screen what goes on.
fn progress(text: &str) {
    // A reader that closed the standard error does not want to know.
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
