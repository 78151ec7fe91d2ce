//! Bounds on the wrong passwords that are recorded, so that guessing fills no disk. They are
//! counted for each organization by itself, so that guesses at one hide none at another.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use eddyline_model::{OrganizationId, Timestamp, UserId};

use crate::FailureLimiter;

/// The most wrong passwords for one account that are recorded in a minute, in each organization
/// that its user belongs to.
pub const ACCOUNT_REFUSALS_A_MINUTE: u32 = 10;
/// The most wrong passwords that are recorded in a minute for one organization, beside the first
/// for each account. The same bound holds for all accounts of no organization together, and for all
/// accounts that do not exist.
pub const ORGANIZATION_REFUSALS_A_MINUTE: u32 = 60;

/// The place at which a wrong password is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefusalPlace {
    /// Among the records of an organization that the user of the account belongs to.
    Organization(OrganizationId, UserId),
    /// Among those of the server: the user of the account belongs to no organization.
    Server(UserId),
    /// Among those of the server: there is no such account.
    Unknown,
}

/// The bound that a place counts against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Share {
    Organization(OrganizationId),
    Server,
    Unknown,
}

impl RefusalPlace {
    fn share(self) -> Share {
        match self {
            Self::Organization(organization, _) => Share::Organization(organization),
            Self::Server(_) => Share::Server,
            Self::Unknown => Share::Unknown,
        }
    }
}

/// Counts the wrong passwords that are recorded, and those that are not.
///
/// The counters of 20,000 accounts and of as many organizations are kept, and those that were used
/// longest ago are forgotten first.
#[derive(Debug)]
pub struct RefusalCounter {
    accounts: FailureLimiter,
    /// Of one record a minute for each account, so that guesses at other accounts of the
    /// organization do not hide that an account is guessed at.
    firsts: FailureLimiter,
    shares: FailureLimiter,
    unrecorded: Mutex<HashMap<Share, u64>>,
}

impl Default for RefusalCounter {
    fn default() -> Self {
        Self {
            accounts: FailureLimiter::new(ACCOUNT_REFUSALS_A_MINUTE),
            firsts: FailureLimiter::new(1),
            shares: FailureLimiter::new(ORGANIZATION_REFUSALS_A_MINUTE),
            unrecorded: Mutex::default(),
        }
    }
}

impl RefusalCounter {
    /// Counts a wrong password. If it is to be recorded, returns the number of those that were not
    /// since the last one that was, for the same organization.
    pub fn count(&self, place: RefusalPlace, now: Timestamp) -> Option<u64> {
        let share = place.share();
        // Held while both limits are asked and charged: otherwise two could pass where there is
        // room for one.
        let mut unrecorded = self
            .unrecorded
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let has_account = place != RefusalPlace::Unknown;
        let is_first = has_account && self.firsts.check(&place, now).is_ok();
        let is_beyond = (has_account && self.accounts.check(&place, now).is_err())
            || self.shares.check(&share, now).is_err();
        if is_first || !is_beyond {
            if has_account {
                self.accounts.failed(&place, now);
                self.firsts.failed(&place, now);
            }
            self.shares.failed(&share, now);
            return Some(unrecorded.remove(&share).unwrap_or(0));
        }
        if unrecorded.len() < FailureLimiter::DEFAULT_MAX_KEYS || unrecorded.contains_key(&share) {
            let count = unrecorded.entry(share).or_default();
            *count = count.saturating_add(1);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_700_000_000_000);
    const ACME: OrganizationId = OrganizationId(1);
    const BETA: OrganizationId = OrganizationId(2);

    fn of(organization: OrganizationId, user: i64) -> RefusalPlace {
        RefusalPlace::Organization(organization, UserId(user))
    }

    /// Returns the number of wrong passwords, out of `many`, that are recorded.
    fn recorded(counter: &RefusalCounter, place: RefusalPlace, many: u32) -> u32 {
        (0..many).fold(0, |sum, _| {
            sum + u32::from(counter.count(place, NOW).is_some())
        })
    }

    #[test]
    fn an_account_and_an_organization_have_bounds() {
        let counter = RefusalCounter::default();
        assert_eq!(recorded(&counter, of(ACME, 1), 11), 10);
        for user in 2..=6 {
            assert_eq!(recorded(&counter, of(ACME, user), 10), 10);
        }
        assert_eq!(recorded(&counter, RefusalPlace::Unknown, 61), 60);
    }

    #[test]
    fn guesses_at_other_accounts_do_not_hide_that_an_account_is_guessed_at() {
        let counter = RefusalCounter::default();
        for user in 1..=6 {
            recorded(&counter, of(ACME, user), 10);
        }
        assert_eq!(recorded(&counter, of(ACME, 7), 9), 1);
        assert_eq!(counter.count(of(ACME, 8), NOW), Some(8), "those at 7");
        let later = NOW.plus_millis(59_999);
        assert_eq!(counter.count(of(ACME, 7), later), None);
        for user in 1..=6 {
            recorded(&counter, RefusalPlace::Server(UserId(user)), 10);
        }
        assert_eq!(recorded(&counter, RefusalPlace::Server(UserId(7)), 9), 1);
    }

    #[test]
    fn guesses_at_one_organization_hide_none_at_another() {
        let counter = RefusalCounter::default();
        for user in 1..=7 {
            recorded(&counter, of(ACME, user), 20);
        }
        recorded(&counter, RefusalPlace::Unknown, 100);
        assert_eq!(recorded(&counter, of(BETA, 8), 9), 9);
        assert_eq!(recorded(&counter, RefusalPlace::Server(UserId(9)), 9), 9);
        // A wrong password for a user of both is recorded in the one that has room.
        assert_eq!(recorded(&counter, of(ACME, 10), 2), 1, "the first");
        assert_eq!(recorded(&counter, of(BETA, 10), 2), 2);
    }

    #[test]
    fn what_was_not_recorded_is_told_once_and_to_its_organization() {
        let counter = RefusalCounter::default();
        recorded(&counter, of(ACME, 1), 13);
        recorded(&counter, RefusalPlace::Unknown, 65);
        assert_eq!(counter.count(of(BETA, 2), NOW), Some(0));
        assert_eq!(counter.count(of(ACME, 3), NOW), Some(3));
        assert_eq!(counter.count(of(ACME, 3), NOW), Some(0));
        let later = NOW.plus_millis(60_000);
        assert_eq!(counter.count(RefusalPlace::Unknown, later), Some(5));
    }

    #[test]
    fn a_minute_later_there_is_room_again() {
        let counter = RefusalCounter::default();
        recorded(&counter, of(ACME, 1), 11);
        assert_eq!(counter.count(of(ACME, 1), NOW.plus_millis(59_999)), None);
        assert_eq!(counter.count(of(ACME, 1), NOW.plus_millis(60_000)), Some(2));
    }
}
