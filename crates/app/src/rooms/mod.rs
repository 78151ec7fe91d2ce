//! Rooms as requests ask for them: flows and private conversations, with who may do what there,
//! cached until the log tells of a change.

mod cache;
mod flow;
mod private;

use std::sync::Arc;

use eddyline_model::policy::{self, MessageAction, PrivateAction};
use eddyline_model::tags::{Cohort, Roster};
use eddyline_model::{EventId, RoomId, UserId};
use eddyline_storage::Tx;
use eddyline_wire::RoomRef;

pub(crate) use self::cache::RoomCache;
pub use self::flow::{FlowRoom, Member};
pub use self::private::PrivateRoom;
use crate::Result;
use crate::actor::Actor;
use crate::addresses::Addresses;
use crate::core::Core;
use crate::core::transaction::TxResult;

/// Where messages are, with what every request about them needs.
#[derive(Clone, Debug)]
pub enum Room {
    /// A flow.
    Flow(Arc<FlowRoom>),
    /// The private conversation of the caller with a user.
    Private(PrivateRoom),
}

impl From<Arc<FlowRoom>> for Room {
    fn from(room: Arc<FlowRoom>) -> Self {
        Self::Flow(room)
    }
}

impl From<PrivateRoom> for Room {
    fn from(room: PrivateRoom) -> Self {
        Self::Private(room)
    }
}

impl Room {
    /// The room's number. `None` for a private conversation that does not exist yet.
    #[must_use]
    pub fn id(&self) -> Option<RoomId> {
        match self {
            Self::Flow(room) => Some(room.id()),
            Self::Private(room) => room.id(),
        }
    }

    /// How the messages of the room are encoded.
    #[must_use]
    pub fn reference(&self) -> RoomRef<'_> {
        match self {
            Self::Flow(room) => RoomRef::Flow(&room.flow.id),
            Self::Private(_) => RoomRef::Private,
        }
    }

    /// The API address of the room.
    #[must_use]
    pub fn address(&self, addresses: &Addresses) -> String {
        match self {
            Self::Flow(room) => addresses.flow(&room.organization, &room.flow),
            Self::Private(room) => addresses.private(room.with()),
        }
    }

    /// The recipient of what the caller posts, which flows do not have.
    pub(crate) fn recipient(&self) -> Option<UserId> {
        match self {
            Self::Flow(_) => None,
            Self::Private(room) => Some(room.with()),
        }
    }

    /// Counts the changes of who may post in the room. `None` as for [`Room::id`].
    pub(crate) fn access_version(&self) -> Option<i64> {
        match self {
            Self::Flow(room) => Some(room.flow.access_version),
            Self::Private(room) => room.access_version(),
        }
    }

    /// Whether the messages of the room bear tags.
    #[must_use]
    pub fn has_tags(&self) -> bool {
        match self {
            Self::Flow(_) => true,
            Self::Private(room) => room.has_tags(),
        }
    }

    /// How many tags a caller may send who sends those of a message back.
    pub(crate) fn most_tags(&self) -> usize {
        match self {
            Self::Flow(room) => room.most_tags(),
            Self::Private(room) => room.most_tags(),
        }
    }

    /// Checks that the room takes changes, for a caller who was admitted.
    ///
    /// # Errors
    ///
    /// [`crate::Error::denied`] when the organization, or each that the two have in common, is
    /// inactive.
    pub(crate) fn check_writable(&self) -> Result<()> {
        match self {
            Self::Flow(room) => Ok(policy::write(&room.organization)?),
            Self::Private(room) => room.allow(PrivateAction::Write),
        }
    }
}

impl Roster for Room {
    fn by_nick(&self, key: &str) -> Option<UserId> {
        match self {
            Self::Flow(room) => room.by_nick(key),
            Self::Private(room) => room.by_nick(key),
        }
    }

    fn contains(&self, user: UserId) -> bool {
        match self {
            Self::Flow(room) => room.contains(user),
            Self::Private(room) => room.contains(user),
        }
    }

    fn everyone(&self) -> Arc<Cohort> {
        match self {
            Self::Flow(room) => room.everyone(),
            Self::Private(room) => room.everyone(),
        }
    }

    fn users(&self) -> impl Iterator<Item = UserId> {
        let (flow, private) = match self {
            Self::Flow(room) => (Some(room.users()), None),
            Self::Private(room) => (None, Some(room.users())),
        };
        let flow = flow.into_iter().flatten();
        flow.chain(private.into_iter().flatten())
    }

    fn group(&self, key: &str) -> Option<&[UserId]> {
        match self {
            Self::Flow(room) => room.group(key),
            Self::Private(room) => room.group(key),
        }
    }

    fn group_cohort(&self, key: &str, members: &[UserId]) -> Arc<Cohort> {
        match self {
            Self::Flow(room) => room.group_cohort(key, members),
            Self::Private(room) => room.group_cohort(key, members),
        }
    }
}

/// The rooms of requests: who may do what in a flow or a private conversation. See
/// [`crate::App::rooms`].
#[derive(Clone)]
pub struct Rooms {
    core: Core,
    pub(crate) cache: Arc<RoomCache>,
}

crate::core::opaque_debug!(Rooms);

impl Rooms {
    pub(crate) fn new(core: Core) -> Self {
        Self {
            core,
            cache: Arc::default(),
        }
    }

    /// Drops the cached room and loads it again, if the caller may still do `action` there.
    pub(crate) async fn readmit(
        &self,
        actor: &Actor,
        room: &Room,
        action: MessageAction,
    ) -> Result<Room> {
        match room {
            Room::Flow(room) => {
                self.cache.invalidate(room.id());
                let room = self.admit(actor, room.id(), action.in_flow()).await?;
                Ok(Room::Flow(room))
            }
            Room::Private(room) => {
                self.cache.pairs.invalidate(&room.key());
                self.private(actor, room.with(), action)
                    .await
                    .map(Room::Private)
            }
        }
    }

    /// Changes messages of a room, as [`Rooms::change_flow`] and [`Rooms::change_private`] do.
    pub(crate) async fn change<R, F>(
        &self,
        actor: &Actor,
        room: &Room,
        action: MessageAction,
        change: F,
    ) -> Result<(R, Option<EventId>)>
    where
        R: Send + 'static,
        F: Fn(&mut Tx<'_>, &Actor, &Room) -> TxResult<R> + Send + 'static,
    {
        match room {
            Room::Flow(room) => {
                self.change_flow(
                    actor,
                    room.id(),
                    action.in_flow(),
                    move |tx, actor, room| change(tx, actor, &Room::Flow(room.clone())),
                )
                .await
            }
            Room::Private(room) => {
                self.change_private(actor, room, action.in_private(), move |tx, actor, room| {
                    change(tx, actor, &Room::Private(room.clone()))
                })
                .await
            }
        }
    }
}
