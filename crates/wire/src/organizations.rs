//! Organizations.

use eddyline_model::deletion::PendingDeletion;
use eddyline_model::groups::Group as ModelGroup;
use eddyline_model::organizations::{
    Organization as ModelOrganization, OrganizationSubscription as ModelSubscription,
};
use eddyline_model::users::User;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::groups::Group;

/// The organization a flow belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OrganizationSummary {
    /// Persistent id.
    pub id: i64,
    /// Display name.
    pub name: String,
    /// The name in URLs.
    pub parameterized_name: String,
    /// The most users its subscription allows.
    pub user_limit: i64,
    /// How many users it has.
    pub user_count: i64,
    /// Whether it may be written to.
    pub active: bool,
    /// Its address.
    pub url: String,
}

impl OrganizationSummary {
    /// The summary of an organization, with addresses under `base_url`.
    #[must_use]
    pub fn of(organization: &ModelOrganization, base_url: &str) -> Self {
        Self {
            id: organization.id.0,
            name: organization.name.clone(),
            parameterized_name: organization.parameterized_name.clone(),
            user_limit: organization.user_limit,
            user_count: organization.user_count,
            active: organization.active,
            url: format!(
                "{base_url}/organizations/{}",
                organization.parameterized_name
            ),
        }
    }
}

/// An organization, as its people see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Organization {
    /// Persistent id.
    pub id: i64,
    /// The name in URLs.
    pub parameterized_name: String,
    /// Display name.
    pub name: String,
    /// The most users its subscription allows.
    pub user_limit: i64,
    /// How many users it has.
    pub user_count: i64,
    /// Whether it may be written to.
    pub active: bool,
    /// Its address.
    pub url: String,
    /// What is paid for.
    pub subscription: OrganizationSubscription,
    /// Its people.
    pub users: Vec<OrganizationUser>,
    /// Groups of them, which can be mentioned.
    #[serde(default)]
    pub groups: Vec<Group>,
}

/// What an organization's subscription says. Days are written `YYYY-MM-DD`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
#[schema(as = Subscription)]
pub enum OrganizationSubscription {
    /// The organization tries the service.
    Trial {
        /// `true`.
        trial: bool,
        /// The last day of it.
        trial_ends: String,
    },
    /// It is paid for.
    Paid {
        /// `false`.
        trial: bool,
        /// The day of the next bill; null where nobody sends bills.
        billing_date: Option<String>,
    },
}

/// Somebody in an organization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OrganizationUser {
    /// Number.
    pub id: i64,
    /// Full name.
    pub name: String,
    /// Address.
    pub email: String,
    /// Whether the user administers the organization.
    pub admin: bool,
}

/// The deletion of an organization that waits for its day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ScheduledDeletion {
    /// Number of the administrator who requested it; null where an operator of the server did.
    pub requested_by: Option<i64>,
    /// When it was requested, ISO 8601.
    pub requested_at: String,
    /// From when on the server deletes the organization, ISO 8601.
    pub due_at: String,
    /// Whether the caller may cancel it now.
    pub cancellable: bool,
}

impl ScheduledDeletion {
    /// A deletion, for a caller who may cancel it or not.
    #[must_use]
    pub fn of(pending: &PendingDeletion, cancellable: bool) -> Self {
        Self {
            requested_by: pending.requester().map(|user| user.0),
            requested_at: pending.requested_at.to_string(),
            due_at: pending.due_at.to_string(),
            cancellable,
        }
    }
}

impl Organization {
    /// An organization with its people, each with whether they administer it, its groups, and
    /// addresses under `base_url`.
    #[must_use]
    pub fn of(
        organization: &ModelOrganization,
        people: &[(User, bool)],
        groups: &[ModelGroup],
        base_url: &str,
    ) -> Self {
        let summary = OrganizationSummary::of(organization, base_url);
        let users = people.iter().map(|(user, admin)| OrganizationUser {
            id: user.id.0,
            name: user.name.clone(),
            email: user.email.clone(),
            admin: *admin,
        });
        Self {
            id: summary.id,
            parameterized_name: summary.parameterized_name,
            name: summary.name,
            user_limit: summary.user_limit,
            user_count: summary.user_count,
            active: summary.active,
            url: summary.url,
            subscription: OrganizationSubscription::of(&organization.subscription),
            users: users.collect(),
            groups: groups
                .iter()
                .map(|group| Group::of(group, organization, base_url))
                .collect(),
        }
    }
}

impl OrganizationSubscription {
    fn of(subscription: &ModelSubscription) -> Self {
        match subscription {
            ModelSubscription::Trial { ends } => Self::Trial {
                trial: true,
                trial_ends: ends.to_string(),
            },
            ModelSubscription::Paid { next_bill } => Self::Paid {
                trial: false,
                billing_date: next_bill.map(|day| day.to_string()),
            },
        }
    }
}
