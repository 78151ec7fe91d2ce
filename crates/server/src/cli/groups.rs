//! The operator's commands about groups.

use clap::{Args, Subcommand};

/// Commands about groups.
#[derive(Subcommand)]
pub(crate) enum GroupCommand {
    /// Create a group of users, who are mentioned together by @NAME
    Create(NewGroup),
    /// Show the groups of an organization
    List {
        /// The organization, by the name in its URL
        #[arg(long, value_name = "ORG")]
        org: String,
    },
    /// Show who is in a group
    Show(NamedGroup),
    /// Add a user of the organization to a group
    AddUser(GroupMember),
    /// Remove a user from a group
    RemoveUser(GroupMember),
    /// Remove a group; messages keep its tag
    Remove(NamedGroup),
}

/// `group create`
#[derive(Args)]
pub(crate) struct NewGroup {
    /// The organization, by the name in its URL
    #[arg(long, value_name = "ORG")]
    pub(crate) org: String,
    /// Name that follows the @; neither a nick of the organization nor a number
    #[arg(long)]
    pub(crate) name: String,
}

/// A group of an organization.
#[derive(Args)]
pub(crate) struct NamedGroup {
    /// The organization, by the name in its URL
    #[arg(long, value_name = "ORG")]
    pub(crate) org: String,
    /// The group's name
    #[arg(long, value_name = "NAME")]
    pub(crate) group: String,
}

/// A user who comes into a group or goes out of it.
#[derive(Args)]
pub(crate) struct GroupMember {
    #[command(flatten)]
    pub(crate) of: NamedGroup,
    /// The user's e-mail address
    #[arg(long, value_name = "EMAIL")]
    pub(crate) email: String,
}
