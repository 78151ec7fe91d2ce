//! Who listens to which topic, and how a listener is woken.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::task::Waker;

use eddyline_model::UserId;
use futures_util::task::AtomicWaker;

use crate::entry::{Entry, SubscriptionFilter, Topic};
use crate::rights::OpenedWith;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ListenerId(u64);

/// Something a listener should look at.
#[derive(Clone, Copy)]
pub(crate) enum Call {
    /// There may be something to read.
    News = 1,
    /// It has been silent for long enough.
    KeepAlive = 2,
    /// It lost rights.
    Rights = 4,
    /// Entries that it may hold were amended.
    Amended = 8,
}

/// The one thing that others touch of a listener: what it is called for, and its waker.
pub(crate) struct Signal {
    calls: AtomicU8,
    waker: AtomicWaker,
    /// The tick in which it was last given something to write.
    wrote: AtomicU32,
    pub(crate) presence: bool,
}

impl Signal {
    pub(crate) fn new(presence: bool, tick: u32) -> Arc<Self> {
        let wrote = AtomicU32::new(tick);
        Arc::new(Self {
            calls: AtomicU8::new(0),
            waker: AtomicWaker::new(),
            wrote,
            presence,
        })
    }

    /// Leaves a call. `true` when none of this kind was left already: then the listener has to
    /// be woken, after the locks are released.
    #[must_use]
    pub(crate) fn call(&self, call: Call) -> bool {
        self.calls.fetch_or(call as u8, Ordering::AcqRel) & call as u8 == 0
    }

    /// Answers a call: whether one was left. The listener looks only after this, so that a call
    /// is never answered without being heeded.
    pub(crate) fn answer(&self, call: Call) -> bool {
        self.calls.fetch_and(!(call as u8), Ordering::AcqRel) & call as u8 != 0
    }

    pub(crate) fn is_called(&self, call: Call) -> bool {
        self.calls.load(Ordering::Acquire) & call as u8 != 0
    }

    pub(crate) fn register(&self, waker: &Waker) {
        self.waker.register(waker);
    }

    pub(crate) fn wake(&self) {
        self.waker.wake();
    }

    /// It is given something to write in the tick `now`.
    pub(crate) fn wrote(&self, now: u32) {
        self.wrote.store(now, Ordering::Release);
        self.answer(Call::KeepAlive);
    }

    pub(crate) fn silent_since(&self, now: u32) -> u32 {
        now.wrapping_sub(self.wrote.load(Ordering::Acquire))
    }
}

/// What the hub knows of one listener.
pub(crate) struct Listener {
    pub(crate) filter: Arc<SubscriptionFilter>,
    pub(crate) caller: Option<UserId>,
    /// Whether it listens to each room that the caller comes into.
    pub(crate) follows: bool,
    pub(crate) credential: Option<OpenedWith>,
    pub(crate) signal: Arc<Signal>,
}

impl Listener {
    /// The user whose rooms it follows.
    fn followed(&self) -> Option<UserId> {
        self.caller.filter(|_| self.follows)
    }
}

/// All listeners, by id and by topic.
#[derive(Default)]
pub(crate) struct Listeners {
    last: u64,
    by_id: HashMap<ListenerId, Listener>,
    /// In ascending order, which is the order of their coming.
    by_topic: HashMap<Topic, Vec<(ListenerId, Arc<Signal>)>>,
    /// Those that follow their callers.
    followers: HashMap<UserId, Vec<ListenerId>>,
}

impl Listeners {
    pub(crate) fn add(&mut self, listener: Listener) -> ListenerId {
        self.last += 1;
        let id = ListenerId(self.last);
        for topic in listener.filter.topics() {
            self.by_topic
                .entry(topic)
                .or_default()
                .push((id, Arc::clone(&listener.signal)));
        }
        if let Some(caller) = listener.followed() {
            self.followers.entry(caller).or_default().push(id);
        }
        self.by_id.insert(id, listener);
        id
    }

    pub(crate) fn remove(&mut self, id: ListenerId) -> Option<Listener> {
        let listener = self.by_id.remove(&id)?;
        for topic in listener.filter.topics() {
            self.leave(id, topic);
        }
        if let Some(caller) = listener.followed()
            && let Some(ids) = self.followers.get_mut(&caller)
        {
            ids.retain(|other| *other != id);
            if ids.is_empty() {
                self.followers.remove(&caller);
            }
        }
        Some(listener)
    }

    /// The listeners that follow a user.
    pub(crate) fn followers(&self, user: UserId) -> Vec<ListenerId> {
        self.followers.get(&user).cloned().unwrap_or_default()
    }

    /// Gives a listener a wider filter.
    pub(crate) fn widen(&mut self, id: ListenerId, filter: SubscriptionFilter, with: Topic) {
        if let Some(listener) = self.by_id.get_mut(&id) {
            listener.filter = Arc::new(filter);
            let listeners = self.by_topic.entry(with).or_default();
            let place = listeners.partition_point(|(other, _)| *other < id);
            listeners.insert(place, (id, Arc::clone(&listener.signal)));
        }
    }

    /// Gives a listener a narrower filter.
    pub(crate) fn narrow(&mut self, id: ListenerId, filter: SubscriptionFilter, without: Topic) {
        if let Some(listener) = self.by_id.get_mut(&id) {
            listener.filter = Arc::new(filter);
            self.leave(id, without);
        }
    }

    fn leave(&mut self, id: ListenerId, topic: Topic) {
        let Some(listeners) = self.by_topic.get_mut(&topic) else {
            return;
        };
        if let Ok(index) = listeners.binary_search_by_key(&id, |(id, _)| *id) {
            listeners.remove(index);
        }
        if listeners.is_empty() {
            self.by_topic.remove(&topic);
        } else if listeners.len() < listeners.capacity() / 4 {
            listeners.shrink_to(listeners.len() * 2);
        }
    }

    pub(crate) fn get(&self, id: ListenerId) -> Option<&Listener> {
        self.by_id.get(&id)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (ListenerId, &Listener)> {
        self.by_id.iter().map(|(id, listener)| (*id, listener))
    }

    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Those who listen to a topic.
    pub(crate) fn of(&self, topic: Topic) -> impl Iterator<Item = (ListenerId, &Arc<Signal>)> {
        self.by_topic
            .get(&topic)
            .into_iter()
            .flatten()
            .map(|(id, signal)| (*id, signal))
    }

    /// Calls those an entry is for, and collects those who have to be woken for it.
    pub(crate) fn call(
        &self,
        entry: &Entry,
        hears: impl Fn(&Signal) -> bool,
        waiting: &mut Vec<Arc<Signal>>,
    ) {
        let signals = entry
            .audience()
            .topics()
            .flat_map(|topic| self.of(topic))
            .map(|(_, signal)| signal);
        waiting.extend(
            signals
                .filter(|s| hears(s) && s.call(Call::News))
                .map(Arc::clone),
        );
    }
}
