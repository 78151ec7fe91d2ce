//! How somebody goes out of organizations, with everything they had there. The counterpart of
//! coming in.

use std::collections::BTreeSet;

use eddyline_model::audit::AuditAction;
use eddyline_model::identities::Identity;
use eddyline_model::log::Control;
use eddyline_model::names::email_key;
use eddyline_model::organizations::{OrganizationMembership, OrganizationRole};
use eddyline_model::users::User;
use eddyline_model::{InvitationId, OrganizationId, RoomId, UserId, policy};
use eddyline_storage::{Result as StoreResult, Tx};
use serde_json::json;

use crate::Error;
use crate::audit::note;
use crate::core::transaction::TxResult;
use crate::email_addresses::holds_address;
use crate::flows::replace_join_secrets;
use crate::flows::take_out;
use crate::join::note_member;
use crate::pending_invitations::revoke;

/// Whether a message in each flow says that a user left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaving {
    /// It does.
    Announced,
    /// Operators change who is where without a message.
    Silent,
}

/// Removes a user from these organizations and from all flows in them, blocked memberships
/// included. Invitations and join links that could let the user in again end, under any address;
/// only a new invitation by a member brings the user back. The account and what the user wrote
/// stay; an inactive account stays inactive. The identity providers of these organizations no
/// longer see the user. Returns whether the user belonged to any of them. The caller holds all of
/// them ([`lock_for_removal`]); `actor` is named in the audit log.
///
/// # Errors
///
/// [`Error::conflict`] when they are the last to administer one of them.
pub(crate) fn offboard(
    tx: &mut Tx<'_>,
    organizations: &[OrganizationId],
    user: &User,
    actor: &str,
    leaving: Leaving,
) -> TxResult<bool> {
    let memberships: Vec<OrganizationMembership> = tx
        .organization_members()
        .list_of_user(user.id)?
        .into_iter()
        .filter(|m| organizations.contains(&m.organization))
        .collect();
    for membership in &memberships {
        if membership.role == OrganizationRole::Administrator
            && !policy::may_do_without(
                &tx.organization_members()
                    .list_administrators(membership.organization)?,
                user.id,
            )
        {
            let text = "the last administrator of an organization cannot be removed; \
                        let somebody else administer it first";
            return Err(Error::conflict(text).into());
        }
    }
    end_memberships(tx, &memberships, user, leaving)?;
    unlink_scim_identity(tx, organizations, user.id, (actor, AuditAction::UserRemove))?;
    Ok(!memberships.is_empty())
}

/// Ends memberships of a user, and with each all that the user has in the organization. The caller
/// has the organizations held ([`lock_for_removal`]).
pub(crate) fn end_memberships(
    tx: &mut Tx<'_>,
    memberships: &[OrganizationMembership],
    user: &User,
    leaving: Leaving,
) -> StoreResult<()> {
    for membership in memberships {
        for room in tx
            .members()
            .list_rooms_in_organization(membership.organization, user.id)?
        {
            leave(tx, room, user, leaving)?;
        }
        tx.organization_members()
            .delete(membership.organization, user.id)?;
        withdraw(tx, membership.organization, user)?;
        let now = tx.now();
        tx.organization_members()
            .insert_removed(membership.organization, user.id, now)?;
        note_member(tx, *membership, AuditAction::MemberRemove)?;
        end_ways_in(tx, membership.organization, user.id)?;
    }
    if !memberships.is_empty() {
        tx.rooms().advance_private_access_of_user(user.id)?;
        tx.record_event(Control::OrganizationRemove { user: user.id });
    }
    Ok(())
}

/// Ends what a removed user could use to return under another address: the organization's join
/// links, the invitations requested through them, and the pending invitations that the user sent.
/// The caller holds the organization ([`lock_for_removal`]).
pub(crate) fn end_ways_in(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    user: UserId,
) -> StoreResult<()> {
    replace_join_secrets(tx, organization)?;
    let made = tx.invitations().list_made_by(organization, user)?;
    let made: Vec<InvitationId> = made.into_iter().map(|(_, invitation)| invitation).collect();
    revoke(tx, &made)
}

/// Holds what a user is taken out of, and the user. Rooms before organizations, as those who come
/// in hold them, and organizations before users. All rooms of the flows there, since somebody may
/// be about to add the user to one.
pub(crate) fn lock_for_removal(
    tx: &mut Tx<'_>,
    organizations: &[OrganizationId],
    user: UserId,
) -> StoreResult<()> {
    tx.rooms().lock_of_organizations(organizations, &[user])?;
    let ordered: BTreeSet<OrganizationId> = organizations.iter().copied().collect();
    for organization in ordered {
        tx.organizations().lock(organization)?;
    }
    tx.users().lock(user)
}

/// Unlinks a user, who is held, from the identity provider of these organizations. Returns whether
/// the user was linked.
pub(crate) fn unlink_scim_identity(
    tx: &mut Tx<'_>,
    organizations: &[OrganizationId],
    user: UserId,
    (actor, action): (&str, AuditAction),
) -> StoreResult<bool> {
    let known = tx
        .identities()
        .find(user)?
        .filter(|known| organizations.contains(&known.organization));
    let Some(known) = known.filter(|known| known.removed_at.is_none()) else {
        return Ok(false);
    };
    let now = tx.now();
    let version = known.version + 1;
    let detail = json!({"userName": known.subject});
    note(tx, known.organization, (actor, action), Some(user), &detail)?;
    tx.organization_members().delete_suspended(user)?;
    tx.identities().update(&Identity {
        version,
        updated_at: now,
        suspended_at: None,
        removed_at: Some(now),
        ..known
    })?;
    Ok(true)
}

/// Removes the invitations that would let the user in again. An invitation to an unproved address
/// stays: it may be meant for another person.
fn withdraw(tx: &mut Tx<'_>, organization: OrganizationId, user: &User) -> StoreResult<()> {
    if !holds_address(tx, user, organization)? {
        return Ok(());
    }
    let pending = tx
        .invitations()
        .list_into_organization(organization, &email_key(&user.email))?;
    revoke(tx, &pending)
}

fn leave(tx: &mut Tx<'_>, room: RoomId, user: &User, leaving: Leaving) -> StoreResult<()> {
    // One that was made just now.
    tx.rooms().lock(room)?;
    if tx
        .members()
        .find(room, user.id)?
        .is_none_or(|membership| membership.blocked)
    {
        tx.members().delete(room, user.id)?;
        return tx.rooms().advance_access(room);
    }
    take_out(
        tx,
        room,
        user.id,
        Some(&*user.nick).filter(|_| leaving == Leaving::Announced),
    )
}
