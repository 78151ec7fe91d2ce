//! `eddyline move`.

use clap::Args;

use super::{AdminOptions, ConfigFile, Flags};
use crate::config::DatabaseUrl;

pub(super) const EXAMPLES: &str = "\
Examples:
  eddyline move --data-dir /var/lib/eddyline --to postgres://eddyline@db/eddyline
  eddyline move --database postgres://eddyline@db/eddyline --to sqlite:/var/lib/eddyline/eddyline.db

Servers that run use the new database from the moment of the cut-over. An interrupted move goes on
when the command is given again.";

/// `eddyline move`
#[derive(Args)]
pub(crate) struct MoveArgs {
    #[command(flatten)]
    pub(crate) options: Flags<AdminOptions>,
    #[command(flatten)]
    pub(crate) config: ConfigFile,
    /// Database to move everything into: an empty one, sqlite:PATH or postgres://USER@HOST/NAME
    #[arg(long, value_name = "URL", value_parser = DatabaseUrl::parse_argument)]
    pub(crate) to: DatabaseUrl,
    /// Give up a move to this place that was interrupted, and empty the place
    #[arg(long)]
    pub(crate) give_up: bool,
    /// Report progress and the result as lines of JSON, for scripts
    #[arg(long)]
    pub(crate) json: bool,
}
