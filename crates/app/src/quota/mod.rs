//! Bounds on how much of a resource is in use at the same time: in the process, by one organization
//! and by one caller, so that no caller and no organization can take all of it.
//!
//! A share is not a cap: a caller who is alone may use what no other caller wants. Of a resource
//! that is held for a short time, all may use more than their shares while the reserve stays free
//! ([`Quota::admits`]), so that others start at once. A resource that is held for long is taken
//! back: see [`DisplacingSemaphore`]. Where it cannot be taken back, an organization has a cap
//! ([`Quota::capped_for_organizations`]).

mod displacing;
mod semaphore;
mod subject;

pub(crate) use self::displacing::{DisplaceablePermit, DisplacingSemaphore};

pub use self::semaphore::{KeyedSemaphore, Permit, QuotaExceeded};
pub use self::subject::{QuotaKey, QuotaKeys, QuotaSubject};

/// How much of a resource may be in use at the same time, in units that the resource defines:
/// requests, or bytes.
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
    /// The part of the total that stays free when a key uses more than its share; half of it when
    /// an organization does, so that callers who are within their shares have the other half,
    /// whatever another caller of their organization uses. [`u64::MAX`] where the shares are caps.
    pub reserve: u64,
    /// The most that the callers of one organization may use, whatever is free.
    pub organization_cap: u64,
}

impl Quota {
    /// The bounds of a resource that only callers and organizations use. A quarter of the total is
    /// the reserve; where there is no total, the shares are caps.
    #[must_use]
    pub const fn new(total: u64, organization: u64, caller: u64) -> Self {
        let reserve = match total {
            u64::MAX => u64::MAX,
            0..4 => 1,
            _ => total / 4,
        };
        Self {
            total,
            organization,
            caller,
            application: u64::MAX,
            network: u64::MAX,
            reserve,
            organization_cap: u64::MAX,
        }
    }

    /// The same bounds, of which an organization has `cap` at most, for what is held as long as its
    /// holder likes.
    #[must_use]
    pub const fn capped_for_organizations(self, cap: u64) -> Self {
        Self {
            organization_cap: cap,
            ..self
        }
    }

    /// The same bounds, with shares that are caps.
    #[must_use]
    pub const fn capped(self) -> Self {
        Self {
            reserve: u64::MAX,
            ..self
        }
    }

    /// Returns the part of the total that stays free when this key uses more than its share.
    const fn reserve(&self, key: QuotaKey) -> u64 {
        match (key, self.reserve) {
            (_, u64::MAX) => u64::MAX,
            (QuotaKey::Organization(_) | QuotaKey::Outsiders, 0..4) => 1,
            (QuotaKey::Organization(_) | QuotaKey::Outsiders, reserve) => reserve / 2,
            (_, reserve) => reserve,
        }
    }

    /// Returns `true` if a key that uses `in_use` may use `amount` more, of a resource of which
    /// `total_in_use` is in use: within its share, or beyond it while the reserve stays free. An
    /// amount that is larger than the share counts as the whole share. The total is checked apart
    /// ([`Quota::has_room`]).
    #[must_use]
    pub const fn admits(&self, key: QuotaKey, in_use: u64, total_in_use: u64, amount: u64) -> bool {
        let share = self.share(key);
        let counted = if amount < share { amount } else { share };
        let free = self
            .total
            .saturating_sub(total_in_use)
            .saturating_sub(amount);
        in_use.saturating_add(counted) <= share || free >= self.reserve(key)
    }

    /// Returns `true` if the cap of an organization that uses `in_use` has room for `amount` more
    /// of a caller who uses `of_caller`: for all that is within the share of the caller, and beyond
    /// it while a quarter of the cap stays free, so that others of the organization start at once. An
    /// amount that is larger than the share, or than the cap, counts as the whole of it.
    #[must_use]
    pub const fn has_room_below_cap(&self, of_caller: u64, in_use: u64, amount: u64) -> bool {
        let cap = self.organization_cap;
        let counted = if amount < self.caller {
            amount
        } else {
            self.caller
        };
        let bound = if of_caller.saturating_add(counted) <= self.caller {
            cap
        } else {
            cap - cap / 4
        };
        let amount = if amount < cap { amount } else { cap };
        in_use.saturating_add(amount) <= bound
    }

