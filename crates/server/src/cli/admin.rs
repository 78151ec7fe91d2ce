//! The operator's commands.

use std::str::FromStr;

use clap::{Args, Parser, Subcommand};
use eddyline_model::Day;
use eddyline_model::applications::{PageUri, RedirectUri};
use eddyline_model::time::InvalidDay;

use super::groups::GroupCommand;
use super::passwords::{OptionalPassword, RequiredPassword};

/// What the operator asks for.
#[derive(Subcommand)]
pub(crate) enum AdminCommand {
    #[command(flatten)]
    One(OneCommand),
    /// Run commands from the standard input, one a line, until it ends
    #[command(after_help = BATCH_EXAMPLES)]
    Batch,
}

const BATCH_EXAMPLES: &str = "\
A line is what follows 'eddyline admin', quoted as in a shell; empty lines and those that begin
with # are passed over. A command that fails does not keep those after it from being run, and the
exit status tells that one failed. With --json each command is answered by one line, which has an
\"error\" if it failed.

Example:
  eddyline admin batch <<'END'
  org create --name Acme
  user create --org acme --email ada@example.org --name 'Ada Lovelace' --nick Ada --admin
  flow create --org acme --name Main
  flow add-user --flow acme/main --email ada@example.org
  END";

/// A line of `admin batch`.
#[derive(Parser)]
#[command(name = "line", no_binary_name = true, disable_help_flag = true, disable_help_subcommand = true)]
pub(crate) struct BatchLine {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: OneCommand,
}

/// What the operator works on.
#[derive(Subcommand)]
pub(crate) enum OneCommand {
    /// Organizations
    #[command(subcommand, disable_help_subcommand = true)]
    Org(OrgCommand),
    /// People and bots
    #[command(subcommand, disable_help_subcommand = true)]
    User(UserCommand),
    /// Flows and who is in them
    #[command(subcommand, disable_help_subcommand = true)]
    Flow(FlowCommand),
    /// Groups of users, who are mentioned together
    #[command(subcommand, disable_help_subcommand = true)]
    Group(GroupCommand),
    /// Applications that act for users by OAuth
    #[command(subcommand, disable_help_subcommand = true)]
    App(ApplicationCommand),
    /// What ties applications to flows
    #[command(subcommand, disable_help_subcommand = true)]
    Source(SourceCommand),
    /// Identity providers that make and change users (SCIM)
    #[command(subcommand, disable_help_subcommand = true)]
    Scim(ScimCommand),
}

impl OneCommand {
    /// Whether the command reads a password from the standard input.
    pub(crate) fn reads_input(&self) -> bool {
        match self {
            Self::User(UserCommand::Create(new)) => new.password.reads_input(),
            Self::User(UserCommand::SetPassword { password, .. }) => password.reads_input(),
            _ => false,
        }
    }
}

/// Commands about organizations.
#[derive(Subcommand)]
pub(crate) enum OrgCommand {
    /// Make an organization
    Create(NewOrganization),
    /// Change an organization
    Update(OrganizationUpdate),
    /// Domains within which the organization's identity provider makes users with proved addresses
    #[command(subcommand, disable_help_subcommand = true)]
    Domain(DomainCommand),
}

/// Commands about the domains of organizations.
#[derive(Subcommand)]
pub(crate) enum DomainCommand {
    /// Give a domain to an organization and all below it; it must be in the organization's hands
    Add(OrganizationDomain),
    /// Take a domain away; addresses that only the provider's word proved must be proved by mail again
    Remove(OrganizationDomain),
    /// Show the domains of an organization
    List {
        /// The organization, by the name in its URL
        #[arg(long, value_name = "ORG")]
        org: String,
    },
}

/// A domain and its organization.
#[derive(Args)]
pub(crate) struct OrganizationDomain {
    /// The organization, by the name in its URL
    #[arg(long, value_name = "ORG")]
    pub(crate) org: String,
    /// The domain of e-mail addresses, without those below it
    #[arg(long, value_name = "DOMAIN")]
    pub(crate) domain: String,
}

/// Commands about users.
#[derive(Subcommand)]
pub(crate) enum UserCommand {
    /// Make a user with an API token; one whose e-mail address is known joins the organization
    Create(NewUser),
    /// Make another API token for a user
    Token {
        /// The user's e-mail address
        #[arg(long, value_name = "EMAIL")]
        email: String,
    },
    /// Make a user inactive, which ends all that lets them in, or let them in again
    SetActive {
        /// The user's e-mail address
        #[arg(long, value_name = "EMAIL")]
        email: String,
        /// Whether the user is let in
        #[arg(long, value_name = "true|false", action = clap::ArgAction::Set)]
        active: bool,
    },
    /// Give a user a new password; the old one ends at once
    SetPassword {
        /// The user's e-mail address
        #[arg(long, value_name = "EMAIL")]
        email: String,
        #[command(flatten)]
        password: RequiredPassword,
    },
}

/// Commands about flows.
#[derive(Subcommand)]
pub(crate) enum FlowCommand {
    /// Make a flow
    Create(NewFlow),
    /// Add a user to a flow
    AddUser {
        /// The flow, by the names in its URL
        #[arg(long, value_name = "ORG/FLOW")]
        flow: FlowPath,
        /// The user's e-mail address
        #[arg(long, value_name = "EMAIL")]
        email: String,
    },
    /// Make a token for posting to a flow without a user
    Token {
        /// The flow, by the names in its URL
        #[arg(long, value_name = "ORG/FLOW")]
        flow: FlowPath,
    },
}

