//! Who is present at other servers, as they publish it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use eddyline_model::{RoomId, Timestamp, UserId};
use eddyline_streaming::presence::PresenceState;

use super::room_presence::RoomPresence;

/// What is known of the other servers that live.
#[derive(Debug, Default)]
pub(super) struct Elsewhere {
    nodes: BTreeMap<String, Node>,
}

#[derive(Debug, Default)]
struct Node {
    read: Timestamp,
    heartbeat: Timestamp,
    users: HashMap<UserId, Box<[RoomPresence]>>,
}

/// What a row changes in a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// The room.
    pub(super) room: RoomId,
    /// Whether the user is no longer present in the room at that server.
    pub(super) left: bool,
    /// When the user opened an active stream, unless that was known.
    pub(super) opened: Option<Timestamp>,
}

impl Elsewhere {
    /// How other servers show a user in a room.
    pub(super) fn state(&self, user: UserId, room: RoomId) -> PresenceState {
        let shown = |node: &Node| node.users.get(&user).map(|places| find(places, room).state);
        self.nodes
            .values()
            .filter_map(shown)
            .max()
            .unwrap_or_default()
    }

    /// How far the rows of a server have been read; 0 when none has.
    pub(super) fn read_up_to(&self, node: &str) -> Timestamp {
        self.nodes.get(node).map_or(Timestamp(0), |node| node.read)
    }

    /// The rows of a server, which showed a sign of life at `heartbeat`, have been read up to
    /// `read`.
    pub(super) fn note(&mut self, node: &str, read: Timestamp, heartbeat: Timestamp) {
        let node = self.nodes.entry(node.to_owned()).or_default();
        (node.read, node.heartbeat) = (read, heartbeat);
    }

    /// The users that a server shows.
    pub(super) fn users_of(&self, node: &str) -> Vec<UserId> {
        self.nodes
            .get(node)
            .map(|node| node.users.keys().copied().collect())
            .unwrap_or_default()
    }

    /// The known servers that are not `listed` any more, with their last signs of life.
    pub(super) fn missing(&self, listed: impl Fn(&str) -> bool) -> Vec<(String, Timestamp)> {
        let missing = self.nodes.iter().filter(|(id, _)| !listed(id));
        missing
            .map(|(id, node)| (id.clone(), node.heartbeat))
            .collect()
    }

    /// Forgets a server, whose users have been taken away.
    pub(super) fn remove(&mut self, node: &str) {
        self.nodes.remove(node);
    }

    /// A server shows a user in these places, which are in the order of rooms, and nowhere else.
    /// Gives what changes.
    pub(super) fn take(
        &mut self,
        node: &str,
        user: UserId,
        places: Box<[RoomPresence]>,
    ) -> Vec<Difference> {
        let users = &mut self.nodes.entry(node.to_owned()).or_default().users;
        let before = users.remove(&user).unwrap_or_default();
        let rooms: BTreeSet<RoomId> = before
            .iter()
            .chain(&places)
            .map(|place| place.room)
            .collect();
        let difference = |room| {
            let (was, is) = (find(&before, room), find(&places, room));
            let opened = (is.opened > was.opened).then_some(is.opened);
            let left = is.state == PresenceState::Offline && was.state != is.state;
            (was.state != is.state || opened.is_some()).then_some(Difference { room, left, opened })
        };
        let differences = rooms.into_iter().filter_map(difference).collect();
        if places
            .iter()
            .any(|place| place.state != PresenceState::Offline)
        {
            users.insert(user, places);
        }
        differences
    }
}

fn find(places: &[RoomPresence], room: RoomId) -> RoomPresence {
    let found = places.binary_search_by_key(&room, |place| place.room);
    found.map_or(RoomPresence::absent(room), |at| places[at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use PresenceState::{Active, Idle, Offline};

    const ANN: UserId = UserId(1);
    const MAIN: RoomId = RoomId(1);
    const SIDE: RoomId = RoomId(2);

    fn places<const N: usize>(places: [(RoomId, PresenceState, i64); N]) -> Box<[RoomPresence]> {
        places
            .map(|(room, state, opened)| RoomPresence {
                room,
                state,
                opened: Timestamp(opened),
            })
            .into()
    }

    #[test]
    fn a_row_changes_the_rooms_in_which_it_differs_from_the_last() {
        let mut elsewhere = Elsewhere::default();
        let first = elsewhere.take("two", ANN, places([(MAIN, Idle, 0), (SIDE, Active, 5)]));
        let changed = |room, left, opened| Difference { room, left, opened };
        assert_eq!(
            first,
            [
                changed(MAIN, false, None),
                changed(SIDE, false, Some(Timestamp(5)))
            ]
        );
        let same = elsewhere.take("two", ANN, places([(MAIN, Idle, 0), (SIDE, Active, 5)]));
        assert_eq!(same, []);
        let opened = elsewhere.take("two", ANN, places([(MAIN, Idle, 7), (SIDE, Idle, 0)]));
        assert_eq!(
            opened,
            [
                changed(MAIN, false, Some(Timestamp(7))),
                changed(SIDE, false, None)
            ]
        );
        let gone = elsewhere.take("two", ANN, places([(MAIN, Offline, 7)]));
        assert_eq!(gone, [changed(MAIN, true, None), changed(SIDE, true, None)]);
        assert_eq!(elsewhere.users_of("two"), []);
    }

    #[test]
    fn the_liveliest_server_counts_until_it_is_gone() {
        let mut elsewhere = Elsewhere::default();
        elsewhere.take("two", ANN, places([(MAIN, Active, 0)]));
        elsewhere.take("three", ANN, places([(MAIN, Idle, 0)]));
        assert_eq!(
            (elsewhere.state(ANN, MAIN), elsewhere.state(ANN, SIDE)),
            (Active, Offline)
        );
        elsewhere.note("two", Timestamp(9), Timestamp(8));
        assert_eq!(
            (elsewhere.read_up_to("two"), elsewhere.read_up_to("four")),
            (Timestamp(9), Timestamp(0))
        );
        let listed = |node: &str| node == "three";
        assert_eq!(
            elsewhere.missing(listed),
            [("two".to_owned(), Timestamp(8))]
        );
        assert_eq!(elsewhere.take("two", ANN, Box::default()).len(), 1);
        elsewhere.remove("two");
        assert_eq!(
            (elsewhere.state(ANN, MAIN), elsewhere.missing(listed)),
            (Idle, vec![])
        );
    }
}
