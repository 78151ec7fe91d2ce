//! What is measured, part by part.

pub(crate) mod credentials;
pub(crate) mod fanout;
pub(crate) mod idle;
pub(crate) mod list;
pub(crate) mod pages;
pub(crate) mod posts;
pub(crate) mod provisioning;
pub(crate) mod screen;
pub(crate) mod search;

use crate::Result;
use crate::references::ReferenceServer;
use crate::stage::Stage;

/// The server on the flow without messages.
pub(crate) const EMPTY: &str = "empty room";
/// The server on the flow with very many.
pub(crate) const FILLED: &str = "filled room";
/// The reference that commits in groups.
pub(crate) const COMMIT: &str = "bare group commit";
/// The reference that only answers.
pub(crate) const HELLO: &str = "bare answer";

/// Starts the reference that commits, on a new database.
pub(crate) fn reference(stage: &Stage<'_>) -> Result<ReferenceServer> {
    let file = tempfile::Builder::new()
        .prefix("reference-")
        .suffix(".db")
        .tempfile_in(stage.scratch)?;
    // The file goes with the scratch directory; SQLite takes an empty one for a new database.
    let (_, path) = file.keep()?;
    ReferenceServer::commit(&path)
}

fn connections(count: usize) -> String {
    if count == 1 {
        "1 connection".to_owned()
    } else {
        format!("{count} connections")
    }
}
