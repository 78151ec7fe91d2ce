//! Remembers successful password checks for a short time.
//!
//! A client that sends its password with every request would otherwise wait for argon2 each time.
//! What is kept is a keyed hash of the check, under a key that never leaves the process: neither
//! the password nor anything that could be tried against it elsewhere.

use std::fmt;

use eddyline_model::Timestamp;
use quick_cache::sync::Cache;
use ring::{hmac, rand};

use crate::password::Password;

/// Recent successful checks, bounded in number and in time.
///
/// The stored hash is part of what is remembered, so a changed password is forgotten at once, also
/// when another process changed it. An account that was blocked or removed is the caller's to
/// notice: the memo says only that the password fits.
pub struct PasswordMemo {
    key: hmac::Key,
    lifetime_millis: u64,
    checks: Cache<[u8; 32], Timestamp>,
}

impl PasswordMemo {
    /// How long a check is remembered unless said otherwise: five minutes, in milliseconds.
    pub const DEFAULT_LIFETIME_MILLIS: u64 = 5 * 60 * 1000;
    /// How many checks are remembered unless said otherwise.
    pub const DEFAULT_CAPACITY: usize = 10_000;

    /// A memo under a fresh random key. A lifetime of 0 remembers nothing.
    #[must_use]
    pub fn new(lifetime_millis: u64, capacity: usize) -> Self {
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &rand::SystemRandom::new())
            .expect("the operating system gives random bytes");
        Self {
            key,
            lifetime_millis,
            checks: Cache::new(capacity),
        }
    }

    /// Whether this password was found to fit this account's present hash `phc` a short while ago.
    #[must_use]
    pub fn recall(&self, email: &str, password: &Password, phc: &str, now: Timestamp) -> bool {
        let check = self.check(email, password, phc);
        let Some(remembered) = self.checks.get(&check) else {
            return false;
        };
        // A clock that was set back must not prolong what is remembered.
        let fresh = now.0.abs_diff(remembered.0) < self.lifetime_millis;
        if !fresh {
            self.checks.remove(&check);
        }
        fresh
    }

    /// Remembers that this password fits `phc`. Call it only after a check that has succeeded.
    pub fn remember(&self, email: &str, password: &Password, phc: &str, now: Timestamp) {
        self.checks.insert(self.check(email, password, phc), now);
    }

    /// Forgets every check.
    pub fn invalidate_all(&self) {
        self.checks.clear();
    }

    fn check(&self, email: &str, password: &Password, phc: &str) -> [u8; 32] {
        let mut context = hmac::Context::with_key(&self.key);
        for part in [email, password.expose(), phc] {
            // With its length before it, no part can pass for the end of the one before.
            context.update(&(part.len() as u64).to_be_bytes());
            context.update(part.as_bytes());
        }
        let mut check = [0; 32];
        check.copy_from_slice(context.sign().as_ref());
        check
    }
}

impl Default for PasswordMemo {
    fn default() -> Self {
        Self::new(Self::DEFAULT_LIFETIME_MILLIS, Self::DEFAULT_CAPACITY)
    }
}

impl fmt::Debug for PasswordMemo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PasswordMemo")
            .field("checks", &self.checks.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_700_000_000_000);
    const FIVE_MINUTES: i64 = 5 * 60 * 1000;

    fn recalls(
        memo: &PasswordMemo,
        email: &str,
        password: &str,
        phc: &str,
        now: Timestamp,
    ) -> bool {
        memo.recall(email, &Password::new(password), phc, now)
    }

    fn memo_of_ada() -> PasswordMemo {
        let memo = PasswordMemo::default();
        memo.remember("ada@example.com", &Password::new("secret"), "$hash", NOW);
        memo
    }

    #[test]
    fn a_successful_check_is_remembered_for_five_minutes() {
        let memo = memo_of_ada();
        let last = NOW.plus_millis(FIVE_MINUTES - 1);
        assert!(recalls(&memo, "ada@example.com", "secret", "$hash", NOW));
        assert!(recalls(&memo, "ada@example.com", "secret", "$hash", last));
        assert!(!recalls(
            &memo,
            "ada@example.com",
            "secret",
            "$hash",
            NOW.plus_millis(FIVE_MINUTES)
        ));
    }

    #[test]
    fn only_the_very_check_is_recalled() {
        let memo = memo_of_ada();
        assert!(!recalls(&memo, "ada@example.com", "Secret", "$hash", NOW));
        assert!(!recalls(&memo, "bob@example.com", "secret", "$hash", NOW));
        assert!(
            !recalls(&memo, "ada@example.coms", "ecret", "$hash", NOW),
            "parts do not run together"
        );
        assert!(
            !recalls(&memo, "ada@example.com", "secret$", "hash", NOW),
            "parts do not run together"
        );
    }

    #[test]
    fn a_changed_password_is_forgotten_at_once() {
        assert!(!recalls(
            &memo_of_ada(),
            "ada@example.com",
            "secret",
            "$another hash",
            NOW
        ));
    }

    #[test]
    fn a_clock_set_back_does_not_prolong_the_memory() {
        let memo = memo_of_ada();
        assert!(!recalls(
            &memo,
            "ada@example.com",
            "secret",
            "$hash",
            NOW.plus_millis(-FIVE_MINUTES)
        ));
    }

    #[test]
    fn everything_can_be_forgotten() {
        let memo = memo_of_ada();
        memo.invalidate_all();
        assert!(!recalls(&memo, "ada@example.com", "secret", "$hash", NOW));
    }

    #[test]
    fn the_memory_is_bounded() {
        let memo = PasswordMemo::new(1000, 50);
        for number in 0..1000 {
            memo.remember(
                &format!("{number}@example.com"),
                &Password::new("secret"),
                "$hash",
                NOW,
            );
        }
        assert!(memo.checks.len() <= 50);
    }
}
