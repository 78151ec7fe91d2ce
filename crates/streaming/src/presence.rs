//! Who is online, and how often an activity is worth telling. Neither is in the log.

use std::collections::HashMap;

use eddyline_model::{RoomId, Timestamp, UserId};

/// How a user appears to others (specification, section 4, "Streaming": `active`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PresenceState {
    /// No stream says that the user is there. A stream that was opened without `active` is one
    /// of this state.
    #[default]
    Offline,
    /// The user is there, but away from the keyboard.
    Idle,
    /// The user is there.
    Active,
}

impl PresenceState {
    /// The name on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Offline => "offline",
            Self::Idle => "idle",
            Self::Active => "active",
        }
    }

    /// The number by which clients of the original service know the state.
    #[must_use]
    pub fn number(self) -> u32 {
        match self {
            Self::Offline => 0,
            Self::Idle => 1_000_000,
            Self::Active => 2_000_000,
        }
    }
}

/// A user appears otherwise than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PresenceChange {
    /// The user.
    pub user: UserId,
    /// How he appears now.
    pub state: PresenceState,
}

/// Counts the streams of each user, and holds how the user appears by the streams of other servers.
/// The liveliest of all is how the user appears.
#[derive(Debug, Default)]
pub struct PresenceRegistry {
    streams: HashMap<UserId, Streams>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Streams {
    active: u32,
    idle: u32,
    elsewhere: PresenceState,
}

impl PresenceRegistry {
    /// A stream of `user` was opened. Gives the change when he appears otherwise now.
    pub fn connect(&mut self, user: UserId, stream: PresenceState) -> Option<PresenceChange> {
        self.count(user, stream, |count| count.saturating_add(1))
    }

    /// A stream that was opened with the state `stream` was closed. Gives the change when the
    /// user appears otherwise now.
    pub fn disconnect(&mut self, user: UserId, stream: PresenceState) -> Option<PresenceChange> {
        self.count(user, stream, |count| count.saturating_sub(1))
    }

    /// A stream of `user` shows another state than before. Gives the change when the user appears
    /// otherwise now.
    pub fn change_stream(
        &mut self,
        user: UserId,
        from: PresenceState,
        to: PresenceState,
    ) -> Option<PresenceChange> {
        self.change(user, |streams| {
            streams.count(from, |count| count.saturating_sub(1));
            streams.count(to, |count| count.saturating_add(1));
        })
    }

    /// Other servers show `user` in this state. Gives the change when the user appears otherwise
    /// now.
    pub fn set_elsewhere(&mut self, user: UserId, state: PresenceState) -> Option<PresenceChange> {
        self.change(user, |streams| streams.elsewhere = state)
    }

    /// How `user` appears.
    #[must_use]
    pub fn state(&self, user: UserId) -> PresenceState {
        self.streams.get(&user).copied().unwrap_or_default().state()
    }

    /// How `user` appears by the streams of this server alone.
    #[must_use]
    pub fn own_state(&self, user: UserId) -> PresenceState {
        self.streams
            .get(&user)
            .copied()
            .unwrap_or_default()
            .own_state()
    }

    /// Whether everyone is offline.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    fn count(
        &mut self,
        user: UserId,
        stream: PresenceState,
        count: impl Fn(u32) -> u32,
    ) -> Option<PresenceChange> {
        self.change(user, |streams| streams.count(stream, count))
    }

    fn change(
        &mut self,
        user: UserId,
        change: impl FnOnce(&mut Streams),
    ) -> Option<PresenceChange> {
        let mut streams = self.streams.get(&user).copied().unwrap_or_default();
        let before = streams.state();
        change(&mut streams);
        let state = streams.state();
        if state == PresenceState::Offline {
            self.streams.remove(&user);
        } else {
            self.streams.insert(user, streams);
        }
        (state != before).then_some(PresenceChange { user, state })
    }
}

impl Streams {
    fn count(&mut self, stream: PresenceState, count: impl Fn(u32) -> u32) {
        match stream {
            PresenceState::Active => self.active = count(self.active),
            PresenceState::Idle => self.idle = count(self.idle),
            PresenceState::Offline => {}
        }
    }

    fn state(self) -> PresenceState {
        self.own_state().max(self.elsewhere)
    }

    fn own_state(self) -> PresenceState {
        match self {
            Self { active: 1.., .. } => PresenceState::Active,
            Self { idle: 1.., .. } => PresenceState::Idle,
            _ => PresenceState::Offline,
        }
    }
}

