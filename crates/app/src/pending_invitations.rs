//! Ending invitations that are pending: because who was invited is in the flow, or may not come any
//! more.

use eddyline_model::names::email_key;
use eddyline_model::users::User;
use eddyline_model::{InvitationId, RoomId};
use eddyline_storage::{Result as StoreResult, Tx};

use crate::email_addresses::holds_address;

/// Ends the pending invitations of users who are in the flow now. An invitation to a user's
/// unproved address stays.
pub(crate) fn mark_accepted(tx: &mut Tx<'_>, room: RoomId, users: &[User]) -> StoreResult<()> {
    let Some(flow) = tx.flows().find(room)? else {
        return Ok(());
    };
    let mut keys = Vec::with_capacity(users.len());
    for user in users {
        if holds_address(tx, user, flow.organization)? {
            keys.push(email_key(&user.email));
        }
    }
    let pending = tx.invitations().list_pending_to(room, &keys)?;
    let ids: Vec<InvitationId> = pending.iter().map(|invitation| invitation.id).collect();
    tx.invitations().set_accepted(&ids)?;
    tx.mails().delete_of_invitations(&ids)
}

/// Removes pending invitations with their mails and links. No stream shows it.
pub(crate) fn revoke(tx: &mut Tx<'_>, ids: &[InvitationId]) -> StoreResult<()> {
    tx.mails().delete_of_invitations(ids)?;
    tx.invitations().delete(ids)
}
