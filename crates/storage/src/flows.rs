//! Flows, their members and their tokens.

use diesel::prelude::*;
use eddyline_model::flows::{AccessMode, Flow, FlowMembership, FlowPerson};
use eddyline_model::users::User;
use eddyline_model::{FlowId, MessageId, OrganizationId, RoomId, Timestamp, UserId};
use eddyline_portable::portable;

use crate::areas::{Flows, Members, OrganizationMembers, Rooms};
use crate::reader::Access;
use crate::schema::{
    flows, former_members, organization_members, room_members, rooms, thread_markers, users,
};
use crate::transaction::Tx;
use crate::users::{UserRow, to_user};
use crate::{Error, Result};

const ROOM_KIND_FLOW: i16 = 0;

/// How many rows one statement adds.
const ROWS: usize = 500;

#[derive(Queryable, Selectable)]
#[diesel(table_name = flows)]
pub(crate) struct FlowRow {
    room_id: i64,
    public_id: String,
    organization_id: i64,
    name: String,
    parameterized_name: String,
    description: Option<String>,
    access_mode: i16,
    disabled: bool,
    creator_id: Option<i64>,
    join_secret: String,
    created_at: i64,
}

/// What of its room a flow is shown with.
#[derive(Queryable, Selectable)]
#[diesel(table_name = rooms)]
pub(crate) struct RoomRow {
    last_message_id: i64,
    last_message_at: Option<i64>,
    access_version: i64,
}

#[derive(Clone, Copy, Queryable, Selectable)]
#[diesel(table_name = room_members)]
struct MemberRow {
    room_id: i64,
    user_id: i64,
    open: bool,
    blocked: bool,
    last_activity: i64,
    last_ping: i64,
    read_up_to: i64,
    tab_position: Option<i32>,
    inbox_read_up_to: i64,
}

fn mode_code(mode: AccessMode) -> i16 {
    match mode {
        AccessMode::Invitation => 0,
        AccessMode::Link => 1,
        AccessMode::Organization => 2,
    }
}

pub(crate) fn to_flow((row, room): (FlowRow, RoomRow)) -> Result<Flow> {
    Ok(Flow {
        room: RoomId(row.room_id),
        id: FlowId(row.public_id),
        organization: OrganizationId(row.organization_id),
        name: row.name,
        parameterized_name: row.parameterized_name,
        description: row.description,
        access_mode: match row.access_mode {
            0 => AccessMode::Invitation,
            1 => AccessMode::Link,
            2 => AccessMode::Organization,
            _ => return Err(Error::Corrupt("access mode")),
        },
        disabled: row.disabled,
        creator: row.creator_id.map(UserId),
        join_secret: row.join_secret,
        created_at: Timestamp(row.created_at),
        last_message_id: room.last_message_id,
        last_message_at: room.last_message_at.map(Timestamp),
        access_version: room.access_version,
    })
}

fn membership(row: MemberRow) -> FlowMembership {
    FlowMembership {
        room: RoomId(row.room_id),
        user: UserId(row.user_id),
        open: row.open,
        blocked: row.blocked,
        last_activity: Timestamp(row.last_activity),
        last_ping: Timestamp(row.last_ping),
        read_up_to: MessageId(row.read_up_to),
        inbox_read_up_to: MessageId(row.inbox_read_up_to),
        tab_position: row.tab_position,
    }
}

/// Of which rooms tabs are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TabKind {
    /// Flows.
    Flows,
    /// Private conversations.
    Conversations,
}

/// What a new flow starts with.
#[derive(Clone, Debug)]
pub struct NewFlowRow {
    /// Public id.
    pub id: FlowId,
    /// The organization it belongs to.
    pub organization: OrganizationId,
    /// Display name.
    pub name: String,
    /// Name in URLs.
    pub parameterized_name: String,
    /// Who makes it.
    pub creator: Option<UserId>,
    /// 40 hexadecimal digits.
    pub join_secret: String,
    /// The time of making.
    pub created_at: Timestamp,
}

