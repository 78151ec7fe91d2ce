//! Inviting an address, and sending its invitation again.

use eddyline_model::flows::AccessMode;
use eddyline_model::invitations::Invitation;
use eddyline_model::names::Email;
use eddyline_model::policy::{self, FlowDeed};
use eddyline_model::{RoomId, UserId};
use eddyline_storage::{Error as StoreError, NewInvitations, Result as StoreResult, Tx};
use eddyline_wire::Invitation as WireInvitation;
use serde_json::json;

use super::queue;
use crate::actor::Actor;
use crate::change::Attempt;
use crate::flow_users::action;
use crate::rooms::Room;
use crate::{App, Error, Result};

/// How long somebody who asks for a mail on the page of a join link waits until they get another:
/// whoever has the link must not be able to fill a stranger's mailbox.
const ASK_AGAIN_MILLIS: i64 = 5 * 60 * 1000;

impl App {
    /// Invites an address into a flow. When an invitation to it is pending, its mail is sent again;
    /// the links of earlier mails stay valid.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::Denied`], also when the organization is inactive;
    /// [`Error::Conflict`] when the address is that of somebody in the flow or blocked from it.
    pub async fn invite(
        &self,
        actor: &Actor,
        room: &Room,
        email: Email,
        message: Option<String>,
    ) -> Result<WireInvitation> {
        let (invitation, _) = self
            .change_room(actor, room.id(), FlowDeed::Invite, move |tx, actor, room| {
                if let Some(why) = reason_against(tx, room, &email)? {
                    return Err(Error::Conflict(why).into());
                }
                let asker = actor.user_id();
                let (invitation, new) = ask(tx, room.id(), &email, asker, message.as_deref())?;
                if new {
                    let draft = action(tx, room.id(), asker, "invite", &json!({"email": invitation.email}));
                    tx.post(&[draft])?;
                }
                Ok(invitation)
            })
            .await?;
        self.mail_is_queued();
        Ok(self.show(room, &invitation))
    }
}

/// Why an address needs no invitation, or must not have one.
fn reason_against(tx: &mut Tx<'_, '_>, room: &Room, email: &Email) -> StoreResult<Option<String>> {
    let Some(account) = tx.account_by_email(&email.key())? else { return Ok(None) };
    Ok(room.member(account.user.id).map(|member| {
        let state = if member.blocked { "blocked from the flow" } else { "in the flow already" };
        format!("{email} is {state}")
    }))
}

/// Makes an invitation, or renews the pending one, and puts its mail into the queue. Tells whether it
/// is new.
fn ask(
    tx: &mut Tx<'_, '_>,
    room: RoomId,
    email: &Email,
    asker: Option<UserId>,
    message: Option<&str>,
) -> StoreResult<(Invitation, bool)> {
    let now = tx.now();
    let pending = tx.pending_invitations_to(room, &[email.key()])?.pop();
    let (invitation, new) = match pending {
        Some(invitation) => {
            tx.touch_invitations(&[invitation.id], asker, message, now)?;
            (invitation, false)
        }
        None => {
            let new = NewInvitations { room, emails: &[email], inviter: asker, message, now };
            let made = tx.insert_invitations(new)?.pop();
            (made.ok_or(StoreError::Corrupt("invitation"))?, true)
        }
    };
    queue(tx, std::slice::from_ref(&invitation))?;
    Ok((invitation, new))
}

/// Sends an invitation to somebody who asks for it on the page of a flow's join link. Nothing tells
/// them whether the address has been known before; nothing happens when its owner is in the flow, or
/// was sent a mail just now. The flow is not told before they come in.
///
/// Whoever calls it rings [`App::mail_is_queued`] after the commit.
///
/// # Errors
///
/// [`Error::NotFound`] when the flow is gone, archived or not to be joined by a link, [`Error::Denied`]
/// when its organization is inactive.
pub(crate) fn request_join_in(tx: &mut Tx<'_, '_>, room: RoomId, email: &Email) -> Attempt<()> {
    tx.lock_room(room)?;
    let joinable = |room: &Room| !room.flow.disabled && room.flow.access_mode != AccessMode::Invitation;
    let room = Room::load(tx, room)?.filter(joinable).ok_or(Error::NotFound)?;
    policy::write(&room.organization).map_err(Error::from)?;
    if reason_against(tx, &room, email)?.is_some() {
        return Ok(());
    }
    let since = tx.now().plus_millis(-ASK_AGAIN_MILLIS);
    let pending = tx.pending_invitations_to(room.id(), &[email.key()])?;
    if pending.iter().all(|invitation| invitation.sent_at <= since) {
        ask(tx, room.id(), email, None, None)?;
    }
    Ok(())
}
