//! The order of messages of several rooms.

use std::fmt;
use std::str::FromStr;

use super::Message;
use crate::{MessageId, RoomId, Timestamp};

/// Where a message stands among those of all rooms: by the time it was sent, then by its room, then
/// by its number. Written, it is the cursor of a list over several rooms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessageCursor {
    /// When it was sent.
    pub sent: Timestamp,
    /// Its room.
    pub room: RoomId,
    /// Its number there.
    pub id: MessageId,
}

/// The text is not a [`MessageCursor`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not a place in a list")]
pub struct InvalidCursor;

impl MessageCursor {
    /// The place of a message.
    #[must_use]
    pub fn of(message: &Message) -> Self {
        Self {
            sent: message.sent,
            room: message.room,
            id: message.id,
        }
    }
}

impl fmt::Display for MessageCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.sent.0, self.room, self.id)
    }
}

impl FromStr for MessageCursor {
    type Err = InvalidCursor;

    fn from_str(text: &str) -> Result<Self, InvalidCursor> {
        let mut parts = text.split('-');
        let mut next = || parts.next().ok_or(InvalidCursor);
        let (sent, room, id) = (next()?, next()?, next()?);
        if parts.next().is_some() || !sent.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(InvalidCursor);
        }
        Ok(Self {
            sent: Timestamp(sent.parse().map_err(|_| InvalidCursor)?),
            room: room.parse().map_err(|_| InvalidCursor)?,
            id: id.parse().map_err(|_| InvalidCursor)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_was_written() {
        let place = MessageCursor {
            sent: Timestamp(1_795_304_100_999),
            room: RoomId(7),
            id: MessageId(12),
        };
        assert_eq!(place.to_string(), "1795304100999-7-12");
        assert_eq!(place.to_string().parse(), Ok(place));
        for bad in [
            "",
            "1",
            "1-2",
            "1-2-3-4",
            "x-2-3",
            "-1-2-3",
            "1-0-3",
            "1-2-",
            "+1-2-3",
            "1-2-3 ",
            "99999999999999999999-2-3",
        ] {
            assert_eq!(bad.parse::<MessageCursor>(), Err(InvalidCursor), "{bad:?}");
        }
    }
}
