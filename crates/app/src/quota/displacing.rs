//! A semaphore for permits that are held for long. While permits are free, every caller acquires
//! them; when none is free, a caller within its share displaces one of those who have the most.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_util::task::AtomicWaker;

use super::{Quota, QuotaExceeded, QuotaKey, QuotaKeys};

/// A semaphore whose permits are taken back for others. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct DisplacingSemaphore {
    quota: Quota,
    registry: Arc<Mutex<Registry>>,
}

/// A permit, until it is dropped. Its holder is to drop it when it is displaced.
#[derive(Debug)]
pub(crate) struct DisplaceablePermit {
    keys: QuotaKeys,
    number: u64,
    signal: Arc<Signal>,
    registry: Arc<Mutex<Registry>>,
}

/// Tells the holder of a permit that it is displaced.
#[derive(Debug, Default)]
struct Signal {
    is_displaced: AtomicBool,
    waker: AtomicWaker,
}

#[derive(Debug, Default)]
struct Registry {
    /// The number of permits that were acquired since the start.
    acquired: u64,
    organizations: Ranking<Ranking<Permits>>,
}

/// The permits of a caller, the newest last.
type Permits = BTreeMap<u64, Arc<Signal>>;

impl DisplacingSemaphore {
    pub(crate) fn new(quota: Quota) -> Self {
        Self {
            quota,
            registry: Arc::default(),
        }
    }

    /// Checks whether [`acquire`](Self::acquire) would give a permit now, so that work for a caller
    /// who gets none is spared.
    ///
    /// # Errors
    ///
    /// As [`acquire`](Self::acquire).
    pub(crate) fn check(&self, keys: QuotaKeys) -> Result<(), QuotaExceeded> {
        lock(&self.registry).donor(&self.quota, keys).map(drop)
    }

    /// Acquires a free permit, or if there is none, displaces the newest permit of the caller with
    /// the most: in the organization with the most, if that of the newcomer is within its share,
    /// and else in the newcomer's own. The donor has at least two permits more than the newcomer,
    /// so that two who have equally many do not displace each other in turns.
    ///
    /// # Errors
    ///
    /// [`QuotaExceeded`] when no permit is free and none is displaced for this newcomer.
    pub(crate) fn acquire(&self, keys: QuotaKeys) -> Result<DisplaceablePermit, QuotaExceeded> {
        let mut registry = lock(&self.registry);
        if let Some((organization, caller)) = registry.donor(&self.quota, keys)? {
            registry.displace(organization, caller);
        }
        registry.acquired += 1;
        let (number, signal) = (registry.acquired, Arc::<Signal>::default());
        registry.insert(keys, number, Arc::clone(&signal));
        Ok(DisplaceablePermit {
            keys,
            number,
            signal,
            registry: Arc::clone(&self.registry),
        })
    }
}

impl DisplaceablePermit {
    /// Waits for the permit to be displaced.
    pub(crate) fn poll_displaced(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.signal.waker.register(cx.waker());
        if self.is_displaced() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }

    /// Returns `true` if the permit is displaced.
    pub(crate) fn is_displaced(&self) -> bool {
        self.signal.is_displaced.load(Relaxed)
    }
}

impl Drop for DisplaceablePermit {
    fn drop(&mut self) {
        lock(&self.registry).remove(self.keys, self.number);
    }
}

impl Registry {
    /// Returns the organization, and the caller in it, that give up a permit for a newcomer. `None`
    /// while permits are free.
    fn donor(
        &self,
        quota: &Quota,
        newcomer: QuotaKeys,
    ) -> Result<Option<(QuotaKey, QuotaKey)>, QuotaExceeded> {
        if self.organizations.count() < quota.total {
            return Ok(None);
        }
        let (organization, caller) = (newcomer.group(), newcomer.caller());
        let callers = self.organizations.get(organization);
        let of_organization = callers.map_or(0, Count::count);
        let of_caller = callers.map_or(0, |callers| callers.count_of(caller));
        if of_caller >= quota.share(caller) {
            return Err(QuotaExceeded::Share(caller));
        }
        let is_within = of_organization < quota.share(organization);
        if is_within
            && let Some((most, donor)) = self.organizations.most()
            && most > of_organization + 1
            && let Some((_, caller)) = self.organizations.get(donor).and_then(Ranking::most)
        {
            return Ok(Some((donor, caller)));
        }
        if let Some((most, donor)) = callers.and_then(Ranking::most)
            && most > of_caller + 1
        {
            return Ok(Some((organization, donor)));
        }
        Err(if is_within {
            QuotaExceeded::Total
        } else {
            QuotaExceeded::Share(organization)
        })
    }

