//! Changes of rights. A revocation takes effect at once, not when a listener's position reaches it:
//! the hub no longer writes what it has not written yet.

use std::collections::HashSet;
use std::sync::Arc;

use eddyline_model::{RoomId, UserId};

use crate::entry::Topic;
use crate::hub::{Hub, SubscribeRequest};
use crate::listeners::{Call, Listener, ListenerId, Signal};
use crate::rights::{CredentialKey, OpenedWith, RightsMark};
use crate::shared::State;

impl Hub {
    /// The present moment; to be taken before a caller's rights are looked up.
    #[must_use]
    pub fn rights_mark(&self) -> RightsMark {
        let state = self.shared.state();
        RightsMark {
            losses: state.losses,
            additions: state.additions.count(),
        }
    }

    /// `user` lost `room`: his streams go on without it, and end when nothing is left of them.
    pub fn revoke_room(&self, user: UserId, room: RoomId) {
        self.revoke(|state| {
            let of_user =
                |(id, _): &(ListenerId, _)| state.listeners.get(*id).is_some_and(|l| l.is_of(user));
            let ids: Vec<_> = state
                .listeners
                .of(Topic::Room(room))
                .filter(of_user)
                .map(|(id, _)| id)
                .collect();
            ids.into_iter()
                .filter_map(|id| state.narrow(id, room))
                .collect()
        });
    }

    /// Nobody may listen to `room` any more: it was removed or disabled.
    pub fn revoke_room_for_all(&self, room: RoomId) {
        self.revoke(|state| {
            let ids: Vec<_> = state
                .listeners
                .of(Topic::Room(room))
                .map(|(id, _)| id)
                .collect();
            ids.into_iter()
                .filter_map(|id| state.narrow(id, room))
                .collect()
        });
    }

    /// Users joined `room`: the hub adds it to their streams that follow them. To be called before the
    /// next entries of the room are published. A stream that lags behind does not deliver earlier
    /// entries of the room.
    pub fn add_room(&self, users: &[UserId], room: RoomId) {
        let mut state = self.shared.state_mut();
        state.additions.note(users);
        for user in users {
            for id in state.listeners.followers(*user) {
                state.widen(id, room);
            }
        }
    }

    /// Ends all streams of `user`.
    pub fn revoke_user(&self, user: UserId) {
        self.revoke(|state| state.end(|listener| listener.is_of(user)));
    }

    /// Ends the streams that include private messages of `user`; streams of flows alone go on.
    pub fn revoke_private(&self, user: UserId) {
        self.revoke(|state| state.end(|listener| listener.filter.user() == Some(user)));
    }

    /// Ends all streams that were opened with one of these credentials, or with one of these
    /// families.
    pub fn revoke_credentials(&self, keys: &HashSet<CredentialKey>) {
        let is_meant = |with: &OpenedWith| {
            keys.contains(&with.credential)
                || with.family.is_some_and(|family| keys.contains(&family))
        };
        self.revoke(|state| {
            state.end(|listener| listener.credential.as_ref().is_some_and(is_meant))
        });
    }

    /// Ends all streams, and each new one as soon as it has begun: the process is about to end.
    pub fn close_all(&self) {
        self.revoke(|state| {
            state.closed = true;
            state.end(|_| true)
        });
    }

    fn revoke(&self, act: impl FnOnce(&mut State) -> Vec<Arc<Signal>>) {
        let affected = {
            let mut state = self.shared.state_mut();
            state.losses += 1;
            act(&mut state)
        };
        for signal in affected {
            // Woken in any case: an earlier call may have been meant for an earlier loss.
            let _ = signal.call(Call::Rights);
            signal.wake();
        }
    }
}

impl Listener {
    fn is_of(&self, user: UserId) -> bool {
        self.caller == Some(user) || self.filter.user() == Some(user)
    }
}

impl State {
    /// Whether rights that matter to a new stream changed since they were checked. Who comes into a
    /// room matters to the streams that follow the user only.
    pub(crate) fn has_changed(&self, request: &SubscribeRequest) -> bool {
        let came = |user| self.additions.has_since(request.rights.additions, user);
        request.rights.losses != self.losses
            || (request.follows && request.caller.is_some_and(came))
    }

    fn end(&mut self, which: impl Fn(&Listener) -> bool) -> Vec<Arc<Signal>> {
        let ids: Vec<_> = self
            .listeners
            .iter()
            .filter(|(_, l)| which(l))
            .map(|(id, _)| id)
            .collect();
        ids.into_iter().filter_map(|id| self.remove(id)).collect()
    }

    fn widen(&mut self, id: ListenerId, room: RoomId) {
        let Some(listener) = self.listeners.get(id) else {
            return;
        };
        if !listener.filter.has_room(room) {
            let wider = listener.filter.with_room(room, self.ring.head().seq);
            self.listeners.widen(id, wider, Topic::Room(room));
            self.ring.add_listener_of(Topic::Room(room));
        }
    }

    fn narrow(&mut self, id: ListenerId, room: RoomId) -> Option<Arc<Signal>> {
        let listener = self.listeners.get(id)?;
        let signal = Arc::clone(&listener.signal);
        let narrower = listener.filter.without_room(room);
        if narrower.is_empty() && !listener.follows {
            return self.remove(id);
        }
        self.listeners.narrow(id, narrower, Topic::Room(room));
        self.ring.remove_listener(Topic::Room(room));
        Some(signal)
    }
}
