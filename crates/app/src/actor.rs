//! Who asks.

use std::sync::Arc;

use eddyline_auth::TokenHash;
use eddyline_model::organizations::{ClosedOrganization, OrganizationMembership, OrganizationRole};
use eddyline_model::policy::Refusal;
use eddyline_model::scopes::{Scope, Scopes};
use eddyline_model::sources::{ThreadOwner, ThreadSource};
use eddyline_model::users::User;
use eddyline_model::{
    ApplicationId, CredentialId, GrantId, OrganizationId, RoomId, Timestamp, UserId,
};
use eddyline_storage::{Reader, Result as StoreResult};
use eddyline_streaming::{CredentialKey, OpenedWith};

use crate::quota::{QuotaKeys, QuotaSubject};
use crate::{Error, Result};

/// Names the streams that a credential let open.
pub(crate) fn key(credential: CredentialId) -> CredentialKey {
    CredentialKey(credential.0.cast_unsigned())
}

/// Names the streams that a grant let open. Numbers of credentials are positive.
pub(crate) fn grant_key(grant: GrantId) -> CredentialKey {
    CredentialKey((-grant.0).cast_unsigned())
}

/// A user who has shown who they are.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The user.
    pub user: User,
    /// What the user is in which organization.
    pub organizations: Vec<OrganizationMembership>,
    /// The organizations that the user belonged to and that are closed.
    pub closed: Vec<ClosedOrganization>,
}

impl Caller {
    /// What the user is in an organization.
    #[must_use]
    pub fn role_in(&self, organization: OrganizationId) -> Option<OrganizationRole> {
        self.organizations
            .iter()
            .find(|m| m.organization == organization)
            .map(|m| m.role)
    }

    /// The error for an action in an organization that the rules refuse. Former members of a closed
    /// organization get the day on which it will be deleted.
    pub(crate) fn refused(&self, organization: OrganizationId, refusal: Refusal) -> Error {
        let of = |closed: &&ClosedOrganization| closed.organization == organization;
        match self.closed.iter().find(of) {
            Some(closed) => Error::closed(closed.due_at),
            None => refusal.into(),
        }
    }

    /// The user and the organization whose quotas the requests count against.
    #[must_use]
    pub fn quota_subject(&self) -> QuotaSubject {
        let first = self.organizations.first();
        QuotaSubject {
            user: Some(self.user.id),
            organization: first.map(|membership| membership.organization),
        }
    }
}

/// What a user has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential {
    /// The password; this is a digest of the hash that it was checked against.
    Password(TokenHash),
    /// The session of a browser.
    Session(TokenHash),
    /// An API token.
    ApiToken(TokenHash),
    /// An access token of an application.
    AccessToken(AccessCredential),
}

/// An access token that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessCredential {
    /// The token.
    pub token: TokenHash,
    /// What it came from.
    pub grant: GrantId,
    /// The application.
    pub application: ApplicationId,
    /// When it ends.
    pub expires_at: Timestamp,
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
        /// What they were.
        credential: Credential,
        /// The epoch of ended credentials in which they were found to hold, if it was known.
        epoch: Option<u64>,
    },
    /// Somebody who holds a token of a flow.
    FlowToken {
        /// The flow's room.
        room: RoomId,
        /// The source that the token is of; `None` for the flow's own.
        source: Option<Arc<ThreadSource>>,
        /// Whose threads it posts to.
        thread_owner: ThreadOwner,
        /// The token.
        token: TokenHash,
        /// The epoch of ended credentials in which it was found to hold, if it was known.
        epoch: Option<u64>,
        /// To whom its use of resources is charged.
        quota_subject: QuotaSubject,
    },
}

