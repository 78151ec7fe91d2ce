//! Groups of users within an organization.

use std::collections::HashMap;

use diesel::prelude::*;
use diesel::sql_types::BigInt;
use eddyline_model::groups::{Group, GroupLabels};
use eddyline_model::{GroupId, OrganizationId, Timestamp, UserId};
use eddyline_portable::portable;

use crate::Result;
use crate::areas::{Groups, OrganizationMembers};
use crate::reader::Access;
use crate::schema::{organization_members, user_group_members, user_groups};
use crate::transaction::Tx;

#[derive(Queryable, Selectable)]
#[diesel(table_name = user_groups)]
struct Row {
    id: i64,
    organization_id: i64,
    name: String,
    name_key: String,
    created_at: i64,
    display_name: Option<String>,
    external_id: Option<String>,
}

/// The groups, ordered by organization and by the keys of their names. `members` is ordered by
/// number.
fn to_groups(mut rows: Vec<Row>, members: Vec<(i64, i64)>) -> Vec<Group> {
    // Databases compare texts by rules of their own.
    rows.sort_unstable_by(|one, other| {
        (one.organization_id, &one.name_key).cmp(&(other.organization_id, &other.name_key))
    });
    let mut users: HashMap<i64, Vec<UserId>> = HashMap::with_capacity(rows.len());
    for (group, user) in members {
        users.entry(group).or_default().push(UserId(user));
    }
    let group = |row: Row| Group {
        id: GroupId(row.id),
        organization: OrganizationId(row.organization_id),
        users: users.remove(&row.id).unwrap_or_default(),
        name: row.name,
        labels: GroupLabels {
            display_name: row.display_name,
            external_id: row.external_id,
        },
        created_at: Timestamp(row.created_at),
    };
    rows.into_iter().map(group).collect()
}

#[portable]
impl<C: Access> OrganizationMembers<'_, C> {
    /// Which of these users belong to an organization, ordered by number.
    pub fn list_among(
        c: &mut Connection,
        organization: OrganizationId,
        users: &[UserId],
    ) -> Result<Vec<UserId>> {
        let users: Vec<i64> = users.iter().map(|user| user.0).collect();
        let found = organization_members::table
            .filter(organization_members::organization_id.eq(organization.0))
            .filter(organization_members::user_id.eq_any(users))
            .order(organization_members::user_id)
            .select(organization_members::user_id)
            .load::<i64>(c)?;
        Ok(found.into_iter().map(UserId).collect())
    }
}

#[portable]
impl<C: Access> Groups<'_, C> {
    /// The group with this number.
    pub fn find(c: &mut Connection, id: GroupId) -> Result<Option<Group>> {
        let row = user_groups::table
            .find(id.0)
            .select(Row::as_select())
            .get_result(c)
            .optional()?;
        let Some(row) = row else { return Ok(None) };
        let members = user_group_members::table
            .filter(user_group_members::group_id.eq(id.0))
            .order(user_group_members::user_id)
            .select((user_group_members::group_id, user_group_members::user_id))
            .load(c)?;
        Ok(to_groups(vec![row], members).pop())
    }

    /// The number of the group of an organization whose name has this key.
    pub fn find_by_name(
        c: &mut Connection,
        organization: OrganizationId,
        name_key: &str,
    ) -> Result<Option<GroupId>> {
        let id = user_groups::table
            .filter(user_groups::organization_id.eq(organization.0))
            .filter(user_groups::name_key.eq(name_key))
            .select(user_groups::id);
        Ok(id.get_result::<i64>(c).optional()?.map(GroupId))
    }

    /// The groups of an organization that some users are in, ordered by user and group: the user,
    /// the number of the group, and the name that an identity provider sees.
    pub fn list_of_users(
        c: &mut Connection,
        organization: OrganizationId,
        users: &[UserId],
    ) -> Result<Vec<(UserId, GroupId, String)>> {
        let users: Vec<i64> = users.iter().map(|user| user.0).collect();
        let found = user_group_members::table
            .inner_join(user_groups::table.on(user_groups::id.eq(user_group_members::group_id)))
            .filter(user_groups::organization_id.eq(organization.0))
            .filter(user_group_members::user_id.eq_any(users))
            .order((user_group_members::user_id, user_groups::id))
            .select((
                user_group_members::user_id,
                user_groups::id,
                user_groups::name,
                user_groups::display_name,
            ))
            .load::<(i64, i64, String, Option<String>)>(c)?;
        let group = |(user, group, name, label): (i64, i64, String, Option<String>)| {
            (UserId(user), GroupId(group), label.unwrap_or(name))
        };
        Ok(found.into_iter().map(group).collect())
    }

    /// How many groups an organization has.
    pub fn count(c: &mut Connection, organization: OrganizationId) -> Result<i64> {
        let of_it = user_groups::table.filter(user_groups::organization_id.eq(organization.0));
        Ok(of_it.count().get_result(c)?)
    }

    /// How many members the groups of an organization have, all together.
    pub fn count_memberships(c: &mut Connection, organization: OrganizationId) -> Result<i64> {
        let of_it = user_groups::table.filter(user_groups::organization_id.eq(organization.0));
        let members = user_group_members::table
            .filter(user_group_members::group_id.eq_any(of_it.select(user_groups::id)));
        Ok(members.count().get_result(c)?)
    }

    /// The groups of some organizations, ordered by organization and by the keys of their names.
    pub fn list_of_organizations(
        c: &mut Connection,
        organizations: &[OrganizationId],
    ) -> Result<Vec<Group>> {
        let ids: Vec<i64> = organizations.iter().map(|id| id.0).collect();
        let of_them = || user_groups::table.filter(user_groups::organization_id.eq_any(&ids));
        let rows = of_them().select(Row::as_select()).load(c)?;
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let members = user_group_members::table
            .filter(user_group_members::group_id.eq_any(of_them().select(user_groups::id)))
            .order((user_group_members::group_id, user_group_members::user_id))
            .select((user_group_members::group_id, user_group_members::user_id))
            .load(c)?;
        Ok(to_groups(rows, members))
    }
}

