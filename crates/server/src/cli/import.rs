//! `eddyline import`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use eddyline_import::ArchiveFormat;

use super::{BackupOptions, ConfigFile, Flags};

pub(super) const EXAMPLES: &str = "\
Examples:
  eddyline import acme.tar --org acme --data-dir /var/lib/eddyline
  eddyline import slack.zip --org acme --dry-run       Say what would be done
  eddyline import slack.zip --org acme --invite        Mail newcomers a link to choose a password

People are found by their addresses, and get an account without a password where there is none.
Those whose account does not belong to the organization come in by an invitation.
Imports cause no notifications. Importing an archive once more adds only what is new in it.";

/// `eddyline import`
#[derive(Args)]
pub(crate) struct Import {
    /// Archive to read
    #[arg(value_name = "FILE")]
    pub(crate) archive: PathBuf,
    /// Organization that it goes into, by its name in URLs
    #[arg(long, value_name = "ORG")]
    pub(crate) org: String,
    #[command(flatten)]
    pub(crate) options: Flags<BackupOptions>,
    #[command(flatten)]
    pub(crate) config: ConfigFile,
    /// Kind of archive, if it is not to be found out
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<ImportFormat>,
    /// Organization above the one that the archive makes, by its name in URLs
    #[arg(long, value_name = "ORG")]
    pub(crate) parent: Option<String>,
    /// Mail people who get an account a link to choose a password, and those who have one elsewhere
    /// an invitation
    #[arg(long)]
    pub(crate) invite: bool,
    /// Write nothing, and say what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Report progress and the result as lines of JSON, for scripts
    #[arg(long)]
    pub(crate) json: bool,
}

/// A kind of archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImportFormat {
    /// What `eddyline export` writes
    Eddyline,
    /// An export of a Slack workspace, a zip file
    Slack,
    /// A bulk export of Mattermost, a zip file or JSON lines
    Mattermost,
    /// An archive of flows of Flowdock, a zip file
    Flowdock,
}

impl From<ImportFormat> for ArchiveFormat {
    fn from(format: ImportFormat) -> Self {
        match format {
            ImportFormat::Eddyline => Self::Eddyline,
            ImportFormat::Slack => Self::Slack,
            ImportFormat::Mattermost => Self::Mattermost,
            ImportFormat::Flowdock => Self::Flowdock,
        }
    }
}
