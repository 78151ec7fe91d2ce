//! Coming in by an invitation: through the API from the invited account, or by the link in the mail.

use eddyline_auth::TokenHash;
use eddyline_model::flows::Flow;
use eddyline_model::invitations::{Invitation, InvitationState};
use eddyline_model::mail::Purpose;
use eddyline_model::names::email_key;
use eddyline_model::organizations::Organization;
use eddyline_model::policy;
use eddyline_model::users::User;
use eddyline_model::{InvitationId, RoomId, Timestamp};
use eddyline_storage::{Result as StoreResult, Session, Tx};
use eddyline_wire::Invitation as WireInvitation;

pub(crate) use super::create::request_join_in;
pub(crate) use super::end::decline_in;
use super::{hold_pending, meet};
use crate::actor::Actor;
use crate::change::Attempt;
use crate::coming_in::come_in;
use crate::rooms::Room;
use crate::{App, Error, Result};

impl App {
    /// Accepts an invitation for the caller, whose address it must have been sent to: they are in the
    /// flow, and in its organization, afterwards. An accepted one stays as it is.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] and [`Error::Denied`] for everybody else, and otherwise as for coming into
    /// a flow: [`Error::Denied`] when the organization is inactive, [`Error::Conflict`] when it is full,
    /// [`Error::Invalid`] when somebody there has the caller's nick.
    pub async fn accept_invitation(
        &self,
        actor: &Actor,
        organization: &str,
        flow: &str,
        id: InvitationId,
    ) -> Result<WireInvitation> {
        let room = self.room_id_by_name(organization, flow).await?;
        actor.user()?;
        let ((room, invitation), event) = self
            .locked_transaction_as(
                actor,
                move |tx| tx.lock_room(room),
                move |tx, who| {
                    let room = Room::load(tx, room)?.ok_or(Error::NotFound)?;
                    let (invitation, invited) = meet(tx, who, &room, id)?;
                    policy::accept_invitation(invited).map_err(Error::from)?;
                    if invitation.state == InvitationState::Pending {
                        accept_in(tx, &invitation, &who.user()?.user)?;
                    }
                    let accepted = Invitation { state: InvitationState::Accepted, ..invitation };
                    Ok((room, accepted))
                },
            )
            .await?;
        self.settle(event).await;
        Ok(self.show(&room, &invitation))
    }
}

/// Lets a user come in by an invitation, whoever it was sent to: its links and mails end with that.
///
/// # Errors
///
/// [`Error::NotFound`] when the invitation was removed, [`Error::Conflict`] when somebody has come in by
/// it already, and as [`come_in`].
pub(crate) fn accept_in(tx: &mut Tx<'_, '_>, invitation: &Invitation, user: &User) -> Attempt<()> {
    hold_pending(tx, invitation.room, invitation.id)?;
    let invited = is_invited_by_member(tx, invitation)?;
    come_in(tx, invitation.room, user, invited)?;
    tx.set_invitations_accepted(&[invitation.id])?;
    Ok(tx.delete_mail_of_invitations(&[invitation.id])?)
}

/// Whether a member of the organization invites, and is still one. An invitation without an inviter was
/// requested on the page of a join link.
fn is_invited_by_member(tx: &mut Tx<'_, '_>, invitation: &Invitation) -> StoreResult<bool> {
    let Some(inviter) = invitation.inviter else { return Ok(false) };
    let Some(flow) = tx.flow(invitation.room)? else { return Ok(false) };
    Ok(tx.memberships_of(inviter)?.iter().any(|membership| membership.organization == flow.organization))
}

/// Ends the pending invitations of users who are in the flow now, however they came.
pub(crate) fn fulfil(tx: &mut Tx<'_, '_>, room: RoomId, users: &[User]) -> StoreResult<()> {
    let keys: Vec<String> = users.iter().map(|user| email_key(&user.email)).collect();
    let pending = tx.pending_invitations_to(room, &keys)?;
    let ids: Vec<InvitationId> = pending.iter().map(|invitation| invitation.id).collect();
    tx.set_invitations_accepted(&ids)?;
    tx.delete_mail_of_invitations(&ids)
}

/// What the link in an invitation's mail leads to: the invitation, its flow and organization, and who
/// invited.
pub(crate) type Destination = (Invitation, Flow, Organization, Option<User>);

/// What the link with this digest leads to. `None` when the link has ended, was used, or leads nowhere any
/// more.
pub(crate) fn invitation_of_link(
    session: &mut Session<'_>,
    hash: &TokenHash,
    now: Timestamp,
) -> StoreResult<Option<Destination>> {
    let Some(link) = session.link(&hash.0, now)? else { return Ok(None) };
    let Purpose::Invitation(id) = link.purpose else { return Ok(None) };
    let pending = session.invitation(id)?.filter(|found| found.state == InvitationState::Pending);
    let Some(invitation) = pending else { return Ok(None) };
    let Some(flow) = session.flow(invitation.room)?.filter(|flow| !flow.disabled) else { return Ok(None) };
    let Some(organization) = session.organization(flow.organization)? else { return Ok(None) };
    let inviter = match invitation.inviter {
        Some(user) => session.user(user)?,
        None => None,
    };
    Ok(Some((invitation, flow, organization, inviter)))
}
