//! Values that are loaded from the store and asked for again and again, until an event of the log
//! invalidates them.
//!
//! A value that was loaded before a change must not be cached after it. So every load is registered
//! under its key, and invalidating a key removes its registrations: a load that is not registered
//! at its end is not cached. The cache is changed and registrations are looked at under one lock.
//!
//! Callers who want the same key at the same time share one load. A caller joins a load only while
//! that is registered and while the process may trust its memory. So no caller gets a state from
//! before a change that every process had to act upon before the caller asked. A caller follows a
//! load only for a short time, since that may wait in the line of another caller's reads.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::future::Future;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quick_cache::sync::Cache;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::metrics::{CacheLookups, LookupCounts};

/// How long a caller follows a load. Then one of the followers leads a load of its own, and the
/// others follow that.
const FOLLOW_TIME: Duration = Duration::from_millis(100);
/// How many loads of a key are registered. A caller that finds the last of them slow loads without
/// registering.
const MOST_LOADS: usize = 3;
/// How long a caller follows others in all, however many loads end without a value.
const MOST_FOLLOW_TIME: Duration = Duration::from_millis(300);

/// Values by their keys. Those that were not asked for lately make room for others.
pub(crate) struct LoadingCache<K, V> {
    known: Cache<K, V>,
    loads: Mutex<Loads<K, V>>,
    lookups: CacheLookups,
}

/// The loads under way whose results may be cached. Those of a key are in the order in which they
/// began, and others follow the last.
struct Loads<K, V> {
    last: u64,
    registered: HashMap<K, Vec<Registered<V>>>,
}

/// The number of a load, and the channel that carries its outcome.
type Registered<V> = (u64, watch::Receiver<Outcome<V>>);

/// What a load came to.
#[derive(Clone)]
enum Outcome<V> {
    Pending,
    /// It found this.
    Found(V),
    /// It failed, or found nothing that may be shared.
    Unshared,
}

/// Whose load a caller is ready to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Following {
    /// Anybody's.
    Anybody,
    /// Anybody's but the load with this number, which takes long.
    AnyBut(u64),
    /// No load: the cache cannot be trusted, or a load that was followed gave no value.
    Nobody,
}

/// How a caller gets at a value.
enum Way<'r, K: Clone + Eq + Hash, V> {
    /// By the load with this number, which is another caller's.
    Follow(u64, watch::Receiver<Outcome<V>>),
    /// By a load of its own.
    Load(Load<'r, K, V>),
}

/// A load under way. When it is dropped before its end, one of its followers leads the next.
struct Load<'r, K: Clone + Eq + Hash, V> {
    all: &'r LoadingCache<K, V>,
    key: K,
    number: u64,
    /// The registered load that began no later: itself, or else another. As long as that is
    /// registered, nothing was forgotten since this load began.
    witness: u64,
    outcome: watch::Sender<Outcome<V>>,
}

impl<K: Clone + Eq + Hash, V: Clone> LoadingCache<K, V> {
    /// Room for this many.
    pub(crate) fn new(capacity: usize) -> Self {
        let loads = Loads {
            last: 0,
            registered: HashMap::new(),
        };
        Self {
            known: Cache::new(capacity),
            loads: Mutex::new(loads),
            lookups: CacheLookups::default(),
        }
    }

    /// Whether something is cached under a key.
    pub(crate) fn holds(&self, key: &K) -> bool {
        self.known.contains_key(key)
    }

    /// How often what was asked for was cached and could be trusted. One that follows the load of
    /// another waits for the store as well, and counts as a miss.
    pub(crate) fn lookups(&self) -> LookupCounts {
        self.lookups.counts()
    }

    /// What is known under a key, if what is cached can be `trusted` now; or else what there is to
    /// load, which is cached from then on. That there is nothing is not cached.
    pub(crate) async fn find<E, F>(
        &self,
        trusted: bool,
        key: K,
        load: impl FnOnce() -> F,
    ) -> Result<Option<V>, E>
    where
        F: Future<Output = Result<Option<V>, E>>,
    {
        self.find_if(trusted, key, |_| true, load).await
    }

    /// The same, but what `keeps` says no to is loaded again each time.
    pub(crate) async fn find_if<E, F>(
        &self,
        trusted: bool,
        key: K,
        keeps: impl FnOnce(&V) -> bool,
        load: impl FnOnce() -> F,
    ) -> Result<Option<V>, E>
    where
        F: Future<Output = Result<Option<V>, E>>,
    {
        let known = trusted.then(|| self.known.get(&key)).flatten();
        self.lookups.note(known.is_some());
        if known.is_some() {
            return Ok(known);
        }
        // On the heap, so that requests which find it known don't carry the future of a read along.
        Box::pin(self.load_or_follow(trusted, key, keeps, load)).await
    }

