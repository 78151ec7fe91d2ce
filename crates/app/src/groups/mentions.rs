//! The groups of an organization as texts mention them.

use std::collections::HashMap;

use eddyline_model::names::nick_key;
use eddyline_model::{OrganizationId, UserId};
use eddyline_storage::{Reader, Result as StoreResult};

/// Of how many groups of a user a list of mentions finds what mentions them.
pub(crate) const MENTIONED_GROUPS: usize = 50;

/// The groups of an organization, by the keys of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MentionGroups {
    members: HashMap<String, Box<[UserId]>>,
}

impl MentionGroups {
    pub(crate) fn load(reader: &mut Reader<'_>, organization: OrganizationId) -> StoreResult<Self> {
        let found = reader.groups().list_of_organizations(&[organization])?;
        let members = found
            .into_iter()
            .map(|group| (nick_key(&group.name), group.users.into()))
            .collect();
        Ok(Self { members })
    }

    /// The members of the group whose name has this key.
    pub(crate) fn members(&self, key: &str) -> Option<&[UserId]> {
        self.members.get(key).map(AsRef::as_ref)
    }

    /// The keys of the groups that a user is in, in their order, [`MENTIONED_GROUPS`] at most.
    pub(crate) fn of_user(&self, user: UserId) -> Vec<&str> {
        let found = self.members.iter();
        let found = found.filter(|(_, members)| members.binary_search(&user).is_ok());
        let mut keys: Vec<&str> = found.map(|(key, _)| key.as_str()).collect();
        keys.sort_unstable();
        keys.truncate(MENTIONED_GROUPS);
        keys
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_groups_of_a_user_are_looked_for() {
        let groups = |count: usize| MentionGroups {
            members: (0..count)
                .map(|number| (format!("g{number:03}"), [UserId(1), UserId(7)].into()))
                .collect(),
        };
        let all = groups(MENTIONED_GROUPS);
        assert_eq!(all.of_user(UserId(7)).len(), MENTIONED_GROUPS);
        assert_eq!(all.of_user(UserId(3)), [""; 0]);
        let more = groups(MENTIONED_GROUPS + 1);
        assert_eq!(more.of_user(UserId(7)), all.of_user(UserId(7)), "the first");
    }
}
