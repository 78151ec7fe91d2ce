//! Where the database is, and whether there is one.

use eddyline_storage::Store;

use crate::CommandError;
use crate::config::Settings;
use crate::owners::check_file;

/// Makes sure that the database can be opened by a command. Without a database, gives the place for
/// one if the command may make it.
///
/// # Errors
///
/// When there is none and the command does not make one, or when this user may not read it.
pub(super) async fn check(
    settings: &Settings,
    makes: bool,
) -> Result<Option<String>, CommandError> {
    let url = settings.database_url();
    if let Some(file) = url.file() {
        check_file(file)?;
    }
    let (address, place) = (url.expose().to_owned(), url.place());
    let exists = tokio::task::spawn_blocking(move || Store::exists(&address)).await??;
    match (exists, makes) {
        (true, _) => Ok(None),
        (false, true) => Ok(Some(place)),
        (false, false) => Err(format!(
            "there is no database of Eddyline at {place}; `eddyline serve` makes one, and so does `eddyline admin org create`"
        )
        .into()),
    }
}
