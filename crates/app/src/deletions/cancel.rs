//! Cancelling a deletion before its day.

use eddyline_model::audit::{AuditAction, AuditEntry, actor};
use eddyline_model::deletion::{DeletionTarget, PendingDeletion};
use eddyline_model::log::Control;
use eddyline_model::mail::Purpose;
use eddyline_model::{OrganizationId, RoomId, UserId};
use eddyline_storage::Tx;
use serde_json::json;

use super::mails::DeletionMails;
use super::{DeletionName, Deletions, find_target, lock_organization, note_user};
use crate::config::MailQuotas;
use crate::core::transaction::{NoCaller, TxResult};
use crate::operator::set_active;
use crate::organizations::note_organization;
use crate::{Error, Result};

impl Deletions {
    /// Cancels a deletion in the name of the operator. An organization is open again with its
    /// members, as it was; a user who was active is so again, and signs in anew.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without such an organization or user, and when no deletion was requested;
    /// [`Error::conflict`] when a server has begun to delete.
    pub async fn cancel(&self, name: DeletionName) -> Result<()> {
        let quotas = self.core.config().mail_quotas;
        let ((), event) = self
            .core
            .transaction(NoCaller::Operator, move |tx| {
                match find_target(tx, &name)? {
                    DeletionTarget::Organization(id) => {
                        let closed = lock_closed(tx, id)?;
                        reopen(tx, closed, (None, quotas))
                    }
                    DeletionTarget::User(id) => let_in(tx, id),
                }
            })
            .await?;
        self.mail.mail_is_queued();
        self.core.wait_until_applied(event).await;
        Ok(())
    }
}

fn find_cancellable(tx: &mut Tx<'_>, target: DeletionTarget) -> TxResult<PendingDeletion> {
    let found = tx.deletions().find(target)?;
    let found = found.ok_or_else(Error::not_found)?;
    if found.is_cancellable() {
        return Ok(found);
    }
    let text = "its deletion has begun, and cannot be cancelled any more";
    Err(Error::conflict(text).into())
}

/// A closed organization that is locked, with the members it had, each with whether they
/// administered it, and the rooms of its flows.
pub(super) struct LockedClosure {
    id: OrganizationId,
    members: Vec<(UserId, bool)>,
    rooms: Vec<RoomId>,
}

/// Locks an organization that is to be opened again.
pub(super) fn lock_closed(tx: &mut Tx<'_>, id: OrganizationId) -> TxResult<LockedClosure> {
    let members = tx.deletions().list_members(id)?;
    let people: Vec<UserId> = members.iter().map(|(user, _)| *user).collect();
    let rooms = lock_organization(tx, id, &people)?;
    // A closed organization only loses members, to erasures.
    let members = tx.deletions().list_members(id)?;
    Ok(LockedClosure { id, members, rooms })
}

/// Opens an organization again as it was, in the name of a user, or else of an operator.
pub(super) fn reopen(
    tx: &mut Tx<'_>,
    closed: LockedClosure,
    (by, quotas): (Option<UserId>, MailQuotas),
) -> TxResult<()> {
    let LockedClosure { id, members, rooms } = closed;
    let target = DeletionTarget::Organization(id);
    let deletion = find_cancellable(tx, target)?;
    let mut organization = tx.organizations().find(id)?.ok_or_else(Error::not_found)?;
    tx.deletions().delete(target)?;
    tx.deletions().delete_closed(id)?;
    organization.active = deletion.was_active;
    tx.organizations().update(&organization)?;
    for (user, _) in &members {
        let user = *user;
        tx.rooms().advance_private_access_of_user(user)?;
        tx.record_event(Control::UserEdit { user });
    }
    for room in rooms {
        tx.rooms().advance_access(room)?;
        tx.record_event(Control::FlowChange { room });
        tx.record_event(Control::FlowTokens { room });
    }
    tx.record_event(Control::OrganizationChange);
    let action = AuditAction::OrganizationDeletionCancel;
    note_organization(tx, &organization, action, &json!({}))?;
    let mut administrators = Vec::new();
    for (user, _) in members.into_iter().filter(|(_, admin)| *admin) {
        let found = tx.users().find(user)?.filter(|user| user.active);
        administrators.extend(found.map(|user| user.email));
    }
    // Those of the request that are not sent yet would come after the cancellation.
    tx.mails().delete_about(Purpose::DeletionRequest(id))?;
    let mail = DeletionMails {
        organization: id,
        sender: by,
        purpose: Purpose::DeletionCancel(id),
        detail: Some(by.map_or_else(|| actor::OPERATOR.to_owned(), actor::user)),
    };
    mail.queue(tx, quotas, administrators)
}

fn let_in(tx: &mut Tx<'_>, id: UserId) -> TxResult<()> {
    tx.users().lock(id)?;
    let target = DeletionTarget::User(id);
    let deletion = find_cancellable(tx, target)?;
    tx.deletions().delete(target)?;
    if deletion.was_active {
        set_active(tx, id, true)?;
    }
    let memberships = tx.organization_members().list_of_user(id)?;
    let organizations: Vec<_> = memberships.iter().map(|m| m.organization).collect();
    let entry = AuditEntry::new(AuditAction::UserDeletionCancel, None);
    Ok(note_user(tx, &organizations, entry, &deletion)?)
}
