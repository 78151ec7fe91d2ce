//! Memberships that an identity provider has suspended, to be restored with the users.

use diesel::prelude::*;
use eddyline_model::organizations::{OrganizationMembership, OrganizationRole};
use eddyline_model::{OrganizationId, Timestamp, UserId};
use eddyline_portable::portable;

use crate::Result;
use crate::areas::OrganizationMembers;
use crate::reader::Access;
use crate::schema::suspended_memberships;
use crate::transaction::Tx;

#[portable]
impl<C: Access> OrganizationMembers<'_, C> {
    /// The memberships of a user that a suspension ended, ordered by organization.
    pub fn list_suspended(c: &mut Connection, user: UserId) -> Result<Vec<OrganizationMembership>> {
        let rows = suspended_memberships::table
            .filter(suspended_memberships::user_id.eq(user.0))
            .order(suspended_memberships::organization_id)
            .select((
                suspended_memberships::organization_id,
                suspended_memberships::admin,
            ))
            .load::<(i64, bool)>(c)?;
        let membership = |(organization, admin)| OrganizationMembership {
            organization: OrganizationId(organization),
            user,
            role: if admin {
                OrganizationRole::Administrator
            } else {
                OrganizationRole::Member
            },
        };
        Ok(rows.into_iter().map(membership).collect())
    }

    /// When a suspension of this user last ended all access; `None` when none has.
    pub fn find_access_end(c: &mut Connection, user: UserId) -> Result<Option<Timestamp>> {
        let of_user =
            suspended_memberships::table.filter(suspended_memberships::user_id.eq(user.0));
        let last = of_user.select(diesel::dsl::max(suspended_memberships::access_ended_at));
        Ok(last.get_result::<Option<i64>>(c)?.map(Timestamp))
    }
}

#[portable]
impl OrganizationMembers<'_, Tx<'_>> {
    /// Keeps a membership that a suspension ended, and when one last ended all access.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Exists`] when it is kept already.
    pub fn insert_suspended(
        c: &mut Connection,
        membership: OrganizationMembership,
        access_ended_at: Timestamp,
    ) -> Result<()> {
        diesel::insert_into(suspended_memberships::table)
            .values((
                suspended_memberships::user_id.eq(membership.user.0),
                suspended_memberships::organization_id.eq(membership.organization.0),
                suspended_memberships::admin.eq(membership.role == OrganizationRole::Administrator),
                suspended_memberships::access_ended_at.eq(access_ended_at.0),
            ))
            .execute(c)?;
        Ok(())
    }

    /// Forgets the memberships of a user that a suspension ended.
    pub fn delete_suspended(c: &mut Connection, user: UserId) -> Result<()> {
        let of_user =
            suspended_memberships::table.filter(suspended_memberships::user_id.eq(user.0));
        diesel::delete(of_user).execute(c)?;
        Ok(())
    }
}
