//! Limits on failed sign-ins, against guessing.
//!
//! Only failures count. A limit is asked before a secret is checked and charged after the check
//! has failed, so that a client with the right secret is never slowed down by its own requests.

use std::collections::VecDeque;
use std::collections::hash_map::{Entry, HashMap};
use std::hash::{BuildHasher, Hash, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use eddyline_model::Timestamp;

const MINUTE_MILLIS: u64 = 60_000;
const DAY_MILLIS: u64 = 24 * 60 * MINUTE_MILLIS;

/// Too many checks have failed; the next one is allowed later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many failed attempts; try again in {seconds} s")]
pub struct RetryAfter {
    /// Whole seconds to wait, at least 1: the value of a `Retry-After` header.
    pub seconds: u64,
}

/// Allows a number of failures a minute for each key, in any span of 60 seconds, or a day.
///
/// Keys are kept as 64-bit hashes under a random key of this limiter, so that a long key costs no
/// more than a short one. The number of keys is bounded: when there are too many, those that failed
/// longest ago are forgotten.
#[derive(Debug)]
pub struct FailureLimiter {
    most: usize,
    window_millis: u64,
    max_keys: usize,
    hash: RandomState,
    failures: Mutex<HashMap<u64, VecDeque<Timestamp>>>,
}

impl FailureLimiter {
    /// How many keys are kept at most unless said otherwise.
    pub const DEFAULT_MAX_KEYS: usize = 20_000;

    /// A limiter of `per_key` failures a minute; 0 switches it off.
    #[must_use]
    pub fn new(per_key: u32) -> Self {
        Self::with_max_keys(per_key, Self::DEFAULT_MAX_KEYS)
    }

    /// A limiter of `per_key` failures in any 24 hours; 0 switches it off.
    #[must_use]
    pub fn a_day(per_key: u32) -> Self {
        Self {
            window_millis: DAY_MILLIS,
            ..Self::new(per_key)
        }
    }

    /// A limiter that keeps the failures of at most `max_keys` keys.
    #[must_use]
    pub fn with_max_keys(per_key: u32, max_keys: usize) -> Self {
        Self {
            most: usize::try_from(per_key).unwrap_or(usize::MAX),
            window_millis: MINUTE_MILLIS,
            max_keys: max_keys.max(1),
            hash: RandomState::new(),
            failures: Mutex::default(),
        }
    }

    /// Whether the key may try again. Asking costs nothing.
    ///
    /// # Errors
    ///
    /// [`RetryAfter`], when the key has used up the failures of a minute.
    pub fn check(&self, key: &(impl Hash + ?Sized), now: Timestamp) -> Result<(), RetryAfter> {
        if self.most == 0 {
            return Ok(());
        }
        let key = self.hash.hash_one(key);
        let mut failures = self.lock();
        let Some(of_key) = failures.get_mut(&key) else {
            return Ok(());
        };
        drop_old(of_key, now, self.window_millis);
        if of_key.is_empty() {
            failures.remove(&key);
            return Ok(());
        }
        match of_key.front() {
            Some(oldest) if of_key.len() >= self.most => {
                let waited = u64::try_from(now.0.saturating_sub(oldest.0)).unwrap_or(0);
                Err(RetryAfter {
                    seconds: self
                        .window_millis
                        .saturating_sub(waited)
                        .div_ceil(1000)
                        .max(1),
                })
            }
            _ => Ok(()),
        }
    }

    /// Counts a failure of the key.
    pub fn failed(&self, key: &(impl Hash + ?Sized), now: Timestamp) {
        if self.most == 0 {
            return;
        }
        let key = self.hash.hash_one(key);
        let mut failures = self.lock();
        if failures.len() >= self.max_keys && !failures.contains_key(&key) {
            make_room(&mut failures, self.max_keys, now, self.window_millis);
        }
        let of_key = failures.entry(key).or_default();
        drop_old(of_key, now, self.window_millis);
        if of_key.len() >= self.most {
            of_key.pop_front();
        }
        of_key.push_back(now);
    }

    /// Takes back the latest failure of the key.
    pub fn forgive(&self, key: &(impl Hash + ?Sized)) {
        let key = self.hash.hash_one(key);
        if let Entry::Occupied(mut of_key) = self.lock().entry(key) {
            of_key.get_mut().pop_back();
            if of_key.get().is_empty() {
                of_key.remove();
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, VecDeque<Timestamp>>> {
        // No code under this lock leaves the map half changed.
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Drops what lies outside the window, on either side: a clock set back must lock nobody out.
fn drop_old(failures: &mut VecDeque<Timestamp>, now: Timestamp, window_millis: u64) {
    failures.retain(|failure| is_recent(*failure, now, window_millis));
}

fn is_recent(failure: Timestamp, now: Timestamp, window_millis: u64) -> bool {
    now.0.abs_diff(failure.0) < window_millis
}

/// Sweeps the keys without recent failures; should that not free half of the places, the keys that
/// failed longest ago go too. Freeing many at once keeps the cost of a single failure small.
fn make_room(
    failures: &mut HashMap<u64, VecDeque<Timestamp>>,
    max_keys: usize,
    now: Timestamp,
    window_millis: u64,
) {
    failures.retain(|_, of_key| {
        of_key
            .back()
            .is_some_and(|last| is_recent(*last, now, window_millis))
    });
    let keep = max_keys / 2;
    if failures.len() <= keep {
        return;
    }
    let mut by_age: Vec<(Timestamp, u64)> = failures
        .iter()
        .filter_map(|(key, of_key)| Some((*of_key.back()?, *key)))
        .collect();
    let surplus = by_age.len() - keep;
    by_age.sort_unstable();
    for (_, key) in &by_age[..surplus] {
        failures.remove(key);
    }
}

/// How many password checks may fail in a minute; 0 switches a limit off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignInLimits {
    /// For one account from one address.
    pub per_account_and_address: u32,
    /// For one address, whatever the accounts.
    pub per_address: u32,
}

/// 10 for an account and address, 100 for an address.
impl Default for SignInLimits {
    fn default() -> Self {
        Self {
            per_account_and_address: 10,
            per_address: 100,
        }
    }
}

/// Which of the limits on guessing passwords is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignInLimit {
    /// That for one account from one address.
    Account,
    /// That for one address, whatever the accounts.
    Address,
}

/// Why no password is checked now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignInRefused {
    /// The limit that is reached.
    pub limit: SignInLimit,
    /// How long to wait.
    pub wait: RetryAfter,
}

/// The limits on guessing passwords.
///
/// An account is limited only together with an address, so that nobody can lock its owner out from
/// elsewhere. IPv6 addresses count by their /64 network, which is what one subscriber has.
#[derive(Debug)]
pub struct SignInGuard {
    accounts: FailureLimiter,
    addresses: FailureLimiter,
}

impl SignInGuard {
    /// A guard with these limits.
    #[must_use]
    pub fn new(limits: SignInLimits) -> Self {
        Self {
            accounts: FailureLimiter::new(limits.per_account_and_address),
            addresses: FailureLimiter::new(limits.per_address),
        }
    }

    /// Whether a password for `account` may be checked now. The account is the e-mail address as
    /// it was sent, known or not; its case does not matter.
    ///
    /// # Errors
    ///
    /// The limit that is reached; of both, the one that takes longer.
    pub fn check(
        &self,
        account: &str,
        address: IpAddr,
        now: Timestamp,
    ) -> Result<(), SignInRefused> {
        let network = network_of(address);
        let account = self.accounts.check(&(account.to_lowercase(), network), now);
        let address = self.addresses.check(&network, now);
        let refused = |limit| move |wait| SignInRefused { limit, wait };
        let account = account.map_err(refused(SignInLimit::Account));
        let address = address.map_err(refused(SignInLimit::Address));
        match (account, address) {
            (Err(one), Err(other)) if one.wait.seconds > other.wait.seconds => Err(one),
            (one, other) => other.and(one),
        }
    }

    /// Counts a wrong password, also one for an account that does not exist.
    pub fn failed(&self, account: &str, address: IpAddr, now: Timestamp) {
        let network = network_of(address);
        self.accounts
            .failed(&(account.to_lowercase(), network), now);
        self.addresses.failed(&network, now);
    }
}

/// The limit on guessing secrets that belong to no account: codes, refresh tokens, and the secrets
/// of clients. Clients are not limited by name: their names are public, and anybody could lock them
/// out.
#[derive(Debug)]
pub struct AddressGuard(FailureLimiter);

impl AddressGuard {
    /// A guard that allows so many failures a minute to an address; 0 for any number.
    #[must_use]
    pub fn new(per_address: u32) -> Self {
        Self(FailureLimiter::new(per_address))
    }

    /// Whether a secret from this address may be checked now.
    ///
    /// # Errors
    ///
    /// [`RetryAfter`], when the address has used up the failures of a minute.
    pub fn check(&self, address: IpAddr, now: Timestamp) -> Result<(), RetryAfter> {
        self.0.check(&network_of(address), now)
    }

    /// Counts a wrong one.
    pub fn failed(&self, address: IpAddr, now: Timestamp) {
        self.0.failed(&network_of(address), now);
    }
}

/// What counts as one address: an IPv4 address, or the /64 network of an IPv6 address, which is
/// what one subscriber has.
#[must_use]
pub fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() >> 64 << 64).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_700_000_000_000);

    fn after(seconds: i64) -> Timestamp {
        NOW.plus_millis(seconds * 1000)
    }

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn asking_costs_nothing_and_only_failures_count() {
        let limiter = FailureLimiter::new(1);
        for _ in 0..100 {
            assert_eq!(limiter.check("ada", NOW), Ok(()));
        }
        limiter.failed("ada", NOW);
        assert_eq!(limiter.check("ada", NOW), Err(RetryAfter { seconds: 60 }));
        assert_eq!(limiter.check("bob", NOW), Ok(()));
    }

    #[test]
    fn the_budget_comes_back_as_failures_grow_a_minute_old() {
        let limiter = FailureLimiter::new(2);
        limiter.failed("ada", NOW);
        limiter.failed("ada", after(20));
        assert_eq!(
            limiter.check("ada", after(20)),
            Err(RetryAfter { seconds: 40 })
        );
        assert_eq!(
            limiter.check("ada", NOW.plus_millis(59_999)),
            Err(RetryAfter { seconds: 1 })
        );
        assert_eq!(limiter.check("ada", after(60)), Ok(()));

        limiter.failed("ada", after(60));
        assert_eq!(
            limiter.check("ada", after(60)),
            Err(RetryAfter { seconds: 20 })
        );
    }

    #[test]
    fn failures_beyond_the_limit_do_not_grow_the_memory() {
        let limiter = FailureLimiter::new(3);
        for second in 0..30 {
            limiter.failed("ada", after(second));
        }
        assert!(limiter.lock().values().all(|of_key| of_key.len() == 3));
        assert_eq!(
            limiter.check("ada", after(30)),
            Err(RetryAfter { seconds: 57 })
        );
    }

    #[test]
    fn a_failure_that_is_forgiven_does_not_count() {
        let limiter = FailureLimiter::new(1);
        limiter.failed("ada", NOW);
        limiter.forgive("ada");
        limiter.forgive("ada");
        assert_eq!(limiter.check("ada", NOW), Ok(()));
        assert!(limiter.lock().is_empty());
    }

    #[test]
    fn a_clock_set_back_locks_nobody_out() {
        let limiter = FailureLimiter::new(1);
        limiter.failed("ada", after(3600));
        assert_eq!(limiter.check("ada", NOW), Ok(()));
    }

    #[test]
    fn a_limit_of_zero_is_off() {
        let limiter = FailureLimiter::new(0);
        limiter.failed("ada", NOW);
        assert_eq!(limiter.check("ada", NOW), Ok(()));
    }

    #[test]
    fn the_number_of_keys_is_bounded_and_the_latest_are_kept() {
        let limiter = FailureLimiter::with_max_keys(1, 10);
        for number in 0..100 {
            limiter.failed(&number, NOW.plus_millis(number));
        }
        assert!(limiter.lock().len() <= 10);
        assert!(limiter.check(&99_i64, after(1)).is_err());
        assert!(limiter.check(&0_i64, after(1)).is_ok());
    }

    #[test]
    fn keys_without_recent_failures_are_swept() {
        let limiter = FailureLimiter::with_max_keys(1, 10);
        for number in 0..10 {
            limiter.failed(&number, NOW);
        }
        limiter.failed(&10, after(61));
        assert_eq!(limiter.lock().len(), 1);
    }

    #[test]
    fn ten_wrong_passwords_stop_an_account_at_one_address_only() {
        let guard = SignInGuard::new(SignInLimits::default());
        let (here, elsewhere) = (address("192.0.2.1"), address("192.0.2.2"));
        for _ in 0..10 {
            assert_eq!(guard.check("Ada@example.com", here, NOW), Ok(()));
            guard.failed("ada@example.com", here, NOW);
        }
        let refused = SignInRefused {
            limit: SignInLimit::Account,
            wait: RetryAfter { seconds: 45 },
        };
        assert_eq!(
            guard.check("Ada@Example.com", here, after(15)),
            Err(refused)
        );
        assert_eq!(guard.check("bob@example.com", here, NOW), Ok(()));
        assert_eq!(guard.check("ada@example.com", elsewhere, NOW), Ok(()));
        assert_eq!(guard.check("ada@example.com", here, after(60)), Ok(()));
    }

    #[test]
    fn a_hundred_wrong_passwords_stop_an_address_for_every_account() {
        let guard = SignInGuard::new(SignInLimits::default());
        for number in 0..100 {
            guard.failed(&format!("{number}@example.com"), address("192.0.2.1"), NOW);
        }
        let refused = guard
            .check("ada@example.com", address("192.0.2.1"), NOW)
            .unwrap_err();
        assert_eq!(refused.limit, SignInLimit::Address);
        assert!(
            guard
                .check("ada@example.com", address("::ffff:192.0.2.1"), NOW)
                .is_err()
        );
        assert!(
            guard
                .check("ada@example.com", address("192.0.2.2"), NOW)
                .is_ok()
        );
    }

    #[test]
    fn a_hundred_wrong_secrets_stop_an_address() {
        let guard = AddressGuard::new(100);
        for _ in 0..100 {
            assert_eq!(guard.check(address("192.0.2.1"), NOW), Ok(()));
            guard.failed(address("192.0.2.1"), NOW);
        }
        assert_eq!(
            guard.check(address("192.0.2.1"), after(20)),
            Err(RetryAfter { seconds: 40 })
        );
        assert_eq!(guard.check(address("192.0.2.2"), NOW), Ok(()));
        assert_eq!(guard.check(address("192.0.2.1"), after(60)), Ok(()));
    }

    #[test]
    fn ipv6_addresses_count_by_network() {
        let guard = SignInGuard::new(SignInLimits {
            per_account_and_address: 1,
            per_address: 0,
        });
        guard.failed("ada@example.com", address("2001:db8:0:1::1"), NOW);
        assert!(
            guard
                .check("ada@example.com", address("2001:db8:0:1:ffff::2"), NOW)
                .is_err()
        );
        assert!(
            guard
                .check("ada@example.com", address("2001:db8:0:2::1"), NOW)
                .is_ok()
        );
    }
}
