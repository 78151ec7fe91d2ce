//! Turns among those for whom an integration is asked, so that nobody takes all of them.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use eddyline_model::{ApplicationId, UserId};

/// How many integrations are asked at the same time. Each of them may take its time.
const AT_ONCE: usize = 64;
/// How many of these turns the actions of one application have: if it is slow, others are not.
const OF_APPLICATION: usize = 8;
/// How many of them one user has, which is less than a whole application.
const OF_USER: usize = 4;

/// Hands out turns. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Turns(Arc<Mutex<Taken>>);

#[derive(Default)]
struct Taken {
    all: usize,
    applications: HashMap<ApplicationId, usize>,
    users: HashMap<UserId, usize>,
}

/// A turn, which ends when it is dropped.
pub(super) struct Turn {
    turns: Turns,
    application: ApplicationId,
    user: UserId,
}

/// Why there is no turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Busy {
    /// The application, or the user, has as many as they may have.
    Share,
    /// There are no more.
    All,
}

impl Turns {
    /// A turn for an action of an application that a user triggers.
    pub(super) fn take(&self, application: ApplicationId, user: UserId) -> Result<Turn, Busy> {
        let mut taken = self.taken();
        if count(&taken.applications, &application) >= OF_APPLICATION || count(&taken.users, &user) >= OF_USER
        {
            return Err(Busy::Share);
        }
        if taken.all >= AT_ONCE {
            return Err(Busy::All);
        }
        taken.all += 1;
        *taken.applications.entry(application).or_default() += 1;
        *taken.users.entry(user).or_default() += 1;
        Ok(Turn { turns: self.clone(), application, user })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut taken = self.turns.taken();
        taken.all -= 1;
        give_back(&mut taken.applications, &self.application);
        give_back(&mut taken.users, &self.user);
    }
}

fn count<K: Hash + Eq>(taken: &HashMap<K, usize>, of: &K) -> usize {
    taken.get(of).copied().unwrap_or_default()
}

/// One less; who has none is not remembered.
fn give_back<K: Hash + Eq>(taken: &mut HashMap<K, usize>, of: &K) {
    if let Some(count) = taken.get_mut(of) {
        *count -= 1;
        if *count == 0 {
            taken.remove(of);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(turns: &Turns, application: i64, user: i64) -> Result<Turn, Busy> {
        turns.take(ApplicationId(application), UserId(user))
    }

    #[test]
    fn nobody_has_more_than_their_share() {
        let turns = Turns::default();
        let mut held: Vec<Turn> = (0..4).map(|_| take(&turns, 1, 1).ok().unwrap()).collect();
        assert_eq!(take(&turns, 1, 1).err(), Some(Busy::Share));
        assert_eq!(take(&turns, 2, 1).err(), Some(Busy::Share), "the user has no more");
        held.extend((0..4).map(|_| take(&turns, 1, 2).ok().unwrap()));
        assert_eq!(take(&turns, 1, 3).err(), Some(Busy::Share), "the application has no more");
        assert!(take(&turns, 2, 3).is_ok());
        held.pop();
        assert!(take(&turns, 1, 3).is_ok());
    }

    #[test]
    fn all_together_have_no_more_than_there_are() {
        let turns = Turns::default();
        let held: Vec<Turn> = (0..64).map(|n| take(&turns, n / 8, n / 4).ok().unwrap()).collect();
        assert_eq!(take(&turns, 100, 100).err(), Some(Busy::All));
        drop(held);
        assert!(take(&turns, 100, 100).is_ok());
        let taken = turns.taken();
        assert_eq!(
            (taken.all, taken.applications.len(), taken.users.len()),
            (0, 0, 0),
            "nothing is left over"
        );
    }
}
