//! The operator's commands.

use std::str::FromStr;

use clap::{Args, Parser, Subcommand};
use eddyline_model::Day;
use eddyline_model::applications::{PageUri, RedirectUri};
use eddyline_model::time::InvalidDay;

use super::audit::AuditArgs;
use super::deletion::{DELETION, DeletionArgs};
use super::erasure::{ERASURE, EraseArgs};
use super::flows::{FlowCommand, FlowPath};
use super::groups::GroupCommand;
use super::installation::{CheckConfigArgs, MailCommand};
use super::invite::{INVITE, InviteArgs};
use super::retention::{HoldCommand, RetentionCommand};
use super::scim::ScimCommand;
use super::users::{TokenCommand, UserCommand};

/// What the operator asks for.
#[derive(Subcommand)]
pub(crate) enum AdminCommand {
    #[command(flatten)]
    One(OneCommand),
    /// Run commands from the standard input, one a line, until it ends
    #[command(after_help = BATCH_EXAMPLES)]
    Batch,
    /// Show the configuration as the server reads it, with everything that is wrong with it
    CheckConfig(CheckConfigArgs),
    /// Delete organizations and users with everything that belongs to them, after a grace time
    #[command(after_help = DELETION)]
    Delete(DeletionArgs),
    /// Erase a person: everything the user wrote and uploaded, and all names and addresses
    #[command(after_help = ERASURE)]
    Erase(EraseArgs),
    /// How mail goes out
    #[command(subcommand, disable_help_subcommand = true)]
    Mail(MailCommand),
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
#[command(
    name = "line",
    no_binary_name = true,
    disable_help_flag = true,
    disable_help_subcommand = true
)]
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
    /// Invite the people of a file into flows
    #[command(after_help = INVITE)]
    Invite(InviteArgs),
    /// Groups of users, who are mentioned together
    #[command(subcommand, disable_help_subcommand = true)]
    Group(GroupCommand),
    /// Applications that act for users by OAuth
    #[command(subcommand, disable_help_subcommand = true)]
    App(ApplicationCommand),
    /// Integrations of applications into flows
    #[command(subcommand, disable_help_subcommand = true)]
    Source(SourceCommand),
    /// Identity providers that create and change users (SCIM)
    #[command(subcommand, disable_help_subcommand = true)]
    Scim(ScimCommand),
    /// Show the audit log: who did what to whom, newest first
    Audit(AuditArgs),
    /// Tokens of users and flows
    #[command(subcommand, disable_help_subcommand = true)]
    Token(TokenCommand),
    /// How long messages are kept
    #[command(subcommand, disable_help_subcommand = true)]
    Retention(RetentionCommand),
    /// Legal holds, which keep messages from being deleted by retention and erasures
    #[command(subcommand, disable_help_subcommand = true)]
    Hold(HoldCommand),
    /// The key that secrets of applications are sealed with
    #[command(subcommand, disable_help_subcommand = true)]
    SecretKey(SecretKeyCommand),
}

impl OneCommand {
    /// Whether the command reads the standard input, as things stand.
    pub(crate) fn reads_input(&self) -> bool {
        match self {
            Self::Invite(invite) => invite.reads_input(),
            Self::User(UserCommand::Create(new)) => new.password.reads_input(),
            Self::User(UserCommand::SetPassword { password, .. }) => password.reads_input(),
            _ => false,
        }
    }

    /// Whether the command makes a database where there is none.
    pub(crate) fn makes_database(&self) -> bool {
        matches!(self, Self::Org(OrgCommand::Create(_)))
    }
}

/// Commands about organizations.
#[derive(Subcommand)]
pub(crate) enum OrgCommand {
    /// Create an organization
    Create(CreateOrganizationArgs),
    /// List organizations
    List,
    /// Show an organization
    Show {
        /// The organization, by the name in its URL
        #[arg(long, value_name = "ORG")]
        org: String,
    },
    /// Change an organization
    Update(OrganizationUpdate),
    /// Domains in which the identity provider creates users with proved addresses
    #[command(subcommand, disable_help_subcommand = true)]
    Domain(DomainCommand),
}

/// Commands about the domains of organizations.
#[derive(Subcommand)]
pub(crate) enum DomainCommand {
    /// Add a domain to an organization and all below it; the organization must control the domain
    Add(OrganizationDomain),
    /// Remove a domain; addresses that only the provider's word proved must be proved by mail
    /// again
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

/// Commands about applications.
#[derive(Subcommand)]
pub(crate) enum ApplicationCommand {
    /// Register an application; its secret is shown once
    Create(CreateApplicationArgs),
    /// List applications
    List {
        /// Only those of this organization, by the name in its URL
        #[arg(long, value_name = "ORG")]
        org: Option<String>,
    },
}

/// Commands about sources.
#[derive(Subcommand)]
pub(crate) enum SourceCommand {
    /// Create a source, which posts to the inbox of a flow; its token is shown once
    Create(CreateSourceArgs),
    /// List the sources of a flow
    List {
        /// The flow, by the names in its URL
        #[arg(long, value_name = "ORG/FLOW")]
        flow: FlowPath,
    },
}

/// Commands about the secret key.
#[derive(Subcommand)]
pub(crate) enum SecretKeyCommand {
    /// Replace secrets that were sealed with a lost key: each application gets a new secret
    #[command(
        after_help = "Stop the servers of the database first. Tokens of the applications stay."
    )]
    Reset,
}

/// `source create`
#[derive(Args)]
pub(crate) struct CreateSourceArgs {
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
pub(crate) struct CreateApplicationArgs {
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
pub(crate) struct CreateOrganizationArgs {
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
        if text == "none" {
            Ok(Self(None))
        } else {
            text.parse().map(|day| Self(Some(day)))
        }
    }
}
