//! A keyed fair semaphore: permits with a share for each caller and for each group of callers.
//!
//! A caller over its share waits behind its own requests, and lets others go ahead. While nobody
//! else waits it may borrow beyond the share, up to a maximum that leaves some permits free for the
//! next caller. Groups take turns, and within a group its callers do, so the number of requests of
//! one caller or of one group does not decide how long another one waits.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// How many permits one caller, or one group, may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    /// While others wait.
    pub(crate) fair: usize,
    /// While nobody else waits.
    pub(crate) most: usize,
}

/// How many permits there are, and for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PermitLimits {
    pub(crate) permits: usize,
    pub(crate) caller: Share,
    pub(crate) group: Share,
}

/// Whom a permit counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FairnessKey<K> {
    pub(crate) caller: K,
    pub(crate) group: K,
}

/// The waiting line of the caller has its full length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineFull;

/// The semaphore. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct FairSemaphore<K: Copy + Ord> {
    state: Arc<Mutex<State<K>>>,
}

/// A permit, which is given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Permit<K: Copy + Ord> {
    key: FairnessKey<K>,
    state: Arc<Mutex<State<K>>>,
}

#[derive(Debug)]
struct State<K> {
    limits: PermitLimits,
    free: usize,
    /// Callers that hold permits or wait.
    callers: BTreeMap<K, CallerState>,
    /// Groups of which callers hold permits or wait.
    groups: BTreeMap<K, PermitGroup<K>>,
    /// Groups with waiting callers; the first one is next.
    turn: VecDeque<K>,
    next_ticket: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct CallerState {
    held: usize,
    waiting: usize,
}

#[derive(Debug)]
struct PermitGroup<K> {
    held: usize,
    lines: BTreeMap<K, VecDeque<Waiter>>,
    /// Callers with a line here; the first one is next.
    turn: VecDeque<K>,
}

#[derive(Debug)]
struct Waiter {
    ticket: u64,
    granted: oneshot::Sender<()>,
}

/// A place in a waiting line, which is left when this is dropped.
struct Ticket<'a, K: Copy + Ord> {
    semaphore: &'a FairSemaphore<K>,
    key: FairnessKey<K>,
    ticket: u64,
    received: bool,
}

