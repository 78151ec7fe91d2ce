//! What mails say, and whether anybody still needs them.

use eddyline_auth::Secret;
use eddyline_mail::{MailMessage, texts};
use eddyline_model::audit::actor;
use eddyline_model::deletion::DeletionTarget;
use eddyline_model::invitations::{InvitationState, LINK_DAYS};
use eddyline_model::mail::{MailedLink, Purpose, QueuedMail, RESET_HOURS, UNDO_DAYS};
use eddyline_model::names::email_key;
use eddyline_model::{Day, InvitationId, OrganizationId, Timestamp, UserId, policy};
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
        Purpose::DeletionRequest(id) => deletion_requested(tx, addresses, mail, id),
        Purpose::DeletionCancel(id) => deletion_cancelled(tx, addresses, mail, id),
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

fn deletion_requested(
    tx: &mut Tx<'_>,
    addresses: &Addresses,
    mail: &QueuedMail,
    id: OrganizationId,
) -> StoreResult<Option<MailMessage>> {
    let pending = tx.deletions().find(DeletionTarget::Organization(id))?;
    let organization = tx.organizations().find(id)?;
    let Some((pending, organization)) = pending.zip(organization) else {
        return Ok(None);
    };
    let requester = find_name(tx, pending.requester())?;
    let due_at = pending.due_at;
    let day = Day::of(due_at).map_or_else(|| due_at.to_string(), |day| day.to_string());
    let link = addresses.deletion_page(&organization);
    let said = texts::DeletionMail {
        to: &mail.recipient,
        organization_name: &organization.name,
        user_name: requester.as_deref(),
        link: &link,
    };
    Ok(Some(texts::deletion_requested(name(mail), &said, &day)))
}

fn deletion_cancelled(
    tx: &mut Tx<'_>,
    addresses: &Addresses,
    mail: &QueuedMail,
    id: OrganizationId,
) -> StoreResult<Option<MailMessage>> {
    // Requested again since: a mail says so.
    if tx
        .deletions()
        .find(DeletionTarget::Organization(id))?
        .is_some()
    {
        return Ok(None);
    }
    let Some(organization) = tx.organizations().find(id)? else {
        return Ok(None);
    };
    let user = mail.detail.as_deref().and_then(actor::named_user);
    let link = addresses.organization_page(&organization);
    let canceller = find_name(tx, user)?;
    let said = texts::DeletionMail {
        to: &mail.recipient,
        organization_name: &organization.name,
        user_name: canceller.as_deref(),
        link: &link,
    };
    Ok(Some(texts::deletion_cancelled(name(mail), &said)))
}

/// The name of a user.
fn find_name(tx: &mut Tx<'_>, user: Option<UserId>) -> StoreResult<Option<String>> {
    let found = match user {
        Some(user) => tx.users().find(user)?,
        None => None,
    };
    Ok(found.map(|user| user.name))
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
