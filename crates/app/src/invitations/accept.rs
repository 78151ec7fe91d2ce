//! Coming in by an invitation: through the API from the invited account, or by the link in the
//! mail.

use eddyline_auth::TokenHash;
use eddyline_model::flows::{AccessMode, Flow};
use eddyline_model::invitations::{Invitation, InvitationState};
use eddyline_model::mail::Purpose;
use eddyline_model::organizations::Organization;
use eddyline_model::policy;
use eddyline_model::users::User;
use eddyline_model::{InvitationId, Timestamp, UserId};
use eddyline_storage::{Reader, Result as StoreResult, Tx};
use eddyline_wire::Invitation as WireInvitation;

pub(crate) use super::create::request_join_in;
pub(crate) use super::end::decline_in;
use super::{find_invitation, lock_pending};
use crate::actor::Actor;
use crate::core::transaction::TxResult;
use crate::join::join_flow;
use crate::rooms::FlowRoom;
use crate::{Error, Invitations, Result};

impl Invitations {
    /// Accepts an invitation for the caller, whose address it must have been sent to: they are in
    /// the flow, and in its organization, afterwards. An accepted one stays as it is.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] and [`Error::denied`] for all other users, [`Error::not_found`] also
    /// when the inviter has left the organization, [`Error::denied`] when the organization is
    /// inactive, [`Error::conflict`] when it is full, and [`Error::invalid`] when another user
    /// there has the caller's nick.
    pub async fn accept(
        &self,
        actor: &Actor,
        organization: &str,
        flow: &str,
        id: InvitationId,
    ) -> Result<WireInvitation> {
        let room = self.rooms.room_id_by_name(organization, flow).await?;
        actor.user()?;
        let ((room, invitation), event) = self
            .core
            .locked_transaction_as(
                actor,
                move |tx| tx.rooms().lock(room),
                move |tx, who| {
                    let room = FlowRoom::load(tx, room)?.ok_or_else(Error::not_found)?;
                    let (invitation, invited) = find_invitation(tx, who, &room, id)?;
                    policy::accept_invitation(invited).map_err(Error::from)?;
                    if invitation.state == InvitationState::Pending {
                        accept_in(tx, &invitation, &who.user()?.user)?;
                    }
                    let accepted = Invitation {
                        state: InvitationState::Accepted,
                        ..invitation
                    };
                    Ok((room, accepted))
                },
            )
            .await?;
        self.core.wait_until_applied(event).await;
        Ok(self.show(&room, &invitation))
    }
}

/// Adds a user to the flow of an invitation that was sent to any address. Its links and mails end
/// with that.
///
/// # Errors
///
/// [`Error::not_found`] when the invitation was removed or is not in force any more
/// ([`is_in_force`]), [`Error::conflict`] when it was accepted already, and as [`join_flow`].
pub(crate) fn accept_in(tx: &mut Tx<'_>, invitation: &Invitation, user: &User) -> TxResult<()> {
    let invitation = lock_pending(tx, invitation.room, invitation.id)?;
    let flow = tx
        .flows()
        .find(invitation.room)?
        .ok_or_else(Error::not_found)?;
    if !is_in_force(tx, &flow, invitation.inviter)? {
        return Err(Error::not_found().into());
    }
    // One without an inviter was requested on the page of a join link.
    join_flow(tx, invitation.room, user, invitation.inviter.is_some())?;
    tx.invitations().set_accepted(&[invitation.id])?;
    Ok(tx.mails().delete_of_invitations(&[invitation.id])?)
}

/// Whether a pending invitation into a flow can still be accepted: its inviter is still an active
/// member of the organization and not blocked from the flow. An invitation that was requested on
/// the page of the join link has no inviter; it can be accepted while the access mode of the flow
/// allows joining by link.
pub(super) fn is_in_force(
    reader: &mut Reader<'_>,
    flow: &Flow,
    inviter: Option<UserId>,
) -> StoreResult<bool> {
    let Some(inviter) = inviter else {
        return Ok(flow.access_mode != AccessMode::Invitation);
    };
    let belongs = reader
        .organization_members()
        .list_of_user(inviter)?
        .iter()
        .any(|member| member.organization == flow.organization);
    if !belongs
        || !reader
            .users()
            .find(inviter)?
            .is_some_and(|user| user.active)
    {
        return Ok(false);
    }
    Ok(reader
        .members()
        .find(flow.room, inviter)?
        .is_none_or(|place| !place.blocked))
}

/// What the link in an invitation's mail leads to: the invitation, its flow and organization, and
/// who invited.
pub(crate) type InvitationTarget = (Invitation, Flow, Organization, Option<User>);

/// What the link with this digest leads to. `None` when the link has ended, was used, or leads
/// nowhere any more, and when its invitation is not in force.
pub(crate) fn invitation_of_link(
    reader: &mut Reader<'_>,
    hash: &TokenHash,
    now: Timestamp,
) -> StoreResult<Option<InvitationTarget>> {
    let Some(link) = reader.mails().find_link(&hash.0, now)? else {
        return Ok(None);
    };
    let Purpose::Invitation(id) = link.purpose else {
        return Ok(None);
    };
    let pending = reader
        .invitations()
        .find(id)?
        .filter(|found| found.state == InvitationState::Pending);
    let Some(invitation) = pending else {
        return Ok(None);
    };
    let Some(flow) = reader
        .flows()
        .find(invitation.room)?
        .filter(|flow| !flow.disabled)
    else {
        return Ok(None);
    };
    if !is_in_force(reader, &flow, invitation.inviter)? {
        return Ok(None);
    }
    let Some(organization) = reader.organizations().find(flow.organization)? else {
        return Ok(None);
    };
    let inviter = match invitation.inviter {
        Some(user) => reader.users().find(user)?,
        None => None,
    };
    Ok(Some((invitation, flow, organization, inviter)))
}