impl<K: Copy + Ord> FairSemaphore<K> {
    pub(crate) fn new(limits: PermitLimits) -> Self {
        let state = State {
            limits,
            free: limits.permits,
            callers: BTreeMap::new(),
            groups: BTreeMap::new(),
            turn: VecDeque::new(),
            next_ticket: 0,
        };
        Self {
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// Takes a permit, or waits for one in the line of the caller, in which at most `line` may
    /// wait. When the future is dropped, the place in the line is free at once.
    ///
    /// # Errors
    ///
    /// [`LineFull`].
    pub(crate) async fn acquire(
        &self,
        key: FairnessKey<K>,
        line: usize,
    ) -> Result<Permit<K>, LineFull> {
        let (ticket, granted) = {
            let mut state = lock(&self.state);
            if state.free > 0 && state.fits(key, |share| share.most) {
                state.hold(key);
                return Ok(self.permit(key));
            }
            if state
                .callers
                .get(&key.caller)
                .is_some_and(|caller| caller.waiting >= line)
            {
                return Err(LineFull);
            }
            state.wait(key)
        };
        let mut place = Ticket {
            semaphore: self,
            key,
            ticket,
            received: false,
        };
        // The sender is dropped only with the place, which is still here.
        let _ = granted.await;
        place.received = true;
        Ok(self.permit(key))
    }

    fn permit(&self, key: FairnessKey<K>) -> Permit<K> {
        Permit {
            key,
            state: Arc::clone(&self.state),
        }
    }

    /// Whether a caller waits for a permit.
    pub(crate) fn is_awaited(&self) -> bool {
        !lock(&self.state).turn.is_empty()
    }

    /// How many requests for a permit wait.
    pub(crate) fn waiting(&self) -> usize {
        lock(&self.state)
            .callers
            .values()
            .map(|caller| caller.waiting)
            .sum()
    }

    #[cfg(test)]
    fn is_idle(&self) -> bool {
        let state = lock(&self.state);
        state.free == state.limits.permits
            && state.callers.is_empty()
            && state.groups.is_empty()
            && state.turn.is_empty()
    }
}

impl<K: Copy + Ord> State<K> {
    /// Whether the caller and its group hold less than this part of their share.
    fn fits(&self, key: FairnessKey<K>, part: impl Fn(Share) -> usize) -> bool {
        let caller = self
            .callers
            .get(&key.caller)
            .map_or(0, |caller| caller.held);
        let group = self.groups.get(&key.group).map_or(0, |group| group.held);
        caller < part(self.limits.caller) && group < part(self.limits.group)
    }

    fn hold(&mut self, key: FairnessKey<K>) {
        self.free -= 1;
        self.callers.entry(key.caller).or_default().held += 1;
        self.group(key.group).held += 1;
    }

    fn group(&mut self, group: K) -> &mut PermitGroup<K> {
        let empty = || PermitGroup {
            held: 0,
            lines: BTreeMap::new(),
            turn: VecDeque::new(),
        };
        self.groups.entry(group).or_insert_with(empty)
    }

    fn wait(&mut self, key: FairnessKey<K>) -> (u64, oneshot::Receiver<()>) {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        let (granted, receiver) = oneshot::channel();
        self.callers.entry(key.caller).or_default().waiting += 1;
        let group = self.group(key.group);
        let first_of_group = group.turn.is_empty();
        let line = group.lines.entry(key.caller).or_default();
        if line.is_empty() {
            group.turn.push_back(key.caller);
        }
        line.push_back(Waiter { ticket, granted });
        if first_of_group {
            self.turn.push_back(key.group);
        }
        (ticket, receiver)
    }

    /// Grants what is free: first to those within their fair share, then to those who borrow.
    fn dispatch(&mut self) {
        while self.free > 0 {
            let next = self
                .next(|share| share.fair)
                .or_else(|| self.next(|share| share.most));
            let Some(key) = next else { return };
            let Some(waiter) = self.take_first(key) else {
                return;
            };
            self.hold(key);
            // The caller that waits for it leaves the line before the receiver is dropped.
            let _ = waiter.granted.send(());
        }
    }

    /// The next waiting caller that holds less than this part of its share. Only those that hold
    /// permits are passed over, so this looks at no more of them than there are permits.
    fn next(&self, part: impl Fn(Share) -> usize + Copy) -> Option<FairnessKey<K>> {
        self.turn.iter().find_map(|group| {
            let waiting = self.groups.get(group)?;
            if waiting.held >= part(self.limits.group) {
                return None;
            }
            let mut keys = waiting.turn.iter().map(|caller| FairnessKey {
                caller: *caller,
                group: *group,
            });
            keys.find(|key| self.fits(*key, part))
        })
    }

    /// Takes the first waiter of a caller out of its line, and puts caller and group last in turn.
    fn take_first(&mut self, key: FairnessKey<K>) -> Option<Waiter> {
        let waiter = self
            .groups
            .get_mut(&key.group)?
            .lines
            .get_mut(&key.caller)?
            .pop_front()?;
        self.left_line(key, true);
        Some(waiter)
    }

    /// Brings the books up to date after somebody left the line of a caller.
    fn left_line(&mut self, key: FairnessKey<K>, rotate: bool) {
        if let Some(caller) = self.callers.get_mut(&key.caller) {
            caller.waiting -= 1;
        }
        let Some(group) = self.groups.get_mut(&key.group) else {
            return;
        };
        let line_ended = group.lines.get(&key.caller).is_none_or(VecDeque::is_empty);
        if line_ended {
            group.lines.remove(&key.caller);
        }
        if line_ended || rotate {
            group.turn.retain(|caller| *caller != key.caller);
        }
        if rotate && !line_ended {
            group.turn.push_back(key.caller);
        }
        let none_waits = group.turn.is_empty();
        if none_waits || rotate {
            self.turn.retain(|group| *group != key.group);
        }
        if rotate && !none_waits {
            self.turn.push_back(key.group);
        }
        self.remove_if_idle(key);
    }

    fn release(&mut self, key: FairnessKey<K>) {
        self.free += 1;
        if let Some(caller) = self.callers.get_mut(&key.caller) {
            caller.held -= 1;
        }
        if let Some(group) = self.groups.get_mut(&key.group) {
            group.held -= 1;
        }
        self.remove_if_idle(key);
        self.dispatch();
    }

    fn remove_if_idle(&mut self, key: FairnessKey<K>) {
        if self
            .callers
            .get(&key.caller)
            .is_some_and(|caller| caller.held == 0 && caller.waiting == 0)
        {
            self.callers.remove(&key.caller);
        }
        if self
            .groups
            .get(&key.group)
            .is_some_and(|group| group.held == 0 && group.lines.is_empty())
        {
            self.groups.remove(&key.group);
        }
    }
}

impl<K: Copy + Ord> Drop for Permit<K> {
    fn drop(&mut self) {
        lock(&self.state).release(self.key);
    }
}

impl<K: Copy + Ord> Drop for Ticket<'_, K> {
    fn drop(&mut self) {
        if self.received {
            return;
        }
        let mut state = lock(&self.semaphore.state);
        let line = state
            .groups
            .get_mut(&self.key.group)
            .and_then(|group| group.lines.get_mut(&self.key.caller));
        let found = line.and_then(|line| {
            let at = line
                .iter()
                .position(|waiter| waiter.ticket == self.ticket)?;
            line.remove(at)
        });
        match found {
            Some(_) => state.left_line(self.key, false),
            // It was granted in the meantime.
            None => state.release(self.key),
        }
    }
}

fn lock<K>(state: &Mutex<State<K>>) -> MutexGuard<'_, State<K>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
