//! Up to where a user has read a flow (docs/protocol.md, Reading).

use crate::MessageId;
use crate::flows::FlowMembership;
use crate::messages::MessageKind;

/// One of the two markers that each member of a flow has. What neither counts, such as joining the
/// flow or a change of a message, is never unread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadMarker {
    /// Up to where the chat was read.
    Chat,
    /// Up to where the inbox was read.
    Inbox,
}

impl ReadMarker {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Chat, Self::Inbox];

    /// The name on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Inbox => "inbox",
        }
    }

    /// The kinds of message that are unread behind it.
    #[must_use]
    pub fn kinds(self) -> [MessageKind; 3] {
        match self {
            Self::Chat => [
                MessageKind::Message,
                MessageKind::Comment,
                MessageKind::File,
            ],
            Self::Inbox => [
                MessageKind::Activity,
                MessageKind::Discussion,
                MessageKind::Mail,
            ],
        }
    }

    /// The marker behind which messages of a kind are unread.
    #[must_use]
    pub fn of(kind: MessageKind) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|marker| marker.kinds().contains(&kind))
    }
}

impl FlowMembership {
    /// Whether a message stands behind the marker for its kind. Kinds that are never unread are
    /// taken as those of the chat.
    #[must_use]
    pub fn has_unread(&self, kind: MessageKind, id: MessageId) -> bool {
        let read = match ReadMarker::of(kind) {
            Some(ReadMarker::Inbox) => self.inbox_read_up_to,
            Some(ReadMarker::Chat) | None => self.read_up_to,
        };
        id > read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_has_one_marker_or_none() {
        for kind in MessageKind::ALL {
            let all = ReadMarker::ALL.into_iter();
            let markers: Vec<_> = all.filter(|each| each.kinds().contains(&kind)).collect();
            assert!(markers.len() <= 1, "{kind:?}");
            assert_eq!(ReadMarker::of(kind), markers.first().copied());
        }
        assert_eq!(ReadMarker::of(MessageKind::Action), None);
        assert_eq!(ReadMarker::of(MessageKind::Comment), Some(ReadMarker::Chat));
        assert_eq!(ReadMarker::of(MessageKind::Mail), Some(ReadMarker::Inbox));
    }
}
