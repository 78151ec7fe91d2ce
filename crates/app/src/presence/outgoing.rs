//! What other servers do not know yet of the users who are present here.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use eddyline_model::{RoomId, Timestamp, UserId};
use eddyline_streaming::presence::PresenceState;

use super::MINUTE_MILLIS;
use super::room_presence::RoomPresence;

/// The most users of one batch.
const USERS: usize = 512;
/// A batch that has so many rooms takes no further user.
const PLACES: usize = 16 * 1024;
/// In how many rooms other servers show a user as present at this one, those with the lowest
/// numbers.
const PLACES_OF_USER: usize = 1_000;

/// Users with the places in which they are present.
pub(super) type PresenceRows = Vec<(UserId, Vec<RoomPresence>)>;

/// The users whose published rows are out of date.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    changed: BTreeSet<UserId>,
    /// The user who was published last. Those after it come next, so that nobody is passed over for
    /// ever.
    last: Option<UserId>,
    /// When users opened active streams, where that event was sent here within the last minute.
    opened: BTreeMap<(UserId, RoomId), Timestamp>,
}

impl Outgoing {
    /// Queues users, who may be queued already.
    pub(super) fn add(&mut self, users: impl IntoIterator<Item = UserId>) {
        self.changed.extend(users);
    }

    /// Notes that a user opened an active stream, and queues the user.
    pub(super) fn note_opened(&mut self, user: UserId, room: RoomId, at: Timestamp) {
        self.opened.insert((user, room), at);
        self.changed.insert(user);
    }

    /// Forgets the streams that were opened more than a minute ago.
    pub(super) fn drop_opened_before(&mut self, now: Timestamp) {
        self.opened
            .retain(|_, at| now.0.saturating_sub(at.0) < MINUTE_MILLIS);
    }

    fn next(&mut self) -> Option<UserId> {
        let after = (
            self.last.map_or(Bound::Unbounded, Bound::Excluded),
            Bound::Unbounded,
        );
        let user = self
            .changed
            .range(after)
            .next()
            .or_else(|| self.changed.first())
            .copied()?;
        self.changed.remove(&user);
        self.last = Some(user);
        Some(user)
    }

    /// Takes the next users with their places, within the bounds of a batch. `here` has the rooms
    /// in which users are present, and `state_of` tells how.
    pub(super) fn next_batch(
        &mut self,
        here: &BTreeSet<(UserId, RoomId)>,
        state_of: impl Fn(UserId, RoomId) -> PresenceState,
    ) -> PresenceRows {
        let mut batch = Vec::new();
        let mut size = 0;
        while batch.len() < USERS && size < PLACES {
            let Some(user) = self.next() else { break };
            let rooms = (user, RoomId(i64::MIN))..=(user, RoomId(i64::MAX));
            let mut places: BTreeMap<RoomId, RoomPresence> = self
                .opened
                .range(rooms.clone())
                .map(|((_, room), _)| (*room, RoomPresence::absent(*room)))
                .collect();
            places.extend(
                here.range(rooms)
                    .map(|(_, room)| (*room, RoomPresence::absent(*room))),
            );
            let mut places: Vec<RoomPresence> = places.into_values().take(PLACES_OF_USER).collect();
            for place in &mut places {
                place.state = state_of(user, place.room);
                place.opened = self
                    .opened
                    .get(&(user, place.room))
                    .copied()
                    .unwrap_or_default();
            }
            size += places.len();
            batch.push((user, places));
        }
        batch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use PresenceState::{Active, Idle, Offline};

    const NOW: Timestamp = Timestamp(1_700_000_000_000);

    fn idle_everywhere(outgoing: &mut Outgoing, here: &BTreeSet<(UserId, RoomId)>) -> PresenceRows {
        outgoing.next_batch(here, |user, room| {
            if here.contains(&(user, room)) {
                Idle
            } else {
                Offline
            }
        })
    }

    #[test]
    fn a_batch_has_who_changed_with_all_their_rooms() {
        let mut outgoing = Outgoing::default();
        let here = BTreeSet::from([
            (UserId(1), RoomId(1)),
            (UserId(1), RoomId(3)),
            (UserId(2), RoomId(1)),
        ]);
        outgoing.add([UserId(1), UserId(3)]);
        outgoing.note_opened(UserId(1), RoomId(2), NOW);
        outgoing.note_opened(UserId(1), RoomId(3), NOW.plus_millis(-MINUTE_MILLIS));
        outgoing.drop_opened_before(NOW);
        let idle = |room| RoomPresence {
            state: Idle,
            ..RoomPresence::absent(RoomId(room))
        };
        let left = RoomPresence {
            opened: NOW,
            ..RoomPresence::absent(RoomId(2))
        };
        let first = (UserId(1), vec![idle(1), left, idle(3)]);
        assert_eq!(
            idle_everywhere(&mut outgoing, &here),
            [first, (UserId(3), vec![])]
        );
        assert_eq!(idle_everywhere(&mut outgoing, &here), []);
    }

    #[test]
    fn batches_are_bounded_and_lose_nobody() {
        let mut outgoing = Outgoing::default();
        let mut here: BTreeSet<_> = (1..=1_200).map(|user| (UserId(user), RoomId(1))).collect();
        outgoing.add(here.iter().map(|(user, _)| *user));
        let mut lengths = Vec::new();
        while let batch @ [_, ..] = &idle_everywhere(&mut outgoing, &here)[..] {
            lengths.push(batch.len());
        }
        assert_eq!(lengths, [512, 512, 176]);
        here = (1..=20)
            .flat_map(|user| (1..=1_500).map(move |room| (UserId(user), RoomId(room))))
            .collect();
        outgoing.add((1..=20).map(UserId));
        let batch = outgoing.next_batch(&here, |_, _| Active);
        assert_eq!((batch.len(), batch[0].1.len()), (17, PLACES_OF_USER));
        assert_eq!(outgoing.next_batch(&here, |_, _| Active).len(), 3);
    }

    #[test]
    fn users_who_change_all_the_time_do_not_keep_others_back() {
        let mut outgoing = Outgoing::default();
        let here = BTreeSet::from([(UserId(900), RoomId(1))]);
        outgoing.add((1..=900).map(UserId));
        assert_eq!(idle_everywhere(&mut outgoing, &here).len(), USERS);
        outgoing.add((1..=512).map(UserId));
        let batch = idle_everywhere(&mut outgoing, &here);
        assert!(batch.iter().any(|(user, _)| *user == UserId(900)));
    }
}