#[portable]
impl<C: Access> Flows<'_, C> {
    /// How many flows an organization has, and how many of them a user has made.
    pub fn count(
        c: &mut Connection,
        organization: OrganizationId,
        creator: UserId,
    ) -> Result<(i64, i64)> {
        let all = || {
            flows::table
                .filter(flows::organization_id.eq(organization.0))
                .count()
        };
        Ok((
            all().get_result(c)?,
            all()
                .filter(flows::creator_id.eq(creator.0))
                .get_result(c)?,
        ))
    }

    /// The flow that is this room.
    pub fn find(c: &mut Connection, room: RoomId) -> Result<Option<Flow>> {
        let row = flows::table
            .inner_join(rooms::table.on(rooms::id.eq(flows::room_id)))
            .filter(flows::room_id.eq(room.0))
            .select((FlowRow::as_select(), RoomRow::as_select()))
            .get_result::<(FlowRow, RoomRow)>(c)
            .optional()?;
        row.map(to_flow).transpose()
    }

    /// The room of the flow with this public id.
    pub fn find_room_by_id(c: &mut Connection, id: &str) -> Result<Option<RoomId>> {
        let room = flows::table
            .filter(flows::public_id.eq(id))
            .select(flows::room_id)
            .get_result(c)
            .optional()?;
        Ok(room.map(RoomId))
    }

    /// The room of the flow with this name.
    pub fn find_room_by_name(
        c: &mut Connection,
        organization: OrganizationId,
        parameterized_name: &str,
    ) -> Result<Option<RoomId>> {
        let room = flows::table
            .filter(flows::organization_id.eq(organization.0))
            .filter(flows::parameterized_name.eq(parameterized_name))
            .select(flows::room_id)
            .get_result(c)
            .optional()?;
        Ok(room.map(RoomId))
    }

    /// The room of the flow whose join link holds this secret.
    pub fn find_room_by_join_secret(c: &mut Connection, secret: &str) -> Result<Option<RoomId>> {
        let room = flows::table
            .filter(flows::join_secret.eq(secret))
            .select(flows::room_id)
            .first(c)
            .optional()?;
        Ok(room.map(RoomId))
    }

    /// The flows of an organization, ordered by room.
    pub fn list_of_organization(
        c: &mut Connection,
        organization: OrganizationId,
    ) -> Result<Vec<Flow>> {
        let rows = flows::table
            .inner_join(rooms::table.on(rooms::id.eq(flows::room_id)))
            .filter(flows::organization_id.eq(organization.0))
            .order(flows::room_id)
            .select((FlowRow::as_select(), RoomRow::as_select()))
            .load::<(FlowRow, RoomRow)>(c)?;
        rows.into_iter().map(to_flow).collect()
    }

    /// The rooms of an organization's flows that have a join link, ordered by number.
    pub fn list_rooms_with_join_link(
        c: &mut Connection,
        organization: OrganizationId,
    ) -> Result<Vec<RoomId>> {
        let ids = flows::table
            .filter(flows::organization_id.eq(organization.0))
            .filter(flows::access_mode.ne(mode_code(AccessMode::Invitation)))
            .order(flows::room_id)
            .select(flows::room_id)
            .load::<i64>(c)?;
        Ok(ids.into_iter().map(RoomId).collect())
    }
}

