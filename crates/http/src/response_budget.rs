//! Bytes of answers under way: what was encoded stays in memory until its client has read it, so it
//! counts for the caller, the caller's organization and the process until then; without
//! credentials, for the network and for all strangers.
//!
//! A permit lives in the bytes themselves and is given back with them, wherever they are: in a
//! response, in the queue of a connection, or dropped by either. Everything that counts can be
//! refused: reads are answered with 429 or 503, and changes with 202 and an empty object.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

use bytes::Bytes;
use eddyline_app::{Error, Limit, Quota, QuotaExceeded, QuotaKey, QuotaKeys, QuotaSubject};
use http::Method;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// Bytes under way for callers with credentials: in the process, for an organization, for a caller.
/// A first answer may be larger than the share.
const KNOWN: Quota = Quota::new(128 * MIB, 32 * MIB, 16 * MIB);
/// A caller may always have this many bytes under way.
const KNOWN_GUARANTEED: u64 = MIB;
/// Bytes under way for callers without credentials: all together, and for a network.
const STRANGERS: Quota = Quota {
    network: 4 * MIB,
    ..Quota::new(16 * MIB, 16 * MIB, 16 * MIB)
};
/// A network may always have this many bytes under way.
const NETWORK_GUARANTEED: u64 = 64 * KIB;
/// Shorter answers are not counted: the connection itself takes more.
const COUNTED_BYTES: usize = 8 * 1024;

static KNOWN_BYTES: LazyLock<ByteBudget> =
    LazyLock::new(|| ByteBudget::new(KNOWN, KNOWN_GUARANTEED));
static STRANGERS_BYTES: LazyLock<ByteBudget> =
    LazyLock::new(|| ByteBudget::new(STRANGERS, NETWORK_GUARANTEED));
/// Pictures under way, by their tags.
static SHARED: LazyLock<Mutex<HashMap<String, Weak<Held>>>> = LazyLock::new(Mutex::default);

tokio::task_local! {
    static REQUEST: Answering;
}

/// The request that this task answers.
struct Answering {
    payer: Cell<Payer>,
    /// Whether it may have changed something by the time its answer is encoded.
    changes: Cell<bool>,
}

/// The keys that an answer counts for.
#[derive(Clone, Copy)]
enum Payer {
    Known(QuotaKeys),
    Stranger(QuotaKeys),
}

/// Runs what answers a request from this address.
pub(crate) fn answering<F: Future>(
    client: IpAddr,
    method: &Method,
    answer: F,
) -> impl Future<Output = F::Output> + use<F> {
    let payer = Cell::new(Payer::Stranger(QuotaKey::network(client).into()));
    REQUEST.scope(
        Answering {
            payer,
            changes: Cell::new(!method.is_safe()),
        },
        answer,
    )
}

/// Counts the answer of this request for this caller from now on.
pub(crate) fn charge_to(owner: QuotaSubject) {
    let _ = REQUEST.try_with(|request| request.payer.set(Payer::Known(owner.quota_keys())));
}

/// Notes that this request changes nothing, although its method could.
pub(crate) fn reads_only() {
    let _ = REQUEST.try_with(|request| request.changes.set(false));
}

/// Whether this request may have changed something, so that it is too late to refuse it.
pub(crate) fn changes() -> bool {
    REQUEST
        .try_with(|request| request.changes.get())
        .unwrap_or(false)
}

/// Counts an encoded answer or page of this request until it is dropped. Outside requests nothing
/// counts.
///
/// # Errors
///
/// [`Error::too_many_requests`] when the share of the caller or the organization is in use, and
/// [`Error::unavailable`] when the process has no room.
pub fn reserve_response_bytes(bytes: Bytes) -> Result<Bytes, Error> {
    Ok(match held(&bytes)? {
        Some(held) => Bytes::from_owner(held),
        None => bytes,
    })
}

/// Refuses a request whose caller has no response bytes left. Called before a change: once the
/// change is made, its response can't be refused any more.
///
/// # Errors
///
/// [`Error::too_many_requests`].
pub fn check_response_budget() -> Result<(), Error> {
    match REQUEST.try_with(|request| request.payer.get()) {
        Ok(Payer::Known(keys)) => KNOWN_BYTES.check(keys).map_err(too_many),
        Ok(Payer::Stranger(keys)) => STRANGERS_BYTES.check(keys).map_err(too_many),
        Err(_) => Ok(()),
    }
}

