//! The waiting lines of a semaphore, one for each caller. Organizations take turns, and so do the
//! callers of an organization: the number of tasks of one caller does not decide how long another
//! caller waits.

use std::collections::btree_map::{BTreeMap, Entry};
use std::collections::{BTreeSet, VecDeque};
use std::ops::Bound::{self, Excluded, Unbounded};

use tokio::sync::oneshot;

use super::{Permit, QuotaExceeded};
use crate::quota::{QuotaKey, QuotaKeys};

/// The most tasks of one caller that wait.
pub(super) const MAX_WAITING_PER_CALLER: usize = 512;

/// A task that waits for a permit.
#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) keys: QuotaKeys,
    pub(super) amount: u64,
    pub(super) grant: oneshot::Sender<Permit>,
}

impl Waiter {
    /// Whether the task does not wait any more.
    fn is_gone(&self) -> bool {
        self.grant.is_closed()
    }
}

/// The lines of all callers.
#[derive(Debug, Default)]
pub(super) struct Lines {
    groups: Turns<Turns<VecDeque<Waiter>>>,
    /// The groups in which a caller has lines. There may be several: what a user without an
    /// organization sends by a token counts for the organization of the flow.
    places: BTreeMap<QuotaKey, BTreeSet<QuotaKey>>,
}

/// A waiter, and what it was given.
type Served<P> = (Waiter, P);

impl Lines {
    /// Puts a task last into the line of its caller. Tells whether there was room.
    pub(super) fn join(&mut self, waiter: Waiter) -> bool {
        let (caller, group) = (waiter.keys.caller(), waiter.keys.group());
        let line = self.groups.entry(group).entry(caller);
        if line.len() >= MAX_WAITING_PER_CALLER {
            line.retain(|waiter| !waiter.is_gone());
        }
        let has_room = line.len() < MAX_WAITING_PER_CALLER;
        if has_room {
            line.push_back(waiter);
            self.places.entry(caller).or_default().insert(group);
        }
        has_room
    }

    /// Takes out the waiter that is next in turn among those for which `give` has something.
    pub(super) fn serve_anybody<P>(
        &mut self,
        mut give: impl FnMut(&Waiter) -> Result<P, QuotaExceeded>,
    ) -> Option<Served<P>> {
        let mut turn = 0;
        while let Some((next, group)) = self.groups.after(turn) {
            turn = next;
            if let Some(served) = self.serve_group(group, &mut give) {
                return Some(served);
            }
        }
        None
    }

    /// The same, of those who share the caller or the organization of these keys. Others are not
    /// even looked at.
    pub(super) fn serve_sharing<P>(
        &mut self,
        keys: QuotaKeys,
        mut give: impl FnMut(&Waiter) -> Result<P, QuotaExceeded>,
    ) -> Option<Served<P>> {
        if let Some(served) = self.serve_group(keys.group(), &mut give) {
            return Some(served);
        }
        let mut last = Unbounded;
        while let Some(group) = self.place_after(keys.caller(), last) {
            last = Excluded(group);
            if group != keys.group()
                && let Some(served) = self.serve_group(group, &mut give)
            {
                return Some(served);
            }
        }
        None
    }

    /// The next group in which a caller has a line.
    fn place_after(&self, caller: QuotaKey, last: Bound<QuotaKey>) -> Option<QuotaKey> {
        self.places
            .get(&caller)?
            .range((last, Unbounded))
            .next()
            .copied()
    }

    fn serve_group<P>(
        &mut self,
        group: QuotaKey,
        give: &mut impl FnMut(&Waiter) -> Result<P, QuotaExceeded>,
    ) -> Option<Served<P>> {
        let mut turn = 0;
        while let Some((next, caller)) = self.groups.get_mut(group)?.after(turn) {
            turn = next;
            let line = self.groups.get_mut(group)?.get_mut(caller)?;
            while line.front().is_some_and(Waiter::is_gone) {
                line.pop_front();
            }
            let amount = line.front().map(|waiter| waiter.amount);
            match line.front().map(&mut *give) {
                Some(Ok(given)) => {
                    let waiter = line.pop_front()?;
                    self.was_served(group, caller);
                    return Some((waiter, given));
                }
                // The others of the group have shares of their own.
                Some(Err(QuotaExceeded::Share(key))) if key == caller || key != group => {}
                // Other callers of the group may ask for less.
                Some(Err(_)) if amount > Some(1) => {}
                Some(Err(_)) => return None,
                None => self.remove_line(group, caller),
            }
        }
        None
    }

