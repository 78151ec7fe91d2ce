//! The operator's commands about users, and about tokens.

use clap::{Args, Subcommand};

use super::flows::FlowPath;
use super::passwords::{OptionalPassword, RequiredPassword};

/// Commands about users.
#[derive(Subcommand)]
pub(crate) enum UserCommand {
    /// Create a user with an API token; one whose e-mail address is known joins the organization
    Create(CreateUserArgs),
    /// List users
    List {
        /// Only those of this organization, by the name in its URL
        #[arg(long, value_name = "ORG")]
        org: Option<String>,
    },
    /// Show a user
    Show {
        /// The user's e-mail address
        #[arg(long, value_name = "EMAIL")]
        email: String,
    },
    /// Create another API token for a user
    Token {
        /// The user's e-mail address
        #[arg(long, value_name = "EMAIL")]
        email: String,
    },
    /// Deactivate a user, which revokes all their credentials, or activate them again
    SetActive {
        /// The user's e-mail address
        #[arg(long, value_name = "EMAIL")]
        email: String,
        /// Whether the user is let in
        #[arg(long, value_name = "true|false", action = clap::ArgAction::Set)]
        active: bool,
        /// Do not ask for confirmation when the user is the only administrator of an organization
        #[arg(long)]
        yes: bool,
    },
    /// Grant a user the rights of an administrator, or revoke them
    SetAdmin {
        /// The organization, by the name in its URL
        #[arg(long, value_name = "ORG")]
        org: String,
        /// The user's e-mail address
        #[arg(long, value_name = "EMAIL")]
        email: String,
        /// Whether the user administers it
        #[arg(long, value_name = "true|false", action = clap::ArgAction::Set)]
        admin: bool,
    },
    /// Set a user's password; the old one stops working at once
    SetPassword {
        /// The user's e-mail address
        #[arg(long, value_name = "EMAIL")]
        email: String,
        #[command(flatten)]
        password: RequiredPassword,
    },
    /// Remove a user from an organization, or from all of them, which also revokes all their
    /// credentials
    #[command(after_help = "The account stays, and so does what the user wrote.")]
    Remove {
        /// The user's e-mail address
        #[arg(long, value_name = "EMAIL")]
        email: String,
        /// The organization, by the name in its URL [default: all organizations]
        #[arg(long, value_name = "ORG")]
        org: Option<String>,
    },
}

/// `user create`
#[derive(Args)]
pub(crate) struct CreateUserArgs {
    /// The organization, by the name in its URL
    #[arg(long, value_name = "ORG")]
    pub(crate) org: String,
    /// E-mail address, with which the user signs in
    #[arg(long, value_name = "EMAIL")]
    pub(crate) email: String,
    /// Full name
    #[arg(long)]
    pub(crate) name: String,
    /// Short name, with which others mention the user
    #[arg(long)]
    pub(crate) nick: String,
    #[command(flatten)]
    pub(crate) password: OptionalPassword,
    /// Make the user an administrator of the organization
    #[arg(long)]
    pub(crate) admin: bool,
    /// Mark the user as a program
    #[arg(long)]
    pub(crate) bot: bool,
    /// The user's number, where bots and archives know it already; the next free one otherwise
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(i64).range(1..=MAX_USER_ID))]
    pub(crate) user_id: Option<i64>,
}

/// Numbers go on behind the largest, and all clients must be able to represent them.
const MAX_USER_ID: i64 = 1_000_000_000_000;

/// Commands about tokens.
#[derive(Subcommand)]
pub(crate) enum TokenCommand {
    /// List the API tokens of a user, or the tokens of a flow and its sources
    List(TokenHolder),
    /// Revoke a token; programs that use it are refused at once
    Revoke {
        #[command(flatten)]
        holder: TokenHolder,
        /// The token's number in the list
        #[arg(long, value_name = "ID")]
        id: i64,
    },
}

/// Whose tokens.
#[derive(Args)]
#[group(required = true, multiple = false)]
pub(crate) struct TokenHolder {
    /// The user's e-mail address
    #[arg(long, value_name = "EMAIL")]
    pub(crate) email: Option<String>,
    /// The flow, by the names in its URL
    #[arg(long, value_name = "ORG/FLOW")]
    pub(crate) flow: Option<FlowPath>,
}
