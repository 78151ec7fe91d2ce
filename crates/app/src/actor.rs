//! Who asks.

use std::sync::Arc;

use eddyline_model::organizations::{OrganizationMembership, OrganizationRole};
use eddyline_model::policy::{Place, Standing};
use eddyline_model::scopes::{Scope, Scopes};
use eddyline_model::users::User;
use eddyline_model::{OrganizationId, RoomId, UserId};
use eddyline_storage::{Result as StoreResult, Session};

use crate::rooms::Room;
use crate::{Error, Result};

/// A user who has shown who they are.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The user.
    pub user: User,
    /// What the user is in which organization.
    pub organizations: Vec<OrganizationMembership>,
}

impl Caller {
    /// What the user is in an organization.
    #[must_use]
    pub fn role_in(&self, organization: OrganizationId) -> Option<OrganizationRole> {
        self.organizations.iter().find(|m| m.organization == organization).map(|m| m.role)
    }
}

/// Who asks, and with what rights.
#[derive(Clone, Debug)]
pub enum Actor {
    /// A user.
    User {
        /// Who it is.
        caller: Arc<Caller>,
        /// What the credentials cover.
        scopes: Scopes,
    },
    /// Somebody who holds a token of a flow.
    FlowToken {
        /// The flow's room.
        room: RoomId,
    },
}

impl Actor {
    /// The user who asks.
    ///
    /// # Errors
    ///
    /// [`Error::Denied`] for flow tokens, which cannot act as a user.
    pub fn user(&self) -> Result<&Arc<Caller>> {
        match self {
            Self::User { caller, .. } => Ok(caller),
            Self::FlowToken { .. } => Err(Error::Denied),
        }
    }

    /// The number of the user who asks, if it is one.
    #[must_use]
    pub fn user_id(&self) -> Option<UserId> {
        match self {
            Self::User { caller, .. } => Some(caller.user.id),
            Self::FlowToken { .. } => None,
        }
    }

    /// Checks that the credentials cover one of the scopes; any will do when none is named. Flow
    /// tokens carry none, and what they may do is decided by the flow.
    ///
    /// # Errors
    ///
    /// [`Error::MissingScope`].
    pub fn require_any(&self, wanted: &[Scope]) -> Result<()> {
        match self {
            Self::User { scopes, .. } if !wanted.is_empty() && !scopes.allows_any(Scopes::of(wanted)) => {
                Err(Error::MissingScope)
            }
            Self::User { .. } | Self::FlowToken { .. } => Ok(()),
        }
    }

    /// The same as the store has it now: somebody may have been removed, or have another name or address,
    /// since the request began.
    pub(crate) fn afresh(&self, session: &mut Session<'_>) -> StoreResult<Self> {
        let Self::User { caller, scopes } = self else { return Ok(self.clone()) };
        let organizations = session.memberships_of(caller.user.id)?;
        let user = session.user(caller.user.id)?.unwrap_or_else(|| caller.user.clone());
        let caller = Arc::new(Caller { user, organizations });
        Ok(Self::User { caller, scopes: *scopes })
    }

    /// What the actor is towards a room.
    pub(crate) fn standing(&self, room: &Room) -> Standing {
        match self {
            Self::FlowToken { room } => Standing::FlowToken { room: *room },
            Self::User { caller, .. } => Standing::User {
                user: caller.user.id,
                role: caller.role_in(room.flow.organization),
                place: match room.member(caller.user.id) {
                    None => Place::Outside,
                    Some(member) if member.blocked => Place::Blocked,
                    Some(_) => Place::Inside,
                },
            },
        }
    }
}
