//! The operator's commands about identity providers.

use clap::Subcommand;

/// Commands about identity providers.
#[derive(Subcommand)]
pub(crate) enum ScimCommand {
    /// Enable provisioning by an identity provider; its token is shown once
    Enable {
        /// The organization, by the name in its URL
        #[arg(long, value_name = "ORG")]
        org: String,
        /// Replace the token of a provider that is let in already; the old one is refused at once
        #[arg(long)]
        rotate: bool,
    },
    /// Show the address of an organization's identity provider, and whether it is let in
    Show {
        /// The organization, by the name in its URL
        #[arg(long, value_name = "ORG")]
        org: String,
    },
    /// Disable provisioning: the provider's token is refused, and users stay as they are
    Disable {
        /// The organization, by the name in its URL
        #[arg(long, value_name = "ORG")]
        org: String,
    },
    /// Link an existing user to the identity provider, by e-mail address
    Link {
        /// The organization, by the name in its URL
        #[arg(long, value_name = "ORG")]
        org: String,
        /// The user's e-mail address
        #[arg(long, value_name = "EMAIL")]
        email: String,
    },
    /// Unlink a user from the identity provider; the account and its memberships stay
    Unlink {
        /// The organization, by the name in its URL
        #[arg(long, value_name = "ORG")]
        org: String,
        /// The user's e-mail address
        #[arg(long, value_name = "EMAIL")]
        email: String,
    },
    /// Show the audit log: what the provider and operators changed about users, newest first
    Audit {
        /// The organization, by the name in its URL
        #[arg(long, value_name = "ORG")]
        org: String,
        /// Only what was recorded before this number
        #[arg(long, value_name = "ID")]
        before: Option<i64>,
        /// How many records at most
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
    },
}
