//! Bounds on how much of a resource is in use at the same time: in the process, by one organization and by
//! one caller, so that no caller and no organization can take all of it.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use eddyline_model::{ApplicationId, OrganizationId, UserId};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::Error;
use crate::actor::Actor;

/// Seconds after which a caller whose share is in use may try again.
const RETRY_SECONDS: u64 = 2;

/// How much of a resource may be in use at the same time, in units that the resource defines: requests, or
/// bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// In the whole process.
    pub total: u64,
    /// By the callers of one organization.
    pub organization: u64,
    /// By one caller.
    pub caller: u64,
    /// For one application.
    pub application: u64,
    /// By one network.
    pub network: u64,
}

impl Quota {
    /// The bounds of a resource that only callers and organizations use.
    #[must_use]
    pub const fn new(total: u64, organization: u64, caller: u64) -> Self {
        Self { total, organization, caller, application: u64::MAX, network: u64::MAX }
    }

    fn share(&self, key: QuotaKey) -> u64 {
        match key {
            QuotaKey::User(_) | QuotaKey::Tokens(_) => self.caller,
            QuotaKey::Organization(_) => self.organization,
            QuotaKey::Application(_) => self.application,
            QuotaKey::Network(_) => self.network,
        }
    }
}

/// To whom the use of a resource is charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum QuotaKey {
    /// A user, whichever credentials the user shows.
    User(UserId),
    /// All tokens of an organization's flows that an operator made.
    Tokens(OrganizationId),
    /// An organization.
    Organization(OrganizationId),
    /// An application.
    Application(ApplicationId),
    /// A network, as [`network_of`](crate::network_of) names it.
    Network(IpAddr),
}

/// Why a [`KeyedSemaphore`] gives no permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuotaExceeded {
    /// The share of this key is in use.
    Share(QuotaKey),
    /// The process has no more of the resource.
    Total,
}

impl From<QuotaExceeded> for Error {
    fn from(exceeded: QuotaExceeded) -> Self {
        match exceeded {
            QuotaExceeded::Share(_) => Self::TooManyRequests { retry_after: RETRY_SECONDS },
            QuotaExceeded::Total => Self::Unavailable("the process is at its bound for such requests".into()),
        }
    }
}

/// Who is behind an [`Actor`]: to whom its use of resources is charged.
///
/// The organization is the first that the user belongs to, not the one a request is about: otherwise the
/// members of one organization could use the shares of many by making flows in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The user; `None` for tokens that an operator made.
    pub user: Option<UserId>,
    /// The organization; `None` for a user who belongs to none.
    pub organization: Option<OrganizationId>,
}

impl Owner {
    /// The keys under which the use of a resource is counted.
    #[must_use]
    pub fn quota_keys(self) -> Vec<QuotaKey> {
        let caller = match self {
            Self { user: Some(user), .. } => Some(QuotaKey::User(user)),
            Self { user: None, organization } => organization.map(QuotaKey::Tokens),
        };
        caller.into_iter().chain(self.organization.map(QuotaKey::Organization)).collect()
    }
}

impl Actor {
    /// Who is behind it.
    #[must_use]
    pub fn owner(&self) -> Owner {
        match self {
            Self::User { caller, .. } => Owner {
                user: Some(caller.user.id),
                organization: caller.organizations.first().map(|membership| membership.organization),
            },
            Self::FlowToken { owner, .. } => *owner,
        }
    }

    /// The keys under which its use of resources is counted.
    #[must_use]
    pub fn quota_keys(&self) -> Vec<QuotaKey> {
        self.owner().quota_keys()
    }
}

/// A semaphore with a share for each key beside the bound on all. Clones share it.
#[derive(Clone, Debug)]
pub struct KeyedSemaphore {
    quota: Quota,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    used: Mutex<Used>,
    released: Notify,
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
pub struct Permit {
    amount: u64,
    shares: Vec<(QuotaKey, u64)>,
    state: Arc<State>,
}

impl KeyedSemaphore {
    /// A semaphore of which nothing is in use.
    #[must_use]
    pub fn new(quota: Quota) -> Self {
        Self { quota, state: Arc::default() }
    }