#[portable]
impl Groups<'_, Tx<'_>> {
    /// Adds a group without members. The caller holds the organization
    /// ([`Organizations::lock`](crate::areas::Organizations::lock)) and has asked whether the name
    /// is taken there.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Exists`] when another group of the organization has the name.
    pub fn insert(
        c: &mut Connection,
        organization: OrganizationId,
        name: (&str, &str),
        now: Timestamp,
    ) -> Result<GroupId> {
        let id = diesel::insert_into(user_groups::table)
            .values((
                user_groups::organization_id.eq(organization.0),
                user_groups::name.eq(name.0),
                user_groups::name_key.eq(name.1),
                user_groups::created_at.eq(now.0),
            ))
            .returning(user_groups::id)
            .get_result(c)?;
        Ok(GroupId(id))
    }

    /// Gives a group another name, on the same conditions as a new one.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Exists`] when another group of the organization has the name.
    pub fn set_name(c: &mut Connection, id: GroupId, name: (&str, &str)) -> Result<()> {
        diesel::update(user_groups::table.find(id.0))
            .set((
                user_groups::name.eq(name.0),
                user_groups::name_key.eq(name.1),
            ))
            .execute(c)?;
        Ok(())
    }

    /// Sets what an identity provider calls a group.
    pub fn set_labels(c: &mut Connection, id: GroupId, labels: &GroupLabels) -> Result<()> {
        diesel::update(user_groups::table.find(id.0))
            .set((
                user_groups::display_name.eq(&labels.display_name),
                user_groups::external_id.eq(&labels.external_id),
            ))
            .execute(c)?;
        Ok(())
    }

    /// Removes a group.
    pub fn delete(c: &mut Connection, id: GroupId) -> Result<()> {
        let members = user_group_members::table.filter(user_group_members::group_id.eq(id.0));
        diesel::delete(members).execute(c)?;
        diesel::delete(user_groups::table.find(id.0)).execute(c)?;
        Ok(())
    }

    /// Brings users into a group of this organization. Those who do not belong to the organization
    /// are passed over.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Exists`] when one of them is in it already.
    pub fn insert_members(
        c: &mut Connection,
        organization: OrganizationId,
        group: GroupId,
        users: &[UserId],
    ) -> Result<()> {
        let users: Vec<i64> = users.iter().map(|user| user.0).collect();
        let members = organization_members::table
            .filter(organization_members::organization_id.eq(organization.0))
            .filter(organization_members::user_id.eq_any(users))
            .select((group.0.into_sql::<BigInt>(), organization_members::user_id));
        diesel::insert_into(user_group_members::table)
            .values(members)
            .into_columns((user_group_members::group_id, user_group_members::user_id))
            .execute(c)?;
        Ok(())
    }

    /// Takes users out of a group.
    pub fn delete_members(c: &mut Connection, group: GroupId, users: &[UserId]) -> Result<()> {
        let users: Vec<i64> = users.iter().map(|user| user.0).collect();
        let gone = user_group_members::table
            .filter(user_group_members::group_id.eq(group.0))
            .filter(user_group_members::user_id.eq_any(users));
        diesel::delete(gone).execute(c)?;
        Ok(())
    }

    /// Takes a user out of all groups of an organization.
    pub(crate) fn delete_memberships(
        c: &mut Connection,
        organization: OrganizationId,
        user: UserId,
    ) -> Result<()> {
        let groups = user_groups::table
            .filter(user_groups::organization_id.eq(organization.0))
            .select(user_groups::id);
        let memberships = user_group_members::table
            .filter(user_group_members::user_id.eq(user.0))
            .filter(user_group_members::group_id.eq_any(groups));
        diesel::delete(memberships).execute(c)?;
        Ok(())
    }
}
