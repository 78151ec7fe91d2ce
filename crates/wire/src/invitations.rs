//! Invitations.

use std::collections::BTreeMap;

use eddyline_model::flows::Flow;
use eddyline_model::invitations::Invitation as ModelInvitation;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::FlowUser;

/// An invitation into a flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Invitation {
    /// Number.
    pub id: i64,
    /// `pending`, or `accepted` once somebody has come in by it.
    pub state: String,
    /// The address that is invited.
    pub email: String,
    /// The flow's id.
    pub flow: String,
    /// Its address.
    pub url: String,
}

impl Invitation {
    /// An invitation into `flow`, whose own address is `url`.
    #[must_use]
    pub fn of(invitation: &ModelInvitation, flow: &Flow, url: String) -> Self {
        Self {
            id: invitation.id.0,
            state: invitation.state.as_str().to_owned(),
            email: invitation.email.clone(),
            flow: flow.id.0.clone(),
            url,
        }
    }
}

/// What became of a list of addresses. Each is in one of the parts, once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImportedInvitations {
    /// Invitations that were made or sent again.
    pub invitations: Vec<Invitation>,
    /// Members of the organization, who are in the flow now.
    pub added_users: Vec<FlowUser>,
    /// Objects with one address, or whatever stood in its place, and what is wrong with it.
    pub erroneous_emails: Vec<BTreeMap<String, String>>,
}
