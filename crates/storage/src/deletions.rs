//! Deletions that wait for their day, and the members of the organizations that are closed until then.

use std::collections::BTreeSet;

use diesel::prelude::*;
use eddyline_model::deletion::{DeletionTarget, PendingDeletion};
use eddyline_model::organizations::{ClosedOrganization, OrganizationRole};
use eddyline_model::{OrganizationId, Timestamp, UserId};
use eddyline_portable::portable;

use crate::areas::Deletions;
use crate::reader::Access;
use crate::schema::{
    closed_members, closed_room_members, flows, former_members, messages, organization_members,
    organizations, pending_deletions, removed_members, room_members,
};
use crate::transaction::Tx;
use crate::{Error, Result};

/// The columns of the members of an organization, which `organization_members` and `closed_members`
/// both have.
macro_rules! member_columns {
    ($table:ident) => {
        (
            $table::organization_id,
            $table::user_id,
            $table::nick_key,
            $table::admin,
            $table::created_at,
        )
    };
}

/// The columns of the members of a flow, which `room_members` and `closed_room_members` both have.
macro_rules! room_member_columns {
    ($table:ident) => {
        (
            $table::room_id,
            $table::user_id,
            $table::open,
            $table::blocked,
            $table::last_activity,
            $table::last_ping,
            $table::read_up_to,
            $table::tab_position,
            $table::inbox_read_up_to,
        )
    };
}

/// A row of `pending_deletions`, in the order of its columns.
type Row = (i16, i64, String, i64, i64, Option<i64>, bool);

fn key(target: DeletionTarget) -> (i16, i64) {
    match target {
        DeletionTarget::Organization(organization) => (0, organization.0),
        DeletionTarget::User(user) => (1, user.0),
    }
}

/// The rooms of the flows of an organization.
#[diesel::dsl::auto_type(no_type_alias)]
fn flows_of(organization: OrganizationId) -> _ {
    let id: i64 = organization.0;
    flows::table
        .filter(flows::organization_id.eq(id))
        .select(flows::room_id)
}

fn to_deletion(row: Row) -> Result<PendingDeletion> {
    let (scope, id, requested_by, requested_at, due_at, begun_at, was_active) = row;
    let target = match scope {
        0 => DeletionTarget::Organization(OrganizationId(id)),
        1 => DeletionTarget::User(UserId(id)),
        _ => return Err(Error::Corrupt("pending_deletions.scope")),
    };
    Ok(PendingDeletion {
        target,
        requested_by,
        requested_at: Timestamp(requested_at),
        due_at: Timestamp(due_at),
        begun_at: begun_at.map(Timestamp),
        was_active,
    })
}

#[portable]
impl<C: Access> Deletions<'_, C> {
    /// All deletions that wait or have begun, in the order of their days.
    pub fn list(c: &mut Connection) -> Result<Vec<PendingDeletion>> {
        let rows = pending_deletions::table
            .order((
                pending_deletions::due_at,
                pending_deletions::scope,
                pending_deletions::target_id,
            ))
            .load::<Row>(c)?;
        rows.into_iter().map(to_deletion).collect()
    }

    /// The deletion that is to come of this.
    pub fn find(c: &mut Connection, target: DeletionTarget) -> Result<Option<PendingDeletion>> {
        let row = pending_deletions::table.find(key(target));
        let row = row.get_result::<Row>(c).optional()?;
        row.map(to_deletion).transpose()
    }

    /// The closed organizations that a user was a member of, ordered by number.
    pub fn list_closed_of_user(
        c: &mut Connection,
        user: UserId,
    ) -> Result<Vec<ClosedOrganization>> {
        let of_organization = pending_deletions::target_id
            .eq(closed_members::organization_id)
            .and(pending_deletions::scope.eq(0_i16));
        let rows = closed_members::table
            .inner_join(pending_deletions::table.on(of_organization))
            .filter(closed_members::user_id.eq(user.0))
            .order(closed_members::organization_id)
            .select((
                closed_members::organization_id,
                closed_members::admin,
                pending_deletions::due_at,
            ))
            .load::<(i64, bool, i64)>(c)?;
        let rows = rows.into_iter();
        Ok(rows
            .map(|(organization, admin, due_at)| ClosedOrganization {
                organization: OrganizationId(organization),
                role: match admin {
                    true => OrganizationRole::Administrator,
                    false => OrganizationRole::Member,
                },
                due_at: Timestamp(due_at),
            })
            .collect())
    }

    /// The members that a closed organization had, each with whether they administered it.
    pub fn list_members(
        c: &mut Connection,
        organization: OrganizationId,
    ) -> Result<Vec<(UserId, bool)>> {
        let rows = closed_members::table
            .filter(closed_members::organization_id.eq(organization.0))
            .order(closed_members::user_id)
            .select((closed_members::user_id, closed_members::admin))
            .load::<(i64, bool)>(c)?;
        Ok(rows
            .into_iter()
            .map(|(user, admin)| (UserId(user), admin))
            .collect())
    }

    /// Everybody who wrote in the flows of an organization, or is or was a member of it or of one of
    /// its flows.
    pub fn list_people_ever(
        c: &mut Connection,
        organization: OrganizationId,
    ) -> Result<BTreeSet<UserId>> {
        let rooms = || flows_of(organization);
        let mut found = organization_members::table
            .filter(organization_members::organization_id.eq(organization.0))
            .select(organization_members::user_id)
            .load::<i64>(c)?;
        found.extend(
            closed_members::table
                .filter(closed_members::organization_id.eq(organization.0))
                .select(closed_members::user_id)
                .load::<i64>(c)?,
        );
        found.extend(
            removed_members::table
                .filter(removed_members::organization_id.eq(organization.0))
                .select(removed_members::user_id)
                .load::<i64>(c)?,
        );
        found.extend(
            former_members::table
                .filter(former_members::room_id.eq_any(rooms()))
                .select(former_members::user_id)
                .load::<i64>(c)?,
        );
        found.extend(
            messages::table
                .filter(messages::room_id.eq_any(rooms()))
                .filter(messages::user_id.is_not_null())
                .select(messages::user_id.assume_not_null())
                .distinct()
                .load::<i64>(c)?,
        );
        Ok(found.into_iter().map(UserId).collect())
    }
}

