//! Who is there: what streams show of their users, and when users last did something. Kept in
//! memory, where the lists of a flow's people find it, and written once a minute.
//!
//! Where several servers serve one database, each publishes there who is present, and reads what
//! the others published ([`exchange`]).

mod elsewhere;
mod exchange;
mod outgoing;
mod room_presence;
mod shown;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use eddyline_model::log::{LogBody, LogItem, Seq};
use eddyline_model::messages::Message;
use eddyline_model::{RoomId, Timestamp, UserId};
use eddyline_streaming::presence::{
    ActivityThrottle, PresenceChange, PresenceRegistry, PresenceState,
};
use eddyline_streaming::{Audience, Transient, TransientKind};
use eddyline_wire::{FlowUser, UserPresence};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use self::elsewhere::Elsewhere;
use self::outgoing::{Outgoing, PresenceRows};
use self::room_presence::RoomPresence;
pub use self::shown::PRESENCE_CHANGES;
pub use self::shown::StreamKey;
use self::shown::{RecentChanges, ShownStream, ShownStreams};
use crate::core::Core;
use crate::core::transaction::NoCaller;
use crate::jobs::Ticker;
use crate::{Error, Limit, Profile, Result};

/// How often what is known is written down.
const FLUSH: Duration = Duration::from_secs(60);
/// How much of it is written at once.
const FLUSH_PART: usize = 256;
/// How long an activity is news.
const MINUTE_MILLIS: i64 = 60_000;

/// Who is connected, and what was seen of whom since the last writing.
#[derive(Default)]
pub(crate) struct Online {
    state: Mutex<State>,
    /// Whether other servers are known to serve this database.
    others: AtomicBool,
}

#[derive(Default)]
struct State {
    presence: HashMap<RoomId, PresenceRegistry>,
    throttle: ActivityThrottle,
    /// Who is present by the streams of this server.
    here: BTreeSet<(UserId, RoomId)>,
    /// What is not written down yet.
    seen: HashMap<(RoomId, UserId), Seen>,
    /// What is to be published to other servers; absent while there are none.
    outgoing: Option<Outgoing>,
    elsewhere: Elsewhere,
    shown: ShownStreams,
}

/// When a user was last there, and last did something; 0 when that is not known here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    ping: Timestamp,
    activity: Timestamp,
}

impl Online {
    // What a panicking holder leaves is counters and times, all of them usable.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that other servers serve this database too.
    pub(crate) fn note_others(&self) {
        self.others.store(true, Ordering::Relaxed);
    }
}

impl State {
    /// Changes how a user appears in a room. Returns the change to send to the room, if there is
    /// one.
    fn change(
        &mut self,
        user: UserId,
        room: RoomId,
        change: impl FnOnce(&mut PresenceRegistry) -> Option<PresenceChange>,
    ) -> Option<PresenceChange> {
        let presence = self.presence.entry(room).or_default();
        let change = change(presence);
        if presence.own_state(user) == PresenceState::Offline {
            self.here.remove(&(user, room));
        } else {
            self.here.insert((user, room));
        }
        if presence.is_empty() {
            self.presence.remove(&room);
        }
        change
    }

    /// Queues all users who are present for the other servers.
    fn publish_all(&mut self) {
        let outgoing = self.outgoing.get_or_insert_default();
        outgoing.add(self.here.iter().map(|(user, _)| *user));
    }

    /// Takes the next users to publish, in at most `count` batches.
    fn next_batches(&mut self, count: usize, now: Timestamp) -> Vec<PresenceRows> {
        let Self {
            presence,
            here,
            outgoing,
            ..
        } = self;
        let state_of = |user, room| {
            presence
                .get(&room)
                .map(|presence| presence.own_state(user))
                .unwrap_or_default()
        };
        let Some(outgoing) = outgoing else {
            return Vec::new();
        };
        outgoing.drop_opened_before(now);
        let batches = (0..count).map(|_| outgoing.next_batch(here, state_of));
        batches.take_while(|batch| !batch.is_empty()).collect()
    }

    /// Queues the users of batches that could not be published.
    fn put_back(&mut self, batches: &[PresenceRows]) {
        if let Some(outgoing) = &mut self.outgoing {
            outgoing.add(batches.iter().flatten().map(|(user, _)| *user));
        }
    }
}

/// A stream that shows its user as present, until it is dropped.
#[derive(Debug)]
pub(crate) struct PresenceGuard {
    tracker: PresenceTracker,
    user: UserId,
    key: StreamKey,
}

