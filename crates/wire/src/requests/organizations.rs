//! Organizations and their groups.

use eddyline_model::groups::MAX_GROUP_MEMBERS;
use eddyline_model::names::{GroupName, MAX_FLOW_NAME, MAX_NICK};
use eddyline_model::{OrganizationId, UserId};

use crate::request;
use crate::request::{Ids, id, ids, parsed, unchecked_text};

request! {
    /// Which organization is looked for.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct FindOrganization {
        /// The organization's persistent id.
        id: OrganizationId = id::<OrganizationId>(),
    }
}

request! {
    /// A new name of an organization.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct RenameOrganization {
        /// The name; the addresses stay.
        name: String = unchecked_text(1..=MAX_FLOW_NAME).not_empty(),
    }
}

request! {
    /// The deletion of an organization, with a guard against accidents.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct DeleteOrganization {
        /// The name of the organization in URLs once more, as it is now.
        name: String = unchecked_text(1..=MAX_FLOW_NAME).not_empty(),
    }
}

fn members() -> Ids<UserId> {
    ids(MAX_GROUP_MEMBERS, "must be ids of users")
}

request! {
    /// A new group of users.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct CreateGroup {
        /// As in nicks, and at least one character is no digit; no nick of the organization.
        name: GroupName = parsed::<GroupName>(1..=MAX_NICK),
        /// Ids of all members, as an array or comma-separated.
        users: Option<Vec<UserId>> = members(),
    }
}

request! {
    /// Changes of a group; what is `None` stays as it is.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct UpdateGroup {
        /// As in nicks, and at least one character is no digit; no nick of the organization.
        name: Option<GroupName> = parsed::<GroupName>(1..=MAX_NICK),
        /// Ids of all members from then on, as an array or comma-separated.
        users: Option<Vec<UserId>> = members(),
    }
}

request! {
    /// Who is added to a group.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct AddGroupMember {
        /// The user's id.
        id: UserId = id::<UserId>(),
    }
}
