//! Where and how a server shows a user, as other servers read it.

use eddyline_model::{RoomId, Timestamp};
use eddyline_streaming::presence::PresenceState;

/// The bytes of a place: the room, the state and the time.
const BYTES: usize = 17;

/// A room in which a server shows a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RoomPresence {
    /// The room.
    pub(super) room: RoomId,
    /// How the user appears there by the streams of that server.
    pub(super) state: PresenceState,
    /// When the user last opened an active stream, if that event was sent within the last minute;
    /// otherwise 0.
    pub(super) opened: Timestamp,
}

impl RoomPresence {
    /// Nothing known of a user in a room.
    pub(super) const fn absent(room: RoomId) -> Self {
        Self {
            room,
            state: PresenceState::Offline,
            opened: Timestamp(0),
        }
    }
}

/// The places as they are stored.
pub(super) fn encode(places: &[RoomPresence]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(places.len() * BYTES);
    for place in places {
        bytes.extend(place.room.0.to_le_bytes());
        bytes.push(match place.state {
            PresenceState::Offline => 0,
            PresenceState::Idle => 1,
            PresenceState::Active => 2,
        });
        bytes.extend(place.opened.0.to_le_bytes());
    }
    bytes
}

/// Reads what [`encode`] wrote. `None` for anything else, such as what a later version may write.
pub(super) fn decode(bytes: &[u8]) -> Option<Box<[RoomPresence]>> {
    let (places, rest) = bytes.as_chunks::<BYTES>();
    rest.is_empty().then_some(())?;
    places.iter().map(decode_one).collect()
}

fn decode_one(bytes: &[u8; BYTES]) -> Option<RoomPresence> {
    let (room, rest) = bytes.split_first_chunk::<8>()?;
    let (state, opened) = rest.split_first()?;
    let state = match state {
        0 => PresenceState::Offline,
        1 => PresenceState::Idle,
        2 => PresenceState::Active,
        _ => return None,
    };
    let opened = Timestamp(i64::from_le_bytes(*opened.first_chunk()?));
    Some(RoomPresence {
        room: RoomId(i64::from_le_bytes(*room)),
        state,
        opened,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_they_were_written() {
        let places = [
            RoomPresence {
                room: RoomId(7),
                state: PresenceState::Active,
                opened: Timestamp(1_700_000_000_123),
            },
            RoomPresence {
                room: RoomId(i64::MAX),
                state: PresenceState::Idle,
                opened: Timestamp(0),
            },
            RoomPresence::absent(RoomId(9)),
        ];
        assert_eq!(decode(&encode(&places)).as_deref(), Some(&places[..]));
        assert_eq!(decode(&[]).as_deref(), Some(&[][..]));
    }

    #[test]
    fn what_is_no_place_is_not_read() {
        let mut bytes = encode(&[RoomPresence::absent(RoomId(7))]);
        assert_eq!(decode(&bytes[1..]), None);
        bytes[8] = 3;
        assert_eq!(decode(&bytes), None);
    }
}
