//! Users.

use eddyline_model::users::User as ModelUser;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct User {
    /// Number.
    pub id: i64,
    /// Address.
    pub email: String,
    /// Full name.
    pub name: String,
    /// Short name.
    pub nick: String,
    /// URL of the picture.
    pub avatar: String,
    /// URL of the user's own page; empty when there is none.
    pub website: String,
    /// Whether the user administers the organization; in an organization's list only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admin: Option<bool>,
}

impl User {
    /// A user, with addresses under `base_url`.
    #[must_use]
    pub fn of(user: &ModelUser, base_url: &str) -> Self {
        Self {
            id: user.id.0,
            email: user.email.clone(),
            name: user.name.clone(),
            nick: user.nick.clone(),
            avatar: avatar_url(&user.avatar, base_url),
            website: user.website.clone(),
            admin: None,
        }
    }

    /// A user as somebody of an organization, with addresses under `base_url`.
    #[must_use]
    pub fn of_organization(user: &ModelUser, admin: bool, base_url: &str) -> Self {
        Self {
            admin: Some(admin),
            ..Self::of(user, base_url)
        }
    }
}

/// A user who has left a flow, or was removed from it. Beyond the specification: messages name their
/// author by number, and clients need the name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FormerUser {
    /// Number.
    pub id: i64,
    /// Short name, as it was then.
    pub nick: String,
    /// Full name, as it was then.
    pub name: String,
    /// URL of the picture.
    pub avatar: String,
}

impl FormerUser {
    /// A user who has left, with addresses under `base_url`.
    #[must_use]
    pub fn of(user: &ModelUser, base_url: &str) -> Self {
        Self {
            id: user.id.0,
            nick: user.nick.clone(),
            name: user.name.clone(),
            avatar: avatar_url(&user.avatar, base_url),
        }
    }
}

/// The address of a picture under `base_url`. Its size in pixels comes behind it.
#[must_use]
pub fn avatar_url(avatar: &str, base_url: &str) -> String {
    [base_url, "/avatars/", avatar, "/"].concat()
}