/// Checks that the caller has room for an answer of so many bytes, so that the database is not read
/// in vain. The shares of the organization and the process are not checked here: the answer may
/// turn out to be small.
///
/// # Errors
///
/// [`Error::too_many_requests`].
pub fn expect_response_bytes(bytes: usize) -> Result<(), Error> {
    match REQUEST.try_with(|request| request.payer.get()) {
        Ok(Payer::Known(keys)) => KNOWN_BYTES.expect(keys, bytes as u64).map_err(too_many),
        Ok(Payer::Stranger(keys)) => STRANGERS_BYTES.expect(keys, bytes as u64).map_err(too_many),
        Err(_) => Ok(()),
    }
}

/// Like [`reserve_response_bytes`], for bytes that several requests share: they are in memory once
/// and count for the request that asks first. Equal tags stand for the same bytes.
pub(crate) fn reserve_shared_bytes(tag: &str, bytes: Bytes) -> Result<Bytes, Error> {
    let mut shared = lock(&SHARED);
    if let Some(held) = shared.get(tag).and_then(Weak::upgrade) {
        return Ok(Bytes::from_owner(Share(held)));
    }
    let Some(held) = held(&bytes)?.map(Arc::new) else {
        return Ok(bytes);
    };
    shared.retain(|_, held| held.strong_count() > 0);
    shared.insert(tag.to_owned(), Arc::downgrade(&held));
    Ok(Bytes::from_owner(Share(held)))
}

fn held(bytes: &Bytes) -> Result<Option<Held>, Error> {
    let payer = REQUEST
        .try_with(|request| request.payer.get())
        .ok()
        .filter(|_| bytes.len() >= COUNTED_BYTES);
    let permit = match payer {
        None => return Ok(None),
        Some(Payer::Known(keys)) => KNOWN_BYTES.take(keys, bytes.len() as u64),
        Some(Payer::Stranger(keys)) => STRANGERS_BYTES.take(keys, bytes.len() as u64),
    };
    let permit = permit.map_err(too_many)?;
    Ok(Some(Held {
        bytes: bytes.clone(),
        _permit: permit,
    }))
}

fn too_many(exceeded: QuotaExceeded) -> Error {
    exceeded.of(Limit::Answers)
}

struct Held {
    bytes: Bytes,
    _permit: BytePermit,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// One request's share of bytes that several requests send.
struct Share(Arc<Held>);

impl AsRef<[u8]> for Share {
    fn as_ref(&self) -> &[u8] {
        &self.0.bytes
    }
}

/// Bounds on the bytes in all and for each key, with a guaranteed minimum for each caller. Clones
/// share the counts.
#[derive(Clone, Debug)]
struct ByteBudget {
    quota: Quota,
    guaranteed: u64,
    taken: Arc<Mutex<Taken>>,
}

#[derive(Debug, Default)]
struct Taken {
    all: u64,
    /// Of the keys that have any.
    by: BTreeMap<QuotaKey, u64>,
}

/// Bytes that were taken, and are given back when this is dropped.
#[derive(Debug)]
struct BytePermit {
    keys: QuotaKeys,
    bytes: u64,
    taken: Arc<Mutex<Taken>>,
}

impl ByteBudget {
    fn new(quota: Quota, guaranteed: u64) -> Self {
        Self {
            quota,
            guaranteed,
            taken: Arc::default(),
        }
    }

    /// Takes bytes for these keys; the first is the caller. A key that has none under way gets them
    /// even beyond its share, so that every answer can be given. The guaranteed minimum is never
    /// refused.
    fn take(&self, keys: QuotaKeys, bytes: u64) -> Result<BytePermit, QuotaExceeded> {
        let mut taken = lock(&self.taken);
        let own = taken.of(keys.caller());
        if own + bytes > self.guaranteed {
            for key in keys.iter() {
                let in_use = taken.of(key);
                if in_use > 0 && !self.quota.admits(key, in_use, taken.all, bytes) {
                    return Err(QuotaExceeded::Share(key));
                }
            }
            if taken.all > 0 && taken.all + bytes > self.quota.total {
                return Err(QuotaExceeded::Total);
            }
        }
        taken.all += bytes;
        for key in keys.iter() {
            *taken.by.entry(key).or_default() += bytes;
        }
        Ok(BytePermit {
            keys,
            bytes,
            taken: Arc::clone(&self.taken),
        })
    }

