//! What was loaded from the store and is asked for again and again, until somebody tells of a change.
//!
//! While one loads, another may forget: what was loaded is then the state before the change, and must not
//! be remembered after it, not even for a moment. So every load is registered under its key, and forgetting
//! the key takes the registration away: its result is not remembered then. Forgetting and removing are one
//! step to others, and so are looking at the registration and remembering.
//!
//! Callers who want the same key at the same time share one load. A caller joins a load only while that is
//! registered and while the process may trust its memory. So no caller gets a state from before a change
//! that every process had to act upon before the caller asked. A caller follows a load only for a short time, since
//! that may wait in the line of another caller's reads.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::future::Future;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quick_cache::sync::Cache;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

/// How long a caller follows a load. Then one of the followers leads a load of its own, and the others follow that.
const FOLLOW_TIME: Duration = Duration::from_millis(100);
/// How many loads of a key are registered. A caller that finds the last of them slow loads without registering.
const MOST_LOADS: usize = 3;
/// How long a caller follows others in all, however many loads end without a value.
const MOST_FOLLOW_TIME: Duration = Duration::from_millis(300);

/// Values by their keys. Those that were not asked for lately make room for others.
pub(crate) struct Remembered<K, V> {
    known: Cache<K, V>,
    loads: Mutex<Loads<K, V>>,
}

/// The loads under way whose results may be remembered. Those of a key are in the order in which they began, and
/// others follow the last.
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
    all: &'r Remembered<K, V>,
    key: K,
    number: u64,
    /// The registered load that began no later: itself, or else another. As long as that is registered, nothing
    /// was forgotten since this load began.
    witness: u64,
    outcome: watch::Sender<Outcome<V>>,
}

impl<K: Clone + Eq + Hash, V: Clone> Remembered<K, V> {
    /// Room for this many.
    pub(crate) fn new(capacity: usize) -> Self {
        let loads = Loads { last: 0, registered: HashMap::new() };
        Self { known: Cache::new(capacity), loads: Mutex::new(loads) }
    }

    /// Whether something is remembered under a key.
    pub(crate) fn holds(&self, key: &K) -> bool {
        self.known.contains_key(key)
    }

    /// What is known under a key, if what is remembered can be `trusted` now; or else what there is to
    /// load, which is remembered from then on. That there is nothing is not remembered.
    pub(crate) async fn find<E>(
        &self,
        trusted: bool,
        key: K,
        load: impl Future<Output = Result<Option<V>, E>>,
    ) -> Result<Option<V>, E> {
        self.find_if(trusted, key, |_| true, load).await
    }

    /// The same, but what `keeps` says no to is loaded again each time.
    pub(crate) async fn find_if<E>(
        &self,
        trusted: bool,
        key: K,
        keeps: impl FnOnce(&V) -> bool,
        load: impl Future<Output = Result<Option<V>, E>>,
    ) -> Result<Option<V>, E> {
        let mut following = if trusted { Following::Anybody } else { Following::Nobody };
        let give_up = Instant::now() + MOST_FOLLOW_TIME;
        let own = loop {
            if trusted && let Some(known) = self.known.get(&key) {
                return Ok(Some(known));
            }
            let (number, mut other) = match self.enter(&key, following) {
                Way::Follow(number, other) => (number, other),
                Way::Load(own) => break own,
            };
            let deadline = give_up.min(Instant::now() + FOLLOW_TIME);
            let outcome = other.wait_for(|outcome| !matches!(outcome, Outcome::Pending));
            match timeout_at(deadline, outcome).await.as_ref().map(|outcome| outcome.as_deref()) {
                Ok(Ok(Outcome::Found(value))) => return Ok(Some(value.clone())),
                // Each tries for itself: one after the other, all would wait for the last.
                Ok(Ok(_)) => following = Following::Nobody,
                // The caller that loaded gave up.
                Ok(Err(_)) => {}
                Err(_) if deadline == give_up => following = Following::Nobody,
                Err(_) => following = Following::AnyBut(number),
            }
        };
        let found = load.await;
        own.end(found.as_ref().ok().and_then(Option::as_ref).filter(|value| keeps(value)));
        found
    }

