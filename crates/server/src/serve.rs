//! Runs the server until it is told to stop.

use crate::Failure;
use crate::config::Settings;

/// Serves until SIGTERM or SIGINT.
pub(crate) async fn run(_settings: Settings) -> Result<(), Failure> {
    Err("serving is not wired yet".into())
}
