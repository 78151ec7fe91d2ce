//! Private conversations: which two users may write to each other, and the room they share.
//!
//! What each post asks for is cached until the log tells of a change, as flows are, so that
//! nothing is asked of the database before the writer's queue.

use std::sync::Arc;

use eddyline_model::names::nick_key;
use eddyline_model::policy::{self, Acquaintance, MessageAction, PrivateAction};
use eddyline_model::tags::Roster;
use eddyline_model::{EventId, RoomId, UserId, tags};
use eddyline_storage::{Reader, Result as StoreResult, Tx, VersionedRoom};

use super::Rooms;
use crate::actor::Actor;
use crate::config::Profile;
use crate::core::transaction::TxResult;
use crate::{Error, Result};

/// How many people a conversation has.
const PEOPLE: usize = 2;

/// Two users, or one twice: what they are to each other, and their conversation.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    /// Each with the key of their nick.
    people: [(UserId, String); PEOPLE],
    share_organization: bool,
    share_active: bool,
    room: Option<VersionedRoom>,
}

impl Pair {
    /// `None` when one of them is not there.
    fn load(reader: &mut Reader<'_>, one: UserId, other: UserId) -> StoreResult<Option<Self>> {
        // The room first: who loses a right after it was read has changed its access version.
        let room = reader.rooms().find_private(one, other)?;
        let common = reader.organization_members().list_common(one, other)?;
        let mut people = Vec::with_capacity(PEOPLE);
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

/// The private conversation of a user with another, or with oneself. It may not exist yet.
#[derive(Clone, Debug)]
pub struct PrivateRoom {
    own: UserId,
    with: UserId,
    pair: Arc<Pair>,
    has_tags: bool,
}

impl PrivateRoom {
    /// The user who asks.
    #[must_use]
    pub fn own(&self) -> UserId {
        self.own
    }

    /// The other user; the one who asks in a conversation with oneself.
    #[must_use]
    pub fn with(&self) -> UserId {
        self.with
    }

    /// The room's number, if there is a conversation.
    #[must_use]
    pub fn id(&self) -> Option<RoomId> {
        self.pair.room.map(|room| room.id)
    }

    pub(super) fn access_version(&self) -> Option<i64> {
        self.pair.room.map(|room| room.access_version)
    }

    pub(super) fn has_tags(&self) -> bool {
        self.has_tags
    }

    pub(super) fn most_tags(&self) -> usize {
        tags::most_tags(PEOPLE, 0)
    }

    pub(super) fn allow(&self, action: PrivateAction) -> Result<()> {
        self.pair.allow(action)
    }

    pub(super) fn key(&self) -> (UserId, UserId) {
        pair_key(self.own, self.with)
    }
}

impl Roster for PrivateRoom {
    fn by_nick(&self, key: &str) -> Option<UserId> {
        let mut people = self.pair.people.iter();
        people.find(|(_, nick)| nick == key).map(|(user, _)| *user)
    }

    fn contains(&self, user: UserId) -> bool {
        self.own == user || self.with == user
    }

    fn users(&self) -> impl Iterator<Item = UserId> {
        let other = Some(self.with).filter(|with| *with != self.own);
        std::iter::once(self.own).chain(other)
    }
}

fn pair_key(one: UserId, other: UserId) -> (UserId, UserId) {
    (one.min(other), one.max(other))
}

impl Rooms {
    /// The private conversation of the caller with a user, or with oneself, if the caller may do
    /// `action` there.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] for strangers, [`Error::denied`] for flow tokens, for those who have
    /// left, and for writing where all common organizations are inactive.
    pub async fn private(
        &self,
        actor: &Actor,
        with: UserId,
        action: MessageAction,
    ) -> Result<PrivateRoom> {
        let own = actor.user()?.user.id;
        let pair = self.pair(own, with).await?.ok_or_else(Error::not_found)?;
        pair.allow(action.in_private())?;
        Ok(self.private_room(own, with, pair))
    }

    fn private_room(&self, own: UserId, with: UserId, pair: Arc<Pair>) -> PrivateRoom {
        PrivateRoom {
            own,
            with,
            pair,
            has_tags: self.core.config().profile == Profile::Classic,
        }
    }

    async fn pair(&self, one: UserId, other: UserId) -> Result<Option<Arc<Pair>>> {
        let (low, high) = pair_key(one, other);
        let load = || {
            self.core
                .store()
                .read(move |reader| Ok(Pair::load(reader, low, high)?.map(Arc::new)))
        };
        // No event says that a conversation began, so its absence is not cached.
        let exists = |pair: &Arc<Pair>| pair.room.is_some();
        Ok(self
            .cache
            .pairs
            .find_if(self.core.caches_current(), (low, high), exists, load)
            .await?)
    }

    /// Creates the conversation if it does not exist yet.
    pub(crate) async fn create_private(
        &self,
        actor: &Actor,
        room: PrivateRoom,
        action: MessageAction,
    ) -> Result<PrivateRoom> {
        if room.id().is_some() {
            return Ok(room);
        }
        let (own, with) = (room.own, room.with);
        self.core
            .transaction_as(actor, move |tx, _| {
                // Locked, so that neither user leaves meanwhile: leaving ends only the
                // conversations that exist.
                for (organization, _) in tx.organization_members().list_common(own, with)? {
                    tx.organizations().lock(organization)?;
                }
                let pair = Pair::load(tx, own, with)?.ok_or_else(Error::not_found)?;
                pair.allow(action.in_private())?;
                if pair.room.is_none() {
                    tx.rooms().insert_private(own, with)?;
                }
                Ok(())
            })
            .await?;
        self.private(actor, with, action).await
    }

    /// Changes something in an existing conversation in one transaction: holds it against others,
    /// loads it anew, checks that the caller may do `action`, and lets `change` do the rest. Gives
    /// the position of the last log entry that was written.
    pub(crate) async fn change_private<R, F>(
        &self,
        actor: &Actor,
        room: &PrivateRoom,
        action: PrivateAction,
        change: F,
    ) -> Result<(R, Option<EventId>)>
    where
        R: Send + 'static,
        F: Fn(&mut Tx<'_>, &Actor, &PrivateRoom) -> TxResult<R> + Send + 'static,
    {
        let (own, with) = (room.own, room.with);
        let rooms = self.clone();
        let lock = move |tx: &mut Tx<'_>| match tx.rooms().find_private(own, with)? {
            Some(room) => tx.rooms().lock(room.id),
            None => Ok(()),
        };
        self.core
            .locked_transaction_as(actor, lock, move |tx, actor| {
                let pair = Pair::load(tx, own, with)?.ok_or_else(Error::not_found)?;
                pair.allow(action)?;
                if pair.room.is_none() {
                    return Err(Error::not_found().into());
                }
                change(tx, actor, &rooms.private_room(own, with, Arc::new(pair)))
            })
            .await
    }
}
