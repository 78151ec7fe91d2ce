//! Who is there: what streams show of their users, and when users last did something. Kept in
//! memory and written at most once a minute.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use eddyline_model::log::{LogBody, LogItem, Seq};
use eddyline_model::{RoomId, Timestamp, UserId};
use eddyline_streaming::presence::{ActivityThrottle, Presence, PresenceChange, PresenceState};
use eddyline_streaming::{Audience, Transient, TransientKind};
use serde_json::json;
use tokio::sync::watch;

use crate::App;

/// How often what is known is written down.
const FLUSH: Duration = Duration::from_secs(60);

/// Who is connected, and what was seen of whom since the last writing.
#[derive(Default)]
pub(crate) struct Online {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    presence: Presence,
    throttle: ActivityThrottle,
    seen: HashMap<(RoomId, UserId), (Timestamp, Timestamp)>,
}

impl Online {
    // What a panicking holder leaves is counters and times, all of them usable.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream that shows its user as present, until it is dropped.
#[derive(Debug)]
pub struct Connected {
    app: App,
    user: UserId,
    state: PresenceState,
    rooms: Box<[RoomId]>,
}

impl Drop for Connected {
    fn drop(&mut self) {
        let change = self.app.inner.presence.state().presence.disconnect(self.user, self.state);
        self.app.tell_presence(change, &self.rooms);
        self.app.note_ping(self.user, &self.rooms);
    }
}

impl App {
    /// Notes that a stream shows its user as present in these rooms.
    pub(crate) fn connect(&self, user: UserId, state: PresenceState, rooms: Box<[RoomId]>) -> Connected {
        let change = self.inner.presence.state().presence.connect(user, state);
        self.tell_presence(change, &rooms);
        self.note_ping(user, &rooms);
        if state == PresenceState::Active {
            for room in &rooms {
                self.note_activity(user, *room, Seq(0));
            }
        }
        Connected { app: self.clone(), user, state, rooms }
    }

    /// What a user shows.
    #[must_use]
    pub fn presence(&self, user: UserId) -> PresenceState {
        self.inner.presence.state().presence.state(user)
    }

    fn tell_presence(&self, change: Option<PresenceChange>, rooms: &[RoomId]) {
        let Some(change) = change else { return };
        let content = json!({"user_id": change.user.0, "state": change.state.as_str()});
        let object = json!({"event": "presence", "user": change.user.to_string(), "content": content});
        self.inner.hub.publish_transient(Transient {
            kind: TransientKind::Presence,
            audience: Audience::Many { rooms: rooms.into(), users: Box::default() },
            after: Seq(0),
            object: object.to_string().into_bytes(),
        });
    }

    fn note_ping(&self, user: UserId, rooms: &[RoomId]) {
        let now = self.now();
        let mut state = self.inner.presence.state();
        for room in rooms {
            state.seen.entry((*room, user)).or_default().0 = now;
        }
    }

    /// Notes that a user did something in a room, and tells the room at most once a minute. Never
    /// before the log entry at `after`, which is what the user did.
    fn note_activity(&self, user: UserId, room: RoomId, after: Seq) {
        let now = self.now();
        {
            let mut state = self.inner.presence.state();
            if !state.throttle.due(user, room, now) {
                return;
            }
            state.seen.entry((room, user)).or_default().1 = now;
        }
        let Some(flow) = self.inner.scribe.known_flow_id(room) else { return };
        let content = json!({"last_activity": now.0});
        let object =
            json!({"event": "activity.user", "flow": flow.0, "user": user.to_string(), "content": content});
        self.inner.hub.publish_transient(Transient {
            kind: TransientKind::Activity,
            audience: Audience::Room(room),
            after,
            object: object.to_string().into_bytes(),
        });
    }

    /// Notes who posted, once the posts are published.
    pub(crate) fn note_posts(&self, items: &[LogItem]) {
        let now = self.now();
        for item in items {
            let LogBody::Message(Some(view)) = &item.body else { continue };
            // What was posted long ago, as at a start, is no news.
            let fresh = now.0 - view.message.sent.0 < 60_000;
            if let (Some(user), true) = (view.message.author.user, fresh) {
                self.note_activity(user, view.message.room, item.id.seq);
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
        let seen: Vec<_> = self
            .inner
            .presence
            .state()
            .seen
            .drain()
            .map(|((room, user), (ping, activity))| (room, user, ping, activity))
            .collect();
        if seen.is_empty() {
            return;
        }
        if let Err(error) = self.store().write(move |tx| tx.touch_members(&seen)).await {
            tracing::debug!(%error, "who was seen could not be written down");
        }
    }
}
