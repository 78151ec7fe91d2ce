//! `eddyline`, the server: configuration, wiring, command line and shutdown.
//!
//! It decides nothing about messages or callers; it reads what the operator wants, puts the parts
//! together and lets them run.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a panic fails the test"))]

mod admin;
mod archives;
mod audit_export;
mod authorities;
mod backup;
mod check;
mod cli;
mod completions;
mod config;
mod deletion;
mod demo;
mod doctor;
mod export;
mod files;
mod healthcheck;
mod import;
mod logging;
mod mail;
mod manual;
mod metrics;
mod moved;
mod moving;
mod output;
mod owners;
mod prompt;
mod reload;
mod secret_key;
mod serve;
mod service_manager;
mod signals;
mod sockets;
mod status;
mod tls;
mod traces;
mod verify;

use std::env::vars_os;
use std::error::Error;
use std::future::Future;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser as _;

use crate::cli::{AdminCommand, Cli, Command};
use crate::config::{ConfigError, Layer, Loaded, LogDirectives, Settings};
use crate::logging::ProcessLog;
use crate::sockets::PassedSockets;
use crate::traces::Traces;

/// The threads of a server free what others allocated, at which the allocator of the system is
/// slow: this one saves a quarter of the processor time of a post (docs/performance.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Why a command ended early. It is only shown, so it need not be told apart.
type CommandError = Box<dyn Error + Send + Sync>;

fn main() -> ExitCode {
    let command = Cli::parse().command;
    let json = logs_json(&command);
    match run(command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if output::is_closed_pipe(&failure) => ExitCode::SUCCESS,
        Err(failure) => {
            output::failure(failure.as_ref(), json);
            // The status that wrong arguments have as well.
            ExitCode::from(if failure.is::<ConfigError>() { 2 } else { 1 })
        }
    }
}

/// Whether what a command says at its end belongs to a log in JSON.
fn logs_json(command: &Command) -> bool {
    match command {
        Command::Serve(serve) => config::wants_json(
            &serve.options.layer,
            serve.config.path.as_deref(),
            vars_os(),
        ),
        Command::Demo(demo) => config::demo_wants_json(&demo.options.layer, vars_os()),
        // Its answers and failures are for the operator.
        Command::Admin(_)
        | Command::Backup(_)
        | Command::Restore(_)
        | Command::Check(_)
        | Command::Move(_)
        | Command::Status(_)
        | Command::Export(_)
        | Command::Verify(_)
        | Command::Import(_)
        | Command::Doctor(_)
        | Command::Healthcheck(_)
        | Command::Completions(_)
        | Command::Man(_) => false,
    }
}

