//! Private conversations: who may talk to whom, and in which room they do.
//!
//! What each post asks for is cached until the log tells of a change, as rooms are, so that
//! nothing is asked of the database before the writer's queue.

use std::sync::Arc;

use eddyline_model::names::nick_key;
use eddyline_model::policy::{self, Acquaintance, PrivateAction};
use eddyline_model::tags::Roster;
use eddyline_model::{RoomId, UserId};
use eddyline_storage::{PrivateRoom, Reader, Result as StoreResult, Tx};

use crate::actor::Actor;
use crate::core::transaction::TxResult;
use crate::loading_cache::LoadingCache;
use crate::{Error, Result, Rooms};

const REMEMBERED: usize = 20_000;

/// Two users, or one twice: what they are to each other, and their conversation.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    /// Each with the key of their nick.
    people: [(UserId, String); 2],
    share_organization: bool,
    share_active: bool,
    room: Option<PrivateRoom>,
}

impl Pair {
    /// `None` when one of them is not there.
    fn load(reader: &mut Reader<'_>, one: UserId, other: UserId) -> StoreResult<Option<Self>> {
        // The room first: who loses a right after it was read has changed its access version.
        let room = reader.rooms().find_private(one, other)?;
        let common = reader.organization_members().list_common(one, other)?;
        let mut people = Vec::with_capacity(2);
        for id in [one, other] {
            let Some(user) = reader.users().find(id)? else {
                return Ok(None);
            };
            people.push((id, nick_key(&user.nick)));
        }
        let Ok(people) = people.try_into() else {
            return Ok(None);
        };
        Ok(Some(Self {
            people,
            share_organization: !common.is_empty(),
            share_active: common.iter().any(|(_, active)| *active),
            room,
        }))
    }

    /// The conversation's room, if there is a conversation.
    pub(crate) fn room(&self) -> Option<RoomId> {
        self.room.map(|room| room.id)
    }

    /// The conversation, if there is one.
    pub(crate) fn conversation(&self) -> Option<PrivateRoom> {
        self.room
    }

    fn allow(&self, action: PrivateAction) -> Result<()> {
        let [(one, _), (other, _)] = &self.people;
        let acquaintance = Acquaintance {
            same: one == other,
            share_organization: self.share_organization,
            share_active: self.share_active,
            conversation: self.room.is_some(),
        };
        Ok(policy::private(acquaintance, action)?)
    }
}

impl Roster for Pair {
    fn by_nick(&self, key: &str) -> Option<UserId> {
        self.people
            .iter()
            .find(|(_, nick)| nick == key)
            .map(|(user, _)| *user)
    }

    fn contains(&self, user: UserId) -> bool {
        self.people.iter().any(|(known, _)| *known == user)
    }

    fn users(&self) -> impl Iterator<Item = UserId> {
        let [(one, _), (other, _)] = &self.people;
        [Some(*one), Some(*other).filter(|other| other != one)]
            .into_iter()
            .flatten()
    }
}

/// The pairs that were asked for lately, the lower number first.
pub(crate) struct Pairs {
    known: LoadingCache<(UserId, UserId), Arc<Pair>>,
}

impl Default for Pairs {
    fn default() -> Self {
        Self {
            known: LoadingCache::new(REMEMBERED),
        }
    }
}

impl Pairs {
    /// Forgets everything.
    pub(crate) fn invalidate_all(&self) {
        self.known.invalidate_all();
    }

    /// Forgets the pairs of a user.
    pub(crate) fn invalidate_user(&self, user: UserId) {
        let without = |(low, high): &(UserId, UserId)| *low != user && *high != user;
        self.known.retain_both(|pair, _| without(pair), without);
    }

    pub(crate) fn invalidate(&self, key: (UserId, UserId)) {
        self.known.invalidate(&key);
    }
}

pub(crate) fn pair_key(one: UserId, other: UserId) -> (UserId, UserId) {
    (one.min(other), one.max(other))
}

impl Rooms {
    /// The caller and another user, if the caller may do `action` in their conversation.
    pub(crate) async fn admit_private(
        &self,
        actor: &Actor,
        other: UserId,
        action: PrivateAction,
    ) -> Result<Arc<Pair>> {
        let own = actor.user()?.user.id;
        let pair = self.pair(own, other).await?.ok_or_else(Error::not_found)?;
        pair.allow(action)?;
        Ok(pair)
    }

    async fn pair(&self, one: UserId, other: UserId) -> Result<Option<Arc<Pair>>> {
        let (low, high) = pair_key(one, other);
        let load = || {
            self.core
                .store()
                .read(move |reader| Ok(Pair::load(reader, low, high)?.map(Arc::new)))
        };
        // No event says that a conversation began, so its absence is not cached.
        let begun = |pair: &Arc<Pair>| pair.room.is_some();
        let pairs = &self.cache.private;
        Ok(pairs
            .known
            .find_if(self.core.caches_current(), (low, high), begun, load)
            .await?)
    }

    /// The conversation's room, which is made if there is none yet. The pair is the one that
    /// decides.
    pub(crate) async fn private_room(
        &self,
        actor: &Actor,
        other: UserId,
        action: PrivateAction,
    ) -> Result<(Arc<Pair>, PrivateRoom)> {
        let own = actor.user()?.user.id;
        let mut pair = self.admit_private(actor, other, action).await?;
        if pair.room.is_none() {
            self.core
                .transaction_as(actor, move |tx, _| {
                    // Locked, so that neither user leaves meanwhile: leaving ends only the
                    // conversations that exist.
                    for (organization, _) in tx.organization_members().list_common(own, other)? {
                        tx.organizations().lock(organization)?;
                    }
                    let pair = Pair::load(tx, own, other)?.ok_or_else(Error::not_found)?;
                    pair.allow(action)?;
                    if pair.room.is_none() {
                        tx.rooms().insert_private(own, other)?;
                    }
                    Ok(())
                })
                .await?;
            pair = self.admit_private(actor, other, action).await?;
        }
        let room = pair.room.ok_or_else(Error::not_found)?;
        Ok((pair, room))
    }

    /// Changes something in an existing conversation in one transaction: holds it against others,
    /// loads it anew, checks that the caller may do `action`, and lets `change` do the rest.
    pub(crate) async fn change_private<R, F>(
        &self,
        actor: &Actor,
        other: UserId,
        action: PrivateAction,
        change: F,
    ) -> Result<R>
    where
        R: Send + 'static,
        F: Fn(&mut Tx<'_>, &Actor, &Pair, PrivateRoom) -> TxResult<R> + Send + 'static,
    {
        let own = actor.user()?.user.id;
        let lock = move |tx: &mut Tx<'_>| match tx.rooms().find_private(own, other)? {
            Some(room) => tx.rooms().lock(room.id),
            None => Ok(()),
        };
        let (changed, _) = self
            .core
            .locked_transaction_as(actor, lock, move |tx, actor| {
                let pair = Pair::load(tx, own, other)?.ok_or_else(Error::not_found)?;
                pair.allow(action)?;
                let room = pair.room.ok_or_else(Error::not_found)?;
                change(tx, actor, &pair, room)
            })
            .await?;
        Ok(changed)
    }
}
