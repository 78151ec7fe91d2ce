//! Erasing a person.

use clap::Args;

use super::Flags;
use super::flags::FileOptions;

pub(super) const ERASURE: &str = "\
The user's chat messages become empty, as after a deletion; files, statuses and what integrations
posted for the user go. Messages of others stay. Then the bytes of the files are removed, and the
database is written anew without what was deleted from it: on SQLite, posts wait meanwhile and the
disk must have room for twice the file. An erasure that was interrupted goes on with the same
command. Backups and exports of before keep what they have.";

/// `admin erase`
#[derive(Args)]
pub(crate) struct EraseArgs {
    /// The user's e-mail address
    #[arg(long, value_name = "EMAIL")]
    pub(crate) email: String,
    /// Do not ask for confirmation
    #[arg(long)]
    pub(crate) yes: bool,
    /// Where the files are.
    #[command(flatten)]
    pub(crate) files: Flags<FileOptions>,
}
