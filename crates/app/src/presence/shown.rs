//! What each open stream shows of its user.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::str::FromStr;

use eddyline_model::{RoomId, Timestamp, UserId};
use eddyline_streaming::presence::PresenceState;

use super::MINUTE_MILLIS;

/// Names an open stream to its user, who may change by it what the stream shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StreamKey(u64);

impl StreamKey {
    pub(super) fn new() -> Self {
        Self(eddyline_random::number())
    }
}

impl fmt::Display for StreamKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The text is the name of no stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is the name of no stream")]
pub struct InvalidStreamKey;

impl FromStr for StreamKey {
    type Err = InvalidStreamKey;

    /// Reads what [`Display`](fmt::Display) writes, and no other spelling of the number.
    fn from_str(text: &str) -> Result<Self, InvalidStreamKey> {
        let number = u64::from_str_radix(text, 16).map_err(|_| InvalidStreamKey)?;
        let key = Self(number);
        (key.to_string() == text)
            .then_some(key)
            .ok_or(InvalidStreamKey)
    }
}

/// The streams that show their users, by user.
#[derive(Debug, Default)]
pub(super) struct ShownStreams {
    of_users: HashMap<UserId, BTreeMap<StreamKey, ShownStream>>,
}

/// A stream that shows its user.
#[derive(Debug)]
pub(super) struct ShownStream {
    pub(super) state: PresenceState,
    pub(super) rooms: BTreeSet<RoomId>,
    /// Whether it shows the user in each flow that the user comes into.
    pub(super) follows: bool,
    pub(super) changes: RecentChanges,
}

/// The most changes of presence that one stream takes in a minute. Each change sends an event to all
/// flows of the stream.
pub const PRESENCE_CHANGES: u32 = 30;

/// The changes of the minute.
#[derive(Debug, Default)]
pub(super) struct RecentChanges {
    since: Timestamp,
    count: u32,
}

impl RecentChanges {
    /// Counts a change, or says in how many seconds there may be another.
    pub(super) fn count(&mut self, now: Timestamp) -> Result<(), u64> {
        let passed = now.0.saturating_sub(self.since.0);
        if !(0..MINUTE_MILLIS).contains(&passed) {
            *self = Self {
                since: now,
                count: 0,
            };
        }
        if self.count >= PRESENCE_CHANGES {
            let left = MINUTE_MILLIS - passed;
            return Err(u64::try_from(left / 1000 + 1).unwrap_or(60));
        }
        self.count += 1;
        Ok(())
    }
}

impl ShownStreams {
    pub(super) fn insert(&mut self, user: UserId, key: StreamKey, stream: ShownStream) {
        self.of_users.entry(user).or_default().insert(key, stream);
    }

    pub(super) fn remove(&mut self, user: UserId, key: StreamKey) -> Option<ShownStream> {
        let streams = self.of_users.get_mut(&user)?;
        let removed = streams.remove(&key);
        if streams.is_empty() {
            self.of_users.remove(&user);
        }
        removed
    }

    pub(super) fn get_mut(&mut self, user: UserId, key: StreamKey) -> Option<&mut ShownStream> {
        self.of_users.get_mut(&user)?.get_mut(&key)
    }

    /// The users who have a stream that shows them in a room.
    pub(super) fn users_in(&self, room: RoomId) -> Vec<UserId> {
        let of_users = self.of_users.iter();
        let shown = of_users.filter(|(_, streams)| {
            let mut streams = streams.values();
            streams.any(|stream| stream.rooms.contains(&room))
        });
        shown.map(|(user, _)| *user).collect()
    }

    /// Takes a room away from the streams of a user, and gives what those show that had it.
    pub(super) fn leave(&mut self, user: UserId, room: RoomId) -> Vec<PresenceState> {
        let streams = self.of_users.get_mut(&user).into_iter();
        let streams = streams.flat_map(BTreeMap::values_mut);
        streams
            .filter_map(|stream| stream.rooms.remove(&room).then_some(stream.state))
            .collect()
    }

    /// Adds a room to the streams that follow a user, and gives what those show that did not have it.
    pub(super) fn follow(&mut self, user: UserId, room: RoomId) -> Vec<PresenceState> {
        let streams = self.of_users.get_mut(&user).into_iter();
        let streams = streams.flat_map(BTreeMap::values_mut);
        streams
            .filter(|stream| stream.follows)
            .filter_map(|stream| stream.rooms.insert(room).then_some(stream.state))
            .collect()
    }
}