#[portable]
impl<C: Access> Members<'_, C> {
    /// What a user is in a room; `None` when never there, or gone.
    pub fn find(c: &mut Connection, room: RoomId, user: UserId) -> Result<Option<FlowMembership>> {
        let row = room_members::table
            .find((room.0, user.0))
            .select(MemberRow::as_select())
            .get_result(c)
            .optional()?;
        Ok(row.map(membership))
    }

    /// Everything a user is in, blocked or not.
    pub fn list_of_user(c: &mut Connection, user: UserId) -> Result<Vec<FlowMembership>> {
        let rows = room_members::table
            .filter(room_members::user_id.eq(user.0))
            .order(room_members::room_id)
            .select(MemberRow::as_select())
            .load(c)?;
        Ok(rows.into_iter().map(membership).collect())
    }

    /// The people of a room, the blocked ones too, ordered by user.
    pub fn list_of_room(c: &mut Connection, room: RoomId) -> Result<Vec<(FlowMembership, User)>> {
        let rows = room_members::table
            .inner_join(users::table.on(users::id.eq(room_members::user_id)))
            .filter(room_members::room_id.eq(room.0))
            .order(room_members::user_id)
            .select((MemberRow::as_select(), UserRow::as_select()))
            .load(c)?;
        Ok(rows
            .into_iter()
            .map(|(member, person)| (membership(member), to_user(person)))
            .collect())
    }

    /// The same people as pages show them, without what those do not need.
    pub fn list_people(c: &mut Connection, room: RoomId) -> Result<Vec<FlowPerson>> {
        let rows = room_members::table
            .inner_join(users::table.on(users::id.eq(room_members::user_id)))
            .filter(room_members::room_id.eq(room.0))
            .order(room_members::user_id)
            .select((
                users::id,
                users::nick,
                users::name,
                users::avatar,
                users::status,
                room_members::blocked,
            ))
            .load::<(i64, String, String, String, Option<String>, bool)>(c)?;
        let person = |(id, nick, name, avatar, status, blocked)| FlowPerson {
            user: UserId(id),
            nick,
            name,
            avatar,
            status,
            blocked,
        };
        Ok(rows.into_iter().map(person).collect())
    }

    /// Those who have left a room, ordered by user, with the names that they had then.
    pub fn list_former(c: &mut Connection, room: RoomId) -> Result<Vec<User>> {
        let rows = former_members::table
            .inner_join(users::table.on(users::id.eq(former_members::user_id)))
            .filter(former_members::room_id.eq(room.0))
            .order(former_members::user_id)
            .select((
                UserRow::as_select(),
                former_members::name,
                former_members::nick,
            ))
            .load::<(UserRow, String, String)>(c)?;
        let as_they_left = |(row, name, nick)| User {
            name,
            nick,
            ..to_user(row)
        };
        Ok(rows.into_iter().map(as_they_left).collect())
    }
}

#[portable]
impl<C: Access> OrganizationMembers<'_, C> {
    /// Who administers an organization. Inactive users do not.
    pub fn list_administrators(
        c: &mut Connection,
        organization: OrganizationId,
    ) -> Result<Vec<UserId>> {
        let ids = organization_members::table
            .inner_join(users::table.on(users::id.eq(organization_members::user_id)))
            .filter(organization_members::organization_id.eq(organization.0))
            .filter(organization_members::admin.eq(true))
            .filter(users::active.eq(true))
            .select(organization_members::user_id)
            .load(c)?;
        Ok(ids.into_iter().map(UserId).collect())
    }
}

#[portable]
impl<C: Access> Rooms<'_, C> {
    /// The number of the last message of a room, 0 when there is none yet; `None` when there is no
    /// such room.
    pub fn find_last_message_id(c: &mut Connection, room: RoomId) -> Result<Option<MessageId>> {
        let last = rooms::table
            .find(room.0)
            .select(rooms::last_message_id)
            .get_result(c)
            .optional()?;
        Ok(last.map(MessageId))
    }
}

impl Members<'_, Tx<'_>> {
    /// Puts a user into a room. A new member has read what was said before.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn insert(&mut self, room: RoomId, user: UserId, now: Timestamp) -> Result<()> {
        self.insert_all(room, &[user], now)
    }

    /// Sets whether a user is blocked in the room. A user who is unblocked has read what was said
    /// meanwhile, like a new member.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn set_blocked(&mut self, room: RoomId, user: UserId, blocked: bool) -> Result<()> {
        if !blocked && let Some(last) = Rooms(self.0).find_last_message_id(room)? {
            self.set_read(room, user, None, last)?;
        }
        self.write_blocked(room, user, blocked)
    }
}

