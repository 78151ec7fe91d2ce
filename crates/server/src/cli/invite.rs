//! Inviting many people at once.

use std::path::PathBuf;

use clap::Args;

pub(super) const INVITE: &str = "\
A line of the file is an address, and perhaps a name, which is not used, and flows:
  ada@example.org
  ben@example.org,Ben Okri,main;dev

Lines without flows are for those that --flow names. Members of the organization are added to the
flow at once; all others get a mail by which they join. Nothing is sent while a line is wrong or
names a flow that is not there, unless --skip-bad says so. Quotas on mail count the invitations for
the member in whose name they are sent: the report says which addresses are left, and the same
command goes on with them later.

Examples:
  eddyline admin invite --org acme --flow main --by ada@example.org --file people.csv --dry-run
  eddyline admin invite --org acme --flow main --by ada@example.org --file -";

/// `admin invite`
#[derive(Args)]
pub(crate) struct InviteArgs {
    /// The organization, by the name in its URL
    #[arg(long, value_name = "ORG")]
    pub(crate) org: String,
    /// A flow for the lines that name none, by its own name in URLs; may be given several times
    #[arg(long, value_name = "FLOW")]
    pub(crate) flow: Vec<String>,
    /// In whose name: the address of a member of the flows
    #[arg(long, value_name = "EMAIL")]
    pub(crate) by: String,
    /// The file with the people, or - for the standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// What the mail says beside the invitation
    #[arg(long, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// Only say what would become of each address
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Invite the others where lines are wrong
    #[arg(long)]
    pub(crate) skip_bad: bool,
}

impl InviteArgs {
    /// Whether the people are read from the standard input.
    pub(crate) fn reads_input(&self) -> bool {
        self.file.as_os_str() == "-"
    }
}