#[portable]
impl Deletions<'_, Tx<'_>> {
    /// Adds a deletion.
    pub fn insert(c: &mut Connection, new: &PendingDeletion) -> Result<()> {
        let (scope, target) = key(new.target);
        diesel::insert_into(pending_deletions::table)
            .values((
                pending_deletions::scope.eq(scope),
                pending_deletions::target_id.eq(target),
                pending_deletions::requested_by.eq(&new.requested_by),
                pending_deletions::requested_at.eq(new.requested_at.0),
                pending_deletions::due_at.eq(new.due_at.0),
                pending_deletions::begun_at.eq(new.begun_at.map(|at| at.0)),
                pending_deletions::was_active.eq(new.was_active),
            ))
            .execute(c)?;
        Ok(())
    }

    /// Notes that a server has begun to delete. A second beginning changes nothing.
    pub fn set_begun(c: &mut Connection, target: DeletionTarget, at: Timestamp) -> Result<()> {
        let waiting = pending_deletions::table
            .find(key(target))
            .filter(pending_deletions::begun_at.is_null());
        diesel::update(waiting)
            .set(pending_deletions::begun_at.eq(at.0))
            .execute(c)?;
        Ok(())
    }

    /// Notes that the organization or the user shall stay inactive when the deletion is cancelled.
    pub fn set_inactive(c: &mut Connection, target: DeletionTarget) -> Result<()> {
        diesel::update(pending_deletions::table.find(key(target)))
            .set(pending_deletions::was_active.eq(false))
            .execute(c)?;
        Ok(())
    }

    /// Deletes the note of a deletion.
    pub fn delete(c: &mut Connection, target: DeletionTarget) -> Result<()> {
        diesel::delete(pending_deletions::table.find(key(target))).execute(c)?;
        Ok(())
    }

    /// Takes all members out of an organization and of its flows, and keeps them aside with what
    /// they have read. The number of people that the organization knows stays.
    pub fn insert_closed(c: &mut Connection, organization: OrganizationId) -> Result<()> {
        let members = || {
            organization_members::table
                .filter(organization_members::organization_id.eq(organization.0))
        };
        members()
            .select(member_columns!(organization_members))
            .insert_into(closed_members::table)
            .into_columns(member_columns!(closed_members))
            .execute(c)?;
        diesel::delete(members()).execute(c)?;
        let rooms = flows_of(organization).load::<i64>(c)?;
        for room in rooms {
            let members = || room_members::table.filter(room_members::room_id.eq(room));
            members()
                .select(room_member_columns!(room_members))
                .insert_into(closed_room_members::table)
                .into_columns(room_member_columns!(closed_room_members))
                .execute(c)?;
            diesel::delete(members()).execute(c)?;
        }
        Ok(())
    }

    /// Lets the members back that [`insert_closed`](Self::insert_closed) took out.
    pub fn delete_closed(c: &mut Connection, organization: OrganizationId) -> Result<()> {
        let members =
            || closed_members::table.filter(closed_members::organization_id.eq(organization.0));
        members()
            .select(member_columns!(closed_members))
            .insert_into(organization_members::table)
            .into_columns(member_columns!(organization_members))
            .execute(c)?;
        diesel::delete(members()).execute(c)?;
        let rooms = flows_of(organization).load::<i64>(c)?;
        for room in rooms {
            let members =
                || closed_room_members::table.filter(closed_room_members::room_id.eq(room));
            members()
                .select(room_member_columns!(closed_room_members))
                .insert_into(room_members::table)
                .into_columns(room_member_columns!(room_members))
                .execute(c)?;
            diesel::delete(members()).execute(c)?;
        }
        Ok(())
    }

    /// Takes a user for good out of the closed organizations that they were a member of.
    pub fn delete_closed_of_user(c: &mut Connection, user: UserId) -> Result<()> {
        let of = closed_members::table.filter(closed_members::user_id.eq(user.0));
        let organizations = of.select(closed_members::organization_id).load::<i64>(c)?;
        diesel::delete(closed_members::table.filter(closed_members::user_id.eq(user.0)))
            .execute(c)?;
        diesel::delete(closed_room_members::table.filter(closed_room_members::user_id.eq(user.0)))
            .execute(c)?;
        diesel::update(organizations::table.filter(organizations::id.eq_any(organizations)))
            .set(organizations::user_count.eq(organizations::user_count - 1))
            .execute(c)?;
        Ok(())
    }
}
