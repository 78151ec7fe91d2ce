//! The callers, organizations, applications and networks that resources are charged to.

use std::net::IpAddr;

use eddyline_model::{ApplicationId, OrganizationId, UserId};

/// A caller, organization, application or network that has a share of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum QuotaKey {
    /// A user, whichever credentials the user shows.
    User(UserId),
    /// All tokens of an organization's flows that an operator made.
    Tokens(OrganizationId),
    /// An organization.
    Organization(OrganizationId),
    /// All users who belong to no organization, together: they have one organization's share.
    Outsiders,
    /// An application.
    Application(ApplicationId),
    /// An address of IPv4.
    NetworkV4(u32),
    /// The first 64 bits of an address of IPv6.
    NetworkV6(u64),
}

impl QuotaKey {
    /// The network of a client, as [`network_of`](crate::network_of) names it.
    #[must_use]
    pub fn network(address: IpAddr) -> Self {
        match crate::network_of(address) {
            IpAddr::V4(address) => Self::NetworkV4(address.to_bits()),
            IpAddr::V6(address) => Self::NetworkV6((address.to_bits() >> 64) as u64),
        }
    }
}

/// The keys that one use of a resource counts for: a caller, the caller's organization, and one
/// more. They are stored inline, because every stream and every post has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaKeys {
    caller: QuotaKey,
    organization: Option<QuotaKey>,
    other: Option<QuotaKey>,
}

impl QuotaKeys {
    /// Those of a caller and its organization.
    pub(super) const fn of(caller: QuotaKey, organization: QuotaKey) -> Self {
        Self {
            caller,
            organization: Some(organization),
            other: None,
        }
    }

    /// The same, and one other key besides, in the place of an earlier one.
    #[must_use]
    pub fn and(self, other: QuotaKey) -> Self {
        Self {
            other: Some(other),
            ..self
        }
    }

    /// The key of the caller.
    #[must_use]
    pub const fn caller(self) -> QuotaKey {
        self.caller
    }

    /// The key of the organization; of a caller who counts for none, its own.
    pub(crate) fn group(self) -> QuotaKey {
        self.organization.unwrap_or(self.caller)
    }

    /// Whether there is a key that callers of several organizations may share.
    pub(super) const fn has_other(self) -> bool {
        self.other.is_some()
    }

    /// The keys, of which the first is the caller.
    pub fn iter(self) -> impl Iterator<Item = QuotaKey> {
        [Some(self.caller), self.organization, self.other]
            .into_iter()
            .flatten()
    }
}

impl From<QuotaKey> for QuotaKeys {
    fn from(only: QuotaKey) -> Self {
        Self {
            caller: only,
            organization: None,
            other: None,
        }
    }
}

/// The user and the organization that pay for what an [`Actor`](crate::Actor) uses.
///
/// The organization is the first that the user belongs to, not the one a request is about:
/// otherwise the members of one organization could use the shares of many by making flows in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaSubject {
    /// The user; `None` for tokens that an operator made.
    pub user: Option<UserId>,
    /// The organization; `None` for a user who belongs to none.
    pub organization: Option<OrganizationId>,
}

impl QuotaSubject {
    /// An organization as a whole: its identity provider, or all of its imports.
    #[must_use]
    pub const fn organization(id: OrganizationId) -> Self {
        Self {
            user: None,
            organization: Some(id),
        }
    }

    /// The keys under which the use of a resource is counted.
    #[must_use]
    pub fn quota_keys(self) -> QuotaKeys {
        let organization = self
            .organization
            .map_or(QuotaKey::Outsiders, QuotaKey::Organization);
        let caller = match self {
            Self {
                user: Some(user), ..
            } => QuotaKey::User(user),
            Self {
                user: None,
                organization: Some(organization),
            } => QuotaKey::Tokens(organization),
            Self {
                user: None,
                organization: None,
            } => return organization.into(),
        };
        QuotaKeys::of(caller, organization)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_an_address_or_64_bits_of_one() {
        let network = |text: &str| QuotaKey::network(text.parse().expect("it is an address"));
        assert_eq!(network("192.0.2.1"), QuotaKey::NetworkV4(0xC000_0201));
        assert_eq!(network("::ffff:192.0.2.1"), network("192.0.2.1"));
        assert_eq!(network("2001:db8:1:2::3"), network("2001:db8:1:2:ffff::9"));
        assert_ne!(network("2001:db8:1:2::3"), network("2001:db8:1:3::3"));
    }

    #[test]
    fn tokens_without_a_user_are_charged_to_their_organization() {
        let organization = Some(OrganizationId(1));
        let keys = |caller| QuotaKeys::of(caller, QuotaKey::Organization(OrganizationId(1)));
        let tokens = QuotaSubject {
            user: None,
            organization,
        };
        assert_eq!(
            tokens.quota_keys(),
            keys(QuotaKey::Tokens(OrganizationId(1)))
        );
        assert_eq!(
            QuotaSubject {
                user: Some(UserId(1)),
                organization
            }
            .quota_keys(),
            keys(QuotaKey::User(UserId(1)))
        );
    }
}
