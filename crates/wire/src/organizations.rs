//! Organizations.

use eddyline_model::organizations::Organization;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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
    pub fn of(organization: &Organization, base_url: &str) -> Self {
        Self {
            id: organization.id.0,
            name: organization.name.clone(),
            parameterized_name: organization.parameterized_name.clone(),
            user_limit: organization.user_limit,
            user_count: organization.user_count,
            active: organization.active,
            url: format!("{base_url}/organizations/{}", organization.parameterized_name),
        }
    }
}