/// Commands about applications.
#[derive(Subcommand)]
pub(crate) enum ApplicationCommand {
    /// Register an application; its secret is shown once
    Create(NewApplication),
}

/// Commands about sources.
#[derive(Subcommand)]
pub(crate) enum SourceCommand {
    /// Make a source, which posts to the inbox of a flow; its token is shown once
    Create(NewSource),
}

/// Commands about identity providers.
#[derive(Subcommand)]
pub(crate) enum ScimCommand {
    /// Let an identity provider in; its token is shown once. Again, it gets another token
    Enable {
        /// The organization, by the name in its URL
        #[arg(long, value_name = "ORG")]
        org: String,
    },
    /// Tell the provider of a user that there is, by their e-mail address
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
    /// Show what was done to users by the provider and by operators, the latest first
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

/// `source create`
#[derive(Args)]
pub(crate) struct NewSource {
    /// The flow, by the names in its URL
    #[arg(long, value_name = "ORG/FLOW")]
    pub(crate) flow: FlowPath,
    /// The application, by its number or its client id
    #[arg(long, value_name = "ID")]
    pub(crate) app: String,
    /// Name that people see
    #[arg(long)]
    pub(crate) name: String,
}

/// `app create`
#[derive(Args)]
pub(crate) struct NewApplication {
    /// The organization it belongs to, by the name in its URL
    #[arg(long, value_name = "ORG")]
    pub(crate) org: String,
    /// Name that people see
    #[arg(long)]
    pub(crate) name: String,
    /// Where users may be sent back to with a code; may be repeated
    #[arg(long, value_name = "URI", required = true)]
    pub(crate) redirect_uri: Vec<RedirectUri>,
    /// Where its integrations are configured
    #[arg(long, value_name = "URI")]
    pub(crate) configuration_uri: Option<PageUri>,
    /// Where it is set up for a flow; {flow_id} and {flow_url} are filled in
    #[arg(long, value_name = "URI")]
    pub(crate) setup_uri: Option<PageUri>,
    /// Its picture
    #[arg(long, value_name = "URL")]
    pub(crate) icon: Option<PageUri>,
    /// It runs where it can keep no secret, such as in a browser: it gets none and must use PKCE
    #[arg(long)]
    pub(crate) public: bool,
    /// It may not ask for tokens with users' passwords
    #[arg(long)]
    pub(crate) no_password_grant: bool,
    /// Codes for it are not shown to users
    #[arg(long)]
    pub(crate) no_out_of_band: bool,
}

/// `org create`
#[derive(Args)]
pub(crate) struct NewOrganization {
    /// Name that people see
    #[arg(long)]
    pub(crate) name: String,
    /// Name in URLs [default: made from the name]
    #[arg(long, value_name = "NAME")]
    pub(crate) parameterized_name: Option<String>,
    /// How many people it may hold
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) user_limit: u32,
    /// The organization above it, by the name in its URL
    #[arg(long, value_name = "ORG")]
    pub(crate) parent: Option<String>,
}

/// `org update`
#[derive(Args)]
pub(crate) struct OrganizationUpdate {
    /// The organization, by the name in its URL
    #[arg(long, value_name = "ORG")]
    pub(crate) org: String,
    #[command(flatten)]
    pub(crate) fields: OrganizationFields,
}

/// What may be changed about an organization; something must be.
#[derive(Args)]
#[group(required = true, multiple = true)]
pub(crate) struct OrganizationFields {
    /// Name that people see
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Name in URLs; those it had still lead to it, and no other organization can have them
    #[arg(long, value_name = "NAME")]
    pub(crate) parameterized_name: Option<String>,
    /// How many people it may hold; where there are more already they stay, and nobody new comes in
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) user_limit: Option<u32>,
    /// Last day of its trial; there is no billing date then
    #[arg(long, value_name = "YYYY-MM-DD", conflicts_with = "billing_date")]
    pub(crate) trial_ends: Option<Day>,
    /// Day of its next bill, or none; it is no trial then
    #[arg(long, value_name = "YYYY-MM-DD|none")]
    pub(crate) billing_date: Option<BillingDate>,
    /// Whether it is active; an inactive one can only be read
    #[arg(long, value_name = "true|false")]
    pub(crate) active: Option<bool>,
}

/// The day of the next bill, if bills are sent at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BillingDate(pub(crate) Option<Day>);

impl FromStr for BillingDate {
    type Err = InvalidDay;

    fn from_str(text: &str) -> Result<Self, InvalidDay> {
        if text == "none" { Ok(Self(None)) } else { text.parse().map(|day| Self(Some(day))) }
    }
}

/// `user create`
#[derive(Args)]
pub(crate) struct NewUser {
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
    /// Let the user administer the organization
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

/// `flow create`
#[derive(Args)]
pub(crate) struct NewFlow {
    /// The organization, by the name in its URL
    #[arg(long, value_name = "ORG")]
    pub(crate) org: String,
    /// Name that people see
    #[arg(long)]
    pub(crate) name: String,
}

/// A flow as the operator names it: `organization/flow`, the names in its URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FlowPath {
    /// The organization's name in URLs.
    pub(crate) organization: String,
    /// The flow's name in URLs.
    pub(crate) flow: String,
}

impl FromStr for FlowPath {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('/') {
            Some((organization, flow))
                if !organization.is_empty() && !flow.is_empty() && !flow.contains('/') =>
            {
                Ok(Self { organization: organization.to_owned(), flow: flow.to_owned() })
            }
            _ => Err("a flow is named ORG/FLOW, such as acme/main"),
        }
    }
}
