//! A provider ends and restores the membership of a user whose account is not its organization's alone, and
//! which therefore stays active.

use eddyline_model::OrganizationId;
use eddyline_model::identities::Identity;
use eddyline_model::log::Control;
use eddyline_model::names::nick_key;
use eddyline_model::organizations::OrganizationMembership;
use eddyline_model::users::User;
use eddyline_storage::{Result as StoreResult, Session, Tx};

use super::check::{full, taken};
use super::reach::{is_shared, tree};
use crate::change::Attempt;
use crate::going_out::{end_memberships, hold};

/// What becomes of a user's membership in the provider's organization and those below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It stays as it is; whether the account is active may change.
    Nothing,
    /// It ends until it is restored.
    Suspend,
    /// It begins again.
    Restore,
}

impl Change {
    /// What follows from the wish that a user be active or not.
    pub(super) fn of(
        session: &mut Session<'_>,
        user: &User,
        identity: &Identity,
        active: bool,
    ) -> StoreResult<Self> {
        Ok(match (identity.suspended_at.is_some(), active) {
            (true, true) => Self::Restore,
            (false, false) if user.active && is_shared(session, identity)? => Self::Suspend,
            _ => Self::Nothing,
        })
    }
}

/// Holds what [`suspend`] and [`restore`] change, and the user.
pub(super) fn hold_memberships(tx: &mut Tx<'_, '_>, identity: &Identity) -> StoreResult<()> {
    let tree = tree(tx, identity.organization)?;
    hold(tx, &tree, identity.user)
}

/// Ends the memberships of a user in the organizations that the provider reaches, also as the last
/// administrator, and keeps them to be restored. Tells whether it is the first time since the user came in: what
/// was kept stays noted after a restoration, and only the first suspension ends all access. A provider that
/// suspends and restores again and again would keep the user out of other organizations otherwise.
pub(super) fn suspend(tx: &mut Tx<'_, '_>, user: &User, own: OrganizationId) -> StoreResult<bool> {
    let tree = tree(tx, own)?;
    let is_first = tx.suspended_memberships(user.id)?.is_empty();
    tx.delete_suspended_memberships(user.id)?;
    let mut memberships = tx.memberships_of(user.id)?;
    memberships.retain(|membership| tree.contains(&membership.organization));
    for membership in &memberships {
        tx.insert_suspended_membership(*membership)?;
    }
    end_memberships(tx, &memberships, user)?;
    Ok(is_first)
}

/// The memberships that a user gets back.
fn to_restore(session: &mut Session<'_>, identity: &Identity) -> StoreResult<Vec<OrganizationMembership>> {
    let present = session.memberships_of(identity.user)?;
    let mut kept = session.suspended_memberships(identity.user)?;
    kept.retain(|kept| present.iter().all(|membership| membership.organization != kept.organization));
    Ok(kept)
}

/// Makes a user a member again of the organizations that the suspension ended the membership in.
///
/// # Errors
///
/// [`crate::Error::Scim`] with status 400 when one of them is full, and with 409 when somebody else there has the
/// user's nick.
pub(super) fn restore(tx: &mut Tx<'_, '_>, user: &User, identity: &Identity) -> Attempt<()> {
    let (now, nick) = (tx.now(), nick_key(&user.nick));
    for membership in to_restore(tx, identity)? {
        let organization = tx.organization(membership.organization)?;
        if organization.is_none_or(|organization| organization.user_count >= organization.user_limit) {
            return Err(full().into());
        }
        if tx.nick_is_taken(membership.organization, &nick, user.id)? {
            return Err(taken(&format!("nickName {} is taken", user.nick)).into());
        }
        tx.insert_organization_member(membership, &nick, now)?;
    }
    tx.bump_private_rooms_of(user.id)?;
    tx.tell(Control::UserEdit { user: user.id });
    // They count one more.
    tx.tell(Control::OrganizationChange);
    Ok(())
}
