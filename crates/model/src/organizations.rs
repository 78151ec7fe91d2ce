//! Organizations: who pays, how many people they may hold, and who administers them.

use crate::time::Day;
use crate::{OrganizationId, Timestamp, UserId};

/// An organization (specification, section 2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Organization {
    /// Persistent id.
    pub id: OrganizationId,
    /// Display name.
    pub name: String,
    /// The name in URLs; its owner can change it.
    pub parameterized_name: String,
    /// How many people it may hold.
    pub user_limit: i64,
    /// How many people it holds.
    pub user_count: i64,
    /// An inactive organization can be read only.
    pub active: bool,
    /// The organization above this one, if any.
    pub parent: Option<OrganizationId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// What is paid for.
    pub subscription: OrganizationSubscription,
}

/// What an organization's subscription says (specification, section 2). Days are `YYYY-MM-DD`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrganizationSubscription {
    /// The organization tries the service until a day.
    Trial {
        /// The last day.
        ends: Day,
    },
    /// It is paid for.
    Paid {
        /// The day of the next bill; `None` where nobody sends bills.
        next_bill: Option<Day>,
    },
}

/// What somebody is in an organization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrganizationRole {
    /// Belongs to it.
    Member,
    /// Belongs to it and administers it.
    Administrator,
}

/// That a user belonged to an organization that is closed, since it is to be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClosedOrganization {
    /// The organization.
    pub organization: OrganizationId,
    /// What the user was in it.
    pub role: OrganizationRole,
    /// When it will be deleted.
    pub due_at: Timestamp,
}

/// That a user belongs to an organization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrganizationMembership {
    /// The organization.
    pub organization: OrganizationId,
    /// The user.
    pub user: UserId,
    /// What the user is in it.
    pub role: OrganizationRole,
}
