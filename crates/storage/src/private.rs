//! Private conversations: rooms of two users, or of one with oneself.

use diesel::dsl::{exists, not};
use diesel::prelude::*;
use eddyline_model::messages::MessageKind;
use eddyline_model::users::User;
use eddyline_model::{MessageId, OrganizationId, RoomId, UserId};
use eddyline_portable::portable;

use crate::Result;
use crate::areas::{OrganizationMembers, Rooms};
use crate::reader::{Access, dialect};
use crate::rows::LockedRoom;
use crate::schema::{
    mentions_seen, messages, organization_members, organizations, private_rooms, room_members,
    rooms, users,
};
use crate::transaction::Tx;
use crate::users::{UserRow, to_user};

const ROOM_KIND_PRIVATE: i16 = 1;

/// The room of a private conversation, with the version of its rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionedRoom {
    /// The room.
    pub id: RoomId,
    /// Counts the changes of who may write in it.
    pub access_version: i64,
}

/// A private conversation as one of the two sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// With whom it is; in one with oneself that is oneself.
    pub other: User,
    /// Whether the user's clients show a tab for it.
    pub open: bool,
    /// The message up to which the user has read.
    pub read_up_to: MessageId,
    /// The number of the last message in it, or of the last change of one.
    pub last_message_id: MessageId,
    /// How many messages of the other stand after the user's marker. Empty ones do not count, nor
    /// do those that the user has dealt with one by one.
    pub unread: i64,
    /// The place of its tab among those that the user has ordered.
    pub tab_position: Option<i32>,
}

/// As conversations are kept: the lower number first.
fn ordered(one: UserId, other: UserId) -> (i64, i64) {
    (one.0.min(other.0), one.0.max(other.0))
}

macro_rules! with {
    ($user:expr) => {
        private_rooms::low_user_id
            .eq($user.0)
            .or(private_rooms::high_user_id.eq($user.0))
    };
}

/// The other one of a conversation, which is the user where there is no other.
macro_rules! other {
    ($user:expr) => {
        private_rooms::low_user_id + private_rooms::high_user_id - $user.0
    };
}

#[portable]
impl<C: Access> Rooms<'_, C> {
    /// The room of the conversation between two users.
    pub fn find_private(
        c: &mut Connection,
        one: UserId,
        other: UserId,
    ) -> Result<Option<VersionedRoom>> {
        let (low, high) = ordered(one, other);
        let row = private_rooms::table
            .inner_join(rooms::table.on(rooms::id.eq(private_rooms::room_id)))
            .filter(private_rooms::low_user_id.eq(low))
            .filter(private_rooms::high_user_id.eq(high))
            .select((rooms::id, rooms::access_version))
            .get_result::<(i64, i64)>(c)
            .optional()?;
        Ok(row.map(|(id, access_version)| VersionedRoom {
            id: RoomId(id),
            access_version,
        }))
    }

    /// The two whose conversation a room is; twice the same in one with oneself. `None` for rooms
    /// that are no conversation.
    pub fn find_private_users(
        c: &mut Connection,
        room: RoomId,
    ) -> Result<Option<(UserId, UserId)>> {
        let row = private_rooms::table
            .find(room.0)
            .select((private_rooms::low_user_id, private_rooms::high_user_id))
            .get_result::<(i64, i64)>(c)
            .optional()?;
        Ok(row.map(|(low, high)| (UserId(low), UserId(high))))
    }

    /// The conversations of a user with people who share an organization with them, and with
    /// themselves, ordered by the other's number; only the one with `with`, if that is given.
    pub fn list_conversations(
        c: &mut Connection,
        user: UserId,
        with: Option<UserId>,
    ) -> Result<Vec<Conversation>> {
        let theirs = diesel::alias!(organization_members as theirs);
        let shared = organization_members::table
            .inner_join(
                theirs.on(theirs
                    .field(organization_members::organization_id)
                    .eq(organization_members::organization_id)),
            )
            .filter(organization_members::user_id.eq(user.0))
            .filter(theirs.field(organization_members::user_id).eq(users::id));
        let seen = mentions_seen::table
            .filter(mentions_seen::room_id.eq(messages::room_id))
            .filter(mentions_seen::user_id.eq(user.0))
            .filter(mentions_seen::message_id.eq(messages::id));
        // Counted for each conversation from the marker on: joined, all that was ever written to
        // the user would be read.
        let unread = messages::table
            .filter(messages::to_user_id.eq(user.0))
            .filter(messages::room_id.eq(private_rooms::room_id))
            .filter(messages::id.gt(room_members::read_up_to))
            .filter(messages::event.lt(MessageKind::MessageEdit.code()))
            .filter(messages::content.ne(""))
            .filter(private_rooms::low_user_id.ne(private_rooms::high_user_id))
            .filter(not(exists(seen)))
            .count();
        let mut found = private_rooms::table
            .inner_join(room_members::table.on(room_members::room_id.eq(private_rooms::room_id)))
            .inner_join(rooms::table.on(rooms::id.eq(private_rooms::room_id)))
            .inner_join(users::table.on(users::id.eq(other!(user))))
            .filter(with!(user))
            .filter(room_members::user_id.eq(user.0))
            .filter(users::id.eq(user.0).or(exists(shared)))
            .order(users::id)
            .select((
                room_members::open,
                unread.single_value().assume_not_null(),
                room_members::read_up_to,
                rooms::last_message_id,
                room_members::tab_position,
                UserRow::as_select(),
            ))
            .into_boxed();
        if let Some(with) = with {
            found = found.filter(users::id.eq(with.0));
        }
        let rows = found.load::<(bool, i64, i64, i64, Option<i32>, UserRow)>(c)?;
        Ok(rows
            .into_iter()
            .map(
                |(open, unread, read, last, tab_position, other)| Conversation {
                    other: to_user(other),
                    open,
                    unread,
                    read_up_to: MessageId(read),
                    last_message_id: MessageId(last),
                    tab_position,
                },
            )
            .collect())
    }

    pub(crate) fn list_private_of_user(c: &mut Connection, user: UserId) -> Result<Vec<i64>> {
        Ok(private_rooms::table
            .filter(with!(user))
            .order(private_rooms::room_id)
            .select(private_rooms::room_id)
            .load(c)?)
    }
}