#[portable]
impl Flows<'_, Tx<'_>> {
    /// Adds a flow with its room. It is invitation-only and has no members.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`] when the organization has a flow of that name.
    pub fn insert(c: &mut Connection, new: &NewFlowRow) -> Result<RoomId> {
        let room: i64 = diesel::insert_into(rooms::table)
            .values(rooms::kind.eq(ROOM_KIND_FLOW))
            .returning(rooms::id)
            .get_result(c)?;
        diesel::insert_into(flows::table)
            .values((
                flows::room_id.eq(room),
                flows::public_id.eq(&new.id.0),
                flows::organization_id.eq(new.organization.0),
                flows::name.eq(&new.name),
                flows::parameterized_name.eq(&new.parameterized_name),
                flows::access_mode.eq(mode_code(AccessMode::Invitation)),
                flows::disabled.eq(false),
                flows::creator_id.eq(new.creator.map(|id| id.0)),
                flows::join_secret.eq(&new.join_secret),
                flows::created_at.eq(new.created_at.0),
            ))
            .execute(c)?;
        Ok(RoomId(room))
    }

    /// Writes a flow's changeable fields, but for the secret of its join link.
    pub fn update(c: &mut Connection, changed: &Flow) -> Result<()> {
        diesel::update(flows::table.find(changed.room.0))
            .set((
                flows::name.eq(&changed.name),
                flows::description.eq(&changed.description),
                flows::access_mode.eq(mode_code(changed.access_mode)),
                flows::disabled.eq(changed.disabled),
            ))
            .execute(c)?;
        Ok(())
    }

    /// Sets the secrets of join links: 40 hexadecimal digits for each room. [`Flows::update`] does
    /// not write them, so that it never brings an earlier one back.
    pub fn set_join_secrets(c: &mut Connection, secrets: &[(RoomId, String)]) -> Result<()> {
        debug_assert!(
            secrets
                .iter()
                .all(|(_, secret)| secret.bytes().all(|byte| byte.is_ascii_hexdigit()))
        );
        for part in secrets.chunks(ROWS) {
            // One statement for many rows. Numbers and digits need no quoting.
            let rows: Vec<String> = part
                .iter()
                .map(|(room, secret)| format!("({}, '{secret}')", room.0))
                .collect();
            diesel::sql_query(format!(
                "update flows set join_secret = fresh.column2 from (values {}) as fresh \
                 where flows.room_id = fresh.column1",
                rows.join(", ")
            ))
            .execute(c)?;
        }
        Ok(())
    }
}

#[portable]
impl Rooms<'_, Tx<'_>> {
    /// Counts a change of who may read or post in a room: drafts checked before are checked again.
    pub fn advance_access(c: &mut Connection, room: RoomId) -> Result<()> {
        diesel::update(rooms::table.find(room.0))
            .set(rooms::access_version.eq(rooms::access_version + 1))
            .execute(c)?;
        Ok(())
    }
}

#[portable]
impl Members<'_, Tx<'_>> {
    /// Puts users into a room, each of whom is not in it.
    pub fn insert_all(
        c: &mut Connection,
        room: RoomId,
        users: &[UserId],
        now: Timestamp,
    ) -> Result<()> {
        let read: i64 = rooms::table
            .find(room.0)
            .select(rooms::last_message_id)
            .get_result(c)?;
        for part in users.chunks(ROWS) {
            let rows: Vec<_> = part
                .iter()
                .map(|user| {
                    (
                        room_members::room_id.eq(room.0),
                        room_members::user_id.eq(user.0),
                        room_members::open.eq(true),
                        room_members::blocked.eq(false),
                        room_members::last_activity.eq(now.0),
                        room_members::last_ping.eq(0),
                        room_members::read_up_to.eq(read),
                        room_members::inbox_read_up_to.eq(read),
                    )
                })
                .collect();
            diesel::insert_into(room_members::table)
                .values(rows)
                .execute(c)?;
            let returned = former_members::table
                .filter(former_members::room_id.eq(room.0))
                .filter(former_members::user_id.eq_any(part.iter().map(|user| user.0)));
            diesel::delete(returned).execute(c)?;
        }
        Ok(())
    }

