//! The operator's commands about retention and legal holds.

use clap::{Args, Subcommand};
use eddyline_model::retention::MAX_RETENTION_DAYS;

use super::flows::FlowPath;

/// Commands about retention.
#[derive(Subcommand)]
pub(crate) enum RetentionCommand {
    /// Set for how long messages are kept; servers delete older ones with their files, which cannot
    /// be undone
    Set {
        #[command(flatten)]
        scope: RetentionScopeArgs,
        #[command(flatten)]
        period: PeriodArgs,
    },
    /// Delete a rule: a flow then has that of its organization, all else is kept for ever
    Clear {
        #[command(flatten)]
        scope: RetentionScopeArgs,
    },
    /// Show the rules
    Show,
    /// Delete now what has expired; servers do so once an hour
    Run,
}

/// What a rule is for.
#[derive(Args)]
#[group(required = true, multiple = false)]
pub(crate) struct RetentionScopeArgs {
    /// All flows of this organization without a rule of their own, by the name in its URL
    #[arg(long, value_name = "ORG")]
    pub(crate) org: Option<String>,
    /// This flow, by the names in its URL
    #[arg(long, value_name = "ORG/FLOW")]
    pub(crate) flow: Option<FlowPath>,
    /// All private conversations of the server
    #[arg(long)]
    pub(crate) private: bool,
}

/// For how long.
#[derive(Args)]
#[group(required = true, multiple = false)]
pub(crate) struct PeriodArgs {
    /// Days after which a message is deleted
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_RETENTION_DAYS)))]
    pub(crate) days: Option<u32>,
    /// Keep messages until they are deleted by hand
    #[arg(long)]
    pub(crate) forever: bool,
}

/// Commands about legal holds.
#[derive(Subcommand)]
pub(crate) enum HoldCommand {
    /// Place a legal hold: neither retention nor an erasure deletes what it covers
    #[command(after_help = HOLD)]
    Place {
        #[command(flatten)]
        target: HoldTargetArgs,
        /// Why, for those who list holds
        #[arg(long, value_name = "TEXT", default_value = "")]
        reason: String,
    },
    /// Release a legal hold
    Release {
        #[command(flatten)]
        target: HoldTargetArgs,
    },
    /// List the legal holds
    List,
}

const HOLD: &str = "\
A hold on an organization covers its flows, and the private conversations of its present and
removed members; one on a user what they wrote in flows, and their private conversations. What
users themselves edit or delete is not kept: take an export when you place a hold.";

/// What a hold is placed on.
#[derive(Args)]
#[group(required = true, multiple = false)]
pub(crate) struct HoldTargetArgs {
    /// An organization, by the name in its URL
    #[arg(long, value_name = "ORG")]
    pub(crate) org: Option<String>,
    /// A flow, by the names in its URL
    #[arg(long, value_name = "ORG/FLOW")]
    pub(crate) flow: Option<FlowPath>,
    /// A user, by e-mail address
    #[arg(long, value_name = "EMAIL")]
    pub(crate) email: Option<String>,
}
