//! A provider makes a user again whom it had removed.

use eddyline_model::audit::AuditAction;
use eddyline_model::identities::Identity;
use eddyline_model::log::Control;
use eddyline_model::names::email_key;
use eddyline_model::organizations::{OrganizationMembership, OrganizationRole};
use eddyline_model::users::User;
use eddyline_storage::{Result as StoreResult, Tx};

use super::ScimProvider;
use super::check::{ValidUser, full, is_taken, nick_for};
use super::reach::vouches;
use super::suspension::MembershipChange;
use super::update::{apply, everywhere};
use crate::Error;
use crate::core::transaction::TxResult;
use crate::join::note_member;

/// Whether a user whom the provider had removed may come back with the account: if that still has
/// the address, which was proved or is the one that the provider had stated, and belongs to no
/// other organization by now, whose matter it would be as well.
pub(super) fn may_come_back(
    tx: &mut Tx<'_>,
    identity: &Identity,
    wanted: &ValidUser,
) -> StoreResult<bool> {
    let here = identity.organization;
    let elsewhere = tx
        .organization_members()
        .list_of_user(identity.user)?
        .iter()
        .any(|membership| membership.organization != here);
    let key = wanted.email.key();
    let is_stated = identity.stated_email.as_ref() == Some(&key);
    let user = tx.users().find(identity.user)?;
    let same =
        user.is_some_and(|user| email_key(&user.email) == key && (user.email_proved || is_stated));
    Ok(same && !elsewhere)
}

/// Brings somebody back whom the provider had removed. The organization and the user are held.
pub(super) fn bring_back(
    tx: &mut Tx<'_>,
    provider: &ScimProvider,
    identity: Identity,
    wanted: &ValidUser,
    random: &str,
) -> TxResult<(User, Identity)> {
    let id = identity.user;
    let user = tx.users().find(id)?.ok_or_else(Error::not_found)?;
    let everywhere = everywhere(tx, id, identity.organization)?;
    // Where the provider asks for no nick, the user has the old one again if it is free.
    let mut nick = wanted.nick.clone();
    if nick.is_none()
        && let Ok(old) = user.nick.parse()
        && !is_taken(tx, &everywhere, id, &old)?
    {
        nick = Some(old);
    }
    let nick = nick_for(tx, &everywhere, id, (nick.as_ref(), &wanted.name), random)?;
    let organization = tx
        .organizations()
        .find(identity.organization)?
        .ok_or_else(Error::not_found)?;
    if !tx
        .organization_members()
        .list_of_user(id)?
        .iter()
        .any(|membership| membership.organization == organization.id)
    {
        if organization.user_count >= organization.user_limit {
            return Err(full().into());
        }
        let role = OrganizationRole::Member;
        let membership = OrganizationMembership {
            organization: organization.id,
            user: id,
            role,
        };
        let now = tx.now();
        tx.organization_members()
            .insert(membership, &nick.key(), now)?;
        note_member(tx, membership, AuditAction::MemberAdd)?;
        tx.rooms().advance_private_access_of_user(id)?;
        tx.record_event(Control::UserEdit { user: id });
        // It counts one more.
        tx.record_event(Control::OrganizationChange);
    }
    // A domain that the organization was given since makes the address proved.
    let is_owned = tx.passwords().find_recovery_key(id)?.is_some();
    if !user.email_proved && !is_owned && vouches(tx, organization.id, &wanted.email.key())? {
        tx.emails().set_proved(id, true)?;
    }
    let wanted = ValidUser {
        nick: Some(nick),
        ..wanted.clone()
    };
    apply(
        tx,
        provider,
        (user, identity),
        &wanted,
        MembershipChange::Nothing,
        (AuditAction::UserReturn, random),
    )
}
