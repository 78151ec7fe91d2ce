//! Requesting a deletion: an organization is closed at once, a user is made inactive.

use eddyline_model::audit::{AuditAction, AuditEntry, actor};
use eddyline_model::deletion::{DeletionTarget, GracePeriod, PendingDeletion};
use eddyline_model::log::Control;
use eddyline_model::mail::Purpose;
use eddyline_model::organizations::{Organization, OrganizationRole};
use eddyline_model::{OrganizationId, RoomId, UserId, policy};
use eddyline_storage::Tx;
use serde_json::json;

use super::mails::DeletionMails;
use super::{DeletionName, Deletions, find_target, lock_organization, note_user, refuse_held};
use crate::config::MailQuotas;
use crate::core::transaction::{NoCaller, TxResult};
use crate::offboarding::lock_for_removal;
use crate::operator::erasure::{
    closed_organizations_of, last_administrator, refuse_last_of_closed,
};
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
        let quotas = self.core.config().mail_quotas;
        let (requested, event) = self
            .core
            .transaction(NoCaller::Operator, move |tx| {
                match find_target(tx, &name)? {
                    DeletionTarget::Organization(id) => {
                        let open = lock_open(tx, id)?;
                        let target = DeletionTarget::Organization(id);
                        refuse_repeated(tx, target)?;
                        refuse_held(tx, target)?;
                        close(tx, open, grace, (None, quotas))
                    }
                    DeletionTarget::User(id) => shut_out(tx, id, grace),
                }
            })
            .await?;
        self.mail.mail_is_queued();
        self.core.wait_until_applied(event).await;
        Ok(requested)
    }
}

pub(super) fn refuse_repeated(tx: &mut Tx<'_>, target: DeletionTarget) -> TxResult<()> {
    match tx.deletions().find(target)? {
        None => Ok(()),
        Some(known) => {
            let text = format!(
                "its deletion was requested already, for {}; cancel it to restore it",
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

/// An organization that is locked, with its members and the rooms of its flows.
pub(super) struct OpenOrganization {
    pub(super) organization: Organization,
    people: Vec<UserId>,
    rooms: Vec<RoomId>,
}

/// Locks an organization that is to be closed.
///
/// # Errors
///
/// [`Error::conflict`] when people enter or leave it meanwhile.
pub(super) fn lock_open(tx: &mut Tx<'_>, id: OrganizationId) -> TxResult<OpenOrganization> {
    let people = members_of(tx, id)?;
    let rooms = lock_organization(tx, id, &people)?;
    // A user who is added before the lock would keep what caches and private conversations allow.
    if members_of(tx, id)? != people {
        let text = "people entered or left the organization meanwhile; request its deletion again";
        return Err(Error::conflict(text).into());
    }
    let organization = tx.organizations().find(id)?.ok_or_else(Error::not_found)?;
    Ok(OpenOrganization {
        organization,
        people,
        rooms,
    })
}

/// Closes an organization: from then on it has no members, and can only be read by those who have
/// the database. The requester is a user, or else an operator.
pub(super) fn close(
    tx: &mut Tx<'_>,
    open: OpenOrganization,
    grace: GracePeriod,
    (requester, quotas): (Option<UserId>, MailQuotas),
) -> TxResult<PendingDeletion> {
    let OpenOrganization {
        organization: before,
        people,
        rooms,
    } = open;
    let id = before.id;
    let target = DeletionTarget::Organization(id);
    let requested_by = requester.map_or_else(|| actor::OPERATOR.to_owned(), actor::user);
    let deletion = new_deletion(tx, target, grace, (requested_by, before.active))?;
    let administrators = list_administrators(tx, id)?;
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
    let purpose = Purpose::DeletionRequest(id);
    let mail = DeletionMails {
        organization: id,
        sender: requester,
        purpose,
        detail: None,
    };
    mail.queue(tx, quotas, administrators)?;
    Ok(deletion)
}

/// The addresses of the active administrators.
fn list_administrators(tx: &mut Tx<'_>, id: OrganizationId) -> TxResult<Vec<String>> {
    let members = tx.organization_members().list_users(id)?.into_iter();
    let administrators = members.filter(|(user, admin)| *admin && user.active);
    Ok(administrators.map(|(user, _)| user.email).collect())
}

/// The numbers of the members, in order.
fn members_of(tx: &mut Tx<'_>, id: OrganizationId) -> TxResult<Vec<UserId>> {
    let members = tx.organization_members().list_users(id)?;
    let mut people: Vec<UserId> = members.into_iter().map(|(user, _)| user.id).collect();
    people.sort_unstable();
    Ok(people)
}

/// Makes a user inactive, who is to be erased.
fn shut_out(tx: &mut Tx<'_>, id: UserId, grace: GracePeriod) -> TxResult<PendingDeletion> {
    let memberships = tx.organization_members().list_of_user(id)?;
    let organizations: Vec<_> = memberships.iter().map(|m| m.organization).collect();
    let closed = closed_organizations_of(tx, id)?;
    lock_for_removal(tx, &[&organizations[..], &closed].concat(), id)?;
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
    refuse_last_of_closed(tx, id)?;
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
