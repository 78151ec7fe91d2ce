//! A semaphore that bounds the use of a resource in all, and in which each key has a share.

mod line;
#[cfg(test)]
mod tests;

use std::collections::btree_map::{BTreeMap, Entry};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use self::line::{Lines, Waiter};
use super::{Quota, QuotaKey, QuotaKeys};
use crate::{Error, Limit};

/// Seconds after which a caller whose share is in use may try again.
const RETRY_SECONDS: u64 = 2;

/// Why a [`KeyedSemaphore`] gives no permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuotaExceeded {
    /// The share of this key is in use.
    Share(QuotaKey),
    /// The process has no more of the resource.
    Total,
}

impl QuotaExceeded {
    /// The answer to a request that was refused for it.
    #[must_use]
    pub fn of(self, limit: Limit) -> Error {
        match self {
            Self::Share(_) => Error::too_many_requests(limit, RETRY_SECONDS),
            Self::Total => Error::unavailable(format!("the process is at its bound: {limit}")),
        }
    }
}

/// A semaphore with a share for each key beside the bound on all. Clones share it.
#[derive(Clone, Debug)]
pub struct KeyedSemaphore {
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    quota: Quota,
    ledger: Mutex<Ledger>,
}

/// What is in use, and who waits.
#[derive(Debug, Default)]
struct Ledger {
    used: Used,
    lines: Lines,
}

#[derive(Debug, Default)]
struct Used {
    total: u64,
    /// Of the keys that use anything.
    by_key: BTreeMap<QuotaKey, u64>,
}

/// A part of the resource. Dropping it releases the part.
#[derive(Debug)]
#[must_use]
pub struct Permit(Option<Held>);

/// What a permit releases.
#[derive(Debug)]
struct Held {
    amount: u64,
    keys: QuotaKeys,
    state: Arc<State>,
}

impl KeyedSemaphore {
    /// A semaphore of which nothing is in use.
    #[must_use]
    pub fn new(quota: Quota) -> Self {
        Self {
            state: Arc::new(State {
                quota,
                ledger: Mutex::default(),
            }),
        }
    }

    /// Acquires `amount` under all of these keys, or says at once why that is not possible: see
    /// [`Quota::admits`].
    ///
    /// # Errors
    ///
    /// [`QuotaExceeded`]; then nothing is acquired.
    pub fn acquire(&self, keys: QuotaKeys, amount: u64) -> Result<Permit, QuotaExceeded> {
        self.state
            .take(&mut lock(&self.state.ledger).used, keys, amount)
    }

    /// The same, but waits for others to release as much as is needed, for at most `wait`. What is
    /// released goes to those who wait for it, in turn: to an organization after the others, within
    /// it to a caller after the others, and within a caller to the task that waits longest.
    ///
    /// # Errors
    ///
    /// [`QuotaExceeded`], as it was before the wait; at once where 512 tasks of the caller wait
    /// already.
    pub async fn acquire_within(
        &self,
        keys: QuotaKeys,
        amount: u64,
        wait: Duration,
    ) -> Result<Permit, QuotaExceeded> {
        let (grant, granted) = oneshot::channel();
        let exceeded = {
            let mut ledger = lock(&self.state.ledger);
            match self.state.take(&mut ledger.used, keys, amount) {
                Ok(permit) => return Ok(permit),
                Err(exceeded)
                    if !ledger.lines.join(Waiter {
                        keys,
                        amount,
                        grant,
                    }) =>
                {
                    return Err(exceeded);
                }
                Err(exceeded) => exceeded,
            }
        };
        // A permit that is granted after the wait is released by its drop.
        timeout(wait, granted)
            .await
            .ok()
            .and_then(Result::ok)
            .ok_or(exceeded)
    }
}

impl State {
    fn take(
        self: &Arc<Self>,
        used: &mut Used,
        keys: QuotaKeys,
        amount: u64,
    ) -> Result<Permit, QuotaExceeded> {
        let quota = &self.quota;
        let in_use = |key| used.by_key.get(&key).copied().unwrap_or_default();
        for key in keys.iter() {
            if !quota.admits(key, in_use(key), used.total, amount) {
                return Err(QuotaExceeded::Share(key));
            }
        }
        let (of_caller, of_organization) = (in_use(keys.caller()), in_use(keys.group()));
        if !quota.has_room_below_cap(of_caller, of_organization, amount) {
            return Err(QuotaExceeded::Share(keys.group()));
        }
        if !quota.has_room(used.total, amount) {
            return Err(QuotaExceeded::Total);
        }
        used.total += amount.min(quota.total);
        for key in keys.iter() {
            *used.by_key.entry(key).or_default() += amount.min(quota.share(key));
        }
        Ok(Permit(Some(Held {
            amount,
            keys,
            state: Arc::clone(self),
        })))
    }

    fn give_back(&self, used: &mut Used, keys: QuotaKeys, amount: u64) {
        let quota = &self.quota;
        used.total -= amount.min(quota.total);
        for key in keys.iter() {
            if let Entry::Occupied(mut in_use) = used.by_key.entry(key) {
                *in_use.get_mut() -= amount.min(quota.share(key));
                if *in_use.get() == 0 {
                    in_use.remove();
                }
            }
        }
    }

    /// Takes what those who wait can have, now that something of these keys was released. The
    /// permits are to be sent when the ledger is not locked any more.
    fn grant_waiting(
        self: &Arc<Self>,
        ledger: &mut Ledger,
        released: QuotaKeys,
    ) -> Vec<(Waiter, Permit)> {
        let Ledger { used, lines } = ledger;
        let mut give = |waiter: &Waiter| self.take(used, waiter.keys, waiter.amount);
        // Without a bound on all, most of those who wait have nothing to do with what was released.
        let concerns_all = self.quota.total != u64::MAX || released.has_other();
        let mut next = || match concerns_all {
            true => lines.serve_anybody(&mut give),
            false => lines.serve_sharing(released, &mut give),
        };
        std::iter::from_fn(&mut next).collect()
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        // Waiters may give up between a grant and its sending, and return their permits. The loop
        // releases those permits: their own drop would recurse, as deep as there are such waiters.
        let (mut released, mut returned) = (self.0.take(), Vec::new());
        while let Some(Held {
            amount,
            keys,
            state,
        }) = released.take().or_else(|| returned.pop())
        {
            let grants = {
                let mut ledger = lock(&state.ledger);
                state.give_back(&mut ledger.used, keys, amount);
                state.grant_waiting(&mut ledger, keys)
            };
            for (waiter, permit) in grants {
                if let Err(mut unwanted) = waiter.grant.send(permit) {
                    returned.extend(unwanted.0.take());
                }
            }
        }
    }
}

fn lock(ledger: &Mutex<Ledger>) -> MutexGuard<'_, Ledger> {
    ledger.lock().unwrap_or_else(PoisonError::into_inner)
}
