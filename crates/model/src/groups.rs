//! Groups of users within an organization, who are mentioned together.

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
    /// Its members, ordered by number. All of them belong to the organization.
    pub users: Vec<UserId>,
    /// When it was made.
    pub created_at: Timestamp,
}
