//! Organizations and who belongs to them.

use std::collections::BTreeSet;

use diesel::prelude::*;
use eddyline_model::deletion::DeletionTarget;
use eddyline_model::organizations::{
    Organization, OrganizationMembership, OrganizationRole, OrganizationSubscription,
};
use eddyline_model::{Day, OrganizationId, RoomId, Timestamp, UserId};
use eddyline_portable::portable;

use crate::areas::{Deletions, Flows, Groups, Members, OrganizationMembers, Organizations, Rooms};
use crate::reader::{Access, dialect};
use crate::rows::LockedRoom;
use crate::schema::{
    closed_members, flows, organization_members, organization_names, organizations, room_members,
    user_groups, users,
};
use crate::transaction::Tx;
use crate::users::{People, UserRow, to_user};
use crate::{Error, Result};

#[derive(Queryable, Selectable)]
#[diesel(table_name = organizations)]
pub(crate) struct Row {
    id: i64,
    name: String,
    parameterized_name: String,
    user_limit: i64,
    active: bool,
    parent_id: Option<i64>,
    created_at: i64,
    trial_ends: Option<String>,
    billing_date: Option<String>,
    user_count: i64,
}

/// How many numbers one statement is given.
const ROWS: usize = 500;

fn to_day(text: Option<String>) -> Result<Option<Day>> {
    text.map(|text| text.parse().map_err(|_| Error::Corrupt("day")))
        .transpose()
}

pub(crate) fn to_organization(row: Row) -> Result<Organization> {
    let subscription = match to_day(row.trial_ends)? {
        Some(ends) => OrganizationSubscription::Trial { ends },
        None => OrganizationSubscription::Paid {
            next_bill: to_day(row.billing_date)?,
        },
    };
    Ok(Organization {
        id: OrganizationId(row.id),
        name: row.name,
        parameterized_name: row.parameterized_name,
        user_limit: row.user_limit,
        user_count: row.user_count,
        active: row.active,
        parent: row.parent_id.map(OrganizationId),
        created_at: Timestamp(row.created_at),
        subscription,
    })
}

#[portable]
impl<C: Access> Organizations<'_, C> {
    /// The organization with this number.
    pub fn find(c: &mut Connection, id: OrganizationId) -> Result<Option<Organization>> {
        let row = organizations::table
            .find(id.0)
            .select(Row::as_select())
            .get_result(c)
            .optional()?;
        row.map(to_organization).transpose()
    }

    /// The number of the organization that has this name, or had it before.
    pub fn find_id_by_name(
        c: &mut Connection,
        parameterized_name: &str,
    ) -> Result<Option<OrganizationId>> {
        let organization = organization_names::table
            .find(parameterized_name)
            .select(organization_names::organization_id);
        Ok(organization
            .get_result::<i64>(c)
            .optional()?
            .map(OrganizationId))
    }

    /// The organizations a user belongs to, ordered by number, each with its people.
    pub fn list_of_user(c: &mut Connection, user: UserId) -> Result<Vec<(Organization, People)>> {
        let mine = || {
            organization_members::table
                .filter(organization_members::user_id.eq(user.0))
                .select(organization_members::organization_id)
        };
        let rows = organizations::table
            .filter(organizations::id.eq_any(mine()))
            .order(organizations::id)
            .select(Row::as_select())
            .load(c)?;
        let shared = diesel::alias!(organization_members as shared);
        let people = shared
            .inner_join(users::table.on(users::id.eq(shared.field(organization_members::user_id))))
            .filter(
                shared
                    .field(organization_members::organization_id)
                    .eq_any(mine()),
            )
            .order((
                shared.field(organization_members::organization_id),
                users::id,
            ))
            .select((
                shared.field(organization_members::organization_id),
                UserRow::as_select(),
                shared.field(organization_members::admin),
            ))
            .load::<(i64, UserRow, bool)>(c)?;
        let mut people = people.into_iter().peekable();
        rows.into_iter()
            .map(|row| {
                let id = row.id;
                let mut of_it = Vec::new();
                while let Some((_, person, admin)) =
                    people.next_if(|(organization, ..)| *organization == id)
                {
                    of_it.push((to_user(person), admin));
                }
                Ok((to_organization(row)?, of_it))
            })
            .collect()
    }

    fn list_children(c: &mut Connection, parents: &[i64]) -> Result<Vec<i64>> {
        Ok(organizations::table
            .filter(organizations::parent_id.eq_any(parents))
            .select(organizations::id)
            .load(c)?)
    }
}

#[portable]
impl<C: Access> Members<'_, C> {
    /// The rooms of an organization's flows that a user is in, blocked or not, ordered by number.
    pub fn list_rooms_in_organization(
        c: &mut Connection,
        organization: OrganizationId,
        user: UserId,
    ) -> Result<Vec<RoomId>> {
        let ids = room_members::table
            .inner_join(flows::table.on(flows::room_id.eq(room_members::room_id)))
            .filter(room_members::user_id.eq(user.0))
            .filter(flows::organization_id.eq(organization.0))
            .order(room_members::room_id)
            .select(room_members::room_id)
            .load::<i64>(c)?;
        Ok(ids.into_iter().map(RoomId).collect())
    }
}

