//! Who is there: what streams show of their users, and when users last did something. Kept in
//! memory, where the lists of a flow's people find it, and written once a minute.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use eddyline_model::log::{LogBody, LogItem, Seq};
use eddyline_model::messages::Message;
use eddyline_model::{RoomId, Timestamp, UserId};
use eddyline_streaming::presence::{ActivityThrottle, Presence, PresenceChange, PresenceState};
use eddyline_streaming::{Audience, Transient, TransientKind};
use eddyline_wire::FlowUser;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::transaction::NoCaller;
use crate::{App, Profile};

/// How often what is known is written down.
const FLUSH: Duration = Duration::from_secs(60);
/// How much of it is written at once.
const FLUSH_PART: usize = 256;

/// Who is connected, and what was seen of whom since the last writing.
#[derive(Default)]
pub(crate) struct Online {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    presence: HashMap<RoomId, Presence>,
    throttle: ActivityThrottle,
    /// How many streams show a user as present in a room.
    here: HashMap<(RoomId, UserId), u32>,
    /// What is not written down yet.
    seen: HashMap<(RoomId, UserId), Seen>,
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
}

/// A stream that shows its user as present, until it is dropped.
#[derive(Debug)]
pub(crate) struct Connected {
    app: App,
    user: UserId,
    state: PresenceState,
    rooms: Box<[RoomId]>,
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.app.change_presence(&self.rooms, |presence| presence.disconnect(self.user, self.state));
        self.app.note_leaving(self.user, &self.rooms);
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

impl App {
    /// Notes that a stream shows its user as present in these rooms.
    pub(crate) fn connect(&self, user: UserId, state: PresenceState, rooms: Box<[RoomId]>) -> Connected {
        self.change_presence(&rooms, |presence| presence.connect(user, state));
        let now = self.now();
        self.note_coming(user, state, &rooms, now);
        if state == PresenceState::Active {
            for room in &rooms {
                self.tell_activity(user, *room, now, Seq(0));
            }
        }
        Connected { app: self.clone(), user, state, rooms }
    }

    /// Changes who is there, and tells it to each room. Told while the state is held, so that a room
    /// hears of changes in their order.
    fn change_presence(&self, rooms: &[RoomId], change: impl Fn(&mut Presence) -> Option<PresenceChange>) {
        let mut state = self.inner.presence.state();
        for room in rooms {
            let presence = state.presence.entry(*room).or_default();
            let Some(change) = change(presence) else { continue };
            if presence.online().next().is_none() {
                state.presence.remove(room);
            }
            let content = shown(self.config().profile, change, self.now());
            let object = json!({"event": "presence", "user": change.user.to_string(), "content": content});
            self.inner.hub.publish_transient(Transient {
                kind: TransientKind::Presence,
                audience: Audience::Room(*room),
                after: Seq(0),
                object: object.to_string().into_bytes(),
            });
        }
    }

    fn note_coming(&self, user: UserId, shows: PresenceState, rooms: &[RoomId], now: Timestamp) {
        let mut state = self.inner.presence.state();
        for room in rooms {
            let key = (*room, user);
            *state.here.entry(key).or_default() += 1;
            if shows == PresenceState::Active {
                state.seen.entry(key).or_default().activity = now;
            }
        }
    }

    fn note_leaving(&self, user: UserId, rooms: &[RoomId]) {
        let now = self.now();
        let mut state = self.inner.presence.state();
        for room in rooms {
            let key = (*room, user);
            if let Entry::Occupied(mut streams) = state.here.entry(key) {
                *streams.get_mut() -= 1;
                if *streams.get() == 0 {
                    streams.remove();
                }
            }
            state.seen.entry(key).or_default().ping = now;
        }
    }

    /// Brings people as they were read from the store up to what was seen of them since.
    pub(crate) fn bring_up_to_date(&self, room: RoomId, people: &mut [FlowUser]) {
        let now = self.now();
        let state = self.inner.presence.state();
        for person in people {
            let key = (room, UserId(person.id));
            let Seen { ping, activity } = state.seen.get(&key).copied().unwrap_or_default();
            let ping = if state.here.contains_key(&key) { now } else { ping };
            person.last_ping = person.last_ping.max(ping.0);
            person.last_activity = person.last_activity.max(activity.0);
        }
    }

    /// Notes that a user posted a message, as soon as it is stored.
    pub(crate) fn note_post(&self, message: &Message) {
        let Some(user) = message.author.user else { return };
        let mut state = self.inner.presence.state();
        let seen = state.seen.entry((message.room, user)).or_default();
        seen.activity = seen.activity.max(message.sent);
    }

    /// Tells a room that a user did something, at most once a minute. Never before the log entry
    /// at `after`, which is what the user did.
    fn tell_activity(&self, user: UserId, room: RoomId, at: Timestamp, after: Seq) {
        if !self.inner.presence.state().throttle.due(user, room, self.now()) {
            return;
        }
        let Some(flow) = self.inner.scribe.known_flow_id(room) else { return };
        let content = json!({"last_activity": at.0});
        let object =
            json!({"event": "activity.user", "flow": flow.0, "user": user.to_string(), "content": content});
        self.inner.hub.publish_transient(Transient {
            kind: TransientKind::Activity,
            audience: Audience::Room(room),
            after,
            object: object.to_string().into_bytes(),
        });
    }

    /// Notes who posted, and lets their rooms know once the posts are published.
    pub(crate) fn note_posts(&self, items: &[LogItem]) {
        let now = self.now();
        for item in items {
            let LogBody::Message(Some(view)) = &item.body else { continue };
            // What was posted long ago, as at a start, is no news.
            let fresh = now.0 - view.message.sent.0 < 60_000;
            if let (Some(user), true) = (view.message.author.user, fresh) {
                self.note_post(&view.message);
                self.tell_activity(user, view.message.room, view.message.sent, item.id.seq);
            }
        }
    }

    /// Writes down every minute who was seen, until `stop` says so, and then once more.
    pub(crate) async fn run_presence(&self, mut stop: watch::Receiver<bool>) {
        let mut timer = tokio::time::interval(FLUSH);
        timer.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        while !*stop.borrow() {
            tokio::select! {
                _ = timer.tick() => self.flush_seen().await,
                changed = stop.changed() => if changed.is_err() { break },
            }
        }
        self.flush_seen().await;
    }

    async fn flush_seen(&self) {
        let seen = self.seen();
        if seen.is_empty() {
            return;
        }
        let mut rows: Vec<_> =
            seen.iter().map(|((room, user), at)| (*room, *user, at.ping, at.activity)).collect();
        // In order and in parts: several processes do this at once, and posts shall not wait for it.
        rows.sort_unstable_by_key(|row| (row.0, row.1));
        for part in rows.chunks(FLUSH_PART) {
            let part = part.to_vec();
            if let Err(error) = self.store().write(NoCaller::Process, move |tx| tx.touch_members(&part)).await
            {
                tracing::debug!(%error, "who was seen could not be written down");
                return;
            }
        }
        // Kept until here, so that at no time it is found neither in memory nor in the store.
        self.inner.presence.state().seen.retain(|key, at| seen.get(key) != Some(at));
    }

    /// What is to be written down, with those who are there now.
    fn seen(&self) -> HashMap<(RoomId, UserId), Seen> {
        let now = self.now();
        let mut state = self.inner.presence.state();
        let State { here, seen, .. } = &mut *state;
        for key in here.keys() {
            seen.entry(*key).or_default().ping = now;
        }
        seen.clone()
    }
}
