//! Ending the links that were mailed to a user.

use eddyline_model::mail::Purpose;
use eddyline_model::{Timestamp, UserId};
use eddyline_storage::{Result as StoreResult, Tx};

/// Ends the links to a new password, also those that are not sent yet, and those that sign in.
pub(crate) fn end_resets(tx: &mut Tx<'_>, user: UserId) -> StoreResult<()> {
    // Mails first: the process that sends one locks it until its link is stored.
    tx.mails().delete_about(Purpose::PasswordReset(user))?;
    tx.mails().delete_links(Purpose::PasswordReset(user))?;
    tx.mails().delete_links(Purpose::SignIn(user))
}

/// Ends the links that undo a change of address, those that are not sent yet too, and with them the
/// claims to the addresses that the user gave up.
pub(crate) fn end_address_claims(tx: &mut Tx<'_>, user: UserId) -> StoreResult<()> {
    tx.mails().delete_about(Purpose::EmailChange(user))?;
    tx.mails().delete_links(Purpose::EmailChange(user))?;
    tx.emails().delete_claims_ending_from(user, Timestamp(0))
}