const MINUTE: u64 = 60_000;

/// How many pairs of a user and a room are remembered for one minute.
const REMEMBERED: usize = 64 * 1024;

/// Lets an activity of a user in a room be told once a minute at most.
///
/// Its memory is bounded: in a minute with more than 64 Ki pairs of active users and rooms, the
/// activity of the further ones is not told.
#[derive(Debug, Default)]
pub struct ActivityThrottle {
    since: Timestamp,
    /// What was told since then, and in the minute before: two generations make forgetting cheap.
    recent: HashMap<(UserId, RoomId), Timestamp>,
    earlier: HashMap<(UserId, RoomId), Timestamp>,
}

impl ActivityThrottle {
    /// Whether the activity is to be told. If so, it is taken as told at `now`.
    pub fn due(&mut self, user: UserId, room: RoomId, now: Timestamp) -> bool {
        if now.0.abs_diff(self.since.0) >= MINUTE {
            self.since = now;
            self.earlier = std::mem::take(&mut self.recent);
        }
        let key = (user, room);
        let told = self.recent.get(&key).or_else(|| self.earlier.get(&key));
        let due = told.is_none_or(|told| now.0.abs_diff(told.0) >= MINUTE)
            && self.recent.len() < REMEMBERED;
        if due {
            self.recent.insert(key, now);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANN: UserId = UserId(1);

    #[test]
    fn a_user_appears_as_the_liveliest_of_his_streams() {
        use PresenceState::{Active, Idle, Offline};
        let mut presence = PresenceRegistry::default();
        let changed_to = |state| Some(PresenceChange { user: ANN, state });
        assert_eq!(
            presence.connect(ANN, Offline),
            None,
            "a stream without `active`"
        );
        assert_eq!(presence.connect(ANN, Idle), changed_to(Idle));
        assert_eq!(presence.connect(ANN, Active), changed_to(Active));
        assert_eq!(presence.connect(ANN, Active), None);
        assert_eq!(presence.disconnect(ANN, Active), None);
        assert_eq!(presence.disconnect(ANN, Active), changed_to(Idle));
        assert_eq!((presence.state(ANN), presence.is_empty()), (Idle, false));
        assert_eq!(presence.disconnect(ANN, Idle), changed_to(Offline));
        assert_eq!(presence.disconnect(ANN, Offline), None);
        assert_eq!((presence.state(ANN), presence.is_empty()), (Offline, true));
    }

    #[test]
    fn a_user_is_present_as_long_as_one_server_says_so() {
        use PresenceState::{Active, Idle, Offline};
        let mut presence = PresenceRegistry::default();
        let changed_to = |state| Some(PresenceChange { user: ANN, state });
        assert_eq!(presence.connect(ANN, Idle), changed_to(Idle));
        assert_eq!(presence.set_elsewhere(ANN, Idle), None);
        assert_eq!(presence.set_elsewhere(ANN, Active), changed_to(Active));
        assert_eq!(presence.disconnect(ANN, Idle), None);
        assert_eq!(
            (presence.state(ANN), presence.own_state(ANN)),
            (Active, Offline)
        );
        assert_eq!(presence.connect(ANN, Active), None);
        assert_eq!(presence.set_elsewhere(ANN, Offline), None);
        assert_eq!(presence.disconnect(ANN, Active), changed_to(Offline));
        assert!(presence.is_empty());
    }

    #[test]
    fn an_activity_is_told_once_a_minute_for_each_user_and_room() {
        let mut throttle = ActivityThrottle::default();
        let start = Timestamp(1_700_000_000_000);
        let mut due = |room, after| throttle.due(ANN, RoomId(room), start.plus_millis(after));
        assert!(due(1, 0));
        assert!(due(2, 30_000));
        assert!(!due(1, 59_999));
        assert!(due(1, 60_000));
        assert!(!due(2, 89_999));
        assert!(due(2, 90_000));
        assert!(!due(1, 119_999));
        assert!(due(1, 500_000));
    }

    #[test]
    fn a_throttle_remembers_a_bounded_number() {
        let mut throttle = ActivityThrottle::default();
        let told = (0..200_000)
            .filter(|user| throttle.due(UserId(*user), RoomId(1), Timestamp(1)))
            .count();
        assert_eq!(told, REMEMBERED);
        assert!(
            throttle.due(ANN, RoomId(2), Timestamp(60_000)),
            "it goes on in the next minute"
        );
    }
}