impl PresenceGuard {
    /// The name of the stream.
    pub(crate) fn key(&self) -> StreamKey {
        self.key
    }
}

impl Drop for PresenceGuard {
    fn drop(&mut self) {
        let user = self.user;
        let mut state = self.tracker.online.state();
        let Some(stream) = state.shown.remove(user, self.key) else {
            return;
        };
        let rooms: Vec<RoomId> = stream.rooms.into_iter().collect();
        self.tracker
            .change_presence(&mut state, user, &rooms, |presence| {
                presence.disconnect(user, stream.state)
            });
        self.tracker.note_leaving(&mut state, user, &rooms);
    }
}

/// The content of the `presence` event that a room gets for a change.
fn shown(profile: Profile, change: PresenceChange, now: Timestamp) -> Value {
    let (user, state) = (change.user.0, change.state);
    match profile {
        Profile::Spec => json!({"user_id": user, "state": state.as_str()}),
        Profile::Classic => {
            json!({"user_id": user, "state": state.number(), "updated_at": now.to_string()})
        }
    }
}

/// The field `presence` of a user of a flow. The classic profile has none.
pub(crate) fn presence_field(profile: Profile, state: PresenceState) -> Option<UserPresence> {
    match (profile, state) {
        (Profile::Classic, _) => None,
        (Profile::Spec, PresenceState::Offline) => Some(UserPresence::Offline),
        (Profile::Spec, PresenceState::Idle) => Some(UserPresence::Idle),
        (Profile::Spec, PresenceState::Active) => Some(UserPresence::Active),
    }
}

/// Whether an activity is recent enough to be sent.
fn is_news(at: Timestamp, now: Timestamp) -> bool {
    now.0.saturating_sub(at.0) < MINUTE_MILLIS
}

/// Who is present, in which rooms, on all servers.
#[derive(Clone)]
pub(crate) struct PresenceTracker {
    core: Core,
    pub(crate) online: Arc<Online>,
}

crate::core::opaque_debug!(PresenceTracker);

impl PresenceTracker {
    pub(crate) fn new(core: Core) -> Self {
        Self {
            core,
            online: Arc::default(),
        }
    }

    /// Notes that a stream shows its user as present in these rooms.
    pub(crate) fn connect(
        &self,
        user: UserId,
        shows: PresenceState,
        rooms: &[RoomId],
        follows: bool,
    ) -> PresenceGuard {
        let key = StreamKey::new();
        let mut state = self.online.state();
        let stream = ShownStream {
            state: shows,
            rooms: rooms.iter().copied().collect(),
            follows,
            changes: RecentChanges::default(),
        };
        state.shown.insert(user, key, stream);
        self.change_presence(&mut state, user, rooms, |presence| {
            presence.connect(user, shows)
        });
        drop(state);
        if shows == PresenceState::Active {
            self.note_opened_in(user, rooms);
        }
        PresenceGuard {
            tracker: self.clone(),
            user,
            key,
        }
    }

    /// Changes what an open stream of a user shows.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when there is no such stream, [`Error::too_many_requests`].
    pub(crate) fn show(&self, user: UserId, key: StreamKey, shows: PresenceState) -> Result<()> {
        let mut state = self.online.state();
        let stream = state.shown.get_mut(user, key);
        let stream = stream.ok_or_else(Error::not_found)?;
        if let Err(seconds) = stream.changes.count(self.core.now()) {
            return Err(Error::too_many_requests(Limit::Requests, seconds));
        }
        let before = std::mem::replace(&mut stream.state, shows);
        let rooms: Vec<RoomId> = stream.rooms.iter().copied().collect();
        self.change_presence(&mut state, user, &rooms, |presence| {
            presence.change_stream(user, before, shows)
        });
        drop(state);
        if shows == PresenceState::Active && before != shows {
            self.note_opened_in(user, &rooms);
        }
        Ok(())
    }

    /// Removes a flow from the streams that show a user in it, after the user left the flow.
    pub(crate) fn unfollow(&self, user: UserId, room: RoomId) {
        let mut state = self.online.state();
        self.leave(&mut state, user, room);
    }

    /// Removes an archived flow from all streams that show their users in it.
    pub(crate) fn unfollow_all(&self, room: RoomId) {
        let mut state = self.online.state();
        for user in state.shown.users_in(room) {
            self.leave(&mut state, user, room);
        }
    }

    fn leave(&self, state: &mut State, user: UserId, room: RoomId) {
        let left = state.shown.leave(user, room);
        for shows in &left {
            self.change_presence(state, user, &[room], |presence| {
                presence.disconnect(user, *shows)
            });
        }
        if !left.is_empty() {
            self.note_leaving(state, user, &[room]);
        }
    }

