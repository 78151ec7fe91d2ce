//! Invitations into a flow, sent to an address.

use crate::{InvitationId, RoomId, Timestamp, UserId};

/// How long the link of an invitation leads somewhere, in days. Sending it again starts anew.
pub const LINK_DAYS: i64 = 30;

/// The longest personal message in an invitation, in characters.
pub const MAX_MESSAGE_CHARS: usize = 1000;

/// Where an invitation stands (specification, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvitationState {
    /// Nobody has followed it yet.
    Pending,
    /// Somebody came in by it.
    Accepted,
}

impl InvitationState {
    /// The name on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Accepted => "accepted",
        }
    }
}

/// An invitation (specification, section 2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    /// Its number.
    pub id: InvitationId,
    /// The room of the flow it leads to.
    pub room: RoomId,
    /// The address, as it was written.
    pub email: String,
    /// Who invited; `None` for those who asked for the mail themselves, on the page of a join link.
    pub inviter: Option<UserId>,
    /// What the inviter adds in words.
    pub message: Option<String>,
    /// Where it stands.
    pub state: InvitationState,
    /// When it was made.
    pub created_at: Timestamp,
    /// When its mail was last asked for.
    pub sent_at: Timestamp,
}
