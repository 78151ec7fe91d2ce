//! What follows from a change of address, and which accounts may be displaced from theirs.

use eddyline_model::OrganizationId;
use eddyline_model::log::Control;
use eddyline_model::mail::{Purpose, UNDO_DAYS};
use eddyline_model::names::{email_key, nick_key};
use eddyline_model::users::{Account, User};
use eddyline_storage::{NewMail, Reader, Result as StoreResult, Tx};

use crate::account_links::end_resets;

/// Follows up a change of the address of a user, who is held and was `before`: the new address is
/// not proved, links to a new password that went to the old one end, and the owner of an old
/// address that was proved gets a mail with a link that undoes the change, and may take the
/// address back as long as that link leads somewhere. The caller calls [`Mail::mail_is_queued`]
/// after the commit.
pub(crate) fn follow_up_change(tx: &mut Tx<'_>, before: &User, new: &str) -> StoreResult<()> {
    let (id, now) = (before.id, tx.now());
    end_resets(tx, id)?;
    tx.emails().set_proved(id, false)?;
    // A user who never proved an address has no claim to it.
    if before.email_proved {
        tx.emails().claim(
            &email_key(&before.email),
            id,
            now.plus_millis(UNDO_DAYS * 24 * 3_600_000),
        )?;
        let mail = NewMail {
            purpose: Purpose::EmailChange(id),
            recipient: before.email.clone(),
            detail: Some(new.to_owned()),
        };
        tx.mails().insert(&[mail], now)?;
    }
    Ok(())
}

/// Takes an unproved address away from an account, because another user has proved it. The account
/// gets back the last address that it proved, if its claim to it still holds; else the address that
/// receives its password reset links; else a placeholder that no mail reaches. Password reset links
/// keep their present recipient until the account proves an address.
pub(crate) fn displace(tx: &mut Tx<'_>, user: &User) -> StoreResult<()> {
    tx.users().lock(user.id)?;
    let now = tx.now();
    let (email, proved) = match tx.emails().find_claim(user.id, now)? {
        Some(email) => (email, true),
        None => (last_resort(tx, user)?, false),
    };
    tx.users().update(
        user.id,
        (&user.nick, &nick_key(&user.nick)),
        (&email, &email_key(&email)),
    )?;
    tx.emails().set_proved(user.id, proved)?;
    if proved {
        tx.passwords().set_recovery_key(user.id, None)?;
    }
    tx.identities().touch(user.id, now)?;
    end_resets(tx, user.id)?;
    tx.record_event(Control::UserEdit { user: user.id });
    Ok(())
}

fn last_resort(tx: &mut Tx<'_>, user: &User) -> StoreResult<String> {
    if let Some(recovery) = tx.passwords().find_recovery_key(user.id)?
        && tx.users().find_account_by_email(&recovery)?.is_none()
    {
        return Ok(recovery);
    }
    Ok(format!("user-{}@unproved.invalid", user.id))
}

/// The account that holds an address, as an organization sees it. An account with an unproved
/// address does not hold it (see [`keeps_address`]).
pub(crate) fn holder_of(
    reader: &mut Reader<'_>,
    email_key: &str,
    organization: OrganizationId,
) -> StoreResult<Option<Account>> {
    let Some(account) = reader.users().find_account_by_email(email_key)? else {
        return Ok(None);
    };
    Ok(keeps_address(reader, &account, organization)?.then_some(account))
}

/// Whether a user holds their own address, as an organization sees it (see [`holder_of`]).
pub(crate) fn holds_address(
    reader: &mut Reader<'_>,
    user: &User,
    organization: OrganizationId,
) -> StoreResult<bool> {
    if user.email_proved {
        return Ok(true);
    }
    let holder = holder_of(reader, &email_key(&user.email), organization)?;
    Ok(holder.is_some_and(|account| account.user.id == user.id))
}

/// Whether an account keeps its address against somebody who is invited to it into a flow of this
/// organization: when the address is proved, and also when the account was made for this very
/// organization by its identity provider and waits for its owner, who proves the address by a link
/// to a new password.
pub(crate) fn keeps_address(
    reader: &mut Reader<'_>,
    account: &Account,
    organization: OrganizationId,
) -> StoreResult<bool> {
    if account.user.email_proved {
        return Ok(true);
    }
    let known = reader.identities().find(account.user.id)?;
    let Some(known) =
        known.filter(|known| known.removed_at.is_none() && known.suspended_at.is_none())
    else {
        return Ok(false);
    };
    let is_stated = known
        .stated_email
        .is_some_and(|stated| stated == email_key(&account.user.email));
    if account.password_hash.is_some() || !is_stated {
        return Ok(false);
    }
    Ok(known.organization == organization
        || reader
            .organizations()
            .list_below(known.organization)?
            .contains(&organization))
}
