//! Notices when many users come from one address, which mostly means that it is a proxy that hides
//! theirs.

use std::hash::{BuildHasher as _, RandomState};
use std::net::IpAddr;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use eddyline_app::network_of;
use eddyline_model::UserId;

/// How many users from one address are many.
const MANY: u32 = 20;
/// Within which time they come.
const WINDOW: Duration = Duration::from_secs(600);
/// How many addresses are watched at a time, each in the place that its hash gives. Another address
/// of that place is watched from the end of the window on.
const WATCHED: usize = 64;
/// Words of 64 bits in which the users of an address are noted. Two who share a bit count as one.
const WORDS: usize = 4;

/// Where the users of this process come from.
static ADDRESSES: LazyLock<AddressTable> = LazyLock::new(AddressTable::new);

/// Notes that a user has come from an address. Returns `true` once in the process: when that
/// address is the first from which many users have come.
///
/// A user who is noted already costs some loads and no lock.
pub(crate) fn is_newly_shared(address: IpAddr, user: UserId) -> bool {
    ADDRESSES.note(address, user, Instant::now)
}

/// A small table of addresses and their users, which forgets.
#[derive(Debug)]
struct AddressTable {
    /// An address was reported, so that nothing is noted any more.
    reported: AtomicBool,
    began: Instant,
    hash: RandomState,
    places: [AddressSlot; WATCHED],
}

#[derive(Debug, Default)]
struct AddressSlot {
    /// Hash of the address; 0 where there is none.
    address: AtomicU64,
    /// When it was put here, in seconds since the beginning.
    since: AtomicU64,
    users: [AtomicU64; WORDS],
}

impl AddressTable {
    fn new() -> Self {
        Self {
            reported: AtomicBool::new(false),
            began: Instant::now(),
            hash: RandomState::new(),
            places: std::array::from_fn(|_| AddressSlot::default()),
        }
    }

    fn note(&self, address: IpAddr, user: UserId, now: impl FnOnce() -> Instant) -> bool {
        if self.reported.load(Relaxed) {
            return false;
        }
        let address = self.hash.hash_one(network_of(address)).max(1);
        let (word, bit) = bit_of(self.hash.hash_one(user));
        // The remainder is below the number of places.
        let place = &self.places[(address % WATCHED as u64) as usize];
        let is_here = place.address.load(Relaxed) == address;
        if is_here && place.users[word].load(Relaxed) & bit != 0 {
            return false;
        }
        let now = now().saturating_duration_since(self.began).as_secs();
        let is_old = now >= place.since.load(Relaxed) + WINDOW.as_secs();
        if is_old || place.address.load(Relaxed) == 0 {
            place.begin(address, now);
        } else if !is_here {
            return false;
        }
        place.users[word].fetch_or(bit, Relaxed);
        place.count() >= MANY && !self.reported.swap(true, Relaxed)
    }
}

impl AddressSlot {
    /// Watches an address from now on. Others may note users meanwhile: then some are not counted,
    /// or are counted for the address before, which does not matter among so many.
    fn begin(&self, address: u64, now: u64) {
        self.address.store(address, Relaxed);
        self.since.store(now, Relaxed);
        for word in &self.users {
            word.store(0, Relaxed);
        }
    }

    fn count(&self) -> u32 {
        self.users
            .iter()
            .map(|word| word.load(Relaxed).count_ones())
            .sum()
    }
}

/// The word and the bit of a user.
fn bit_of(hash: u64) -> (usize, u64) {
    // The remainder is below the number of words.
    ((hash / 64 % WORDS as u64) as usize, 1 << (hash % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: &str = "192.0.2.1";

    /// How many users from an address it takes until the answer, of at most 100 in all.
    fn users_until_reported(
        addresses: &AddressTable,
        address: &str,
        users: impl Iterator<Item = (i64, u64)>,
    ) -> Option<usize> {
        let address = address.parse().expect("an address");
        let moments =
            users.map(|(user, second)| (user, addresses.began + Duration::from_secs(second)));
        let mut reported =
            moments.map(|(user, moment)| addresses.note(address, UserId(user), || moment));
        reported
            .position(|reported| reported)
            .map(|place| place + 1)
    }

    #[test]
    fn many_users_from_one_address_are_reported_once() {
        let addresses = AddressTable::new();
        let reported = users_until_reported(&addresses, HERE, (1..=100).map(|user| (user, 1)))
            .expect("they are many");
        // Users who share a bit count as one.
        assert!((20..=40).contains(&reported), "after {reported}");
        assert_eq!(
            users_until_reported(&addresses, HERE, (101..=200).map(|user| (user, 1))),
            None
        );
        assert_eq!(
            users_until_reported(&addresses, "192.0.2.2", (1..=100).map(|user| (user, 1))),
            None
        );
    }

    #[test]
    fn a_few_users_are_not_many_however_often_they_come() {
        let addresses = AddressTable::new();
        assert_eq!(
            users_until_reported(&addresses, HERE, (0..1000).map(|n| (n % 19, 1))),
            None
        );
    }

    #[test]
    fn users_who_come_one_after_the_other_are_not_many() {
        let addresses = AddressTable::new();
        // Eleven in each window.
        assert_eq!(
            users_until_reported(&addresses, HERE, (0..100).map(|n| (n, n as u64 * 60))),
            None
        );
    }

    #[test]
    fn users_with_addresses_of_their_own_are_not_many() {
        let addresses = AddressTable::new();
        for user in 1..=200 {
            let address = format!("198.51.100.{user}");
            assert_eq!(
                users_until_reported(&addresses, &address, std::iter::once((user, 1))),
                None
            );
        }
    }

    #[test]
    fn addresses_of_one_network_are_one() {
        let addresses = AddressTable::new();
        let mut reported = (1..=100).map(|user| {
            let address = format!("2001:db8::{user}");
            users_until_reported(&addresses, &address, std::iter::once((user, 1))).is_some()
        });
        assert!(reported.any(|reported| reported));
    }
}