    /// Puts a caller and its group last in turn.
    fn was_served(&mut self, group: QuotaKey, caller: QuotaKey) {
        let Some(callers) = self.groups.get_mut(group) else {
            return;
        };
        if callers.get_mut(caller).is_none_or(|line| line.is_empty()) {
            self.remove_line(group, caller);
        } else {
            callers.put_last(caller);
        }
        self.groups.put_last(group);
    }

    fn remove_line(&mut self, group: QuotaKey, caller: QuotaKey) {
        if let Entry::Occupied(mut places) = self.places.entry(caller) {
            places.get_mut().remove(&group);
            if places.get().is_empty() {
                places.remove();
            }
        }
        if let Some(callers) = self.groups.get_mut(group) {
            callers.remove(caller);
            if callers.order.is_empty() {
                self.groups.remove(group);
            }
        }
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.groups.order.is_empty() && self.groups.by_key.is_empty() && self.places.is_empty()
    }
}

/// Values by their keys, which take turns: the value that was put last longest ago is next.
#[derive(Debug)]
struct Turns<T> {
    by_key: BTreeMap<QuotaKey, (u64, T)>,
    order: BTreeMap<u64, QuotaKey>,
    last: u64,
}

impl<T> Default for Turns<T> {
    fn default() -> Self {
        Self {
            by_key: BTreeMap::new(),
            order: BTreeMap::new(),
            last: 0,
        }
    }
}

impl<T: Default> Turns<T> {
    /// What is there under a key, or else something new, which is last in turn.
    fn entry(&mut self, key: QuotaKey) -> &mut T {
        let (_, thing) = match self.by_key.entry(key) {
            Entry::Occupied(present) => present.into_mut(),
            Entry::Vacant(place) => {
                self.last += 1;
                self.order.insert(self.last, key);
                place.insert((self.last, T::default()))
            }
        };
        thing
    }

    fn get_mut(&mut self, key: QuotaKey) -> Option<&mut T> {
        self.by_key.get_mut(&key).map(|(_, thing)| thing)
    }

    /// The next turn after this one, and whose it is. The first turn is 1.
    fn after(&self, turn: u64) -> Option<(u64, QuotaKey)> {
        let next = self.order.range((Excluded(turn), Unbounded)).next();
        next.map(|(turn, key)| (*turn, *key))
    }

    fn put_last(&mut self, key: QuotaKey) {
        if let Some((turn, _)) = self.by_key.get_mut(&key) {
            self.order.remove(turn);
            self.last += 1;
            *turn = self.last;
            self.order.insert(self.last, key);
        }
    }

    fn remove(&mut self, key: QuotaKey) {
        if let Some((turn, _)) = self.by_key.remove(&key) {
            self.order.remove(&turn);
        }
    }
}

#[cfg(test)]
mod tests {
    use eddyline_model::OrganizationId;

    use super::*;

    const ACME: QuotaKey = QuotaKey::Organization(OrganizationId(1));

    #[test]
    fn a_release_concerns_few_of_those_who_wait() {
        let mut lines = Lines::default();
        let mut wait = |keys: QuotaKeys| {
            let (grant, granted) = oneshot::channel();
            assert!(lines.join(Waiter {
                keys,
                amount: 1,
                grant
            }));
            granted
        };
        let networks = (0..100).map(QuotaKey::NetworkV4);
        let _strangers: Vec<_> = networks
            .flat_map(|network| [network; 3])
            .map(|key| wait(key.into()))
            .collect();
        let members = (0..100).map(|user| QuotaKeys::of(QuotaKey::NetworkV6(user), ACME));
        let _members: Vec<_> = members.map(&mut wait).collect();
        let mut asked = Vec::new();
        let mut release = |lines: &mut Lines, keys: QuotaKeys, is_full: QuotaKey| {
            asked.clear();
            let served = lines.serve_sharing(keys, |waiter| {
                asked.push(waiter.keys.caller());
                Err::<(), _>(QuotaExceeded::Share(is_full))
            });
            assert!(served.is_none());
            asked.len()
        };
        let network = QuotaKey::NetworkV4(7);
        assert_eq!(
            release(&mut lines, network.into(), network),
            1,
            "the first of the network"
        );
        let member = QuotaKeys::of(QuotaKey::NetworkV6(7), ACME);
        assert_eq!(
            release(&mut lines, member, ACME),
            1,
            "the first of the organization"
        );
    }

    #[test]
    fn lines_of_those_who_have_gone_are_removed() {
        let mut lines = Lines::default();
        for caller in (0..3).map(QuotaKey::NetworkV4) {
            let (grant, _) = oneshot::channel();
            assert!(lines.join(Waiter {
                keys: QuotaKeys::of(caller, ACME),
                amount: 1,
                grant
            }));
        }
        assert!(lines.serve_anybody(|_| Ok(())).is_none());
        assert!(lines.is_empty());
    }
}
