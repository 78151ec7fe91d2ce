//! What administrators do about the deletion of their organization themselves, and what the people of
//! a closed organization see of it.

use eddyline_model::deletion::{DeletionTarget, PendingDeletion};
use eddyline_model::organizations::{Organization, OrganizationRole};
use eddyline_model::policy::{self, DeletionAction, OrganizationAction};
use eddyline_model::{OrganizationId, Timestamp, UserId};
use eddyline_storage::{Reader, Result as StoreResult};
use eddyline_wire::ScheduledDeletion;

use super::cancel::{lock_closed, reopen};
use super::request::{close, lock_open, refuse_repeated};
use super::{Deletions, find_hold};
use crate::accounts::Confirmation;
use crate::actor::{Actor, Credential};
use crate::core::transaction::TxResult;
use crate::{Error, Result};

/// A closed organization, as its people see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClosedPlace {
    /// The name that people see.
    pub name: String,
    /// The name in URLs.
    pub parameterized_name: String,
    /// When it will be deleted.
    pub due_at: Timestamp,
    /// Whether a server has begun to delete it.
    pub begun: bool,
    /// Whether an operator requested the deletion, which only operators cancel.
    pub by_operator: bool,
    /// Whether the caller may cancel the deletion.
    pub cancellable: bool,
}

impl ClosedPlace {
    fn of(
        organization: Organization,
        pending: &PendingDeletion,
        role: Option<OrganizationRole>,
    ) -> Self {
        Self {
            name: organization.name,
            parameterized_name: organization.parameterized_name,
            due_at: pending.due_at,
            begun: !pending.is_cancellable(),
            by_operator: pending.requester().is_none(),
            cancellable: is_cancellable_by(role, pending),
        }
    }
}

impl Deletions {
    /// Requests the deletion of an organization in the name of an administrator of it, with the grace
    /// time of the server. It is closed when this answers. `repeated` guards against accidents: it
    /// must be the name of the organization in URLs. A caller with the session of a browser must
    /// show the password, or have signed in lately.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when it is not the caller's, [`Error::denied`] when the caller does not
    /// administer it, [`Error::invalid`] for another name, [`Error::conflict`] under a legal hold and
    /// when the deletion was requested already; [`Error::mail_quota`] when an administrator could get
    /// no mail about it; those of [`Confirmation`].
    pub async fn request_own(
        &self,
        actor: &Actor,
        id: OrganizationId,
        repeated: &str,
        confirmation: Option<&Confirmation>,
    ) -> Result<ScheduledDeletion> {
        self.confirm(actor, confirmation).await?;
        let (user, repeated) = (actor.user()?.user.id, repeated.trim().to_owned());
        let config = self.core.config();
        let (grace, quotas) = (config.deletion_grace, config.mail_quotas);
        let ((requested, role), event) = self
            .core
            .transaction_as(actor, move |tx, _| {
                let open = lock_open(tx, id)?;
                let role = find_role(tx, user, id)?;
                policy::organization(role, OrganizationAction::Administer).map_err(Error::from)?;
                let name = &open.organization.parameterized_name;
                if *name != repeated {
                    let text = format!("must be the name in addresses, {name}");
                    return Err(Error::invalid("name", text).into());
                }
                let target = DeletionTarget::Organization(id);
                refuse_repeated(tx, target)?;
                // The error does not name what the hold covers, which concerns other users.
                if find_hold(tx, target)?.is_some() {
                    let text = "a legal hold covers what would be deleted; \
                                ask an operator of the server";
                    return Err(Error::conflict(text).into());
                }
                Ok((close(tx, open, grace, (Some(user), quotas))?, role))
            })
            .await?;
        self.mail.mail_is_queued();
        self.core.wait_until_applied(event).await;
        let cancellable = is_cancellable_by(role, &requested);
        Ok(ScheduledDeletion::of(&requested, cancellable))
    }

    /// Scripts of the pages reach the API by a session, and show no password there.
    async fn confirm(&self, actor: &Actor, shown: Option<&Confirmation>) -> Result<()> {
        let is_session = matches!(actor.credential(), Some(Credential::Session(_)));
        match shown {
            Some(shown) => self.accounts.confirm(actor, shown).await,
            None if is_session && !self.accounts.has_signed_in_lately(actor).await? => {
                let text = "Sign in again, or delete the organization in its settings";
                Err(Error::denied().with_message(text))
            }
            None => Ok(()),
        }
    }

    /// The pending deletion of the organization that has this name in URLs, for its administrators.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when it is not the caller's and when no deletion was requested,
    /// [`Error::denied`] or [`Error::closed`] when the caller does not administer it.
    pub async fn find_own(&self, actor: &Actor, name: &str) -> Result<ScheduledDeletion> {
        let (user, name) = (actor.user()?.user.id, name.to_lowercase());
        self.core
            .read(move |reader| {
                let id = find_id(reader, &name)?;
                let pending = find_pending(reader, user, id, DeletionAction::See)?;
                let role = find_role(reader, user, id)?;
                let cancellable = is_cancellable_by(role, &pending);
                Ok(ScheduledDeletion::of(&pending, cancellable))
            })
            .await
    }

