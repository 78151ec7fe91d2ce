//! Flows and their people.

use std::collections::BTreeMap;

use eddyline_model::flows::FlowMembership;
use eddyline_model::users::User;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::OrganizationSummary;
use crate::users::avatar_url;

/// A flow as one caller sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Flow {
    /// Random id.
    pub id: String,
    /// Display name.
    pub name: String,
    /// The name in URLs.
    pub parameterized_name: String,
    /// The address of the flow's inbox.
    pub email: String,
    /// What it is for.
    pub description: Option<String>,
    /// The organization it belongs to.
    pub organization: OrganizationSummary,
    /// Unread messages that mention the caller.
    pub unread_mentions: i64,
    /// The message up to which the caller has read the chat; null when the caller is not in the
    /// flow.
    #[serde(default)]
    pub read: Option<i64>,
    /// How many chat messages of others came after that, deleted ones left out; 100 stands for more.
    #[serde(default)]
    pub unread: i64,
    /// The first of them.
    #[serde(default)]
    pub first_unread: Option<i64>,
    /// The same of the inbox.
    #[serde(default)]
    #[schema(inline)]
    pub inbox: FlowInbox,
    /// Whether the caller's clients show a tab for it.
    pub open: bool,
    /// The place of its tab among those that the caller has ordered; null for one that stands behind
    /// them.
    #[serde(default)]
    pub tab_position: Option<i32>,
    /// Whether the caller is in it.
    pub joined: bool,
    /// Its address.
    pub url: String,
    /// Its address in the web client.
    pub web_url: String,
    /// Where one joins; only of flows that can be joined, and for callers who may manage members.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub join_url: Option<String>,
    /// Who may come in: `invitation`, `link` or `organization`.
    pub access_mode: String,
    /// Whether the caller may change name, access mode and archiving.
    pub flow_admin: bool,
    /// Whether it is archived.
    pub disabled: bool,
    /// When the last message was sent.
    pub last_message_at: Option<String>,
    /// The number of the last message.
    pub last_message_id: Option<i64>,
    /// What belongs to it, and the methods this caller may use there.
    pub links: BTreeMap<String, Link>,
    /// Its people; in lists only when asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<Vec<FlowUser>>,
}

/// What the caller has read of the inbox of a flow, and what not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FlowInbox {
    /// The message up to which the caller has read it; null when the caller is not in the flow.
    pub read: Option<i64>,
    /// How many messages of others the inbox got after that, those left out that were read with
    /// their thread; 100 stands for more.
    pub unread: i64,
    /// The first of them.
    pub first_unread: Option<i64>,
}

/// A resource of a flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Link {
    /// Its address.
    pub url: String,
    /// The HTTP methods the caller may use.
    pub methods: Vec<String>,
}

/// Somebody in a flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FlowUser {
    /// Number.
    pub id: i64,
    /// Short name.
    pub nick: String,
    /// Full name.
    pub name: String,
    /// Address.
    pub email: String,
    /// URL of the picture.
    pub avatar: String,
    /// What the user said about what they are doing.
    pub status: Option<String>,
    /// Whether the user is blocked from the flow.
    pub disabled: bool,
    /// When the user last did something in the flow, in milliseconds since 1970.
    pub last_activity: i64,
    /// When the user was last connected, in milliseconds since 1970.
    pub last_ping: i64,
    /// Whether the user is in the flow.
    pub in_flow: bool,
    /// Whether a stream shows the user as present in the flow. Absent in the classic profile, and in
    /// events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(inline)]
    pub presence: Option<UserPresence>,
}

/// How a user appears to the others in a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum UserPresence {
    /// No stream shows the user as present.
    Offline,
    /// The user is connected, but does nothing.
    Idle,
    /// The user is connected.
    Active,
}

impl UserPresence {
    /// The name on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Offline => "offline",
            Self::Idle => "idle",
            Self::Active => "active",
        }
    }
}

impl FlowUser {
    /// A member of a flow, with addresses under `base_url`.
    #[must_use]
    pub fn of(membership: &FlowMembership, user: &User, base_url: &str) -> Self {
        Self {
            id: user.id.0,
            nick: user.nick.clone(),
            name: user.name.clone(),
            email: user.email.clone(),
            avatar: avatar_url(&user.avatar, base_url),
            status: user.status.clone(),
            disabled: membership.blocked,
            last_activity: membership.last_activity.0,
            last_ping: membership.last_ping.0,
            in_flow: true,
            presence: None,
        }
    }
}