fn run(command: Command) -> Result<(), CommandError> {
    match command {
        Command::Serve(serve) => {
            let (flags, file) = (serve.options.layer, serve.config.path);
            let load = move || config::load(flags.clone(), file.as_deref(), vars_os());
            let loaded = load()?;
            // Before the thread that exports traces begins.
            let sockets = PassedSockets::take()?;
            traced(loaded, |settings, log| {
                let reload = move || Ok(load()?.settings);
                block_on(serve::run(settings, sockets, log, reload))
            })
        }
        Command::Demo(demo) => {
            let keep = demo.names_directory();
            let loaded = config::load_for_demo(demo.options.layer, vars_os())?;
            traced(loaded, |settings, _| block_on(demo::run(settings, keep)))
        }
        Command::Admin(mut admin) => {
            match &mut admin.command {
                AdminCommand::CheckConfig(check) => {
                    let mut flags = admin.options.layer;
                    flags.extend(std::mem::take(&mut check.options.layer));
                    return admin::check_config(flags, admin.config.path.as_deref(), admin.json);
                }
                AdminCommand::Mail(mail) => admin.options.layer.extend(mail.take_flags()),
                AdminCommand::Erase(erase) => {
                    let flags = std::mem::take(&mut erase.files.layer);
                    admin.options.layer.extend(flags);
                }
                AdminCommand::Delete(delete) => {
                    let flags = std::mem::take(&mut delete.files.layer);
                    admin.options.layer.extend(flags);
                }
                AdminCommand::One(_) | AdminCommand::Batch => {}
            }
            let settings = where_data_is(admin.options.layer, admin.config.path.as_deref())?;
            match admin.command {
                AdminCommand::Delete(delete) => {
                    block_on(deletion::run(settings, delete, admin.json))
                }
                command => block_on(admin::run(settings, command, admin.json)),
            }
        }
        Command::Backup(mut backup) => {
            let flags = std::mem::take(&mut backup.options.layer);
            let settings = where_data_is(flags, backup.config.path.as_deref())?;
            block_on(backup::run(settings, backup))
        }
        Command::Restore(mut restore) => {
            let flags = std::mem::take(&mut restore.options.layer);
            let settings = for_operator(flags, restore.config.path.as_deref())?;
            block_on(backup::run_restore(settings, restore))
        }
        Command::Check(mut check) => {
            let flags = std::mem::take(&mut check.options.layer);
            let settings = where_data_is(flags, check.config.path.as_deref())?;
            block_on(check::run(settings, check))
        }
        Command::Export(mut export) => {
            let flags = std::mem::take(&mut export.options.layer);
            let settings = where_data_is(flags, export.config.path.as_deref())?;
            block_on(export::run(settings, export))
        }
        Command::Import(mut command) => {
            let flags = std::mem::take(&mut command.options.layer);
            let settings = where_data_is(flags, command.config.path.as_deref())?;
            block_on(import::run(settings, command))
        }
        Command::Verify(command) => verify::run(&command),
        Command::Move(mut command) => {
            let flags = std::mem::take(&mut command.options.layer);
            let settings = for_operator(flags, command.config.path.as_deref())?;
            block_on(moving::run(settings, command))
        }
        Command::Status(status) => {
            let settings = where_data_is(status.options.layer, status.config.path.as_deref())?;
            block_on(status::run(settings, status.json))
        }
        Command::Doctor(doctor) => {
            let settings = for_operator(doctor.options.layer, doctor.config.path.as_deref())?;
            // What keeps it from being found out is for the doctor to say.
            let settings = moved::follow(settings.clone()).unwrap_or(settings);
            block_on(doctor::run(settings, doctor.json))
        }
        Command::Healthcheck(check) => {
            let settings = for_operator(check.options.layer, check.config.path.as_deref())?;
            block_on(healthcheck::run(&settings, check.url))
        }
        Command::Completions(completions) => completions::run(completions.shell),
        Command::Man(man) => manual::run(man.directory.as_deref()),
    }
}

/// The settings of a command that does its work and ends; its log has warnings only.
fn for_operator(flags: Layer, file: Option<&Path>) -> Result<Settings, CommandError> {
    let loaded = config::load(flags, file, vars_os())?;
    let settings = loaded.settings;
    logging::init(settings.log_format, &LogDirectives::warnings(), None)?;
    Ok(settings)
}

/// The same for a command about data, which may have been moved from the configured place.
fn where_data_is(flags: Layer, file: Option<&Path>) -> Result<Settings, CommandError> {
    moved::follow(for_operator(flags, file)?)
}

/// Runs a server with its log, which begins with what was odd about the configuration, and its
/// traces. Variables for the tools around a server are common, so operators' commands do not repeat
/// these remarks.
fn traced(
    loaded: Loaded,
    serve: impl FnOnce(Settings, ProcessLog) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    let settings = loaded.settings;
    let traces = Traces::open(&settings)?;
    let log = logging::init(settings.log_format, &settings.log, traces.as_ref())?;
    for remark in loaded.remarks {
        tracing::info!("{remark}");
    }
    let outcome = serve(settings, log);
    if let Some(traces) = traces {
        traces.finish();
    }
    outcome
}

fn block_on(work: impl Future<Output = Result<(), CommandError>>) -> Result<(), CommandError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        // Answers come from the thread that writes, and requests from sockets: both are looked for
        // more often than tokio would by itself, or they wait for all the streams that are being
        // written.
        .global_queue_interval(8)
        .event_interval(16)
        .build()?;
    let result = runtime.block_on(work);
    // Dropping the runtime would wait for a blocked thread, however long that takes.
    runtime.shutdown_timeout(Duration::from_secs(1));
    result
}
