//! What a hub shares with its subscriptions: the ring, the listeners, and the lock around them.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use eddyline_model::{Seq, UserId};

use crate::catchup::PageCache;
use crate::entry::{Entry, SubscriptionFilter};
use crate::listeners::{ListenerId, Listeners, Signal};
use crate::rights::Additions;
use crate::ring::{Ring, RingRead};
use crate::transient::{TransientKind, Transients};
use crate::wakes::Wakes;

/// The sizes of a [`Hub`](crate::Hub).
#[derive(Clone, Debug)]
pub struct HubConfig {
    /// How many entries the ring holds at most.
    pub ring_entries: usize,
    /// How many bytes of entries the ring holds at most. They are counted once; each of the formats
    /// [`StreamFormat::JsonWithIds`](crate::StreamFormat::JsonWithIds) and
    /// [`StreamFormat::Sse`](crate::StreamFormat::Sse) that is in use adds as much again.
    pub ring_bytes: usize,
    /// How many entries a page of the log has at most.
    pub page_entries: usize,
    /// About how many bytes a [`Batch`](crate::Batch) has at most; one entry may exceed it.
    pub write_bytes: usize,
    /// After how many ticks without a word a stream says a keep-alive; see
    /// [`Hub::tick`](crate::Hub::tick).
    pub quiet_ticks: u32,
}

impl Default for HubConfig {
    fn default() -> Self {
        Self {
            ring_entries: 16 * 1024,
            ring_bytes: 32 << 20,
            page_entries: 256,
            write_bytes: 256 << 10,
            quiet_ticks: 4,
        }
    }
}

/// What a hub shares with its subscriptions.
pub(crate) struct Shared {
    pub(crate) state: RwLock<State>,
    pub(crate) pages: Arc<PageCache>,
    pub(crate) config: HubConfig,
    pub(crate) ticks: AtomicU32,
    pub(crate) wakes: Wakes,
}

/// Everything that has to be looked at in one moment. The lock around it is never held while
/// waiting for anything, and nobody is woken under it.
pub(crate) struct State {
    pub(crate) ring: Ring,
    pub(crate) transients: Transients,
    pub(crate) listeners: Listeners,
    /// Counts the losses of rights.
    pub(crate) losses: u64,
    /// The latest users who came into rooms.
    pub(crate) additions: Additions,
    pub(crate) closed: bool,
}

/// Where a listener stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    /// In the log: everything up to here was handed out or was not for it.
    pub(crate) cursor: Seq,
    /// Among the transients: the first one not heard.
    pub(crate) transient: u64,
}

/// What a listener finds when it looks.
pub(crate) enum Look {
    Ended,
    Below {
        through: Seq,
        filter: Arc<SubscriptionFilter>,
        caller: Option<UserId>,
    },
    Ring {
        entries: Vec<Arc<Entry>>,
        position: Position,
    },
}

impl Shared {
    /// What a listener may take at its position.
    pub(crate) fn look(&self, id: ListenerId, position: Position) -> Look {
        let state = self.state();
        let Some(listener) = state.listeners.get(id) else {
            return Look::Ended;
        };
        let max_bytes = self.config.write_bytes;
        match state
            .ring
            .read(&listener.filter, position.cursor, max_bytes)
        {
            RingRead::Below(through) => Look::Below {
                through,
                filter: Arc::clone(&listener.filter),
                caller: listener.caller,
            },
            RingRead::Entries {
                entries,
                cursor,
                complete: false,
            } => Look::Ring {
                entries,
                position: Position { cursor, ..position },
            },
            RingRead::Entries {
                mut entries,
                cursor,
                complete: true,
            } => {
                // Who has all entries has those that any transient follows from.
                let heard = state.transients.read(
                    position.transient,
                    &listener.filter,
                    listener.signal.presence,
                );
                entries.extend(heard.cloned());
                Look::Ring {
                    entries,
                    position: Position {
                        cursor,
                        transient: state.transients.next(),
                    },
                }
            }
        }
    }

    /// What a listener may hear now; `None` when it was ended.
    pub(crate) fn filter_of(&self, id: ListenerId) -> Option<Arc<SubscriptionFilter>> {
        self.state()
            .listeners
            .get(id)
            .map(|listener| Arc::clone(&listener.filter))
    }

    pub(crate) fn unsubscribe(&self, id: ListenerId) {
        self.state_mut().remove(id);
    }

    pub(crate) fn pages(&self) -> &Arc<PageCache> {
        &self.pages
    }

    pub(crate) fn write_bytes(&self) -> usize {
        self.config.write_bytes
    }

    /// The present tick.
    pub(crate) fn now(&self) -> u32 {
        self.ticks.load(Ordering::Acquire)
    }

    pub(crate) fn state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn state_mut(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    pub(crate) fn release_transients(&mut self, waiting: &mut Vec<Arc<Signal>>) {
        for spoken in self.transients.release(self.ring.head().seq) {
            let hears = |signal: &Signal| signal.presence || spoken.kind == TransientKind::Activity;
            self.listeners.call(&spoken.entry, hears, waiting);
        }
    }

    pub(crate) fn remove(&mut self, id: ListenerId) -> Option<Arc<Signal>> {
        let listener = self.listeners.remove(id)?;
        for topic in listener.filter.topics() {
            self.ring.remove_listener(topic);
        }
        Some(listener.signal)
    }
}
