//! Groups of users within an organization, who are mentioned together.

use ring::digest::{Context, SHA256};

use crate::{GroupId, OrganizationId, Timestamp, UserId};

/// The most groups that an organization has.
pub const MAX_GROUPS: usize = 500;
/// How many members the groups of an organization have at most, all together.
pub const MAX_GROUP_MEMBERSHIPS: usize = 20_000;
/// The most members that a group has.
pub const MAX_GROUP_MEMBERS: usize = 1000;

/// A group of users of one organization. It gives them no rights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Number, which stays when the name changes.
    pub id: GroupId,
    /// The organization whose people it is made of.
    pub organization: OrganizationId,
    /// By which it is mentioned; see [`GroupName`](crate::names::GroupName).
    pub name: String,
    /// What an identity provider calls it.
    pub labels: GroupLabels,
    /// Its members, ordered by number. All of them belong to the organization.
    pub users: Vec<UserId>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// What an identity provider calls a group, beside its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupLabels {
    /// The name at the provider; `None` where it is that of the group.
    pub display_name: Option<String>,
    /// The provider's own id of the group.
    pub external_id: Option<String>,
}

impl Group {
    /// The name that an identity provider sees.
    #[must_use]
    pub fn display_name(&self) -> &str {
        self.labels.display_name.as_deref().unwrap_or(&self.name)
    }

    /// A number that tells states of the group apart. It is made from what identity providers see,
    /// so that whatever changes that changes the number.
    #[must_use]
    pub fn version(&self) -> i64 {
        let mut hash = Context::new(&SHA256);
        let external_id = self.labels.external_id.as_deref();
        for text in [Some(self.display_name()), external_id] {
            // No text has this byte.
            hash.update(text.unwrap_or_default().as_bytes());
            hash.update(&[0xff, u8::from(text.is_some())]);
        }
        for user in &self.users {
            hash.update(&user.0.to_be_bytes());
        }
        let mut number = [0; 8];
        number.copy_from_slice(&hash.finish().as_ref()[..8]);
        i64::from_be_bytes(number) & i64::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_that_a_provider_sees_changes_the_version() {
        let group = Group {
            id: GroupId(1),
            organization: OrganizationId(1),
            name: "team".into(),
            labels: GroupLabels::default(),
            users: vec![UserId(1), UserId(2)],
            created_at: Timestamp(1),
        };
        let labelled = |display_name: &str, external_id: &str| Group {
            labels: GroupLabels {
                display_name: Some(display_name.into()),
                external_id: Some(external_id.into()),
            },
            ..group.clone()
        };
        let others = [
            Group {
                name: "Team".into(),
                ..group.clone()
            },
            Group {
                users: vec![UserId(1)],
                ..group.clone()
            },
            labelled("team", ""),
            labelled("tea", "m"),
            labelled("The team", "x"),
        ];
        let all: std::collections::BTreeSet<i64> =
            others.iter().chain([&group]).map(Group::version).collect();
        assert_eq!(all.len(), others.len() + 1);
        assert!(all.iter().all(|version| *version >= 0));
        let same = Group {
            created_at: Timestamp(2),
            ..group.clone()
        };
        assert_eq!(same.version(), group.version());
    }
}