    /// Shows users in a flow that they joined, by those of their streams that follow them into
    /// flows.
    pub(crate) fn follow(&self, users: &[UserId], room: RoomId) {
        let mut state = self.online.state();
        for user in users {
            for shows in state.shown.follow(*user, room) {
                self.change_presence(&mut state, *user, &[room], |presence| {
                    presence.connect(*user, shows)
                });
            }
        }
    }

    fn note_opened_in(&self, user: UserId, rooms: &[RoomId]) {
        let now = self.core.now();
        for room in rooms {
            self.note_opened(user, *room, now);
        }
    }

    /// Changes how a user appears, sends the change to each room, and queues it for the other
    /// servers. The events are sent while the state is locked, so that a room receives them in the
    /// order of the changes.
    fn change_presence(
        &self,
        state: &mut State,
        user: UserId,
        rooms: &[RoomId],
        change: impl Fn(&mut PresenceRegistry) -> Option<PresenceChange>,
    ) {
        for room in rooms {
            if let Some(change) = state.change(user, *room, &change) {
                self.send_presence(*room, change);
            }
        }
        if let Some(outgoing) = &mut state.outgoing {
            outgoing.add([user]);
        }
    }

    fn send_presence(&self, room: RoomId, change: PresenceChange) {
        let content = shown(self.core.config().profile, change, self.core.now());
        let mut object =
            json!({"event": "presence", "user": change.user.to_string(), "content": content});
        // A stream may hold several flows.
        if let Some(flow) = self.core.entry_encoder.known_flow_id(room) {
            object["flow"] = json!(flow.0);
        }
        self.core.hub.publish_transient(Transient {
            kind: TransientKind::Presence,
            audience: Audience::Room(room),
            after: Seq(0),
            object: object.to_string().into_bytes(),
        });
    }

    /// Notes that a user opened an active stream, sends it to the room and queues it for the other
    /// servers.
    fn note_opened(&self, user: UserId, room: RoomId, at: Timestamp) {
        self.note_activity(user, room, at);
        if self.send_activity(user, room, at, Seq(0))
            && let Some(outgoing) = &mut self.online.state().outgoing
        {
            outgoing.note_opened(user, room, at);
        }
    }

    /// Notes that a user did something in a room, as it is shown from now on.
    pub(crate) fn note_activity(&self, user: UserId, room: RoomId, at: Timestamp) {
        let mut state = self.online.state();
        let seen = state.seen.entry((room, user)).or_default();
        seen.activity = seen.activity.max(at);
    }

    /// When a user last did something in a room, as far as this process has seen it.
    #[cfg(test)]
    pub(crate) fn activity_of(&self, user: UserId, room: RoomId) -> Timestamp {
        self.online
            .state()
            .seen
            .get(&(room, user))
            .copied()
            .unwrap_or_default()
            .activity
    }

    fn note_leaving(&self, state: &mut State, user: UserId, rooms: &[RoomId]) {
        let now = self.core.now();
        for room in rooms {
            state.seen.entry((*room, user)).or_default().ping = now;
        }
    }

    /// Applies how another server shows a user, as it was at a time. Returns how many rooms got
    /// events.
    fn apply_places(
        &self,
        node: &str,
        user: UserId,
        places: Box<[RoomPresence]>,
        at: Timestamp,
    ) -> usize {
        let mut state = self.online.state();
        let differences = state.elsewhere.take(node, user, places);
        for difference in &differences {
            let shown = state.elsewhere.state(user, difference.room);
            if let Some(change) = state.change(user, difference.room, |presence| {
                presence.set_elsewhere(user, shown)
            }) {
                self.send_presence(difference.room, change);
            }
            if difference.left {
                let seen = state.seen.entry((difference.room, user)).or_default();
                seen.ping = seen.ping.max(at);
            }
        }
        drop(state);
        let now = self.core.now();
        for difference in &differences {
            if let Some(opened) = difference.opened.filter(|opened| is_news(*opened, now)) {
                self.note_activity(user, difference.room, opened);
                self.send_activity(user, difference.room, opened, Seq(0));
            }
        }
        differences.len()
    }

