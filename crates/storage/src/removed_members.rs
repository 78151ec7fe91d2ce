//! Users who were removed from an organization.

use diesel::prelude::*;
use eddyline_model::{OrganizationId, Timestamp, UserId};
use eddyline_portable::portable;

use crate::Result;
use crate::areas::OrganizationMembers;
use crate::reader::Access;
use crate::schema::removed_members;
use crate::transaction::Tx;

#[portable]
impl<C: Access> OrganizationMembers<'_, C> {
    /// Whether a user was removed from an organization and has not come back since.
    pub fn is_removed(
        c: &mut Connection,
        organization: OrganizationId,
        user: UserId,
    ) -> Result<bool> {
        let row = removed_members::table.find((organization.0, user.0));
        Ok(diesel::select(diesel::dsl::exists(row)).get_result(c)?)
    }
}

#[portable]
impl OrganizationMembers<'_, Tx<'_>> {
    /// Records that a user was removed from an organization.
    pub fn insert_removed(
        c: &mut Connection,
        organization: OrganizationId,
        user: UserId,
        at: Timestamp,
    ) -> Result<()> {
        diesel::insert_into(removed_members::table)
            .values((
                removed_members::organization_id.eq(organization.0),
                removed_members::user_id.eq(user.0),
                removed_members::removed_at.eq(at.0),
            ))
            .on_conflict((removed_members::organization_id, removed_members::user_id))
            .do_update()
            .set(removed_members::removed_at.eq(at.0))
            .execute(c)?;
        Ok(())
    }

    /// Deletes the record that a user was removed from an organization, if there is one.
    pub(crate) fn delete_removed(
        c: &mut Connection,
        organization: OrganizationId,
        user: UserId,
    ) -> Result<()> {
        diesel::delete(removed_members::table.find((organization.0, user.0))).execute(c)?;
        Ok(())
    }
}