    fn displace(&mut self, organization: QuotaKey, caller: QuotaKey) {
        let newest = self.organizations.change(organization, |callers| {
            callers.change(caller, BTreeMap::pop_last)
        });
        if let Some((_, signal)) = newest {
            signal.is_displaced.store(true, Relaxed);
            signal.waker.wake();
        }
    }

    fn insert(&mut self, keys: QuotaKeys, number: u64, signal: Arc<Signal>) {
        self.organizations.change(keys.group(), |callers| {
            callers.change(keys.caller(), |permits| permits.insert(number, signal))
        });
    }

    fn remove(&mut self, keys: QuotaKeys, number: u64) {
        self.organizations.change(keys.group(), |callers| {
            callers.change(keys.caller(), |permits| permits.remove(&number))
        });
    }
}

/// A collection that counts its permits.
trait Count: Default {
    fn count(&self) -> u64;
}

impl Count for Permits {
    fn count(&self) -> u64 {
        self.len() as u64
    }
}

/// Values by their keys, and by the number of their permits. Those without a permit are left out.
#[derive(Debug)]
struct Ranking<V> {
    by_key: BTreeMap<QuotaKey, V>,
    by_count: BTreeSet<(u64, QuotaKey)>,
    count: u64,
}

impl<V> Default for Ranking<V> {
    fn default() -> Self {
        Self {
            by_key: BTreeMap::new(),
            by_count: BTreeSet::new(),
            count: 0,
        }
    }
}

impl<V: Count> Count for Ranking<V> {
    fn count(&self) -> u64 {
        self.count
    }
}

impl<V: Count> Ranking<V> {
    fn get(&self, key: QuotaKey) -> Option<&V> {
        self.by_key.get(&key)
    }

    fn count_of(&self, key: QuotaKey) -> u64 {
        self.get(key).map_or(0, Count::count)
    }

    /// The largest number of permits of a key, and the key.
    fn most(&self) -> Option<(u64, QuotaKey)> {
        self.by_count.last().copied()
    }

    fn change<R>(&mut self, key: QuotaKey, change: impl FnOnce(&mut V) -> R) -> R {
        let value = self.by_key.entry(key).or_default();
        let before = value.count();
        let result = change(value);
        let after = value.count();
        self.by_count.remove(&(before, key));
        if after == 0 {
            self.by_key.remove(&key);
        } else {
            self.by_count.insert((after, key));
        }
        self.count = self.count + after - before;
        result
    }
}

