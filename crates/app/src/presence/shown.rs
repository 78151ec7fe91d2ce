//! What each open stream shows of its user.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

use eddyline_model::{RoomId, UserId};
use eddyline_streaming::presence::PresenceState;

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

impl FromStr for StreamKey {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        u64::from_str_radix(text, 16).map(Self)
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