    /// Brings people as they were read from the store up to what was seen of them since.
    pub(crate) fn bring_up_to_date(&self, room: RoomId, people: &mut [FlowUser]) {
        let now = self.core.now();
        let profile = self.core.config().profile;
        let state = self.online.state();
        let presence = state.presence.get(&room);
        for person in people {
            let user = UserId(person.id);
            let Seen { ping, activity } =
                state.seen.get(&(room, user)).copied().unwrap_or_default();
            let shown = presence.map_or(PresenceState::Offline, |presence| presence.state(user));
            let ping = if shown == PresenceState::Offline {
                ping
            } else {
                now
            };
            person.presence = presence_field(profile, shown);
            person.last_ping = person.last_ping.max(ping.0);
            person.last_activity = person.last_activity.max(activity.0);
        }
    }

    /// The presence of users over several rooms: the highest of the states that each has there.
    /// Empty in the classic profile, whose API has no presence.
    pub(crate) fn presence_over(
        &self,
        rooms: &[RoomId],
        users: &[UserId],
    ) -> BTreeMap<i64, UserPresence> {
        let profile = self.core.config().profile;
        let state = self.online.state();
        let registries: Vec<&PresenceRegistry> = rooms
            .iter()
            .filter_map(|room| state.presence.get(room))
            .collect();
        let shown = |user: &UserId| {
            let states = registries.iter().map(|registry| registry.state(*user));
            let highest = states.max_by_key(|state| state.number());
            let shown = presence_field(profile, highest.unwrap_or(PresenceState::Offline))?;
            Some((user.0, shown))
        };
        users.iter().filter_map(shown).collect()
    }

    /// Notes that a user posted a message, as soon as it is stored.
    pub(crate) fn note_post(&self, message: &Message) {
        if let Some(user) = message.author.user {
            self.note_activity(user, message.room, message.sent);
        }
    }

    /// Sends to a room that a user did something, at most once a minute. Never before the log entry
    /// at `after`, which is what the user did. `false` when it was sent within the last minute.
    fn send_activity(&self, user: UserId, room: RoomId, at: Timestamp, after: Seq) -> bool {
        if !self
            .online
            .state()
            .throttle
            .due(user, room, self.core.now())
        {
            return false;
        }
        let Some(flow) = self.core.entry_encoder.known_flow_id(room) else {
            return true;
        };
        let content = json!({"last_activity": at.0});
        let object = json!({"event": "activity.user", "flow": flow.0, "user": user.to_string(), "content": content});
        self.core.hub.publish_transient(Transient {
            kind: TransientKind::Activity,
            audience: Audience::Room(room),
            after,
            object: object.to_string().into_bytes(),
        });
        true
    }

    /// Notes who posted, and sends their activity to the rooms after the posts.
    pub(crate) fn note_posts(&self, items: &[LogItem]) {
        let now = self.core.now();
        for item in items {
            let LogBody::Message(Some(view)) = &item.body else {
                continue;
            };
            // What was posted long ago, as at a start, is no news.
            let is_news = is_news(view.message.sent, now);
            if let (Some(user), true) = (view.message.author.user, is_news) {
                self.note_post(&view.message);
                self.send_activity(user, view.message.room, view.message.sent, item.id.seq);
            }
        }
    }

    /// Writes down every minute who was seen, and once more at the end.
    pub(crate) async fn run_presence(self, stop: CancellationToken) {
        let mut ticker = Ticker::new(FLUSH, stop);
        while ticker.tick().await {
            self.flush_seen().await;
        }
        self.flush_seen().await;
    }

    async fn flush_seen(&self) {
        let seen = self.seen();
        if seen.is_empty() {
            return;
        }
        let mut rows: Vec<_> = seen
            .iter()
            .map(|((room, user), at)| (*room, *user, at.ping, at.activity))
            .collect();
        // In order and in parts: several processes do this at once, and posts shall not wait for
        // it.
        rows.sort_unstable_by_key(|row| (row.0, row.1));
        for part in rows.chunks(FLUSH_PART) {
            let part = part.to_vec();
            if let Err(error) = self
                .core
                .store()
                .write(NoCaller::Process, move |tx| tx.members().touch(&part))
                .await
            {
                tracing::debug!(%error, "who was seen could not be written down");
                return;
            }
        }
        // Kept until here, so that at no time it is found neither in memory nor in the store.
        self.online
            .state()
            .seen
            .retain(|key, at| seen.get(key) != Some(at));
    }

    /// What is to be written down, with those who are there now.
    fn seen(&self) -> HashMap<(RoomId, UserId), Seen> {
        let now = self.core.now();
        let mut state = self.online.state();
        let State { here, seen, .. } = &mut *state;
        for (user, room) in &*here {
            seen.entry((*room, *user)).or_default().ping = now;
        }
        seen.clone()
    }
}
