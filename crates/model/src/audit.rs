//! Records of what was done to an organization's users from outside.

use crate::{OrganizationId, Timestamp, UserId};

/// One change, for those who ask later who did it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// Whose users are concerned.
    pub organization: OrganizationId,
    /// When.
    pub at: Timestamp,
    /// Who: `scim:` and the uid of the provider, `user:` and the number of an administrator, or
    /// `operator`.
    pub actor: String,
    /// What was done, such as `user.create`.
    pub action: String,
    /// To whom, if to somebody.
    pub user: Option<UserId>,
    /// What changed, as a JSON object without secrets.
    pub detail: String,
}
