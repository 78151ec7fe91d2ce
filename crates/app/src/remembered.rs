//! What was loaded from the store and is asked for again and again, until somebody tells of a change.
//!
//! While one loads, another may forget: what was loaded is then the state before the change, and must not
//! be remembered after it, not even for a moment. So forgettings are counted, and whoever loads remembers
//! only if there was none meanwhile. Counting and removing are one step to others, and so are looking at
//! the count and remembering.

use std::future::Future;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use quick_cache::sync::Cache;

/// Values by their keys. Those that were not asked for lately make room for others.
pub(crate) struct Remembered<K, V> {
    known: Cache<K, V>,
    forgettings: Mutex<u64>,
}

impl<K: Eq + Hash, V: Clone> Remembered<K, V> {
    /// Room for this many.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { known: Cache::new(capacity), forgettings: Mutex::new(0) }
    }

    /// What is known under a key, if what is remembered can be `trusted` now; or else what there is to
    /// load, which is remembered from then on. That there is nothing is not remembered.
    pub(crate) async fn find<E>(
        &self,
        trusted: bool,
        key: K,
        load: impl Future<Output = Result<Option<V>, E>>,
    ) -> Result<Option<V>, E> {
        self.find_if(trusted, key, |_| true, load).await
    }

    /// The same, but what `keeps` says no to is loaded again each time.
    pub(crate) async fn find_if<E>(
        &self,
        trusted: bool,
        key: K,
        keeps: impl FnOnce(&V) -> bool,
        load: impl Future<Output = Result<Option<V>, E>>,
    ) -> Result<Option<V>, E> {
        if trusted && let Some(known) = self.known.get(&key) {
            return Ok(Some(known));
        }
        let before = *self.forgettings();
        let found = load.await?;
        if let Some(value) = found.as_ref().filter(|value| keeps(value)) {
            let now = self.forgettings();
            if *now == before {
                self.known.insert(key, value.clone());
            }
        }
        Ok(found)
    }

    /// Forgets one.
    pub(crate) fn forget(&self, key: &K) {
        let mut count = self.forgettings();
        *count += 1;
        self.known.remove(key);
    }

    /// Forgets all for which `keeps` says no.
    pub(crate) fn retain(&self, keeps: impl Fn(&K, &V) -> bool) {
        let mut count = self.forgettings();
        *count += 1;
        self.known.retain(keeps);
    }

    /// Forgets everything.
    pub(crate) fn forget_all(&self) {
        let mut count = self.forgettings();
        *count += 1;
        self.known.clear();
    }

    fn forgettings(&self) -> MutexGuard<'_, u64> {
        self.forgettings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    async fn found(remembered: &Remembered<u8, u8>, value: u8) -> Option<u8> {
        let load = async { Ok::<_, Infallible>(Some(value)) };
        remembered.find(true, 1, load).await.unwrap()
    }

    #[tokio::test]
    async fn what_was_loaded_is_remembered_until_it_is_forgotten() {
        let remembered = Remembered::new(10);
        assert_eq!(found(&remembered, 1).await, Some(1));
        assert_eq!(found(&remembered, 2).await, Some(1));
        remembered.forget(&1);
        assert_eq!(found(&remembered, 3).await, Some(3));
        remembered.retain(|_, value| *value != 3);
        assert_eq!(found(&remembered, 4).await, Some(4));
        remembered.forget_all();
        assert_eq!(found(&remembered, 5).await, Some(5));
    }

    #[tokio::test]
    async fn what_is_forgotten_while_it_is_loaded_is_not_remembered() {
        let forget: [fn(&Remembered<u8, u8>); 3] =
            [|all| all.forget(&1), |all| all.retain(|_, _| true), Remembered::forget_all];
        for forget in forget {
            let remembered = Remembered::new(10);
            let load = async {
                forget(&remembered);
                Ok::<_, Infallible>(Some(1))
            };
            assert_eq!(remembered.find(true, 1, load).await, Ok(Some(1)));
            assert_eq!(found(&remembered, 2).await, Some(2));
        }
    }

    #[tokio::test]
    async fn what_cannot_be_trusted_is_loaded_again() {
        let remembered = Remembered::new(10);
        assert_eq!(found(&remembered, 1).await, Some(1));
        let again = remembered.find(false, 1, async { Ok::<_, Infallible>(Some(2)) }).await;
        assert_eq!(again, Ok(Some(2)));
    }
}
