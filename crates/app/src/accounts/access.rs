//! Ending all that lets somebody in.

use eddyline_model::UserId;
use eddyline_model::log::Control;
use eddyline_storage::{GrantsOf, Result as StoreResult, Tx};

use super::api_tokens::end_all_tokens;
use super::sessions;
use crate::account_links::end_resets;
use crate::oauth::end_grants;

/// Ends everything that opens the account of a user, who is held: sessions, API tokens, what
/// applications were allowed, links to a new password, and every stream. Passwords stay valid for
/// users who may still sign in. Links that undo a change of address stay too: they let nobody in
/// who is not let in otherwise, and belong to the owner of the address.
pub(crate) fn end_access(tx: &mut Tx<'_>, user: UserId) -> StoreResult<()> {
    sessions::end_all(tx, user)?;
    end_all_tokens(tx, user)?;
    end_grants(tx, GrantsOf::User(user))?;
    end_resets(tx, user)?;
    tx.record_event(Control::Revoked { user });
    Ok(())
}
