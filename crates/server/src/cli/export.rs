//! `eddyline export` and `eddyline verify`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{BackupOptions, ConfigFile, Flags};

pub(super) const EXPORT_EXAMPLES: &str = "\
Examples:
  eddyline export organization acme --to acme.tar --data-dir /var/lib/eddyline
  eddyline export flow acme/main --to main.tar
  eddyline export user ada@example.org --to ada.tar

An archive of an organization has its flows, and with --private the private conversations between
its members. That of a user has what this user wrote, and their private conversations. Nothing is
encrypted: keep an archive as you would keep what it says.

Unpack it with tar, and open index.html in a browser. docs/archive-format.md describes the rest.";

pub(super) const VERIFY_EXAMPLES: &str = "\
Examples:
  eddyline verify main.tar
  eddyline verify main.tar --key 5f1c…      The key that `eddyline export` printed
  eddyline verify ./unpacked --key key.txt";

/// `eddyline export`
#[derive(Args)]
pub(crate) struct Export {
    /// What is exported
    #[arg(value_name = "KIND")]
    pub(crate) kind: ExportKind,
    /// Its name: ORG, ORG/FLOW, as in URLs, or the user's e-mail address
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) options: Flags<BackupOptions>,
    #[command(flatten)]
    pub(crate) config: ConfigFile,
    /// Archive to write, a tar file
    #[arg(long, value_name = "FILE")]
    pub(crate) to: PathBuf,
    /// Take the place of a file that is there already
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Of an organization, export the private conversations between its members as well
    #[arg(long)]
    pub(crate) private: bool,
    /// Report progress and the result as lines of JSON, for scripts
    #[arg(long)]
    pub(crate) json: bool,
}

/// Of what kind that is which is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportKind {
    /// An organization with its people, groups and flows
    Organization,
    /// A flow
    Flow,
    /// What one user wrote, and their private conversations
    User,
}

/// `eddyline verify`
#[derive(Args)]
pub(crate) struct Verify {
    /// Archive of `eddyline export`, or the folder that it was unpacked into
    #[arg(value_name = "ARCHIVE")]
    pub(crate) archive: PathBuf,
    /// The public key of the server that must have signed it, or a file with this key
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// Report progress and the result as lines of JSON, for scripts
    #[arg(long)]
    pub(crate) json: bool,
}
