//! Ending all that lets somebody in.

use eddyline_model::log::Control;
use eddyline_model::mail::Purpose;
use eddyline_model::{Timestamp, UserId};
use eddyline_storage::{GrantsOf, Result as StoreResult, Tx};

use super::password::end_resets;
use crate::oauth::end_grants;

/// Ends everything that opens the account of a user, who is held: sessions, API tokens, what applications
/// were allowed, links to a new password, and every stream. Passwords stay valid for users who may still sign in.
/// Links that undo a change of address stay too: they let nobody in who is not let in otherwise, and belong to
/// the owner of the address.
pub(crate) fn end_access(tx: &mut Tx<'_>, user: UserId) -> StoreResult<()> {
    tx.delete_sessions_of(user, None)?;
    tx.delete_api_tokens_of(user)?;
    end_grants(tx, GrantsOf::User(user))?;
    end_resets(tx, user)?;
    tx.record_event(Control::Revoked { user });
    Ok(())
}

/// Ends the links that undo a change of address, those that are not sent yet too, and with them the claims to
/// the addresses that the user gave up.
pub(crate) fn end_address_claims(tx: &mut Tx<'_>, user: UserId) -> StoreResult<()> {
    tx.delete_mails_about(Purpose::EmailChange(user))?;
    tx.delete_links(Purpose::EmailChange(user))?;
    tx.delete_claims_ending_from(user, Timestamp(0))
}