    /// Checks that the caller may have so many bytes more. A caller with no more than the guaranteed
    /// minimum under way may.
    fn expect(&self, keys: QuotaKeys, bytes: u64) -> Result<(), QuotaExceeded> {
        let (caller, taken) = (keys.caller(), lock(&self.taken));
        let own = taken.of(caller);
        if own <= self.guaranteed || self.quota.admits(caller, own, taken.all, bytes) {
            Ok(())
        } else {
            Err(QuotaExceeded::Share(caller))
        }
    }

    /// Checks that the caller may have any more.
    fn check(&self, keys: QuotaKeys) -> Result<(), QuotaExceeded> {
        let (caller, taken) = (keys.caller(), lock(&self.taken));
        if self.quota.admits(caller, taken.of(caller), taken.all, 1) {
            Ok(())
        } else {
            Err(QuotaExceeded::Share(caller))
        }
    }
}

impl Taken {
    fn of(&self, key: QuotaKey) -> u64 {
        self.by.get(&key).copied().unwrap_or_default()
    }
}

impl Drop for BytePermit {
    fn drop(&mut self) {
        let mut taken = lock(&self.taken);
        taken.all -= self.bytes;
        for key in self.keys.iter() {
            let left = taken.of(key) - self.bytes;
            match left {
                0 => taken.by.remove(&key),
                _ => taken.by.insert(key, left),
            };
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Held by tests that use up the bytes of the process.
#[cfg(test)]
pub(crate) static USED_UP: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

#[cfg(test)]
mod tests {
    use eddyline_model::{OrganizationId, UserId};

    use super::*;
    use eddyline_app::ErrorKind;

    const ADA: QuotaSubject = of(1, 1);
    const BEN: QuotaSubject = of(2, 1);
    const VIC: QuotaSubject = of(3, 2);

    const fn of(user: i64, organization: i64) -> QuotaSubject {
        QuotaSubject {
            user: Some(UserId(user)),
            organization: Some(OrganizationId(organization)),
        }
    }

    fn take(
        budget: &ByteBudget,
        owner: QuotaSubject,
        bytes: u64,
    ) -> Result<BytePermit, QuotaExceeded> {
        budget.take(owner.quota_keys(), bytes)
    }

    fn is_share(refused: &Result<BytePermit, QuotaExceeded>) -> bool {
        matches!(refused, Err(QuotaExceeded::Share(_)))
    }

    #[test]
    fn a_caller_has_its_bytes_and_no_more_until_they_are_given_back() {
        let budget = ByteBudget::new(Quota::new(100, 100, 10).capped(), 0);
        let (six, four) = (
            take(&budget, ADA, 6).unwrap(),
            take(&budget, ADA, 4).unwrap(),
        );
        assert!(is_share(&take(&budget, ADA, 1)));
        assert!(budget.check(ADA.quota_keys()).is_err() && budget.check(BEN.quota_keys()).is_ok());
        assert!(take(&budget, BEN, 1).is_ok());
        drop(four);
        assert!(take(&budget, ADA, 4).is_ok());
        drop(six);
        assert!(lock(&budget.taken).by.is_empty());
    }

    #[test]
    fn a_single_answer_may_be_larger_than_the_share() {
        let budget = ByteBudget::new(Quota::new(100, 100, 10), 0);
        let large = take(&budget, ADA, 90).unwrap();
        assert!(is_share(&take(&budget, ADA, 1)));
        drop(large);
        assert!(take(&budget, ADA, 1).is_ok());
    }

    #[test]
    fn a_lone_caller_has_all_but_the_reserve() {
        let budget = ByteBudget::new(Quota::new(100, 20, 10), 0);
        let _held = [
            take(&budget, ADA, 10).unwrap(),
            take(&budget, ADA, 65).unwrap(),
        ];
        assert!(is_share(&take(&budget, ADA, 1)));
        assert!(budget.expect(ADA.quota_keys(), 1).is_err());
        assert!(budget.check(ADA.quota_keys()).is_err());
        assert!(take(&budget, VIC, 10).is_ok(), "others begin at once");
    }

    #[test]
    fn an_organization_has_its_share_and_leaves_the_rest() {
        let budget = ByteBudget::new(Quota::new(100, 15, 10).capped(), 0);
        let _held = [
            take(&budget, ADA, 8).unwrap(),
            take(&budget, BEN, 7).unwrap(),
        ];
        assert!(is_share(&take(&budget, BEN, 1)));
        assert!(take(&budget, VIC, 10).is_ok());
    }

    #[test]
    fn all_callers_together_have_their_bytes_and_each_what_is_guaranteed() {
        let budget = ByteBudget::new(Quota::new(12, 100, 10), 2);
        let held = [
            take(&budget, ADA, 6).unwrap(),
            take(&budget, BEN, 6).unwrap(),
        ];
        assert_eq!(take(&budget, VIC, 3).err(), Some(QuotaExceeded::Total));
        let little = [
            take(&budget, VIC, 1).unwrap(),
            take(&budget, VIC, 1).unwrap(),
        ];
        assert_eq!(take(&budget, VIC, 1).err(), Some(QuotaExceeded::Total));
        drop((held, little));
        assert_eq!(lock(&budget.taken).all, 0);
    }

    fn long(bytes: u64) -> Bytes {
        vec![b'x'; usize::try_from(bytes).unwrap()].into()
    }

    fn from_network<F: Future>(last: u8, answer: F) -> impl Future<Output = F::Output> {
        answering(IpAddr::from([192, 0, 2, last]), &Method::GET, answer)
    }

    #[tokio::test]
    async fn an_answer_counts_until_its_last_part_is_dropped() {
        let _alone = USED_UP.lock().await;
        let answer = |bytes: u64| {
            from_network(1, async move {
                charge_to(of(100, 100));
                reserve_response_bytes(long(bytes))
            })
        };
        let whole = answer(KNOWN.total - KNOWN.reserve).await.unwrap();
        let mut rest = whole.clone();
        let part = rest.split_to(100);
        drop((whole, rest));
        let counted = COUNTED_BYTES as u64;
        assert!(
            matches!(&answer(counted).await, Err(error) if error.kind() == ErrorKind::TooManyRequests)
        );
        assert!(
            answer(counted - 1).await.is_ok(),
            "short answers do not count"
        );
        assert!(
            reserve_response_bytes(long(counted)).is_ok(),
            "nothing counts outside requests"
        );
        drop(part);
        assert!(answer(counted).await.is_ok());
    }

    #[tokio::test]
    async fn strangers_take_nothing_from_callers() {
        let of_stranger = |last: u8, bytes: u64| {
            from_network(last, async move { reserve_response_bytes(long(bytes)) })
        };
        let most = STRANGERS.total - STRANGERS.reserve;
        let alone = of_stranger(1, most).await.unwrap();
        assert!(
            matches!(&of_stranger(1, 65 * KIB).await, Err(error) if error.kind() == ErrorKind::TooManyRequests)
        );
        let held = [alone, of_stranger(2, STRANGERS.network).await.unwrap()];
        assert!(
            matches!(&of_stranger(5, 65 * KIB).await, Err(error) if error.kind() == ErrorKind::Unavailable)
        );
        assert!(
            of_stranger(5, 64 * KIB).await.is_ok(),
            "a little is guaranteed"
        );
        let known = from_network(1, async {
            charge_to(of(101, 101));
            reserve_response_bytes(long(8 * MIB))
        });
        assert!(known.await.is_ok());
        // Which others share is in memory once.
        let picture = || from_network(6, async { reserve_shared_bytes("picture", long(65 * KIB)) });
        assert!(picture().await.is_err());
        drop(held);
        let first = picture().await.unwrap();
        let second = picture().await.unwrap();
        assert_eq!(first.as_ptr(), second.as_ptr());
        let of_network =
            || lock(&STRANGERS_BYTES.taken).of(QuotaKey::network([192, 0, 2, 6].into()));
        assert_eq!(of_network(), 65 * KIB);
        drop(first);
        assert_eq!(of_network(), 65 * KIB);
        drop(second);
        assert_eq!(of_network(), 0);
    }
}