#[portable]
impl<C: Access> OrganizationMembers<'_, C> {
    /// The organizations that two users both belong to, ordered by number, each with whether it is
    /// active.
    pub fn list_common(
        c: &mut Connection,
        one: UserId,
        other: UserId,
    ) -> Result<Vec<(OrganizationId, bool)>> {
        let theirs = diesel::alias!(organization_members as theirs);
        let rows = organization_members::table
            .inner_join(
                theirs.on(theirs
                    .field(organization_members::organization_id)
                    .eq(organization_members::organization_id)),
            )
            .inner_join(
                organizations::table
                    .on(organizations::id.eq(organization_members::organization_id)),
            )
            .filter(organization_members::user_id.eq(one.0))
            .filter(theirs.field(organization_members::user_id).eq(other.0))
            .order(organizations::id)
            .select((organizations::id, organizations::active))
            .load::<(i64, bool)>(c)?;
        Ok(rows
            .into_iter()
            .map(|(id, active)| (OrganizationId(id), active))
            .collect())
    }
}

#[portable]
impl Rooms<'_, Tx<'_>> {
    /// Makes a conversation between two users, which neither of them has open, unless there is one.
    pub fn insert_private(c: &mut Connection, one: UserId, other: UserId) -> Result<RoomId> {
        let (low, high) = ordered(one, other);
        let room: i64 = diesel::insert_into(rooms::table)
            .values(rooms::kind.eq(ROOM_KIND_PRIVATE))
            .returning(rooms::id)
            .get_result(c)?;
        let made = diesel::insert_into(private_rooms::table)
            .values((
                private_rooms::room_id.eq(room),
                private_rooms::low_user_id.eq(low),
                private_rooms::high_user_id.eq(high),
            ))
            .on_conflict_do_nothing()
            .execute(c)?;
        if made == 0 {
            // Another process was first.
            diesel::delete(rooms::table.find(room)).execute(c)?;
            let there = private_rooms::table
                .filter(private_rooms::low_user_id.eq(low))
                .filter(private_rooms::high_user_id.eq(high))
                .select(private_rooms::room_id)
                .get_result(c)?;
            return Ok(RoomId(there));
        }
        let users = if low == high {
            vec![low]
        } else {
            vec![low, high]
        };
        for user in users {
            diesel::insert_into(room_members::table)
                .values((
                    room_members::room_id.eq(room),
                    room_members::user_id.eq(user),
                    room_members::open.eq(false),
                    room_members::blocked.eq(false),
                    room_members::last_activity.eq(0),
                    room_members::last_ping.eq(0),
                    room_members::read_up_to.eq(0),
                ))
                .execute(c)?;
        }
        Ok(RoomId(room))
    }

    fn advance_access_of_each(c: &mut Connection, ids: &[i64]) -> Result<()> {
        for part in ids.chunks(ROWS) {
            diesel::update(rooms::table.filter(rooms::id.eq_any(part)))
                .set(rooms::access_version.eq(rooms::access_version + 1))
                .execute(c)?;
        }
        Ok(())
    }
}

/// How many rows one statement changes.
const ROWS: usize = 500;

impl Rooms<'_, Tx<'_>> {
    /// Counts a change of who may write to a user, or to whom they may: private messages that were
    /// checked before are checked again. To be called when somebody leaves an organization.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn advance_private_access_of_user(&mut self, user: UserId) -> Result<()> {
        let ids = self.list_private_of_user(user)?;
        let _locked: Vec<LockedRoom> = dialect!(self, lock_rooms, &ids)?;
        self.advance_access_of_each(&ids)
    }
}