    /// Acquires `amount` under all of these keys, or says at once why that is not possible. An amount that
    /// is larger than a share counts as the whole share, so that it can be acquired when the share is free.
    ///
    /// # Errors
    ///
    /// [`QuotaExceeded`]; then nothing is acquired.
    pub fn acquire(&self, keys: &[QuotaKey], amount: u64) -> Result<Permit, QuotaExceeded> {
        let mut used = lock(&self.state.used);
        let mut shares = Vec::with_capacity(keys.len());
        for key in keys.iter().copied() {
            let share = self.quota.share(key);
            let amount = amount.min(share);
            let in_use = used.by_key.get(&key).copied().unwrap_or_default();
            if amount > share - in_use {
                return Err(QuotaExceeded::Share(key));
            }
            shares.push((key, amount));
        }
        let amount = amount.min(self.quota.total);
        if amount > self.quota.total - used.total {
            return Err(QuotaExceeded::Total);
        }
        used.total += amount;
        for (key, amount) in &shares {
            *used.by_key.entry(*key).or_default() += amount;
        }
        Ok(Permit { amount, shares, state: Arc::clone(&self.state) })
    }

    /// The same, but waits for others to release as much as is needed, for at most `wait`.
    ///
    /// # Errors
    ///
    /// [`QuotaExceeded`], as it is after the wait.
    pub async fn acquire_within(
        &self,
        keys: &[QuotaKey],
        amount: u64,
        wait: Duration,
    ) -> Result<Permit, QuotaExceeded> {
        let deadline = Instant::now() + wait;
        loop {
            let released = self.state.released.notified();
            tokio::pin!(released);
            // From here on a release is noticed, also one between the next two lines.
            released.as_mut().enable();
            let exceeded = match self.acquire(keys, amount) {
                Ok(permit) => return Ok(permit),
                Err(exceeded) => exceeded,
            };
            if timeout_at(deadline, released).await.is_err() {
                return Err(exceeded);
            }
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut used = lock(&self.state.used);
        used.total -= self.amount;
        for (key, amount) in &self.shares {
            if let Some(in_use) = used.by_key.get_mut(key) {
                *in_use -= amount;
                if *in_use == 0 {
                    used.by_key.remove(key);
                }
            }
        }
        drop(used);
        self.state.released.notify_waiters();
    }
}

fn lock(used: &Mutex<Used>) -> MutexGuard<'_, Used> {
    used.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADA: QuotaKey = QuotaKey::User(UserId(1));
    const BEN: QuotaKey = QuotaKey::User(UserId(2));
    const VIC: QuotaKey = QuotaKey::User(UserId(3));
    const ACME: QuotaKey = QuotaKey::Organization(OrganizationId(1));
    const BETA: QuotaKey = QuotaKey::Organization(OrganizationId(2));

    fn semaphore(total: u64, organization: u64, caller: u64) -> KeyedSemaphore {
        KeyedSemaphore::new(Quota::new(total, organization, caller))
    }

    #[test]
    fn a_caller_acquires_its_share_and_no_more() {
        let semaphore = semaphore(9, 9, 2);
        let mut own = vec![semaphore.acquire(&[ADA, ACME], 1), semaphore.acquire(&[ADA, ACME], 1)];
        assert_eq!(semaphore.acquire(&[ADA, ACME], 1).err(), Some(QuotaExceeded::Share(ADA)));
        assert!(semaphore.acquire(&[BEN, ACME], 1).is_ok());
        own.pop();
        assert!(semaphore.acquire(&[ADA, ACME], 1).is_ok(), "what was released can be acquired again");
    }