    /// Cancels the deletion of an organization in the name of an administrator of it: it is open
    /// again, as it was, when this answers.
    ///
    /// # Errors
    ///
    /// As [`Deletions::find_own`], [`Error::denied`] also for what an operator requested, and
    /// [`Error::conflict`] when a server has begun to delete.
    pub async fn cancel_own(&self, actor: &Actor, name: &str) -> Result<()> {
        let (user, name) = (actor.user()?.user.id, name.to_lowercase());
        let quotas = self.core.config().mail_quotas;
        let ((), event) = self
            .core
            .transaction_as(actor, move |tx, _| {
                let id = find_id(tx, &name)?;
                // Strangers lock nothing.
                find_pending(tx, user, id, DeletionAction::Cancel)?;
                let closed = lock_closed(tx, id)?;
                find_pending(tx, user, id, DeletionAction::Cancel)?;
                reopen(tx, closed, (Some(user), quotas))
            })
            .await?;
        self.mail.mail_is_queued();
        self.core.wait_until_applied(event).await;
        Ok(())
    }

    /// The closed organization that has this name in URLs, for those who belonged to it. `None` when
    /// it is open.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when it is not the caller's.
    pub async fn find_closed(&self, actor: &Actor, name: &str) -> Result<Option<ClosedPlace>> {
        let (user, name) = (actor.user()?.user.id, name.to_lowercase());
        self.core
            .read(move |reader| {
                let id = find_id(reader, &name)?;
                let role = find_role(reader, user, id)?;
                policy::organization(role, OrganizationAction::See).map_err(Error::from)?;
                Ok(find_place(reader, id, role)?)
            })
            .await
    }

    /// The closed organizations that the caller belonged to, by their names.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] for flow tokens.
    pub async fn list_closed(&self, actor: &Actor) -> Result<Vec<ClosedPlace>> {
        let closed = actor.user()?.closed.clone();
        if closed.is_empty() {
            return Ok(Vec::new());
        }
        let mut found = self
            .core
            .read(move |reader| {
                let mut found = Vec::with_capacity(closed.len());
                for of in closed {
                    found.extend(find_place(reader, of.organization, Some(of.role))?);
                }
                Ok(found)
            })
            .await?;
        found.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(found)
    }
}

fn find_id(reader: &mut Reader<'_>, name: &str) -> TxResult<OrganizationId> {
    let found = reader.organizations().find_id_by_name(name)?;
    Ok(found.ok_or_else(Error::not_found)?)
}

/// What a user is in an organization, or was until it was closed.
fn find_role(
    reader: &mut Reader<'_>,
    user: UserId,
    id: OrganizationId,
) -> StoreResult<Option<OrganizationRole>> {
    let open = reader.organization_members().list_of_user(user)?;
    if let Some(membership) = open.iter().find(|of| of.organization == id) {
        return Ok(Some(membership.role));
    }
    let closed = reader.deletions().list_closed_of_user(user)?;
    let was_in = closed.iter().find(|of| of.organization == id);
    Ok(was_in.map(|of| of.role))
}

fn find_place(
    reader: &mut Reader<'_>,
    id: OrganizationId,
    role: Option<OrganizationRole>,
) -> StoreResult<Option<ClosedPlace>> {
    let pending = reader.deletions().find(DeletionTarget::Organization(id))?;
    let organization = reader.organizations().find(id)?;
    Ok(pending
        .zip(organization)
        .map(|(pending, organization)| ClosedPlace::of(organization, &pending, role)))
}

/// The pending deletion of an organization, if the user may do this with it.
fn find_pending(
    reader: &mut Reader<'_>,
    user: UserId,
    id: OrganizationId,
    action: DeletionAction,
) -> TxResult<PendingDeletion> {
    let role = find_role(reader, user, id)?;
    let found = reader.deletions().find(DeletionTarget::Organization(id))?;
    let Some(pending) = found else {
        policy::organization(role, OrganizationAction::Administer).map_err(Error::from)?;
        return Err(Error::not_found().into());
    };
    let sees = policy::deletion(role, &pending, DeletionAction::See).is_ok();
    match policy::deletion(role, &pending, action) {
        Ok(()) => Ok(pending),
        Err(policy::Refusal::Denied) if sees => {
            let text =
                "An operator of the server requested this deletion, and only operators cancel it";
            Err(Error::denied().with_message(text).into())
        }
        Err(policy::Refusal::Denied) => Err(Error::closed(pending.due_at).into()),
        Err(refusal) => Err(Error::from(refusal).into()),
    }
}

fn is_cancellable_by(role: Option<OrganizationRole>, pending: &PendingDeletion) -> bool {
    pending.is_cancellable() && policy::deletion(role, pending, DeletionAction::Cancel).is_ok()
}
