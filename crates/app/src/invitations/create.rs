//! Inviting an address, and sending its invitation again.

use eddyline_model::flows::AccessMode;
use eddyline_model::names::Email;
use eddyline_model::policy::{self, FlowAction};
use eddyline_storage::{Error as StoreError, Result as StoreResult, Tx};
use eddyline_wire::Invitation as WireInvitation;
use serde_json::json;

use super::send::{InvitationRefusal, Sending};
use crate::action_message::action;
use crate::actor::Actor;
use crate::core::transaction::TxResult;
use crate::email_addresses::holder_of;
use crate::invitations::MailLimits;
use crate::mail_quota::MailQuota;
use crate::rooms::FlowRoom;
use crate::{Error, Invitations, Result};

impl Invitations {
    /// Invites an address into a flow. When an invitation to it is pending, its mail is sent again,
    /// unless one was sent just now; the links of earlier mails stay valid.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`], [`Error::denied`], also when the organization is inactive;
    /// [`Error::conflict`] when the address is that of a member of the flow, blocked or not, or
    /// the flow has as many pending invitations as it may have; [`Error::mail_quota`].
    pub async fn create(
        &self,
        actor: &Actor,
        room: &FlowRoom,
        email: Email,
        message: Option<String>,
    ) -> Result<WireInvitation> {
        let limits = MailLimits::of(self.core.config());
        let (invitation, _) = self
            .rooms
            .change_flow(
                actor,
                room.id(),
                FlowAction::Invite,
                move |tx, actor, room| {
                    if let Some(why) = reason_against(tx, room, &email)? {
                        return Err(Error::conflict(why).into());
                    }
                    let sending =
                        Sending::of_member(limits, room, actor.user_id(), message.as_deref());
                    let mut sent = sending.send(tx, &[&email])?;
                    if let Some((_, refusal)) = sent.refused.pop() {
                        return Err(Error::from(refusal).into());
                    }
                    let invitation = sent
                        .invitations
                        .pop()
                        .ok_or(StoreError::Corrupt("invitation"))?;
                    if !sent.new.is_empty() {
                        let description = json!({"email": invitation.email});
                        let draft = action(tx, room.id(), actor.user_id(), "invite", &description);
                        tx.messages().append(&[draft])?;
                    }
                    Ok(invitation)
                },
            )
            .await?;
        self.mail.mail_is_queued();
        Ok(self.show(room, &invitation))
    }
}

/// Why an address needs no invitation, or must not have one.
fn reason_against(tx: &mut Tx<'_>, room: &FlowRoom, email: &Email) -> StoreResult<Option<String>> {
    let Some(account) = holder_of(tx, &email.key(), room.organization.id)? else {
        return Ok(None);
    };
    Ok(room.member(account.user.id).map(|member| {
        let state = if member.blocked {
            "blocked from the flow"
        } else {
            "in the flow already"
        };
        format!("{email} is {state}")
    }))
}

/// Sends an invitation to somebody who asks for it on the page of a flow's join link. Nothing tells
/// them whether the address has been known before; nothing happens when its owner is in the flow,
/// was sent a mail just now, or has had as much mail as an address may have. The flow is not told
/// before they come in.
///
/// The caller calls [`Mail::mail_is_queued`] after the commit.
///
/// # Errors
///
/// [`Error::not_found`] when the flow is gone, archived or not to be joined by a link,
/// [`Error::denied`] when its organization is inactive; [`Error::conflict`] when the flow has as
/// many pending requests as it may have, and [`Error::mail_quota`] for the quota of the
/// organization.
pub(crate) fn request_join_in(
    tx: &mut Tx<'_>,
    limits: super::MailLimits,
    room: eddyline_model::RoomId,
    email: &Email,
) -> TxResult<()> {
    tx.rooms().lock(room)?;
    let joinable =
        |room: &FlowRoom| !room.flow.disabled && room.flow.access_mode != AccessMode::Invitation;
    let room = FlowRoom::load(tx, room)?
        .filter(joinable)
        .ok_or_else(Error::not_found)?;
    policy::write(&room.organization).map_err(Error::from)?;
    if reason_against(tx, &room, email)?.is_some() {
        return Ok(());
    }
    let mut sent = Sending::of_join_page(limits, &room).send(tx, &[email])?;
    match sent.refused.pop() {
        Some((_, InvitationRefusal::Mail(exceeded))) if exceeded.quota == MailQuota::Recipient => {
            Ok(())
        }
        Some((_, refusal)) => Err(Error::from(refusal).into()),
        None => Ok(()),
    }
}
