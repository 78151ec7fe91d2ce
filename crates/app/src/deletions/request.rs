//! Requesting a deletion: an organization is closed at once, a user is made inactive.

use eddyline_model::audit::{AuditAction, AuditEntry, actor};
use eddyline_model::deletion::{DeletionTarget, GracePeriod, PendingDeletion};
use eddyline_model::log::Control;
use eddyline_model::organizations::OrganizationRole;
use eddyline_model::{OrganizationId, UserId, policy};
use eddyline_storage::Tx;
use serde_json::json;

use super::{DeletionName, Deletions, find_target, lock_organization, note_user, refuse_held};
use crate::core::transaction::{NoCaller, TxResult};
use crate::offboarding::lock_for_removal;
use crate::operator::set_active;
use crate::organizations::note_organization;
use crate::{Error, Result};

impl Deletions {
    /// Requests a deletion in the name of the operator. An organization is closed when this answers:
    /// it has no members, and takes no tokens. A user is inactive.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without such an organization or user, [`Error::conflict`] when it is
    /// requested already, when a legal hold covers what would be deleted, and for the last
    /// administrator of an organization.
    pub async fn request(&self, name: DeletionName, grace: GracePeriod) -> Result<PendingDeletion> {
        let (requested, event) = self
            .core
            .transaction(NoCaller::Operator, move |tx| {
                match find_target(tx, &name)? {
                    DeletionTarget::Organization(id) => {
                        close(tx, id, grace, actor::OPERATOR.to_owned())
                    }
                    DeletionTarget::User(id) => shut_out(tx, id, grace),
                }
            })
            .await?;
        self.core.wait_until_applied(event).await;
        Ok(requested)
    }
}

fn refuse_repeated(tx: &mut Tx<'_>, target: DeletionTarget) -> TxResult<()> {
    match tx.deletions().find(target)? {
        None => Ok(()),
        Some(known) => {
            let text = format!(
                "its deletion was requested already, for {}; `delete cancel` restores it",
                known.due_at
            );
            Err(Error::conflict(text).into())
        }
    }
}

fn new_deletion(
    tx: &mut Tx<'_>,
    target: DeletionTarget,
    grace: GracePeriod,
    (requested_by, was_active): (String, bool),
) -> TxResult<PendingDeletion> {
    let requested_at = tx.now();
    let deletion = PendingDeletion {
        target,
        requested_by,
        requested_at,
        due_at: grace.after(requested_at),
        begun_at: None,
        was_active,
    };
    tx.deletions().insert(&deletion)?;
    Ok(deletion)
}

/// Closes an organization: from then on it has no members, and can only be read by those who have
/// the database.
fn close(
    tx: &mut Tx<'_>,
    id: OrganizationId,
    grace: GracePeriod,
    requested_by: String,
) -> TxResult<PendingDeletion> {
    let people = members_of(tx, id)?;
    let rooms = lock_organization(tx, id, &people)?;
    // A user who is added before the lock would keep what caches and private conversations allow.
    if members_of(tx, id)? != people {
        let text = "people entered or left the organization meanwhile; request its deletion again";
        return Err(Error::conflict(text).into());
    }
    let target = DeletionTarget::Organization(id);
    refuse_repeated(tx, target)?;
    refuse_held(tx, target)?;
    let before = tx.organizations().find(id)?.ok_or_else(Error::not_found)?;
    let deletion = new_deletion(tx, target, grace, (requested_by, before.active))?;
    let mut closed = before.clone();
    closed.active = false;
    tx.organizations().update(&closed)?;
    tx.deletions().insert_closed(id)?;
    for room in rooms {
        tx.rooms().advance_access(room)?;
        tx.record_event(Control::FlowArchive { room });
        tx.record_event(Control::FlowTokens { room });
    }
    for user in people {
        tx.rooms().advance_private_access_of_user(user)?;
        tx.record_event(Control::OrganizationRemove { user });
    }
    tx.record_event(Control::OrganizationChange);
    let detail = json!({"due_at": deletion.due_at.to_string()});
    note_organization(
        tx,
        &before,
        AuditAction::OrganizationDeletionRequest,
        &detail,
    )?;
    Ok(deletion)
}

/// The numbers of the members, in order.
fn members_of(tx: &mut Tx<'_>, id: OrganizationId) -> TxResult<Vec<UserId>> {
    let members = tx.organization_members().list_users(id)?;
    let mut people: Vec<UserId> = members.into_iter().map(|(user, _)| user.id).collect();
    people.sort_unstable();
    Ok(people)
}

fn last_administrator() -> Error {
    let text = "this is the last administrator of an organization; let another user administer it \
                first, or delete the organization";
    Error::conflict(text)
}

/// Makes a user inactive, who is to be erased.
fn shut_out(tx: &mut Tx<'_>, id: UserId, grace: GracePeriod) -> TxResult<PendingDeletion> {
    let memberships = tx.organization_members().list_of_user(id)?;
    let organizations: Vec<_> = memberships.iter().map(|m| m.organization).collect();
    lock_for_removal(tx, &organizations, id)?;
    let target = DeletionTarget::User(id);
    refuse_repeated(tx, target)?;
    refuse_held(tx, target)?;
    for membership in memberships {
        let administrators = tx
            .organization_members()
            .list_administrators(membership.organization)?;
        if membership.role == OrganizationRole::Administrator
            && !policy::may_do_without(&administrators, id)
        {
            return Err(last_administrator().into());
        }
    }
    for closed in tx.deletions().list_closed_of_user(id)? {
        let members = tx.deletions().list_members(closed.organization)?;
        let mut others = members.iter().filter(|(user, _)| *user != id);
        if closed.role == OrganizationRole::Administrator && !others.any(|(_, admin)| *admin) {
            return Err(last_administrator().into());
        }
    }
    let user = tx.users().find(id)?.ok_or_else(Error::not_found)?;
    let by = (actor::OPERATOR.to_owned(), user.active);
    let deletion = new_deletion(tx, target, grace, by)?;
    if user.active {
        set_active(tx, id, false)?;
    }
    let detail = json!({"due_at": deletion.due_at.to_string()});
    let entry = AuditEntry::new(AuditAction::UserDeletionRequest, None).with(&detail);
    note_user(tx, &organizations, entry, &deletion)?;
    Ok(deletion)
}
