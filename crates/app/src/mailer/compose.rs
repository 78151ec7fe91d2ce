//! What mails say, and whether anybody still needs them.

use eddyline_auth::Secret;
use eddyline_mail::{MailMessage, texts};
use eddyline_model::invitations::{InvitationState, LINK_DAYS};
use eddyline_model::mail::{MailedLink, Purpose, QueuedMail, RESET_HOURS, UNDO_DAYS};
use eddyline_model::names::email_key;
use eddyline_model::{InvitationId, Timestamp, UserId, policy};
use eddyline_storage::{Result as StoreResult, Tx};

use crate::Addresses;

const HOUR_MILLIS: i64 = 3_600_000;

/// The message of a queued mail, whose secret link is stored with it; `None` when nobody needs it
/// any more.
pub(super) fn message(
    tx: &mut Tx<'_>,
    addresses: &Addresses,
    mail: &QueuedMail,
) -> StoreResult<Option<MailMessage>> {
    match mail.purpose {
        Purpose::Invitation(id) => invitation(tx, addresses, mail, id),
        Purpose::PasswordReset(user) => password_reset(tx, addresses, mail, user),
        Purpose::EmailChange(user) => email_change(tx, addresses, mail, user),
        Purpose::SignIn(_) => Ok(None),
    }
}

fn invitation(
    tx: &mut Tx<'_>,
    addresses: &Addresses,
    mail: &QueuedMail,
    id: InvitationId,
) -> StoreResult<Option<MailMessage>> {
    let Some(invitation) = tx
        .invitations()
        .find(id)?
        .filter(|found| found.state == InvitationState::Pending)
    else {
        return Ok(None);
    };
    let Some(flow) = tx
        .flows()
        .find(invitation.room)?
        .filter(|flow| !flow.disabled)
    else {
        return Ok(None);
    };
    let Some(organization) = tx.organizations().find(flow.organization)? else {
        return Ok(None);
    };
    if policy::write(&organization).is_err() {
        return Ok(None);
    }
    let inviter = match invitation.inviter {
        Some(user) => tx.users().find(user)?,
        None => None,
    };
    let now = tx.now();
    let link = link(tx, addresses, mail, now, LINK_DAYS * 24, None)?;
    let said = texts::InvitationMail {
        to: &mail.recipient,
        // Nobody in person invites those who asked for the mail themselves.
        inviter_name: inviter
            .as_ref()
            .map_or(&organization.name, |user| &user.name),
        flow_name: &flow.name,
        organization_name: &organization.name,
        message: invitation.message.as_deref(),
        link: &link,
        days: count(LINK_DAYS),
    };
    Ok(Some(texts::invitation(name(mail), &said)))
}

fn password_reset(
    tx: &mut Tx<'_>,
    addresses: &Addresses,
    mail: &QueuedMail,
    user: UserId,
) -> StoreResult<Option<MailMessage>> {
    // The owner of an address that was given up must not get into the account by it.
    let Some(user) = tx.users().find(user)? else {
        return Ok(None);
    };
    let address = tx
        .passwords()
        .find_recovery_key(user.id)?
        .unwrap_or_else(|| email_key(&user.email));
    if address != email_key(&mail.recipient) {
        return Ok(None);
    }
    let now = tx.now();
    let link = link(tx, addresses, mail, now, RESET_HOURS, None)?;
    let hours = count(RESET_HOURS);
    Ok(Some(texts::password_reset(
        name(mail),
        &mail.recipient,
        &user.name,
        &link,
        hours,
    )))
}

fn email_change(
    tx: &mut Tx<'_>,
    addresses: &Addresses,
    mail: &QueuedMail,
    user: UserId,
) -> StoreResult<Option<MailMessage>> {
    // Also where the address is back: somebody changed it, and may hold more than that.
    let Some(user) = tx.users().find(user)? else {
        return Ok(None);
    };
    let new = mail.detail.as_deref().unwrap_or(&user.email);
    // Counted from the change, so that links end in the order of the changes: the older one wins.
    let link = link(
        tx,
        addresses,
        mail,
        mail.created_at,
        UNDO_DAYS * 24,
        Some(&mail.recipient),
    )?;
    let days = count(UNDO_DAYS);
    Ok(Some(texts::email_changed(
        name(mail),
        &mail.recipient,
        &user.name,
        new,
        &link,
        days,
    )))
}

/// Makes the secret link of a mail and gives its address.
fn link(
    tx: &mut Tx<'_>,
    addresses: &Addresses,
    mail: &QueuedMail,
    from: Timestamp,
    hours: i64,
    email: Option<&str>,
) -> StoreResult<String> {
    let secret = Secret::generate_hex::<32>();
    let expires_at = from.plus_millis(hours * HOUR_MILLIS);
    let link = MailedLink {
        purpose: mail.purpose,
        email: email.map(str::to_owned),
        expires_at,
    };
    tx.mails().insert_link(&secret.hash().0, &link)?;
    Ok(addresses.mailed_page(mail.purpose, &secret))
}

/// Tells this mail from all others, also those of another database behind the same address.
fn name(mail: &QueuedMail) -> String {
    format!("{}-{}", mail.created_at.0, mail.id)
}

fn count(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
