//! A provider ends and restores the membership of a user whose account is not its organization's
//! alone, and which therefore stays active.

use eddyline_model::audit::AuditAction;
use eddyline_model::identities::Identity;
use eddyline_model::log::Control;
use eddyline_model::names::nick_key;
use eddyline_model::organizations::OrganizationMembership;
use eddyline_model::users::User;
use eddyline_model::{OrganizationId, Timestamp};
use eddyline_storage::{Reader, Result as StoreResult, Tx};

use super::check::{full, taken};
use super::reach::{is_shared, tree};
use crate::core::transaction::TxResult;
use crate::join::note_member;
use crate::offboarding::{Leaving, end_memberships, lock_for_removal};

/// How long further suspensions of a user leave access to other organizations alone.
const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;

/// What becomes of a user's membership in the provider's organization and those below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MembershipChange {
    /// It stays as it is; whether the account is active may change.
    Nothing,
    /// It ends until it is restored.
    Suspend,
    /// It begins again.
    Restore,
}

impl MembershipChange {
    /// What follows from the wish that a user be active or not.
    pub(super) fn of(
        reader: &mut Reader<'_>,
        user: &User,
        identity: &Identity,
        active: bool,
    ) -> StoreResult<Self> {
        Ok(match (identity.suspended_at.is_some(), active) {
            (true, true) => Self::Restore,
            (false, false) if user.active && is_shared(reader, identity)? => Self::Suspend,
            _ => Self::Nothing,
        })
    }
}

/// Holds what [`suspend`] and [`restore`] change, and the user.
pub(super) fn lock_memberships(tx: &mut Tx<'_>, identity: &Identity) -> StoreResult<()> {
    let tree = tree(tx, identity.organization)?;
    lock_for_removal(tx, &tree, identity.user)
}

/// Ends the memberships of a user in the organizations that the provider reaches, also as the last
/// administrator, and keeps them to be restored. Returns whether all access ends too: that happens
/// at most once in 24 hours, also across restorations. Otherwise a provider could keep the user out
/// of other organizations by suspending and restoring in turn.
pub(super) fn suspend(tx: &mut Tx<'_>, user: &User, own: OrganizationId) -> StoreResult<bool> {
    let tree = tree(tx, own)?;
    let (now, last) = (
        tx.now(),
        tx.organization_members().find_access_end(user.id)?,
    );
    let ends = ends_access(last, now);
    let ended_at = last.filter(|_| !ends).unwrap_or(now);
    tx.organization_members().delete_suspended(user.id)?;
    let mut memberships = tx.organization_members().list_of_user(user.id)?;
    memberships.retain(|membership| tree.contains(&membership.organization));
    for membership in &memberships {
        tx.organization_members()
            .insert_suspended(*membership, ended_at)?;
    }
    end_memberships(tx, &memberships, user, Leaving::Announced)?;
    Ok(ends)
}

/// Whether a suspension ends all access, given when one last did.
fn ends_access(last: Option<Timestamp>, now: Timestamp) -> bool {
    last.is_none_or(|last| now.0 - last.0 >= DAY_MILLIS)
}

/// The memberships that a user gets back.
fn to_restore(
    reader: &mut Reader<'_>,
    identity: &Identity,
) -> StoreResult<Vec<OrganizationMembership>> {
    let present = reader.organization_members().list_of_user(identity.user)?;
    let mut kept = reader
        .organization_members()
        .list_suspended(identity.user)?;
    kept.retain(|kept| {
        present
            .iter()
            .all(|membership| membership.organization != kept.organization)
    });
    Ok(kept)
}

/// Makes a user a member again of the organizations that the suspension ended the membership in.
///
/// # Errors
///
/// [`crate::Error::invalid`] when one of them is full, [`crate::Error::conflict`] when another user
/// there has the same nick.
pub(super) fn restore(tx: &mut Tx<'_>, user: &User, identity: &Identity) -> TxResult<()> {
    let (now, nick) = (tx.now(), nick_key(&user.nick));
    for membership in to_restore(tx, identity)? {
        let organization = tx.organizations().find(membership.organization)?;
        if organization
            .is_none_or(|organization| organization.user_count >= organization.user_limit)
        {
            return Err(full().into());
        }
        if tx
            .organization_members()
            .has_nick(membership.organization, &nick, user.id)?
        {
            return Err(taken(&format!("nickName {} is taken", user.nick)).into());
        }
        tx.organization_members().insert(membership, &nick, now)?;
        note_member(tx, membership, AuditAction::MemberAdd)?;
    }
    tx.rooms().advance_private_access_of_user(user.id)?;
    tx.record_event(Control::UserEdit { user: user.id });
    // They count one more.
    tx.record_event(Control::OrganizationChange);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suspensions_end_all_access_once_a_day() {
        let last = Timestamp(1_800_000_000_000);
        assert!(ends_access(None, last));
        assert!(!ends_access(Some(last), last));
        assert!(!ends_access(Some(last), last.plus_millis(DAY_MILLIS - 1)));
        assert!(ends_access(Some(last), last.plus_millis(DAY_MILLIS)));
    }
}
