//! Flows: team rooms with a chat and a shared inbox, and who is in them.

use crate::{FlowId, MessageId, OrganizationId, RoomId, Timestamp, UserId};

/// Who may come into a flow (specification, section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessMode {
    /// Members are invited or added by members.
    Invitation,
    /// Anyone with the join link.
    Link,
    /// Anyone with the join link, and anyone of the organization.
    Organization,
}

impl AccessMode {
    /// Each, with its name on the wire.
    pub const WORDS: [(&str, Self); 3] = [
        ("invitation", Self::Invitation),
        ("link", Self::Link),
        ("organization", Self::Organization),
    ];

    /// The name on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Invitation => "invitation",
            Self::Link => "link",
            Self::Organization => "organization",
        }
    }

    /// Reads the name on the wire.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Invitation, Self::Link, Self::Organization]
            .into_iter()
            .find(|mode| mode.as_str() == name)
    }
}

/// A flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The room that holds its messages.
    pub room: RoomId,
    /// Public id.
    pub id: FlowId,
    /// The organization it belongs to.
    pub organization: OrganizationId,
    /// Human-readable name.
    pub name: String,
    /// The name in URLs; a new display name does not change it.
    pub parameterized_name: String,
    /// What the flow is for.
    pub description: Option<String>,
    /// Who may come in.
    pub access_mode: AccessMode,
    /// Whether it is archived: gone for all but administrators, and nothing can be sent.
    pub disabled: bool,
    /// Who made it; `None` when an operator did.
    pub creator: Option<UserId>,
    /// 40 hexadecimal digits of the join link.
    pub join_secret: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// The last number given to a message of the flow; 0 before the first.
    pub last_message_id: i64,
    /// When the last message was sent.
    pub last_message_at: Option<Timestamp>,
    /// Counts up with every change of who may read or post here.
    pub access_version: i64,
}

/// A user of a flow, as pages show them beside its messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowPerson {
    /// The user.
    pub user: UserId,
    /// Short name.
    pub nick: String,
    /// Full name.
    pub name: String,
    /// The picture, as [`User::avatar`](crate::users::User::avatar).
    pub avatar: String,
    /// What the user says of themselves.
    pub status: Option<String>,
    /// Whether the user is shut out until unblocked.
    pub blocked: bool,
}

/// That a user belongs to a flow, or did and was blocked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowMembership {
    /// The flow's room.
    pub room: RoomId,
    /// The user.
    pub user: UserId,
    /// Whether clients show a tab for it.
    pub open: bool,
    /// Whether the user is shut out until unblocked.
    pub blocked: bool,
    /// When the user last did something in the flow.
    pub last_activity: Timestamp,
    /// When the user was last connected.
    pub last_ping: Timestamp,
    /// The message up to which the user has read the chat.
    pub read_up_to: MessageId,
    /// The message up to which the user has read the inbox.
    pub inbox_read_up_to: MessageId,
    /// The place of its tab among those that the user has ordered.
    pub tab_position: Option<i32>,
}
