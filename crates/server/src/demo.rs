//! A server with a small, lively organization to try things on.

use crate::Failure;
use crate::config::Settings;

/// Serves a demonstration until it is told to stop. Unless the data is to be kept, it lives in a
/// directory of its own that goes with it.
pub(crate) async fn run(mut settings: Settings, keep: bool) -> Result<(), Failure> {
    let throw_away =
        if keep { None } else { Some(tempfile::Builder::new().prefix("eddyline-demo-").tempdir()?) };
    if let Some(directory) = &throw_away {
        settings.data_dir = directory.path().to_owned();
    }
    Err("the demonstration is not wired yet".into())
}