#[portable]
impl<C: Access> OrganizationMembers<'_, C> {
    /// Whether another user of an organization has a nick with this key, or a group there has it as
    /// the key of its name.
    pub fn has_nick(
        c: &mut Connection,
        organization: OrganizationId,
        nick_key: &str,
        but: UserId,
    ) -> Result<bool> {
        let others = organization_members::table
            .filter(organization_members::organization_id.eq(organization.0))
            .filter(organization_members::nick_key.eq(nick_key))
            .filter(organization_members::user_id.ne(but.0));
        let groups = user_groups::table
            .filter(user_groups::organization_id.eq(organization.0))
            .filter(user_groups::name_key.eq(nick_key));
        let closed = closed_members::table
            .filter(closed_members::organization_id.eq(organization.0))
            .filter(closed_members::nick_key.eq(nick_key))
            .filter(closed_members::user_id.ne(but.0));
        let taken = diesel::dsl::exists(others)
            .or(diesel::dsl::exists(groups))
            .or(diesel::dsl::exists(closed));
        Ok(diesel::select(taken).get_result(c)?)
    }

    /// The organizations a user belongs to.
    pub fn list_of_user(c: &mut Connection, user: UserId) -> Result<Vec<OrganizationMembership>> {
        let rows = organization_members::table
            .filter(organization_members::user_id.eq(user.0))
            .order(organization_members::organization_id)
            .select((
                organization_members::organization_id,
                organization_members::admin,
            ))
            .load::<(i64, bool)>(c)?;
        Ok(rows
            .into_iter()
            .map(|(organization, admin)| OrganizationMembership {
                organization: OrganizationId(organization),
                user,
                role: if admin {
                    OrganizationRole::Administrator
                } else {
                    OrganizationRole::Member
                },
            })
            .collect())
    }
}

impl Organizations<'_, Tx<'_>> {
    /// Adds an organization.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`] when the name is taken.
    pub fn insert(
        &mut self,
        name: &str,
        parameterized_name: &str,
        user_limit: i64,
        now: Timestamp,
    ) -> Result<OrganizationId> {
        let id = self.insert_row(name, parameterized_name, user_limit, now)?;
        self.insert_name(id, parameterized_name)?;
        Ok(id)
    }

    /// Writes an organization's changeable fields, its parent among them, but not how many people
    /// it holds. The name in URLs that it had goes on leading to it.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`] when the name in URLs is or was another organization's.
    pub fn update(&mut self, changed: &Organization) -> Result<()> {
        let (id, name) = (changed.id, changed.parameterized_name.as_str());
        if self.find_id_by_name(name)? != Some(id) {
            self.insert_name(id, name)?;
        }
        self.update_row(changed)
    }
}

impl OrganizationMembers<'_, Tx<'_>> {
    /// Adds a user to an organization. The record of an earlier removal ends.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] when the organization is full, [`Error::Exists`] when the user is in it
    /// or the nick is taken there, by a user or by a group.
    pub fn insert(
        &mut self,
        membership: OrganizationMembership,
        nick_key: &str,
        now: Timestamp,
    ) -> Result<()> {
        let OrganizationMembership {
            organization: id,
            user,
            ..
        } = membership;
        let organization = Organizations(self.0)
            .lock(id)?
            .ok_or(Error::Refused("no such organization"))?;
        let deletion = DeletionTarget::Organization(id);
        if Deletions(self.0).find(deletion)?.is_some() {
            return Err(Error::Refused(
                "the organization is closed and will be deleted; cancel its deletion first",
            ));
        }
        if organization.user_count >= organization.user_limit {
            return Err(Error::Refused("the organization's user limit is reached"));
        }
        if Groups(self.0).find_by_name(id, nick_key)?.is_some() {
            return Err(Error::Exists("a group of this name".to_owned()));
        }
        self.insert_row(membership, nick_key, now)?;
        self.delete_removed(id, user)?;
        self.add_to_count(id, 1)
    }

    /// Takes a user out of an organization and of its groups, if they are in it.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn delete(&mut self, organization: OrganizationId, user: UserId) -> Result<()> {
        // Lock order: organizations before their members.
        Organizations(self.0).lock(organization)?;
        if self.delete_row(organization, user)? {
            Groups(self.0).delete_memberships(organization, user)?;
            self.add_to_count(organization, -1)?;
        }
        Ok(())
    }
}

#[portable]
impl Organizations<'_, Tx<'_>> {
    fn insert_row(
        c: &mut Connection,
        name: &str,
        parameterized_name: &str,
        user_limit: i64,
        now: Timestamp,
    ) -> Result<OrganizationId> {
        let id: i64 = diesel::insert_into(organizations::table)
            .values((
                organizations::name.eq(name),
                organizations::parameterized_name.eq(parameterized_name),
                organizations::user_limit.eq(user_limit),
                organizations::active.eq(true),
                organizations::created_at.eq(now.0),
            ))
            .returning(organizations::id)
            .get_result(c)?;
        Ok(OrganizationId(id))
    }

