//! The operator's commands, on the same database as the server, which may be running.

use crate::Failure;
use crate::cli::AdminCommand;
use crate::config::Settings;

/// Carries out one command and prints its answer.
pub(crate) async fn run(_settings: Settings, _command: AdminCommand, _json: bool) -> Result<(), Failure> {
    Err("the operator's commands are not wired yet".into())
}
