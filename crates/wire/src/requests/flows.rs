//! Flows and their users.

use eddyline_model::UserId;
use eddyline_model::flows::AccessMode;
use eddyline_model::names::{FlowName, MAX_FLOW_NAME};

use crate::request;
use crate::request::{boolean, choice, id, parsed, text};

request! {
    /// Which flows are listed, and how.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ListFlows {
        /// 1 adds the users of each flow.
        users: bool = boolean().or(false),
        /// Only the flows behind the one with this id.
        after: Option<String> = text(1..=200),
    }
}

request! {
    /// Which flow is looked for.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct FindFlow {
        /// The flow's id.
        id: String = text(1..=200),
    }
}

request! {
    /// A new flow.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct CreateFlow {
        /// The flow's name.
        name: FlowName = parsed::<FlowName>(1..=MAX_FLOW_NAME).blank_if_missing(),
    }
}

request! {
    /// Changes of a flow; what is `None` stays as it is.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct UpdateFlow {
        /// A new name; the addresses stay.
        name: Option<FlowName> = parsed::<FlowName>(1..=MAX_FLOW_NAME),
        /// What the flow is for.
        description: Option<String> = text(0..=1000),
        /// Whether your clients show a tab; true joins.
        open: Option<bool> = boolean(),
        /// Whether the flow is archived.
        disabled: Option<bool> = boolean(),
        /// Who may come in.
        access_mode: Option<AccessMode> = choice(&AccessMode::WORDS),
    }
}

request! {
    /// Who is added to a flow.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct AddFlowUser {
        /// A user of the organization.
        id: UserId = id::<UserId>(),
    }
}

request! {
    /// Whether a user is kept out of a flow.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct BlockFlowUser {
        /// true blocks, false unblocks.
        disabled: bool = boolean(),
    }
}
