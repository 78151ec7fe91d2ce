//! Ending a pending invitation: the members of the flow cancel it, the one who was invited
//! declines, and the server revokes what lets in users who were removed.

use eddyline_model::audit::AuditAction;
use eddyline_model::invitations::Invitation;
use eddyline_model::policy::{self, Invited};
use eddyline_model::{InvitationId, UserId};
use eddyline_storage::Tx;
use serde_json::json;

use super::{find_invitation, lock_pending};
use crate::action_message::action;
use crate::actor::Actor;
use crate::audit::of_flow;
use crate::core::transaction::TxResult;
use crate::pending_invitations::revoke;
use crate::rooms::FlowRoom;
use crate::{Error, Invitations, Result};

impl Invitations {
    /// Removes a pending invitation: a member of the flow cancels it, the one it was sent to
    /// declines.
    ///
    /// # Errors
    ///
    /// [`Error::conflict`] when it was accepted, [`Error::not_found`], [`Error::denied`], also when
    /// the organization is inactive.
    pub async fn delete(
        &self,
        actor: &Actor,
        organization: &str,
        flow: &str,
        id: InvitationId,
    ) -> Result<()> {
        let room = self.rooms.room_id_by_name(organization, flow).await?;
        self.core
            .locked_transaction_as(
                actor,
                move |tx| tx.rooms().lock(room),
                move |tx, who| {
                    let room = FlowRoom::load(tx, room)?.ok_or_else(Error::not_found)?;
                    let (invitation, invited) = find_invitation(tx, who, &room, id)?;
                    match invited {
                        Invited::Guest => decline_in(tx, &invitation, who.user_id()),
                        Invited::Host => end(tx, &invitation, "uninvite", who.user_id()),
                    }
                },
            )
            .await?;
        Ok(())
    }
}

/// Removes a pending invitation that the invited person does not want, whose account is `by`, if it
/// was their account that said so.
///
/// # Errors
///
/// [`Error::not_found`] when it is gone, [`Error::conflict`] when it was accepted,
/// [`Error::denied`] when the organization is inactive.
pub(crate) fn decline_in(
    tx: &mut Tx<'_>,
    invitation: &Invitation,
    by: Option<UserId>,
) -> TxResult<()> {
    end(tx, invitation, "decline", by)
}

fn end(tx: &mut Tx<'_>, invitation: &Invitation, kind: &str, by: Option<UserId>) -> TxResult<()> {
    let invitation = lock_pending(tx, invitation.room, invitation.id)?;
    let flow = tx
        .flows()
        .find(invitation.room)?
        .ok_or_else(Error::not_found)?;
    let organization = tx
        .organizations()
        .find(flow.organization)?
        .ok_or_else(Error::not_found)?;
    policy::write(&organization).map_err(Error::from)?;
    revoke(tx, &[invitation.id])?;
    let entry = of_flow(&flow, AuditAction::InvitationEnd);
    tx.audit()
        .insert(&entry.with(json!({"invitation": invitation.id.0, "how": kind})))?;
    let draft = action(
        tx,
        invitation.room,
        by,
        kind,
        &json!({"email": invitation.email}),
    );
    tx.messages().append(&[draft])?;
    Ok(())
}
