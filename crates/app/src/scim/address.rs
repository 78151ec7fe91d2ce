//! A provider changes the address of a user.

use eddyline_model::names::{Email, email_key};
use eddyline_model::users::User;
use eddyline_model::{OrganizationId, UserId};
use eddyline_storage::{Result as StoreResult, Tx};

use super::check::taken;
use super::reach::vouches;
use crate::accounts::{displace, follow_up_change};
use crate::change::Attempt;

/// Sees to it that an address may become a user's. It may be that of nobody else, and of nobody who gave it
/// up lately and may take it back. From an account that merely entered or stated it, it is taken if the
/// organization has the domain.
///
/// # Errors
///
/// [`crate::Error::Scim`] with status 409.
pub(super) fn hold_email(
    tx: &mut Tx<'_, '_>,
    organization: OrganizationId,
    email: &Email,
    user: UserId,
) -> Attempt<()> {
    let (key, now) = (email.key(), tx.now());
    let holder = tx.account_by_email(&key)?.map(|account| account.user).filter(|holder| holder.id != user);
    let proved = holder.as_ref().is_some_and(|holder| holder.email_proved);
    if proved || tx.email_is_claimed(&key, user, now)? {
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

/// Follows up a change of the address of a user, who is held and was `before`, as when users change their own:
/// the owner of an old address that was proved gets a letter, and may undo the change.
///
/// The new address counts as proved within the domains of the organization, if the account either was not in
/// use or had an address within those domains before. In all other cases it is not proved, and links to a new
/// password go on going to the owner's address: nobody comes by the account of somebody else by reading the
/// mail of the new one. That stays so through all further changes, also while the owner's address is the
/// present one again, until a mailed link proves it or the owner enters another.
pub(super) fn follow_up(
    tx: &mut Tx<'_, '_>,
    organization: OrganizationId,
    before: &User,
    new: &str,
) -> StoreResult<()> {
    let (id, key) = (before.id, email_key(new));
    follow_up_change(tx, before, new)?;
    let mut owned = tx.recovery_key(id)?;
    if owned.is_none() && (before.email_proved || tx.has_password(id)?) {
        owned = Some(email_key(&before.email));
    }
    let is_proved = vouches(tx, organization, &key)?
        && match &owned {
            Some(owned) => vouches(tx, organization, owned)?,
            None => true,
        };
    tx.set_email_proved(id, is_proved)?;
    tx.set_recovery_key(id, owned.filter(|_| !is_proved).as_deref())
}
