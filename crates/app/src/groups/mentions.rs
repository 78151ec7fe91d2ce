//! The groups of an organization as texts mention them.

use std::collections::HashMap;

use eddyline_model::names::nick_key;
use eddyline_model::{OrganizationId, UserId};
use eddyline_storage::{Reader, Result as StoreResult};

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

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }
}
