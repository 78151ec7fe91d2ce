//! Bounds on what goes on at once, with a share for each of those who want turns: whoever takes their time
//! leaves turns for others.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// So many turns in all, and so many for each key: a caller, for instance. Clones share them.
#[derive(Clone, Debug)]
pub struct Turns<K> {
    all: usize,
    each: usize,
    taken: Arc<Mutex<Taken<K>>>,
}

#[derive(Debug)]
struct Taken<K> {
    all: usize,
    /// Of those who have any.
    by: BTreeMap<K, usize>,
}

/// A turn, which is given back when it is dropped.
#[derive(Debug)]
pub struct Turn<K: Ord> {
    key: K,
    taken: Arc<Mutex<Taken<K>>>,
}

/// Why there is no turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoTurn {
    /// All are taken.
    All,
    /// The caller has as many as they may have.
    Own,
}

impl<K: Copy + Ord> Turns<K> {
    /// So many in all, and so many for each key.
    #[must_use]
    pub fn new(all: usize, each: usize) -> Self {
        Self { all, each, taken: Arc::new(Mutex::new(Taken { all: 0, by: BTreeMap::new() })) }
    }

    /// Takes a turn, or says at once why there is none.
    ///
    /// # Errors
    ///
    /// [`NoTurn`].
    pub fn take(&self, key: K) -> Result<Turn<K>, NoTurn> {
        let mut taken = lock(&self.taken);
        let own = taken.by.get(&key).copied().unwrap_or_default();
        if own >= self.each {
            return Err(NoTurn::Own);
        }
        if taken.all >= self.all {
            return Err(NoTurn::All);
        }
        taken.all += 1;
        taken.by.insert(key, own + 1);
        Ok(Turn { key, taken: Arc::clone(&self.taken) })
    }
}

impl<K: Ord> Drop for Turn<K> {
    fn drop(&mut self) {
        let mut taken = lock(&self.taken);
        taken.all -= 1;
        if let Some(own) = taken.by.get_mut(&self.key) {
            *own -= 1;
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
    fn nobody_takes_more_than_their_share() {
        let turns = Turns::new(5, 2);
        let mut own = vec![turns.take('a'), turns.take('a')];
        assert_eq!(turns.take('a').err(), Some(NoTurn::Own));
        let other = turns.take('b');
        assert!(other.is_ok());
        own.pop();
        assert!(turns.take('a').is_ok(), "a turn that was given back is there again");
    }

    #[test]
    fn there_are_no_more_turns_than_all() {
        let turns = Turns::new(3, 2);
        let mut taken = Vec::from(['a', 'a', 'b'].map(|key| turns.take(key)));
        assert!(taken.iter().all(Result::is_ok));
        assert_eq!(turns.take('c').err(), Some(NoTurn::All));
        taken.pop();
        assert!(turns.take('c').is_ok());
    }

    #[test]
    fn who_has_no_turn_is_forgotten() {
        let turns = Turns::new(3, 2);
        drop((turns.take('a'), turns.take('a'), turns.take('b')));
        let taken = lock(&turns.taken);
        assert_eq!((taken.all, taken.by.len()), (0, 0));
    }
}
