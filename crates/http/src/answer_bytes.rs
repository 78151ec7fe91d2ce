//! Bytes of answers under way: what was encoded stays in memory until its client has read it, so it counts for the
//! caller, and for the process, until then.
//!
//! A permit lives in the bytes themselves and is given back with them, wherever they are: in a response, in the
//! queue of a connection, or dropped by either.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use eddyline_app::{Account, Error, current_caller};

/// The most bytes under way for one caller, but for a single answer that is larger.
const CALLER_BYTES: usize = 16 * 1024 * 1024;
/// The most bytes under way for all callers.
const PROCESS_BYTES: usize = 128 * 1024 * 1024;
/// Shorter answers are not counted: the connection itself takes more.
const COUNTED_BYTES: usize = 8 * 1024;
/// Seconds after which a caller may come back.
const RETRY_SECONDS: u64 = 2;

static UNDER_WAY: LazyLock<ByteBudget<Account>> =
    LazyLock::new(|| ByteBudget::new(PROCESS_BYTES, CALLER_BYTES));

tokio::task_local! {
    /// Whether the answer of this request may be refused, which is only fair when the request changed nothing.
    static REFUSABLE: bool;
}

/// Runs what answers a request.
pub(crate) fn answering<F: Future>(refusable: bool, answer: F) -> impl Future<Output = F::Output> {
    REFUSABLE.scope(refusable, answer)
}

/// Counts an encoded answer for the caller of this request until it is dropped.
pub(crate) fn hold(bytes: Bytes) -> Result<Bytes, Error> {
    if bytes.len() < COUNTED_BYTES {
        return Ok(bytes);
    }
    let refusable = REFUSABLE.try_with(|refusable| *refusable).unwrap_or(false);
    let permit =
        UNDER_WAY.take(current_caller(), bytes.len(), refusable).map_err(|exceeded| match exceeded {
            Exceeded::Caller => Error::TooManyRequests { retry_after: RETRY_SECONDS },
            Exceeded::Process => Error::Unavailable("too many answers are under way".into()),
        })?;
    Ok(Bytes::from_owner(Held { bytes, _permit: permit }))
}

struct Held {
    bytes: Bytes,
    _permit: BytePermit<Account>,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// So many bytes in all, and so many for each key. Clones share them.
#[derive(Clone, Debug)]
struct ByteBudget<K> {
    all: usize,
    each: usize,
    taken: Arc<Mutex<Taken<K>>>,
}

#[derive(Debug)]
struct Taken<K> {
    all: usize,
    /// Of the keys that have any.
    by: HashMap<K, usize>,
}

/// Bytes that were taken, and are given back when this is dropped.
#[derive(Debug)]
struct BytePermit<K: Copy + Eq + Hash> {
    key: K,
    bytes: usize,
    taken: Arc<Mutex<Taken<K>>>,
}

/// Which budget has no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exceeded {
    Caller,
    Process,
}

impl<K: Copy + Eq + Hash> ByteBudget<K> {
    fn new(all: usize, each: usize) -> Self {
        Self { all, each, taken: Arc::new(Mutex::new(Taken { all: 0, by: HashMap::new() })) }
    }

    /// Takes bytes for a key. Where the key has none yet its own bound does not matter, so that no answer is too
    /// large to be given at all. What is not `bounded` is counted all the same.
    fn take(&self, key: K, bytes: usize, bounded: bool) -> Result<BytePermit<K>, Exceeded> {
        let mut taken = lock(&self.taken);
        let own = taken.by.get(&key).copied().unwrap_or_default();
        if bounded && own > 0 && own + bytes > self.each {
            return Err(Exceeded::Caller);
        }
        if bounded && taken.all > 0 && taken.all + bytes > self.all {
            return Err(Exceeded::Process);
        }
        taken.all += bytes;
        taken.by.insert(key, own + bytes);
        Ok(BytePermit { key, bytes, taken: Arc::clone(&self.taken) })
    }
}

impl<K: Copy + Eq + Hash> Drop for BytePermit<K> {
    fn drop(&mut self) {
        let mut taken = lock(&self.taken);
        taken.all -= self.bytes;
        if let Some(own) = taken.by.get_mut(&self.key) {
            *own -= self.bytes;
            if *own == 0 {
                taken.by.remove(&self.key);
            }
        }
    }
}

fn lock<K>(taken: &Mutex<Taken<K>>) -> MutexGuard<'_, Taken<K>> {
    taken.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_its_bytes_and_no_more_until_they_are_given_back() {
        let budget = ByteBudget::new(100, 10);
        let (six, four) = (budget.take('a', 6, true).unwrap(), budget.take('a', 4, true).unwrap());
        assert_eq!(budget.take('a', 1, true).unwrap_err(), Exceeded::Caller);
        assert!(budget.take('b', 1, true).is_ok());
        drop(four);
        assert!(budget.take('a', 4, true).is_ok());
        drop(six);
        assert!(lock(&budget.taken).by.is_empty());
    }

    #[test]
    fn a_single_answer_may_be_larger_than_the_share() {
        let budget = ByteBudget::new(100, 10);
        let large = budget.take('a', 50, true).unwrap();
        assert_eq!(budget.take('a', 1, true).unwrap_err(), Exceeded::Caller);
        drop(large);
        assert!(budget.take('a', 1, true).is_ok());
    }

    #[test]
    fn all_keys_together_have_their_bytes_and_no_more() {
        let budget = ByteBudget::new(12, 10);
        let held = [budget.take('a', 6, true).unwrap(), budget.take('b', 6, true).unwrap()];
        assert_eq!(budget.take('c', 1, true).unwrap_err(), Exceeded::Process);
        let anyway = budget.take('c', 1, false);
        assert_eq!(lock(&budget.taken).all, 13);
        drop((held, anyway));
        assert_eq!(lock(&budget.taken).all, 0);
    }

    #[tokio::test]
    async fn an_answer_counts_until_its_last_part_is_dropped() {
        let answer = |bytes: usize| answering(true, async move { hold(vec![b'x'; bytes].into()) });
        // Outside requests everything is of one caller.
        let whole = answer(CALLER_BYTES).await.unwrap();
        let mut rest = whole.clone();
        let part = rest.split_to(100);
        drop((whole, rest));
        assert!(matches!(answer(COUNTED_BYTES).await, Err(Error::TooManyRequests { .. })));
        assert!(answer(COUNTED_BYTES - 1).await.is_ok(), "short answers do not count");
        assert!(hold(vec![b'x'; COUNTED_BYTES].into()).is_ok(), "nor is one refused that tells of a change");
        drop(part);
        assert!(answer(COUNTED_BYTES).await.is_ok());
    }
}
