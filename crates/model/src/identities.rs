//! Who provides an organization's users from outside, and whom.

use crate::{OrganizationId, Timestamp, UserId};

/// The longest name by which a provider knows a user, in characters.
pub const MAX_SUBJECT_CHARS: usize = 255;

/// An identity provider that makes, changes and removes users of an organization (specification,
/// section 4, SCIM). An organization has at most one.
#[derive(Clone, PartialEq, Eq)]
pub struct Provider {
    /// The organization.
    pub organization: OrganizationId,
    /// What the provider's addresses name the organization by.
    pub uid: String,
    /// The digest of the token it shows.
    pub token_hash: Vec<u8>,
    /// When that token was last used; noted once an hour. `None` before.
    pub used_at: Option<Timestamp>,
}

impl std::fmt::Debug for Provider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Provider")
            .field("organization", &self.organization)
            .finish_non_exhaustive()
    }
}

/// That a provider knows a user. A user is known to one provider at most. It decides about the
/// whole account while that belongs to its organization and those below only, and otherwise about
/// the membership there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The user.
    pub user: UserId,
    /// The organization whose provider it is.
    pub organization: OrganizationId,
    /// The subject name id, by which single sign-on names the user; usually an e-mail address, and
    /// compared like one ([`crate::names::email_key`]).
    pub subject: String,
    /// What the provider calls the user for itself.
    pub external_id: Option<String>,
    /// Counts the changes that the provider would see.
    pub version: i64,
    /// When the provider made the user, or was told of them.
    pub created_at: Timestamp,
    /// When something that the provider sees changed last.
    pub updated_at: Timestamp,
    /// The address that the provider stated last, in the form by which addresses are compared,
    /// until a mailed link proves that it is the owner's. The domains of an organization decide
    /// whether it counts as proved.
    pub stated_email: Option<String>,
    /// Since when the provider keeps the user out of its organization by `active=false`, while the
    /// account belongs to another organization too.
    pub suspended_at: Option<Timestamp>,
    /// When the provider removed the user. The identity stays, so that the same account comes back
    /// with the same subject.
    pub removed_at: Option<Timestamp>,
}
