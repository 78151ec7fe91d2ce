//! `eddyline status`.

use clap::Args;

use super::{AdminOptions, ConfigFile, Flags};

/// `eddyline status`
#[derive(Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) options: Flags<AdminOptions>,
    #[command(flatten)]
    pub(crate) config: ConfigFile,
    /// Answer with one JSON object on a line, for scripts
    #[arg(long)]
    pub(crate) json: bool,
}
