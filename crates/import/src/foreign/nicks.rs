//! The people of a flow by their nicks.

use std::collections::{HashMap, HashSet};

use eddyline_model::UserId;
use eddyline_model::tags::Roster;

/// The users who can be mentioned in a flow.
#[derive(Default)]
pub(super) struct Nicks {
    pub(super) by_nick: HashMap<String, UserId>,
    pub(super) users: HashSet<UserId>,
}

impl Roster for Nicks {
    fn by_nick(&self, key: &str) -> Option<UserId> {
        self.by_nick.get(key).copied()
    }

    fn contains(&self, user: UserId) -> bool {
        self.users.contains(&user)
    }

    fn users(&self) -> impl Iterator<Item = UserId> {
        self.users.iter().copied()
    }
}
