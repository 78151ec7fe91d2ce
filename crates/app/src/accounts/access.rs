//! Ending all that lets somebody in.

use eddyline_model::log::Control;
use eddyline_model::mail::Purpose;
use eddyline_model::{Timestamp, UserId};
use eddyline_storage::{GrantsOf, Result as StoreResult, Tx};

use super::password::end_resets;
use crate::oauth::end_grants;

/// Ends everything that opens the account of a user, who is held: sessions, API tokens, what applications
/// were allowed, mailed links, and every stream. Passwords stay, and let in whoever may come in.
pub(crate) fn end_access(tx: &mut Tx<'_, '_>, user: UserId) -> StoreResult<()> {
    tx.delete_sessions_of(user, None)?;
    tx.delete_api_tokens_of(user)?;
    end_grants(tx, GrantsOf::User(user))?;
    end_mailed_links(tx, user)?;
    tx.tell(Control::Revoked { user });
    Ok(())
}

/// Ends the links that were mailed to a user or are about to be, and with them the claims to addresses
/// that the user gave up.
pub(crate) fn end_mailed_links(tx: &mut Tx<'_, '_>, user: UserId) -> StoreResult<()> {
    end_resets(tx, user)?;
    tx.delete_mails_about(Purpose::EmailChange(user))?;
    tx.delete_links(Purpose::EmailChange(user))?;
    tx.delete_claims_ending_from(user, Timestamp(0))
}
