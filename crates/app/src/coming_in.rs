//! How somebody comes into a flow from outside: by an invitation or by its join link. The one place
//! where a person becomes a member of an organization by their own doing.

use eddyline_model::log::Control;
use eddyline_model::names;
use eddyline_model::organizations::{OrganizationMembership, OrganizationRole};
use eddyline_model::policy;
use eddyline_model::users::User;
use eddyline_model::{OrganizationId, RoomId};
use eddyline_storage::{Error as StoreError, Result as StoreResult, Tx};

use crate::flow_users::bring_in;
use crate::{Error, Result};

/// Brings a user into a flow, and into its organization first if need be, and lets the flow know.
/// Somebody who is there already stays. Writes nothing when it refuses.
///
/// # Errors
///
/// [`Error::NotFound`] when the flow is gone or archived, [`Error::Denied`] when its organization is
/// inactive or the user is blocked, [`Error::Conflict`] when the organization is full,
/// [`Error::Invalid`] when somebody there has the user's nick.
pub(crate) fn come_in(tx: &mut Tx<'_, '_>, room: RoomId, user: &User) -> StoreResult<Result<()>> {
    tx.lock_room(room)?;
    let Some(flow) = tx.flow(room)?.filter(|flow| !flow.disabled) else { return Ok(Err(Error::NotFound)) };
    let Some(organization) = tx.organization(flow.organization)? else { return Ok(Err(Error::NotFound)) };
    if let Err(refusal) = policy::write(&organization) {
        return Ok(Err(refusal.into()));
    }
    match tx.room_membership(room, user.id)? {
        Some(membership) if membership.blocked => return Ok(Err(Error::Denied)),
        Some(_) => return Ok(Ok(())),
        None => {}
    }
    if let Err(refusal) = join_organization(tx, organization.id, user)? {
        return Ok(Err(refusal));
    }
    bring_in(tx, room, user)?;
    Ok(Ok(()))
}

fn join_organization(tx: &mut Tx<'_, '_>, id: OrganizationId, user: &User) -> StoreResult<Result<()>> {
    if tx.memberships_of(user.id)?.iter().any(|member| member.organization == id) {
        return Ok(Ok(()));
    }
    // Held, and looked at again: the nick may be changing on another node.
    tx.lock_organization(id)?;
    tx.lock_user(user.id)?;
    let Some(user) = tx.user(user.id)? else { return Ok(Err(Error::NotFound)) };
    // Asked first: a statement that fails would end the transaction on PostgreSQL.
    let key = names::nick_key(&user.nick);
    if tx.nick_is_taken(id, &key, user.id)? {
        let text = format!("{} is taken in this organization; choose another nick first", user.nick);
        return Ok(Err(Error::field("nick", text)));
    }
    let now = tx.now();
    let membership =
        OrganizationMembership { organization: id, user: user.id, role: OrganizationRole::Member };
    match tx.insert_organization_member(membership, &key, now) {
        Ok(()) => {}
        Err(StoreError::Refused(why)) => return Ok(Err(Error::Conflict(why.into()))),
        Err(error) => return Err(error),
    }
    tx.tell(Control::UserEdit { user: user.id });
    Ok(Ok(()))
}