    /// Forgets one.
    pub(crate) fn forget(&self, key: &K) {
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
    pub(crate) fn retain_both(&self, keeps: impl Fn(&K, &V) -> bool, keeps_loading: impl Fn(&K) -> bool) {
        let mut loads = self.loads();
        loads.registered.retain(|key, _| keeps_loading(key));
        self.known.retain(keeps);
    }

    /// Forgets everything.
    pub(crate) fn forget_all(&self) {
        let mut loads = self.loads();
        loads.registered.clear();
        self.known.clear();
    }

    /// What a caller does who is ready to follow these.
    fn enter(&self, key: &K, following: Following) -> Way<'_, K, V> {
        let mut loads = self.loads();
        let registered = loads.registered.get(key).map(Vec::as_slice).unwrap_or_default();
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
            loads.registered.entry(key.clone()).or_default().push((number, others));
        }
        Way::Load(Load { all: self, key: key.clone(), number, witness: witness.unwrap_or(number), outcome })
    }
}

impl<K, V> Remembered<K, V> {
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
        self.outcome.send_replace(found.map_or(Outcome::Unshared, |value| Outcome::Found(value.clone())));
    }
}

impl<K: Clone + Eq + Hash, V> Drop for Load<'_, K, V> {
    fn drop(&mut self) {
        let mut loads = self.all.loads();
        if let Entry::Occupied(mut registered) = loads.registered.entry(self.key.clone()) {
            registered.get_mut().retain(|(number, _)| *number != self.number);
            if registered.get().is_empty() {
                registered.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::FutureExt as _;
    use tokio::sync::oneshot;
    use tokio::time::timeout;

    use super::*;

    async fn found(remembered: &Remembered<u8, u8>, value: u8) -> Option<u8> {
        let load = async { Ok::<_, Infallible>(Some(value)) };
        remembered.find(true, 1, load).await.unwrap()
    }

    /// A load that ends when it is told what it finds.
    fn waiting() -> (oneshot::Sender<Option<u8>>, impl Future<Output = Result<Option<u8>, ()>>) {
        let (tell, told) = oneshot::channel();
        (tell, async { told.await.map_err(|_| ()) })
    }

    #[tokio::test]
    async fn what_was_loaded_is_remembered_until_it_is_forgotten() {
        let remembered = Remembered::new(10);
        assert_eq!(found(&remembered, 1).await, Some(1));
        assert_eq!(found(&remembered, 2).await, Some(1));
        remembered.forget(&1);
        assert_eq!(found(&remembered, 3).await, Some(3));
        remembered.retain(|_, value| *value != 3);
        assert_eq!(found(&remembered, 4).await, Some(4));
        remembered.forget_all();
        assert_eq!(found(&remembered, 5).await, Some(5));
    }

    #[tokio::test]
    async fn what_is_forgotten_while_it_is_loaded_is_not_remembered() {
        let forget: [fn(&Remembered<u8, u8>); 4] = [
            |all| all.forget(&1),
            |all| all.retain(|_, _| true),
            |all| all.retain_both(|_, _| true, |key| *key != 1),
            Remembered::forget_all,
        ];
        for forget in forget {
            let remembered = Remembered::new(10);
            let load = async {
                forget(&remembered);
                Ok::<_, Infallible>(Some(1))
            };
            assert_eq!(remembered.find(true, 1, load).await, Ok(Some(1)));
            assert_eq!(found(&remembered, 2).await, Some(2));
        }
    }

    #[tokio::test]
    async fn what_is_loaded_while_another_is_forgotten_is_remembered() {
        let remembered = Remembered::new(10);
        let load = async {
            remembered.forget(&2);
            remembered.retain_both(|_, _| true, |key| *key != 2);
            Ok::<_, Infallible>(Some(1))
        };
        assert_eq!(remembered.find(true, 1, load).await, Ok(Some(1)));
        assert_eq!(found(&remembered, 2).await, Some(1));
    }

    #[tokio::test]
    async fn what_cannot_be_trusted_is_loaded_again() {
        let remembered = Remembered::new(10);
        assert_eq!(found(&remembered, 1).await, Some(1));
        let again = remembered.find(false, 1, async { Ok::<_, Infallible>(Some(2)) }).await;
        assert_eq!(again, Ok(Some(2)));
    }

    #[tokio::test]
    async fn many_who_want_the_same_share_one_load() {
        let remembered = Arc::new(Remembered::<u8, u8>::new(10));
        let (tell, load) = waiting();
        let mut first = Box::pin(remembered.find(true, 1, load));
        assert!(first.as_mut().now_or_never().is_none());
        let loads = AtomicUsize::new(0);
        let own = || async {
            loads.fetch_add(1, Ordering::SeqCst);
            Ok::<_, ()>(Some(9))
        };
        let mut others: Vec<_> = (0..300).map(|_| Box::pin(remembered.find(true, 1, own()))).collect();
        for other in &mut others {
            assert!(other.as_mut().now_or_never().is_none());
        }
        tell.send(Some(1)).unwrap();
        assert_eq!(first.await, Ok(Some(1)));
        for other in others {
            assert_eq!(other.await, Ok(Some(1)));
        }
        assert_eq!(loads.load(Ordering::SeqCst), 0);
    }

    #[tokio::test]
    async fn no_load_is_joined_that_began_before_it_was_forgotten() {
        let remembered = Remembered::<u8, u8>::new(10);
        let (tell, load) = waiting();
        let mut first = Box::pin(remembered.find(true, 1, load));
        assert!(first.as_mut().now_or_never().is_none());
        remembered.forget(&1);
        assert_eq!(found(&remembered, 2).await, Some(2), "loaded anew");
        tell.send(Some(1)).unwrap();
        assert_eq!(first.await, Ok(Some(1)));
        assert_eq!(
            found(&remembered, 3).await,
            Some(2),
            "what was loaded before the change is not remembered"
        );
    }

    #[tokio::test]
    async fn no_load_is_joined_while_memory_cannot_be_trusted() {
        let remembered = Remembered::<u8, u8>::new(10);
        let (_tell, load) = waiting();
        let mut first = Box::pin(remembered.find(true, 1, load));
        assert!(first.as_mut().now_or_never().is_none());
        let own = remembered.find(false, 1, async { Ok::<_, ()>(Some(2)) });
        assert_eq!(own.now_or_never(), Some(Ok(Some(2))));
    }

    #[tokio::test]
    async fn followers_load_for_themselves_when_a_load_fails_or_finds_nothing_to_keep() {
        for outcome in [None, Some(None), Some(Some(7))] {
            let remembered = Remembered::<u8, u8>::new(10);
            let (tell, load) = waiting();
            let mut first = Box::pin(remembered.find_if(true, 1, |value| *value != 7, load));
            assert!(first.as_mut().now_or_never().is_none());
            let mut others: Vec<_> =
                (0..3).map(|_| Box::pin(remembered.find(true, 1, async { Ok::<_, ()>(Some(2)) }))).collect();
            for other in &mut others {
                assert!(other.as_mut().now_or_never().is_none());
            }
            match outcome {
                Some(found) => tell.send(found).unwrap(),
                None => drop(tell),
            }
            assert_eq!(first.await, outcome.ok_or(()));
            for other in others {
                assert_eq!(other.await, Ok(Some(2)));
            }
        }
    }

    #[tokio::test]
    async fn a_load_that_takes_long_is_not_waited_for() {
        let remembered = Remembered::<u8, u8>::new(10);
        let (_tell, load) = waiting();
        let mut first = Box::pin(remembered.find(true, 1, load));
        assert!(first.as_mut().now_or_never().is_none());
        let loads = AtomicUsize::new(0);
        let own = || async {
            loads.fetch_add(1, Ordering::SeqCst);
            Ok::<_, ()>(Some(2))
        };
        let others = (0..5).map(|_| remembered.find(true, 1, own()));
        for found in futures_util::future::join_all(others).await {
            assert_eq!(found, Ok(Some(2)));
        }
        assert_eq!(loads.load(Ordering::SeqCst), 1, "one of them loads for the others");
        assert_eq!(found(&remembered, 3).await, Some(2), "that load is remembered");
    }

    #[tokio::test]
    async fn a_load_that_took_long_is_remembered_unless_it_was_forgotten() {
        for is_forgotten in [false, true] {
            let remembered = Remembered::<u8, u8>::new(10);
            let ((tell, slow), (_tell, never)) = (waiting(), waiting());
            let mut first = Box::pin(remembered.find(true, 1, slow));
            assert!(first.as_mut().now_or_never().is_none());
            let second = timeout(FOLLOW_TIME * 3 / 2, remembered.find(true, 1, never)).await;
            assert!(second.is_err(), "it leads a load of its own, which does not end");
            if is_forgotten {
                remembered.forget(&1);
            }
            tell.send(Some(1)).unwrap();
            assert_eq!(first.await, Ok(Some(1)));
            let expected = if is_forgotten { 2 } else { 1 };
            assert_eq!(found(&remembered, 2).await, Some(expected));
        }
    }

    /// Begins a load, which is registered unless the last one is slow and others are registered enough.
    fn begun<'r>(remembered: &'r Remembered<u8, u8>, following: Following) -> Load<'r, u8, u8> {
        match remembered.enter(&1, following) {
            Way::Load(load) => load,
            Way::Follow(number, _) => panic!("it follows load {number}"),
        }
    }

    /// As many loads as are registered at a time; the last has the number 3.
    fn all_loads(remembered: &Remembered<u8, u8>) -> [Load<'_, u8, u8>; MOST_LOADS] {
        [Following::Anybody, Following::AnyBut(1), Following::AnyBut(2)].map(|one| begun(remembered, one))
    }

    #[tokio::test]
    async fn a_load_that_nobody_follows_is_remembered_unless_it_was_forgotten() {
        for is_forgotten in [false, true] {
            let remembered = Remembered::<u8, u8>::new(10);
            let _slow = all_loads(&remembered);
            let alone = remembered.find(true, 1, async {
                if is_forgotten {
                    remembered.forget(&1);
                }
                Ok::<_, ()>(Some(2))
            });
            assert_eq!(alone.await, Ok(Some(2)));
            let expected = if is_forgotten { 3 } else { 2 };
            assert_eq!(found(&remembered, 3).await, Some(expected));
        }
    }

    #[test]
    fn nobody_follows_a_slow_load_twice() {
        let remembered = Remembered::<u8, u8>::new(10);
        let _slow = all_loads(&remembered);
        assert!(matches!(remembered.enter(&1, Following::Anybody), Way::Follow(3, _)));
        assert_eq!(begun(&remembered, Following::AnyBut(3)).witness, 3);
    }

    #[tokio::test]
    async fn an_older_load_does_not_replace_what_a_newer_one_found() {
        let remembered = Remembered::<u8, u8>::new(10);
        let [oldest, older, newest] = all_loads(&remembered);
        older.end(Some(&2));
        oldest.end(Some(&1));
        assert_eq!(found(&remembered, 9).await, Some(2));
        newest.end(Some(&3));
        assert_eq!(found(&remembered, 9).await, Some(3));
        assert!(remembered.loads().registered.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn loads_that_are_given_up_are_not_followed_for_ever() {
        let remembered = Remembered::<u8, u8>::new(10);
        let mut leader = begun(&remembered, Following::Anybody);
        let mut other = Box::pin(remembered.find(true, 1, async { Ok::<_, ()>(Some(2)) }));
        for _ in 0..4 {
            assert!(other.as_mut().now_or_never().is_none());
            tokio::time::advance(FOLLOW_TIME * 3 / 4).await;
            drop(leader);
            leader = begun(&remembered, Following::Anybody);
        }
        assert_eq!(other.now_or_never(), Some(Ok(Some(2))));
    }

    #[tokio::test]
    async fn when_the_one_who_loads_gives_up_another_takes_over() {
        let remembered = Remembered::<u8, u8>::new(10);
        let (_tell, load) = waiting();
        let mut first = Box::pin(remembered.find(true, 1, load));
        assert!(first.as_mut().now_or_never().is_none());
        let loads = AtomicUsize::new(0);
        let own = || async {
            loads.fetch_add(1, Ordering::SeqCst);
            Ok::<_, ()>(Some(2))
        };
        let mut others: Vec<_> = (0..5).map(|_| Box::pin(remembered.find(true, 1, own()))).collect();
        for other in &mut others {
            assert!(other.as_mut().now_or_never().is_none());
        }
        drop(first);
        for other in others {
            assert_eq!(other.await, Ok(Some(2)));
        }
        assert_eq!(loads.load(Ordering::SeqCst), 1);
    }
}
