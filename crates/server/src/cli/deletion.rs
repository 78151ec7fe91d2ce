//! Deleting organizations and users after a grace time.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use eddyline_model::deletion::GracePeriod;

use super::Flags;
use super::flags::DeletionOptions;

pub(super) const DELETION: &str = "\
An organization is closed at once: its members, tokens and identity provider are let in nowhere. A
user is inactive at once. When the day is there, the server deletes within the hour; until then
`delete cancel` restores everything but sessions and tokens of a user. A legal hold stops a
deletion. Members of a deleted organization who never belonged to another are erased with it.

Examples:
  eddyline admin delete organization acme --export acme.tar
  eddyline admin delete user ada@example.org --no-export --grace 7d
  eddyline admin delete list
  eddyline admin delete cancel organization acme
  eddyline admin delete run";

/// `admin delete`
#[derive(Args)]
pub(crate) struct DeletionArgs {
    /// Where the files are.
    #[command(flatten)]
    pub(crate) files: Flags<DeletionOptions>,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: DeletionCommand,
}

/// Commands about deletions.
#[derive(Subcommand)]
pub(crate) enum DeletionCommand {
    /// Close an organization now, and delete it with everything that belongs to it on a later day
    Organization(OrganizationDeletion),
    /// Make a user inactive now, and erase the user on a later day
    User(UserDeletion),
    /// List the deletions that wait for their day
    List,
    /// Cancel a deletion: the organization is open again, or the user active
    #[command(subcommand, disable_help_subcommand = true)]
    Cancel(CancelCommand),
    /// Delete now what is due, and remove what files and database still keep of deleted rows; servers
    /// delete within the hour, but do not write the database anew
    Run,
}

/// `admin delete organization`
#[derive(Args)]
pub(crate) struct OrganizationDeletion {
    /// The organization, by the name in its URL
    #[arg(value_name = "ORG")]
    pub(crate) org: String,
    /// Export the private conversations between its members as well
    #[arg(long, conflicts_with = "no_export")]
    pub(crate) private: bool,
    #[command(flatten)]
    pub(crate) how: HowToDelete,
}

/// `admin delete user`
#[derive(Args)]
pub(crate) struct UserDeletion {
    /// The user's e-mail address
    #[arg(value_name = "EMAIL")]
    pub(crate) email: String,
    #[command(flatten)]
    pub(crate) how: HowToDelete,
}

/// When it is deleted, and what is kept.
#[derive(Args)]
pub(crate) struct HowToDelete {
    #[command(flatten)]
    pub(crate) archive: ArchiveFirst,
    /// Days until it is deleted, such as 30d; with 0d it is deleted at once [default: deletion_grace
    /// of the configuration]
    #[arg(long, value_name = "DAYS")]
    pub(crate) grace: Option<GracePeriod>,
    /// Do not ask for confirmation
    #[arg(long)]
    pub(crate) yes: bool,
}

/// Whether an archive is written before.
#[derive(Args)]
#[group(required = true, multiple = false)]
pub(crate) struct ArchiveFirst {
    /// Write an archive first, as `eddyline export` does
    #[arg(long, value_name = "FILE")]
    pub(crate) export: Option<PathBuf>,
    /// Delete without an archive
    #[arg(long)]
    pub(crate) no_export: bool,
}

/// What is cancelled.
#[derive(Subcommand)]
pub(crate) enum CancelCommand {
    /// The deletion of an organization
    Organization {
        /// The organization, by the name in its URL
        #[arg(value_name = "ORG")]
        org: String,
    },
    /// The deletion of a user
    User {
        /// The user's e-mail address
        #[arg(value_name = "EMAIL")]
        email: String,
    },
}
