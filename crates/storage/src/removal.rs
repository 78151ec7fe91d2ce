//! Deleting what an organization has, beside its messages.

use diesel::prelude::*;
use eddyline_model::{ApplicationId, InvitationId, OrganizationId, RoomId, UserId};
use eddyline_portable::portable;

use crate::Result;
use crate::areas::Deletions;
use crate::reader::{Access, dialect};
use crate::schema::{
    applications, audit, closed_members, closed_room_members, cohorts, flow_tokens, flows,
    former_members, identities, identity_providers, imported_records, invitations, mail_records,
    notification_levels, organization_domains, organization_members, organization_names,
    organizations, pushes, removed_members, retention_rules, room_members, rooms, sources,
    suspended_memberships, thread_items, thread_markers, threads, user_group_members, user_groups,
};
use crate::transaction::Tx;

/// The scopes of `retention_rules`.
const RULE_OF_ORGANIZATION: i16 = 0;
const RULE_OF_FLOW: i16 = 1;

#[portable]
impl<C: Access> Deletions<'_, C> {
    /// All invitations into a flow, pending and accepted ones.
    pub fn list_invitations(c: &mut Connection, room: RoomId) -> Result<Vec<InvitationId>> {
        let ids = invitations::table
            .filter(invitations::room_id.eq(room.0))
            .select(invitations::id)
            .load::<i64>(c)?;
        Ok(ids.into_iter().map(InvitationId).collect())
    }

    /// The applications of an organization.
    pub fn list_applications(
        c: &mut Connection,
        organization: OrganizationId,
    ) -> Result<Vec<ApplicationId>> {
        let ids = applications::table
            .filter(applications::organization_id.eq(organization.0))
            .order(applications::id)
            .select(applications::id)
            .load::<i64>(c)?;
        Ok(ids.into_iter().map(ApplicationId).collect())
    }

    /// Whether a user belongs or belonged to another organization, open or closed.
    pub fn has_other_organization(
        c: &mut Connection,
        user: UserId,
        but: OrganizationId,
    ) -> Result<bool> {
        let present = organization_members::table
            .filter(organization_members::user_id.eq(user.0))
            .filter(organization_members::organization_id.ne(but.0));
        let closed = closed_members::table
            .filter(closed_members::user_id.eq(user.0))
            .filter(closed_members::organization_id.ne(but.0));
        let removed = removed_members::table
            .filter(removed_members::user_id.eq(user.0))
            .filter(removed_members::organization_id.ne(but.0));
        Ok(
            diesel::select(diesel::dsl::exists(present)).get_result::<bool>(c)?
                || diesel::select(diesel::dsl::exists(closed)).get_result::<bool>(c)?
                || diesel::select(diesel::dsl::exists(removed)).get_result::<bool>(c)?,
        )
    }
}

#[portable]
impl Deletions<'_, Tx<'_>> {
    /// Deletes a flow that has no messages and no invitations any more, with its sources and their
    /// tokens, and everything that is kept of its members. Rows of the log stay, which have no text.
    pub fn delete_flow(c: &mut Connection, room: RoomId) -> Result<()> {
        let id = room.0;
        diesel::delete(thread_items::table.filter(thread_items::room_id.eq(id))).execute(c)?;
        diesel::delete(threads::table.filter(threads::room_id.eq(id))).execute(c)?;
        diesel::delete(thread_markers::table.filter(thread_markers::room_id.eq(id))).execute(c)?;
        diesel::delete(pushes::table.filter(pushes::room_id.eq(id))).execute(c)?;
        diesel::delete(notification_levels::table.filter(notification_levels::room_id.eq(id)))
            .execute(c)?;
        diesel::delete(room_members::table.filter(room_members::room_id.eq(id))).execute(c)?;
        diesel::delete(closed_room_members::table.filter(closed_room_members::room_id.eq(id)))
            .execute(c)?;
        diesel::delete(former_members::table.filter(former_members::room_id.eq(id))).execute(c)?;
        diesel::delete(flow_tokens::table.filter(flow_tokens::room_id.eq(id))).execute(c)?;
        diesel::delete(sources::table.filter(sources::room_id.eq(id))).execute(c)?;
        diesel::delete(imported_records::table.filter(imported_records::room_id.eq(id)))
            .execute(c)?;
        diesel::delete(cohorts::table.filter(cohorts::room_id.eq(id))).execute(c)?;
        diesel::delete(retention_rules::table.find((RULE_OF_FLOW, id))).execute(c)?;
        diesel::delete(flows::table.find(id)).execute(c)?;
        Ok(())
    }

    fn delete_room(c: &mut Connection, room: RoomId) -> Result<()> {
        diesel::delete(rooms::table.find(room.0)).execute(c)?;
        Ok(())
    }

    /// Deletes some records of the audit log of an organization, and gives how many.
    pub fn delete_audit(
        c: &mut Connection,
        organization: OrganizationId,
        limit: i64,
    ) -> Result<usize> {
        let ids = audit::table
            .filter(audit::organization_id.eq(organization.0))
            .order(audit::id)
            .limit(limit)
            .select(audit::id)
            .load::<i64>(c)?;
        Ok(diesel::delete(audit::table.filter(audit::id.eq_any(ids))).execute(c)?)
    }

    /// Deletes an organization that has no flows and no applications any more, with its groups, its
    /// identity provider and everything that is kept of its members. The organizations below it
    /// have none above them then.
    pub fn delete_organization(c: &mut Connection, organization: OrganizationId) -> Result<()> {
        let id = organization.0;
        let groups = user_groups::table
            .filter(user_groups::organization_id.eq(id))
            .select(user_groups::id)
            .load::<i64>(c)?;
        diesel::delete(
            user_group_members::table.filter(user_group_members::group_id.eq_any(groups)),
        )
        .execute(c)?;
        diesel::delete(user_groups::table.filter(user_groups::organization_id.eq(id)))
            .execute(c)?;
        diesel::delete(identities::table.filter(identities::organization_id.eq(id))).execute(c)?;
        diesel::delete(identity_providers::table.find(id)).execute(c)?;
        diesel::delete(
            suspended_memberships::table.filter(suspended_memberships::organization_id.eq(id)),
        )
        .execute(c)?;
        diesel::delete(
            organization_domains::table.filter(organization_domains::organization_id.eq(id)),
        )
        .execute(c)?;
        diesel::delete(removed_members::table.filter(removed_members::organization_id.eq(id)))
            .execute(c)?;
        diesel::delete(closed_members::table.filter(closed_members::organization_id.eq(id)))
            .execute(c)?;
        diesel::delete(imported_records::table.filter(imported_records::organization_id.eq(id)))
            .execute(c)?;
        diesel::delete(mail_records::table.filter(mail_records::organization_id.eq(id)))
            .execute(c)?;
        diesel::delete(retention_rules::table.find((RULE_OF_ORGANIZATION, id))).execute(c)?;
        diesel::delete(
            organization_names::table.filter(organization_names::organization_id.eq(id)),
        )
        .execute(c)?;
        diesel::update(organizations::table.filter(organizations::parent_id.eq(id)))
            .set(organizations::parent_id.eq(None::<i64>))
            .execute(c)?;
        diesel::delete(organizations::table.find(id)).execute(c)?;
        Ok(())
    }
}

impl Deletions<'_, Tx<'_>> {
    /// Deletes the room of a flow that [`delete_flow`](Self::delete_flow) deleted.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn delete_empty_room(&mut self, room: RoomId) -> Result<()> {
        dialect!(self, forget_room, room)?;
        self.delete_room(room)
    }
}