    /// Takes a user out of a room. Where the user was in it, [`list_former`](Members::list_former)
    /// has the user from now on, under the present names.
    pub fn delete(c: &mut Connection, room: RoomId, user: UserId) -> Result<()> {
        let deleted = diesel::delete(room_members::table.find((room.0, user.0))).execute(c)?;
        let markers = thread_markers::table
            .filter(thread_markers::room_id.eq(room.0))
            .filter(thread_markers::user_id.eq(user.0));
        diesel::delete(markers).execute(c)?;
        if deleted > 0 {
            let (name, nick) = users::table
                .find(user.0)
                .select((users::name, users::nick))
                .get_result::<(String, String)>(c)?;
            diesel::insert_into(former_members::table)
                .values((
                    former_members::room_id.eq(room.0),
                    former_members::user_id.eq(user.0),
                    former_members::name.eq(name),
                    former_members::nick.eq(nick),
                ))
                .on_conflict_do_nothing()
                .execute(c)?;
        }
        Ok(())
    }

    /// Sets whether a user's clients show a tab for the room.
    pub fn set_open(c: &mut Connection, room: RoomId, user: UserId, open: bool) -> Result<()> {
        diesel::update(room_members::table.find((room.0, user.0)))
            .set(room_members::open.eq(open))
            .execute(c)?;
        Ok(())
    }

    /// Has the tabs of these rooms stand in this order, and those of the user's other rooms of the
    /// kind behind them.
    pub fn set_tab_order(
        c: &mut Connection,
        user: UserId,
        kind: TabKind,
        order: &[RoomId],
    ) -> Result<()> {
        let flow = flows::table.filter(flows::room_id.eq(room_members::room_id));
        let placed = room_members::table
            .filter(room_members::user_id.eq(user.0))
            .filter(room_members::tab_position.is_not_null())
            .filter(diesel::dsl::exists(flow).eq(kind == TabKind::Flows));
        diesel::update(placed)
            .set(room_members::tab_position.eq(None::<i32>))
            .execute(c)?;
        for (position, room) in (1..).zip(order) {
            diesel::update(room_members::table.find((room.0, user.0)))
                .set(room_members::tab_position.eq(Some(position)))
                .execute(c)?;
        }
        Ok(())
    }

    /// Shows a room's tab to a user whose clients do not show it. Tells whether that changed
    /// anything.
    pub(crate) fn set_open_if_closed(
        c: &mut Connection,
        room: RoomId,
        user: UserId,
    ) -> Result<bool> {
        let closed = room_members::table
            .find((room.0, user.0))
            .filter(room_members::open.eq(false));
        Ok(diesel::update(closed)
            .set(room_members::open.eq(true))
            .execute(c)?
            > 0)
    }

    fn write_blocked(c: &mut Connection, room: RoomId, user: UserId, blocked: bool) -> Result<()> {
        diesel::update(room_members::table.find((room.0, user.0)))
            .set(room_members::blocked.eq(blocked))
            .execute(c)?;
        Ok(())
    }

    /// Notes when users were last connected and last did something.
    pub fn touch(
        c: &mut Connection,
        seen: &[(RoomId, UserId, Timestamp, Timestamp)],
    ) -> Result<()> {
        for (room, user, ping, activity) in seen {
            let member = room_members::table.find((room.0, user.0));
            if ping.0 > 0 {
                diesel::update(member.filter(room_members::last_ping.lt(ping.0)))
                    .set(room_members::last_ping.eq(ping.0))
                    .execute(c)?;
            }
            if activity.0 > 0 {
                diesel::update(member.filter(room_members::last_activity.lt(activity.0)))
                    .set(room_members::last_activity.eq(activity.0))
                    .execute(c)?;
            }
        }
        Ok(())
    }
}