    /// Returns `true` if the total has room for `amount` more. An amount that is larger than the
    /// total counts as the whole of it.
    #[must_use]
    pub const fn has_room(&self, total_in_use: u64, amount: u64) -> bool {
        let counted = if amount < self.total {
            amount
        } else {
            self.total
        };
        total_in_use.saturating_add(counted) <= self.total
    }

    /// How much may be in use under this key.
    #[must_use]
    pub const fn share(&self, key: QuotaKey) -> u64 {
        match key {
            QuotaKey::User(_) | QuotaKey::Tokens(_) => self.caller,
            QuotaKey::Organization(_) | QuotaKey::Outsiders => self.organization,
            QuotaKey::Application(_) => self.application,
            QuotaKey::NetworkV4(_) | QuotaKey::NetworkV6(_) => self.network,
        }
    }
}

#[cfg(test)]
mod tests {
    use eddyline_model::{OrganizationId, UserId};
    use proptest::prelude::*;

    use super::*;

    const ADA: QuotaKey = QuotaKey::User(UserId(1));
    const ACME: QuotaKey = QuotaKey::Organization(OrganizationId(1));

    #[test]
    fn a_share_is_exceeded_while_the_reserve_stays_free() {
        let quota = Quota::new(16, 8, 4);
        for (in_use, total_in_use, amount, admitted) in [
            (3, 15, 1, true),
            (4, 4, 1, true),
            (11, 11, 1, true),
            (12, 12, 1, false),
            (4, 12, 1, false),
            (4, 4, 8, true),
            (4, 4, 9, false),
            (0, 0, 16, true),
        ] {
            assert_eq!(
                quota.admits(ADA, in_use, total_in_use, amount),
                admitted,
                "{amount} more than {in_use} of {total_in_use}"
            );
            assert_eq!(
                quota.capped().admits(ADA, in_use, total_in_use, amount),
                admitted && in_use + amount.min(4) <= 4,
                "{amount} more than {in_use} of {total_in_use}, with caps"
            );
        }
    }

    #[test]
    fn an_organization_beyond_its_share_leaves_half_of_the_reserve() {
        let quota = Quota::new(16, 8, 4);
        assert!(quota.admits(ACME, 13, 13, 1));
        assert!(!quota.admits(ACME, 14, 14, 1));
        assert!(!Quota::new(2, 1, 1).admits(ACME, 1, 1, 1), "one at least");
    }

    #[test]
    fn a_caller_beyond_its_share_leaves_a_quarter_of_the_cap_to_its_organization() {
        let quota = Quota::new(16, 4, 2).capped_for_organizations(8);
        for (of_caller, in_use, amount, fits) in [
            (1, 7, 1, true),
            (1, 8, 1, false),
            (5, 5, 1, true),
            (6, 6, 1, false),
            (2, 6, 1, false),
            (0, 0, 9, true),
        ] {
            assert_eq!(
                quota.has_room_below_cap(of_caller, in_use, amount),
                fits,
                "{amount} more than {of_caller} of {in_use}"
            );
        }
        assert!(
            Quota::new(16, 4, 2).has_room_below_cap(90, 99, 99),
            "no cap"
        );
    }

    #[test]
    fn shares_of_a_resource_without_a_total_are_caps() {
        let quota = Quota::new(u64::MAX, 8, 4);
        assert!(quota.admits(ADA, 3, 3, 1) && quota.admits(ACME, 7, 7, 1));
        assert!(!quota.admits(ADA, 4, 4, 1) && !quota.admits(ACME, 8, 8, 1));
    }

    proptest! {
        #[test]
        fn a_key_within_its_share_is_admitted_whatever_others_use(
            total in 1..1000_u64,
            in_use in 0..1000_u64,
            others in 0..1000_u64,
            amount in 1..1000_u64,
        ) {
            let quota = Quota::new(total, total.div_ceil(2), total.div_ceil(4));
            let within = in_use + amount <= quota.caller;
            prop_assert!(!within || quota.admits(ADA, in_use, in_use + others, amount));
        }
    }
}