fn lock(registry: &Mutex<Registry>) -> MutexGuard<'_, Registry> {
    registry.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use eddyline_model::{OrganizationId, UserId};
    use proptest::prelude::*;

    use super::*;

    /// A user of an organization.
    fn keys(user: i64, organization: i64) -> QuotaKeys {
        QuotaKeys::of(
            QuotaKey::User(UserId(user)),
            QuotaKey::Organization(OrganizationId(organization)),
        )
    }

    /// Eight permits, of which an organization may displace four and a caller two.
    fn eight() -> DisplacingSemaphore {
        DisplacingSemaphore::new(Quota::new(8, 4, 2))
    }

    fn acquire(
        semaphore: &DisplacingSemaphore,
        count: usize,
        keys: QuotaKeys,
    ) -> Vec<DisplaceablePermit> {
        (0..count)
            .map(|_| semaphore.acquire(keys).expect("there is a permit"))
            .collect()
    }

    fn displaced(permits: &[DisplaceablePermit]) -> Vec<bool> {
        permits
            .iter()
            .map(DisplaceablePermit::is_displaced)
            .collect()
    }

    fn left(permits: &[DisplaceablePermit]) -> usize {
        permits
            .iter()
            .filter(|permit| !permit.is_displaced())
            .count()
    }

    #[test]
    fn a_lone_caller_has_all_permits_and_gives_back_the_newest() {
        let semaphore = eight();
        let ada = acquire(&semaphore, 8, keys(1, 1));
        let refused = semaphore.acquire(keys(1, 1)).err();
        assert_eq!(
            refused,
            Some(QuotaExceeded::Share(QuotaKey::User(UserId(1))))
        );
        let _vic = acquire(&semaphore, 2, keys(2, 2));
        assert_eq!(
            displaced(&ada),
            [false, false, false, false, false, false, true, true]
        );
        assert!(
            semaphore.acquire(keys(2, 2)).is_err(),
            "beyond its share nobody displaces others"
        );
    }

    #[test]
    fn a_permit_that_is_dropped_is_free() {
        let semaphore = eight();
        let mut ada = acquire(&semaphore, 8, keys(1, 1));
        ada.pop();
        assert_eq!(semaphore.check(keys(1, 1)), Ok(()));
        assert!(semaphore.acquire(keys(1, 1)).is_ok());
        drop(ada);
        let registry = lock(&semaphore.registry);
        assert!(registry.organizations.by_key.is_empty());
        assert!(registry.organizations.by_count.is_empty());
        assert_eq!(registry.organizations.count(), 0);
    }

    #[test]
    fn the_caller_with_the_most_of_the_organization_with_the_most_gives_one() {
        let semaphore = eight();
        let ada = acquire(&semaphore, 4, keys(1, 1));
        let ben = acquire(&semaphore, 1, keys(2, 1));
        let vic = acquire(&semaphore, 3, keys(3, 2));
        let _newcomer = acquire(&semaphore, 1, keys(4, 3));
        assert_eq!((left(&ada), left(&ben), left(&vic)), (3, 1, 3));
    }

    #[test]
    fn an_organization_beyond_its_share_makes_room_for_its_own() {
        let semaphore = eight();
        let ada = acquire(&semaphore, 6, keys(1, 1));
        let vic = acquire(&semaphore, 2, keys(3, 2));
        let _ben = acquire(&semaphore, 2, keys(2, 1));
        assert_eq!((left(&ada), left(&vic)), (4, 2));
    }

    #[test]
    fn those_who_have_equally_many_do_not_displace_each_other() {
        let semaphore = DisplacingSemaphore::new(Quota::new(2, 2, 2));
        let _held = [
            acquire(&semaphore, 1, keys(1, 1)),
            acquire(&semaphore, 1, keys(2, 2)),
        ];
        assert_eq!(semaphore.check(keys(3, 3)), Err(QuotaExceeded::Total));
        assert_eq!(
            semaphore.acquire(keys(1, 1)).err(),
            Some(QuotaExceeded::Total),
            "one of two, of whom each has one"
        );
    }

    proptest! {
        /// Acquires and drops permits in any order.
        #[test]
        fn only_those_within_their_shares_displace_and_only_who_has_more(
            steps in prop::collection::vec((0..3_i64, 0..3_i64, prop::bool::weighted(0.2)), 1..200),
        ) {
            let semaphore = eight();
            let mut held: Vec<((i64, i64), DisplaceablePermit)> = Vec::new();
            for (user, organization, drops) in steps {
                let newcomer = (10 * organization + user, organization);
                if drops {
                    held.retain(|(holder, _)| *holder != newcomer);
                    continue;
                }
                let of_caller = |caller: (i64, i64)| {
                    held.iter().filter(|(holder, _)| *holder == caller).count()
                };
                let of_organization = |organization: i64| {
                    held.iter().filter(|((_, of), _)| *of == organization).count()
                };
                let (own, all_own) = (of_caller(newcomer), of_organization(organization));
                let other_has_more = all_own < 4 && (0..3).any(|of| of_organization(of) > all_own + 1);
                let member_has_more = held
                    .iter()
                    .any(|(holder, _)| holder.1 == organization && of_caller(*holder) > own + 1);
                let displaces = own < 2 && (other_has_more || member_has_more);
                let expected = held.len() < 8 || displaces;
                let acquired = semaphore.acquire(keys(newcomer.0, newcomer.1));
                held.retain(|(_, permit)| !permit.is_displaced());
                prop_assert_eq!(acquired.is_ok(), expected);
                held.extend(acquired.ok().map(|permit| (newcomer, permit)));
                prop_assert!(held.len() <= 8);
            }
        }
    }
}