    #[test]
    fn an_organization_acquires_its_share_and_no_more() {
        let semaphore = semaphore(9, 3, 2);
        let held =
            [(ADA, ACME), (ADA, ACME), (BEN, ACME)].map(|(user, of)| semaphore.acquire(&[user, of], 1));
        assert!(held.iter().all(Result::is_ok));
        assert_eq!(semaphore.acquire(&[BEN, ACME], 1).err(), Some(QuotaExceeded::Share(ACME)));
        assert!(semaphore.acquire(&[VIC, BETA], 1).is_ok());
        drop(held);
        assert!(semaphore.acquire(&[BEN, ACME], 1).is_ok());
    }

    #[test]
    fn all_together_acquire_no_more_than_the_total() {
        let semaphore = semaphore(3, 2, 2);
        let mut held = Vec::from([(ADA, ACME), (ADA, ACME), (VIC, BETA)].map(|(user, of)| {
            let permit = semaphore.acquire(&[user, of], 1);
            permit.expect("it is within the bounds")
        }));
        assert_eq!(semaphore.acquire(&[VIC, BETA], 1).err(), Some(QuotaExceeded::Total));
        held.pop();
        assert!(semaphore.acquire(&[VIC, BETA], 1).is_ok());
    }

    #[test]
    fn amounts_add_up() {
        let semaphore = semaphore(100, 60, 40);
        let held = semaphore.acquire(&[ADA, ACME], 30);
        assert_eq!(semaphore.acquire(&[ADA, ACME], 11).err(), Some(QuotaExceeded::Share(ADA)));
        let more = semaphore.acquire(&[ADA, ACME], 10);
        assert_eq!(semaphore.acquire(&[BEN, ACME], 21).err(), Some(QuotaExceeded::Share(ACME)));
        assert!(held.is_ok() && more.is_ok());
    }

    #[test]
    fn an_amount_larger_than_a_share_counts_as_the_whole_share() {
        let semaphore = semaphore(100, 60, 40);
        let held = semaphore.acquire(&[ADA, ACME], 1000);
        assert!(held.is_ok());
        assert_eq!(semaphore.acquire(&[ADA, ACME], 1).err(), Some(QuotaExceeded::Share(ADA)));
        assert_eq!(semaphore.acquire(&[BEN, BETA], 1).err(), Some(QuotaExceeded::Total));
    }

    #[test]
    fn a_key_that_uses_nothing_is_forgotten() {
        let semaphore = semaphore(3, 3, 2);
        drop((semaphore.acquire(&[ADA, ACME], 1), semaphore.acquire(&[BEN, ACME], 2)));
        assert_eq!(semaphore.acquire(&[ADA, ACME], 3).map(drop), Ok(()));
        let used = lock(&semaphore.state.used);
        assert_eq!((used.total, used.by_key.len()), (0, 0));
    }

    #[test]
    fn tokens_without_a_user_are_charged_to_their_organization() {
        let organization = Some(OrganizationId(1));
        let tokens = Owner { user: None, organization };
        assert_eq!(tokens.quota_keys(), [QuotaKey::Tokens(OrganizationId(1)), ACME]);
        assert_eq!(Owner { user: Some(UserId(1)), organization }.quota_keys(), [ADA, ACME]);
    }

    #[tokio::test]
    async fn a_wait_ends_with_a_release_and_with_its_deadline() {
        let semaphore = semaphore(1, 1, 1);
        let held = semaphore.acquire(&[ADA], 1).expect("it is free");
        let refused = semaphore.acquire_within(&[BEN], 1, Duration::ZERO).await;
        assert_eq!(refused.err(), Some(QuotaExceeded::Total));
        let waiting = tokio::spawn({
            let semaphore = semaphore.clone();
            async move { semaphore.acquire_within(&[BEN], 1, Duration::from_secs(3600)).await.map(drop) }
        });
        tokio::task::yield_now().await;
        drop(held);
        assert_eq!(waiting.await.expect("it does not panic"), Ok(()));
    }
}
