//! Groups of users.

use eddyline_model::groups::Group as ModelGroup;
use eddyline_model::names::nick_key;
use eddyline_model::organizations::Organization as ModelOrganization;
use eddyline_model::tags::group_tag;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A group of users of an organization, who are mentioned together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Group {
    /// Persistent id.
    pub id: i64,
    /// By which it is mentioned, after an `@`.
    pub name: String,
    /// The tag of messages that mention it.
    pub tag: String,
    /// Its address.
    pub url: String,
    /// The ids of its members.
    pub users: Vec<i64>,
}

impl Group {
    /// A group of this organization, with addresses under `base_url`.
    #[must_use]
    pub fn of(group: &ModelGroup, organization: &ModelOrganization, base_url: &str) -> Self {
        let organization = &organization.parameterized_name;
        Self {
            id: group.id.0,
            name: group.name.clone(),
            tag: group_tag(&nick_key(&group.name)),
            url: format!(
                "{base_url}/organizations/{organization}/groups/{}",
                group.id
            ),
            users: group.users.iter().map(|user| user.0).collect(),
        }
    }
}
