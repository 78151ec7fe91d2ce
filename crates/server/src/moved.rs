//! Finds the data of a database that was moved.

use eddyline_storage::copy::{moved_database, open_moved_database};

use crate::CommandError;
use crate::config::{DatabaseUrl, Settings};
use crate::owners::check_file;

/// How often data may have been moved on. More is taken for a circle.
const MOST_MOVES: usize = 8;

/// The settings with the database where the data is now: the configuration may still name the one
/// that it was moved from.
///
/// Blocks while it connects.
pub(crate) fn follow(mut settings: Settings) -> Result<Settings, CommandError> {
    for _ in 0..MOST_MOVES {
        let configured = settings.database_url();
        if let Some(file) = configured.file() {
            check_file(file)?;
        }
        let Some(moved) = moved_database(configured.expose())? else {
            return Ok(settings);
        };
        let url = DatabaseUrl::parse_argument(&moved.url)?;
        tracing::warn!(
            from = configured.place(),
            to = url.place(),
            "the data was moved into another database; set the option database to it"
        );
        open_moved_database(&moved)?;
        settings.database = Some(url);
    }
    Err("the data was moved from one database to the next too often; set the option database to the last one".into())
}
