//! How somebody comes into an organization: from outside into one of its flows, by an invitation or
//! by a join link, which is the one way to do so by oneself; or because others put them there.

use eddyline_model::audit::{AuditAction, AuditEntry};
use eddyline_model::identities::Identity;
use eddyline_model::log::Control;
use eddyline_model::names;
use eddyline_model::organizations::{Organization, OrganizationMembership, OrganizationRole};
use eddyline_model::policy;
use eddyline_model::users::User;
use eddyline_model::{OrganizationId, RoomId, UserId};
use eddyline_storage::{Result as StoreResult, Tx};
use serde_json::json;

use crate::Error;
use crate::core::transaction::TxResult;
use crate::flows::add_joining_member;

/// Brings a user into a flow, and into its organization first if need be, and lets the flow know.
/// Somebody who is there already stays. A user who was removed from the organization comes in only
/// when a member has `invited` them; an identity provider that knew the user sees them again then.
///
/// # Errors
///
/// [`Error::not_found`] when the flow is gone or archived, [`Error::denied`] when its organization
/// is inactive, or the user is blocked, or was removed and is not invited, [`Error::conflict`] when
/// the organization is full, [`Error::invalid`] when another user there has the nick.
pub(crate) fn join_flow(tx: &mut Tx<'_>, room: RoomId, user: &User, invited: bool) -> TxResult<()> {
    let organization = lock_open_flow(tx, room)?;
    match tx.members().find(room, user.id)? {
        Some(membership) if membership.blocked => return Err(Error::denied().into()),
        Some(_) => return Ok(()),
        None => {}
    }
    join_organization(tx, organization, user, invited)?;
    Ok(add_joining_member(tx, room, user)?)
}

/// Holds a flow that somebody is to come into, and gives its organization, which is not held.
///
/// # Errors
///
/// [`Error::not_found`] when the flow is gone or archived, [`Error::denied`] when its organization
/// is inactive.
pub(crate) fn lock_open_flow(tx: &mut Tx<'_>, room: RoomId) -> TxResult<OrganizationId> {
    tx.rooms().lock(room)?;
    let flow = tx
        .flows()
        .find(room)?
        .filter(|flow| !flow.disabled)
        .ok_or_else(Error::not_found)?;
    let organization = tx
        .organizations()
        .find(flow.organization)?
        .ok_or_else(Error::not_found)?;
    policy::write(&organization).map_err(Error::from)?;
    Ok(organization.id)
}

/// Whether an organization, which the caller holds, has a place for somebody with this nick: an
/// account, or a person who is about to make one.
///
/// # Errors
///
/// [`Error::invalid`] when another user there has the nick, [`Error::conflict`] when it is full.
pub(crate) fn has_place(
    tx: &mut Tx<'_>,
    organization: &Organization,
    nick: &str,
    account: Option<UserId>,
) -> TxResult<()> {
    if tx.organization_members().has_nick(
        organization.id,
        &names::nick_key(nick),
        account.unwrap_or(UserId(0)),
    )? {
        let text = match account {
            Some(_) => format!("{nick} is taken in this organization; choose another nick first"),
            None => "is taken in this organization".to_owned(),
        };
        return Err(Error::invalid("nick", text).into());
    }
    if organization.user_count >= organization.user_limit {
        return Err(Error::conflict("the organization's user limit is reached").into());
    }
    Ok(())
}

fn join_organization(
    tx: &mut Tx<'_>,
    id: OrganizationId,
    user: &User,
    invited: bool,
) -> TxResult<()> {
    if tx
        .organization_members()
        .list_of_user(user.id)?
        .iter()
        .any(|member| member.organization == id)
    {
        return Ok(());
    }
    // Held, and looked at again: the nick may be changing on another node.
    let organization = tx.organizations().lock(id)?.ok_or_else(Error::not_found)?;
    tx.users().lock(user.id)?;
    let user = tx.users().find(user.id)?.ok_or_else(Error::not_found)?;
    // The identity provider may have taken the access away since the request began, or before.
    if !user.active || is_suspended(tx, id, user.id)? {
        return Err(Error::denied().into());
    }
    // Asked first: a statement that fails would end the transaction on PostgreSQL.
    has_place(tx, &organization, &user.nick, Some(user.id))?;
    if !invited && tx.organization_members().is_removed(id, user.id)? {
        return Err(Error::denied().into());
    }
    Ok(enter(tx, id, &user, OrganizationRole::Member)?)
}

/// Makes somebody a member of an organization, which has a place for them. Its identity provider
/// sees them again if it did before.
pub(crate) fn enter(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    user: &User,
    role: OrganizationRole,
) -> StoreResult<()> {
    let now = tx.now();
    let known = tx
        .identities()
        .find(user.id)?
        .filter(|known| known.organization == organization);
    if let Some(known) =
        known.filter(|known| known.removed_at.is_some() || known.suspended_at.is_some())
    {
        let version = known.version + 1;
        tx.organization_members().delete_suspended(user.id)?;
        let (removed_at, suspended_at) = (None, None);
        tx.identities().update(&Identity {
            version,
            updated_at: now,
            removed_at,
            suspended_at,
            ..known
        })?;
    }
    let membership = OrganizationMembership {
        organization,
        user: user.id,
        role,
    };
    tx.organization_members()
        .insert(membership, &names::nick_key(&user.nick), now)?;
    note_member(tx, membership, AuditAction::MemberAdd)?;
    tx.record_event(Control::UserEdit { user: user.id });
    // It counts one more.
    tx.record_event(Control::OrganizationChange);
    Ok(())
}

/// Records that a user came into an organization, or went out of it.
pub(crate) fn note_member(
    tx: &mut Tx<'_>,
    membership: OrganizationMembership,
    action: AuditAction,
) -> StoreResult<()> {
    let is_administrator = membership.role == OrganizationRole::Administrator;
    let entry = AuditEntry::new(action, Some(membership.organization)).about(membership.user);
    tx.audit()
        .insert(&entry.with(json!({"admin": is_administrator})))
}

/// Whether the identity provider of an organization, or of one above it, keeps a user out of it.
fn is_suspended(tx: &mut Tx<'_>, organization: OrganizationId, user: UserId) -> StoreResult<bool> {
    let Some(known) = tx
        .identities()
        .find(user)?
        .filter(|known| known.suspended_at.is_some())
    else {
        return Ok(false);
    };
    Ok(known.organization == organization
        || tx
            .organizations()
            .list_below(known.organization)?
            .contains(&organization))
}
