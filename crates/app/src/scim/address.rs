//! A provider changes the address of a user.

use eddyline_model::names::{Email, email_key};
use eddyline_model::users::User;
use eddyline_model::{OrganizationId, UserId};
use eddyline_storage::{Result as StoreResult, Tx};

use super::check::taken;
use super::reach::vouches;
use crate::core::transaction::TxResult;
use crate::email_addresses::{displace, follow_up_change};

/// Makes an address available to a user. No other user may have proved it, or have given it up so
/// recently that the change can still be undone. An account that has the address unproved loses it
/// if the organization has the domain.
///
/// # Errors
///
/// [`crate::Error::conflict`].
pub(super) fn reserve_email(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    email: &Email,
    user: UserId,
) -> TxResult<()> {
    let (key, now) = (email.key(), tx.now());
    let holder = tx
        .users()
        .find_account_by_email(&key)?
        .map(|account| account.user)
        .filter(|holder| holder.id != user);
    let proved = holder.as_ref().is_some_and(|holder| holder.email_proved);
    if proved || tx.emails().is_claimed(&key, user, now)? {
        return Err(taken("another user has this address").into());
    }
    if let Some(squatter) = holder {
        if !vouches(tx, organization, &key)? {
            return Err(taken("another user has this address").into());
        }
        displace(tx, &squatter)?;
    }
    Ok(())
}

/// Follows up a change of the address of a user, who is held and was `before`, as when users change
/// their own: the owner of an old address that was proved gets a mail, and may undo the change.
///
/// The new address counts as proved if it is within the domains of the organization, and the
/// account either was not in use or had an address within those domains before. Otherwise it is
/// unproved, and password reset links still go to the owner's address: reading the mail of the new
/// address does not give access to the account. This holds through all further changes, even back
/// to the owner's address, until a mailed link proves the address or the owner enters another.
pub(super) fn follow_up(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    before: &User,
    new: &str,
) -> StoreResult<()> {
    let (id, key) = (before.id, email_key(new));
    follow_up_change(tx, before, new)?;
    let mut owned = tx.passwords().find_recovery_key(id)?;
    if owned.is_none() && (before.email_proved || tx.passwords().contains(id)?) {
        owned = Some(email_key(&before.email));
    }
    let is_proved = vouches(tx, organization, &key)?
        && match &owned {
            Some(owned) => vouches(tx, organization, owned)?,
            None => true,
        };
    tx.emails().set_proved(id, is_proved)?;
    tx.passwords()
        .set_recovery_key(id, owned.filter(|_| !is_proved).as_deref())
}
