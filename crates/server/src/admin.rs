//! The operator's commands, on the same database as the server, which may be running.

mod applications;
pub(crate) mod audit;
mod batch;
mod check_config;
mod domains;
mod erasure;
mod flows;
mod groups;
mod holds;
mod invite;
pub(crate) mod list;
mod mail;
mod organizations;
mod place;
mod retention;
mod scim;
mod secret_key;
mod tokens;
mod users;

use std::fmt::Display;

use eddyline_app::{App, Error, ErrorKind, FilesConfig};
use eddyline_model::names::InvalidName;

pub(crate) use self::check_config::run as check_config;
pub(crate) use self::erasure::ScrubProgress;
use serde::Serialize;

use crate::cli::{AdminCommand, OneCommand};
use crate::config::Settings;
use crate::{CommandError, output, serve};

/// Carries out what was asked for and prints the answers.
pub(crate) async fn run(
    settings: Settings,
    command: AdminCommand,
    json: bool,
) -> Result<(), CommandError> {
    let mut operator = Operator {
        settings,
        json,
        app: None,
    };
    let outcome = match command {
        AdminCommand::One(command) => operator.carry_out(command).await,
        AdminCommand::Batch => batch::run(&mut operator).await,
        AdminCommand::Mail(command) => mail::run(&operator.settings, command, json).await,
        AdminCommand::Erase(command) => erasure::run(&operator.settings, command, json).await,
        // The one comes before there are settings; the other also exports.
        AdminCommand::CheckConfig(_) | AdminCommand::Delete(_) => Ok(()),
    };
    if let Some(app) = operator.app {
        app.close().await;
    }
    outcome
}

/// Who carries out commands, on a database that is opened when the first of them needs it.
struct Operator {
    settings: Settings,
    json: bool,
    app: Option<App>,
}

impl Operator {
    async fn carry_out(&mut self, command: OneCommand) -> Result<(), CommandError> {
        let (makes_database, json) = (command.makes_database(), self.json);
        match command {
            // It works also where no server could start.
            OneCommand::SecretKey(command) => secret_key::run(&self.settings, &command, json).await,
            OneCommand::Org(command) => {
                organizations::run(&self.app(makes_database).await?, command, json).await
            }
            OneCommand::User(command) => users::run(&self.app(false).await?, command, json).await,
            OneCommand::Flow(command) => flows::run(&self.app(false).await?, command, json).await,
            OneCommand::Group(command) => groups::run(&self.app(false).await?, command, json).await,
            OneCommand::App(command) => {
                applications::run(&self.app(false).await?, command, json).await
            }
            OneCommand::Source(command) => {
                applications::run_source(&self.app(false).await?, command, json).await
            }
            OneCommand::Scim(command) => scim::run(&self.app(false).await?, command, json).await,
            OneCommand::Audit(command) => audit::run(&self.app(false).await?, command, json).await,
            OneCommand::Retention(command) => {
                retention::run(&self.app(false).await?, command, json).await
            }
            OneCommand::Invite(command) => {
                invite::run(&self.app(false).await?, command, json).await
            }
            OneCommand::Hold(command) => holds::run(&self.app(false).await?, command, json).await,
            OneCommand::Token(command) => tokens::run(&self.app(false).await?, command, json).await,
        }
    }

    async fn app(&mut self, makes_database: bool) -> Result<App, CommandError> {
        if let Some(app) = &self.app {
            return Ok(app.clone());
        }
        let made = place::check(&self.settings, makes_database).await?;
        // The server sends what mail waits.
        let addresses = serve::configured_addresses(&self.settings);
        let app = serve::open_app(
            &self.settings,
            serve::open_current_store(&self.settings).await?,
            addresses,
            None,
            FilesConfig::default(),
            None,
            Vec::new(),
        )
        .await?;
        if let Some(place) = made {
            output::note(&format!("made the database of Eddyline at {place}"));
        }
        Ok(self.app.insert(app).clone())
    }
}

/// Makes sure that there is a database which a command can open.
pub(crate) async fn check_place(settings: &Settings) -> Result<(), CommandError> {
    place::check(settings, false).await?;
    Ok(())
}

pub(crate) fn print(answer: &(impl Display + Serialize), json: bool) -> Result<(), CommandError> {
    Ok(output::answer(answer, json)?)
}

/// What went wrong, in the words of the command line. `what` is what a command names and may be
/// unknown.
pub(crate) fn explain(error: Error, what: &str) -> CommandError {
    match error.kind() {
        ErrorKind::NotFound => format!("{what} was not found").into(),
        _ => error.into(),
    }
}

/// The same of a command that names nothing but an organization.
fn in_organization(org: &str) -> impl FnOnce(Error) -> CommandError {
    move |error| explain(error, &format!("organization {org}"))
}

pub(crate) fn named<T: std::str::FromStr<Err = InvalidName>>(
    option: &str,
    text: &str,
) -> Result<T, CommandError> {
    text.parse()
        .map_err(|error| format!("--{option} {error}").into())
}