    async fn load_or_follow<E, F>(
        &self,
        trusted: bool,
        key: K,
        keeps: impl FnOnce(&V) -> bool,
        load: impl FnOnce() -> F,
    ) -> Result<Option<V>, E>
    where
        F: Future<Output = Result<Option<V>, E>>,
    {
        let mut following = if trusted {
            Following::Anybody
        } else {
            Following::Nobody
        };
        let give_up = Instant::now() + MOST_FOLLOW_TIME;
        let own = loop {
            let (number, mut other) = match self.enter(&key, following) {
                Way::Follow(number, other) => (number, other),
                Way::Load(own) => break own,
            };
            let deadline = give_up.min(Instant::now() + FOLLOW_TIME);
            let outcome = other.wait_for(|outcome| !matches!(outcome, Outcome::Pending));
            match timeout_at(deadline, outcome)
                .await
                .as_ref()
                .map(|outcome| outcome.as_deref())
            {
                Ok(Ok(Outcome::Found(value))) => return Ok(Some(value.clone())),
                // Each tries for itself: one after the other, all would wait for the last.
                Ok(Ok(_)) => following = Following::Nobody,
                // The caller that loaded gave up.
                Ok(Err(_)) => {}
                Err(_) if deadline == give_up => following = Following::Nobody,
                Err(_) => following = Following::AnyBut(number),
            }
            if trusted && let Some(known) = self.known.get(&key) {
                return Ok(Some(known));
            }
        };
        let found = load().await;
        own.end(
            found
                .as_ref()
                .ok()
                .and_then(Option::as_ref)
                .filter(|value| keeps(value)),
        );
        found
    }

    /// Forgets one.
    pub(crate) fn invalidate(&self, key: &K) {
        let mut loads = self.loads();
        loads.registered.remove(key);
        self.known.remove(key);
    }

    /// Forgets all for which `keeps` says no, and all that are being loaded.
    pub(crate) fn retain(&self, keeps: impl Fn(&K, &V) -> bool) {
        self.retain_both(keeps, |_| false);
    }

    /// Forgets all for which `keeps` says no, and of those that are being loaded the ones for which
    /// `keeps_loading` does.
    pub(crate) fn retain_both(
        &self,
        keeps: impl Fn(&K, &V) -> bool,
        keeps_loading: impl Fn(&K) -> bool,
    ) {
        let mut loads = self.loads();
        loads.registered.retain(|key, _| keeps_loading(key));
        self.known.retain(keeps);
    }

    /// Forgets everything.
    pub(crate) fn invalidate_all(&self) {
        let mut loads = self.loads();
        loads.registered.clear();
        self.known.clear();
    }

    /// What a caller does who is ready to follow these.
    fn enter(&self, key: &K, following: Following) -> Way<'_, K, V> {
        let mut loads = self.loads();
        let registered = loads
            .registered
            .get(key)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let witness = match (registered.last(), following) {
            (None, _) => None,
            (Some((last, _)), Following::AnyBut(slow)) if *last == slow => {
                // The caller loads. Others follow its load, unless enough loads are registered.
                (registered.len() == MOST_LOADS).then_some(slow)
            }
            (Some((last, other)), Following::Anybody | Following::AnyBut(_)) => {
                return Way::Follow(*last, other.clone());
            }
            (Some((last, _)), Following::Nobody) => Some(*last),
        };
        loads.last += 1;
        let (outcome, others) = watch::channel(Outcome::Pending);
        let number = loads.last;
        if witness.is_none() {
            loads
                .registered
                .entry(key.clone())
                .or_default()
                .push((number, others));
        }
        Way::Load(Load {
            all: self,
            key: key.clone(),
            number,
            witness: witness.unwrap_or(number),
            outcome,
        })
    }
}

impl<K, V> LoadingCache<K, V> {
    fn loads(&self) -> MutexGuard<'_, Loads<K, V>> {
        self.loads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Clone + Eq + Hash, V: Clone> Load<'_, K, V> {
    /// Remembers what was found, unless it was forgotten meanwhile, and gives it to the followers.
    fn end(self, found: Option<&V>) {
        if let Some(value) = found {
            let mut loads = self.all.loads();
            if let Some(registered) = loads.registered.get_mut(&self.key)
                && registered.iter().any(|(number, _)| *number == self.witness)
            {
                self.all.known.insert(self.key.clone(), value.clone());
                // What began earlier may have found less than this.
                registered.retain(|(number, _)| *number >= self.number);
            }
        }
        // They joined before whatever was forgotten since.
        self.outcome
            .send_replace(found.map_or(Outcome::Unshared, |value| Outcome::Found(value.clone())));
    }
}

impl<K: Clone + Eq + Hash, V> Drop for Load<'_, K, V> {
    fn drop(&mut self) {
        let mut loads = self.all.loads();
        if let Entry::Occupied(mut registered) = loads.registered.entry(self.key.clone()) {
            registered
                .get_mut()
                .retain(|(number, _)| *number != self.number);
            if registered.get().is_empty() {
                registered.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests;
