//! The operator's commands about flows.

use std::fmt;
use std::str::FromStr;

use clap::{Args, Subcommand};

/// Commands about flows.
#[derive(Subcommand)]
pub(crate) enum FlowCommand {
    /// Create a flow
    Create(CreateFlowArgs),
    /// List the flows of an organization
    List {
        /// The organization, by the name in its URL
        #[arg(long, value_name = "ORG")]
        org: String,
    },
    /// Add a user to a flow
    AddUser(FlowUser),
    /// Remove a user from a flow
    RemoveUser(FlowUser),
    /// Archive a flow, or bring it back
    Archive {
        /// The flow, by the names in its URL
        #[arg(long, value_name = "ORG/FLOW")]
        flow: FlowPath,
        /// Bring it back
        #[arg(long)]
        undo: bool,
    },
    /// Create a token for posting to a flow without a user
    Token {
        /// The flow, by the names in its URL
        #[arg(long, value_name = "ORG/FLOW")]
        flow: FlowPath,
    },
}

/// `flow create`
#[derive(Args)]
pub(crate) struct CreateFlowArgs {
    /// The organization, by the name in its URL
    #[arg(long, value_name = "ORG")]
    pub(crate) org: String,
    /// Name that people see
    #[arg(long)]
    pub(crate) name: String,
}

/// A flow and a user.
#[derive(Args)]
pub(crate) struct FlowUser {
    /// The flow, by the names in its URL
    #[arg(long, value_name = "ORG/FLOW")]
    pub(crate) flow: FlowPath,
    /// The user's e-mail address
    #[arg(long, value_name = "EMAIL")]
    pub(crate) email: String,
}

/// A flow as the operator names it: `organization/flow`, the names in its URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FlowPath {
    /// The organization's name in URLs.
    pub(crate) organization: String,
    /// The flow's name in URLs.
    pub(crate) flow: String,
}

impl fmt::Display for FlowPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.organization, self.flow)
    }
}

impl FromStr for FlowPath {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('/') {
            Some((organization, flow))
                if !organization.is_empty() && !flow.is_empty() && !flow.contains('/') =>
            {
                Ok(Self {
                    organization: organization.to_owned(),
                    flow: flow.to_owned(),
                })
            }
            _ => Err("a flow is named ORG/FLOW, such as acme/main"),
        }
    }
}