    /// Gives an organization a name in URLs, which it keeps for good beside those it has.
    fn insert_name(c: &mut Connection, id: OrganizationId, parameterized_name: &str) -> Result<()> {
        diesel::insert_into(organization_names::table)
            .values((
                organization_names::parameterized_name.eq(parameterized_name),
                organization_names::organization_id.eq(id.0),
            ))
            .execute(c)?;
        Ok(())
    }

    fn update_row(c: &mut Connection, changed: &Organization) -> Result<()> {
        let (trial_ends, billing_date) = match changed.subscription {
            OrganizationSubscription::Trial { ends } => (Some(ends.to_string()), None),
            OrganizationSubscription::Paid { next_bill } => {
                (None, next_bill.map(|day| day.to_string()))
            }
        };
        diesel::update(organizations::table.find(changed.id.0))
            .set((
                organizations::name.eq(&changed.name),
                organizations::parameterized_name.eq(&changed.parameterized_name),
                organizations::user_limit.eq(changed.user_limit),
                organizations::active.eq(changed.active),
                organizations::parent_id.eq(changed.parent.map(|parent| parent.0)),
                organizations::trial_ends.eq(trial_ends),
                organizations::billing_date.eq(billing_date),
            ))
            .execute(c)?;
        Ok(())
    }
}

#[portable]
impl OrganizationMembers<'_, Tx<'_>> {
    fn insert_row(
        c: &mut Connection,
        membership: OrganizationMembership,
        nick_key: &str,
        now: Timestamp,
    ) -> Result<()> {
        diesel::insert_into(organization_members::table)
            .values((
                organization_members::organization_id.eq(membership.organization.0),
                organization_members::user_id.eq(membership.user.0),
                organization_members::nick_key.eq(nick_key),
                organization_members::admin.eq(membership.role == OrganizationRole::Administrator),
                organization_members::created_at.eq(now.0),
            ))
            .execute(c)?;
        Ok(())
    }

    /// Deletes the row of a member; `false` when there was none.
    fn delete_row(c: &mut Connection, organization: OrganizationId, user: UserId) -> Result<bool> {
        Ok(
            diesel::delete(organization_members::table.find((organization.0, user.0)))
                .execute(c)?
                > 0,
        )
    }

    /// Notes that more people are in an organization, or fewer.
    fn add_to_count(c: &mut Connection, id: OrganizationId, more: i64) -> Result<()> {
        diesel::update(organizations::table.find(id.0))
            .set(organizations::user_count.eq(organizations::user_count + more))
            .execute(c)?;
        Ok(())
    }
}

impl<C: Access> Organizations<'_, C> {
    /// The organizations below another: its children, theirs, and so on, ordered by number. It is
    /// not below itself, even where parents form a ring.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn list_below(&mut self, id: OrganizationId) -> Result<Vec<OrganizationId>> {
        let mut below = BTreeSet::new();
        let mut level = vec![id.0];
        while !level.is_empty() {
            let mut next = Vec::new();
            for parents in level.chunks(ROWS) {
                next.extend(self.list_children(parents)?);
            }
            next.retain(|child| *child != id.0 && below.insert(*child));
            level = next;
        }
        Ok(below.into_iter().map(OrganizationId).collect())
    }
}

impl Rooms<'_, Tx<'_>> {
    /// Locks the rooms of all flows of some organizations, and all private conversations of some
    /// users, against other writers until the transaction ends. They are locked at once, since
    /// every transaction locks rooms in ascending order.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn lock_of_organizations(&mut self, of: &[OrganizationId], users: &[UserId]) -> Result<()> {
        let mut rooms = BTreeSet::new();
        for organization in of {
            let flows = Flows(self.0).list_of_organization(*organization)?;
            rooms.extend(flows.into_iter().map(|flow| flow.room.0));
        }
        for user in users {
            rooms.extend(self.list_private_of_user(*user)?);
        }
        let rooms: Vec<i64> = rooms.into_iter().collect();
        let _locked: Vec<LockedRoom> = dialect!(self, lock_rooms, &rooms)?;
        Ok(())
    }
}

impl Organizations<'_, Tx<'_>> {
    /// The organization, held against other writers until the transaction ends, so that counting
    /// its people and adding one is one step.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn lock(&mut self, id: OrganizationId) -> Result<Option<Organization>> {
        match self.0.connection() {
            #[cfg(feature = "postgres")]
            crate::reader::Inner::Postgres(c) => {
                organizations::table
                    .find(id.0)
                    .select(organizations::id)
                    .for_update()
                    .get_result::<i64>(c)
                    .optional()?;
            }
            // A writer of SQLite writes alone.
            #[cfg(feature = "sqlite")]
            crate::reader::Inner::Sqlite(_) => {}
        }
        self.find(id)
    }
}
