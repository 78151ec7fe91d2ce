//! Positions in the log: the order in which everything was committed.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::messages::MessageView;
use crate::reading::ReadMarker;
use crate::{CredentialId, GrantId, MessageId, OrganizationId, RoomId, UserId};

/// A position in the log. Positions count up by one with every committed entry, in commit order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seq(
    /// The number; 0 stands before the first entry.
    pub i64,
);

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The id an event bears on the stream: a position and the random check value of its log row.
///
/// A client treats it as opaque text. The check value tells a position of this log from one of
/// another database, a restored one, or a made-up one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EventId {
    /// The position in the log.
    pub seq: Seq,
    /// The check value of the row at that position; 0 at position 0.
    pub check: u32,
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}-{:08x}", self.seq.0, self.check)
    }
}

impl FromStr for EventId {
    type Err = InvalidEventId;

    fn from_str(text: &str) -> Result<Self, InvalidEventId> {
        let (seq, check) = text.split_once('-').ok_or(InvalidEventId)?;
        let lower_hex = |t: &str| t.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if seq.is_empty() || check.len() != 8 || !lower_hex(seq) || !lower_hex(check) {
            return Err(InvalidEventId);
        }
        Ok(Self {
            seq: Seq(i64::from_str_radix(seq, 16).map_err(|_| InvalidEventId)?),
            check: u32::from_str_radix(check, 16).map_err(|_| InvalidEventId)?,
        })
    }
}

/// The text is no event id that this server ever gave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not an event id")]
pub struct InvalidEventId;

/// Something that happened beside the messages, written to the log so that every node learns of it
/// in the same order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Control {
    /// The user came into the flow.
    FlowAdd {
        /// The flow's room.
        room: RoomId,
        /// Who came in.
        user: UserId,
    },
    /// The user is out of the flow: left, was removed or was blocked.
    FlowRemove {
        /// The flow's room.
        room: RoomId,
        /// Who is out.
        user: UserId,
    },
    /// Tells the flow that somebody came in.
    UserJoin {
        /// The flow's room.
        room: RoomId,
        /// Who came in.
        user: UserId,
    },
    /// Tells the flow that somebody was blocked.
    UserBlock {
        /// The flow's room.
        room: RoomId,
        /// Who was blocked.
        user: UserId,
    },
    /// The flow's name, access mode or archiving changed.
    FlowChange {
        /// The flow's room.
        room: RoomId,
    },
    /// The flow was archived: nobody listens to it any more.
    FlowArchive {
        /// The flow's room.
        room: RoomId,
    },
    /// The user's nick, name or address changed.
    UserEdit {
        /// The user.
        user: UserId,
    },
    /// Credentials of the user ended: what was remembered of them must be forgotten, and streams
    /// opened with them must close.
    Revoked {
        /// The user.
        user: UserId,
    },
    /// One credential of the user ended: it must be forgotten, and streams opened with it must
    /// close.
    CredentialEnd {
        /// The user.
        user: UserId,
        /// The credential.
        credential: CredentialId,
    },
    /// What the user allowed an application has ended, and every token that came of it with it.
    GrantEnd {
        /// The user.
        user: UserId,
        /// What ended.
        grant: GrantId,
    },
    /// The user has left an organization: caches forget the user, and streams of the user's private
    /// messages close. [`Control::FlowRemove`] says so for each flow.
    OrganizationRemove {
        /// The user.
        user: UserId,
    },
    /// Some organization's name, limit or state changed: what was remembered of organizations must
    /// be forgotten.
    OrganizationChange,
    /// A group of the organization was made, changed or removed: what was remembered of its groups
    /// must be forgotten.
    GroupChange {
        /// The organization.
        organization: OrganizationId,
    },
    /// A flow's API token was added or ended.
    FlowTokens {
        /// The flow's room.
        room: RoomId,
    },
    /// The user has read the room up to a message.
    Read {
        /// The room.
        room: RoomId,
        /// The reader.
        user: UserId,
        /// Which marker moved; `None` for both, and in a private conversation.
        marker: Option<ReadMarker>,
        /// The last message read.
        message: MessageId,
    },
    /// The user has read further in a thread. The marker itself says up to which message.
    ThreadRead {
        /// The flow's room.
        room: RoomId,
        /// The reader.
        user: UserId,
        /// What began the thread.
        root: MessageId,
    },
}

/// What a log row tells of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogBody {
    /// A message; `None` when it was removed since.
    Message(Option<Arc<MessageView>>),
    /// Anything else.
    Control(Control),
}

/// One row of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogItem {
    /// Position and check value.
    pub id: EventId,
    /// What it tells of.
    pub body: LogBody,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_event_id_survives_its_text_form(seq in 0..i64::MAX, check: u32) {
            let id = EventId { seq: Seq(seq), check };
            prop_assert_eq!(id.to_string().parse(), Ok(id));
        }

        #[test]
        fn no_text_makes_the_parser_panic(text: String) {
            let _ = text.parse::<EventId>();
        }
    }

    #[test]
    fn made_up_ids_are_refused() {
        for bad in [
            "",
            "-",
            "1",
            "1-",
            "-00000000",
            "g-00000000",
            "1-0",
            "1-000000000",
            "+1-00000000",
            "A-00000000",
        ] {
            assert_eq!(bad.parse::<EventId>(), Err(InvalidEventId), "{bad:?}");
        }
    }
}
