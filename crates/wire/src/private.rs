//! Private conversations.

use eddyline_model::users::User;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::users::avatar_url;

/// A private conversation as one of the two sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PrivateConversation {
    /// Number of the other user, or one's own in a conversation with oneself.
    pub id: i64,
    /// Its address.
    pub url: String,
    /// The other's full name; with `--profile classic` the nick behind an `@`.
    pub name: String,
    /// Whether the caller's clients show a tab for it.
    pub open: bool,
    /// The place of its tab among those that the caller has ordered; null for one that stands behind
    /// them.
    #[serde(default)]
    pub tab_position: Option<i32>,
    /// The message up to which the caller has read.
    #[serde(default)]
    pub read: i64,
    /// The number of the last message in it, or of the last change of one.
    #[serde(default)]
    pub last_message_id: Option<i64>,
    /// What is new in it.
    pub activity: PrivateActivity,
    /// Who takes part.
    pub users: Vec<Participant>,
}

/// What the caller has not read of a private conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PrivateActivity {
    /// Never: a conversation has no inbox.
    pub inbox: bool,
    /// How many messages are unread. Each is meant for its one reader, so each counts as a mention.
    pub mentions: i64,
    /// Whether there are any.
    pub chat: bool,
}

impl PrivateActivity {
    /// What so many unread messages are.
    #[must_use]
    pub fn of(unread: i64) -> Self {
        Self {
            inbox: false,
            mentions: unread,
            chat: unread > 0,
        }
    }
}

/// Somebody in a private conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Participant {
    /// Number.
    pub id: i64,
    /// Short name.
    pub nick: String,
    /// Address.
    pub email: String,
    /// URL of the picture.
    pub avatar: String,
    /// Full name.
    pub name: String,
}

impl Participant {
    /// A user, with addresses under `base_url`.
    #[must_use]
    pub fn of(user: &User, base_url: &str) -> Self {
        Self {
            id: user.id.0,
            nick: user.nick.clone(),
            email: user.email.clone(),
            avatar: avatar_url(&user.avatar, base_url),
            name: user.name.clone(),
        }
    }
}