impl Actor {
    /// The user who asks.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] for flow tokens, which cannot act as a user.
    pub fn user(&self) -> Result<&Arc<Caller>> {
        match self {
            Self::User { caller, .. } => Ok(caller),
            Self::FlowToken { .. } => Err(Error::denied()),
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

    /// Whether it is an integration that asks: with a flow token, or a user through an application.
    /// Only they post into the inbox.
    #[must_use]
    pub fn may_integrate(&self) -> bool {
        match self {
            Self::FlowToken { .. } => true,
            Self::User { credential, .. } => matches!(credential, Credential::AccessToken(_)),
        }
    }

    /// What the user has shown, if it is one who asks.
    #[must_use]
    pub fn credential(&self) -> Option<Credential> {
        match self {
            Self::User { credential, .. } => Some(*credential),
            Self::FlowToken { .. } => None,
        }
    }

    /// When the right to ask ends by itself, if it does.
    #[must_use]
    pub fn ends_at(&self) -> Option<Timestamp> {
        match self.credential() {
            Some(Credential::AccessToken(token)) => Some(token.expires_at),
            _ => None,
        }
    }

    /// What a stream is opened with, so that it ends with that.
    pub(crate) fn opens_with(&self) -> Option<OpenedWith> {
        let alone = |hash: TokenHash| OpenedWith {
            credential: key(hash.credential()),
            family: None,
        };
        match self.credential()? {
            Credential::Password(_) => None,
            Credential::Session(hash) | Credential::ApiToken(hash) => Some(alone(hash)),
            Credential::AccessToken(access) => Some(OpenedWith {
                family: Some(grant_key(access.grant)),
                ..alone(access.token)
            }),
        }
    }

    /// Checks that the credentials cover one of the scopes; any will do when none is named. Flow
    /// tokens carry none, and what they may do is decided by the flow.
    ///
    /// # Errors
    ///
    /// [`Error::missing_scope`].
    pub fn require_any(&self, wanted: &[Scope]) -> Result<()> {
        match self {
            Self::User { scopes, .. }
                if !wanted.is_empty() && !scopes.allows_any(Scopes::of(wanted)) =>
            {
                Err(Error::missing_scope(Scopes::of(wanted)))
            }
            Self::User { .. } | Self::FlowToken { .. } => Ok(()),
        }
    }

    /// The same as the store has it now: somebody may have been removed, or have another name or
    /// address, since the request began.
    pub(crate) fn reload(&self, reader: &mut Reader<'_>) -> StoreResult<Self> {
        let Self::User {
            caller,
            scopes,
            credential,
            epoch,
        } = self
        else {
            return Ok(self.clone());
        };
        let organizations = reader.organization_members().list_of_user(caller.user.id)?;
        let user = reader
            .users()
            .find(caller.user.id)?
            .unwrap_or_else(|| caller.user.clone());
        let caller = Arc::new(Caller {
            user,
            organizations,
            // It only words refusals, and writes need not wait for another query.
            closed: caller.closed.clone(),
        });
        Ok(Self::User {
            caller,
            scopes: *scopes,
            credential: *credential,
            epoch: *epoch,
        })
    }

    /// The epoch of ended credentials in which the credential was found to hold, if it was known.
    pub(crate) fn epoch(&self) -> Option<u64> {
        match self {
            Self::User { epoch, .. } | Self::FlowToken { epoch, .. } => *epoch,
        }
    }

    /// The same caller, whose credential was checked in this epoch.
    pub(crate) fn checked_in(mut self, now: Option<u64>) -> Self {
        match &mut self {
            Self::User { epoch, .. } | Self::FlowToken { epoch, .. } => *epoch = now,
        }
        self
    }

    /// What a caller is told whose credential has ended.
    pub(crate) fn ended(&self) -> Error {
        match self {
            Self::FlowToken {
                source: Some(_), ..
            } => Error::source_removed(),
            Self::FlowToken { source: None, .. } => {
                Error::unauthenticated("The flow token is not valid")
            }
            Self::User {
                credential: Credential::AccessToken(_),
                ..
            } => Error::invalid_token(),
            Self::User { .. } => Error::unauthenticated("The credentials are not valid"),
        }
    }

    /// The user and the organization whose quotas its requests count against.
    #[must_use]
    pub fn quota_subject(&self) -> QuotaSubject {
        match self {
            Self::User { caller, .. } => caller.quota_subject(),
            Self::FlowToken { quota_subject, .. } => *quota_subject,
        }
    }

    /// The keys under which its use of resources is counted.
    #[must_use]
    pub fn quota_keys(&self) -> QuotaKeys {
        self.quota_subject().quota_keys()
    }

    /// The application through which a user asks.
    pub(crate) fn application(&self) -> Option<ApplicationId> {
        match self.credential() {
            Some(Credential::AccessToken(access)) => Some(access.application),
            _ => None,
        }
    }
}
