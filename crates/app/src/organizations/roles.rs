//! Who administers an organization. Administrators say so on the pages, operators from the command
//! line.

use eddyline_model::audit::AuditAction;
use eddyline_model::log::Control;
use eddyline_model::organizations::OrganizationRole;
use eddyline_model::{OrganizationId, UserId, policy};
use eddyline_storage::Tx;
use serde_json::json;

use super::Organizations;
use crate::accounts::Confirmation;
use crate::actor::Actor;
use crate::audit::note;
use crate::core::transaction::TxResult;
use crate::{Error, Result};

/// Gives a member of an organization a role, and records that `actor` did. The caller holds the
/// organization and the user. Doing it twice does nothing.
///
/// # Errors
///
/// [`Error::not_found`] for a user who does not belong to it, [`Error::conflict`] for the last
/// administrator.
pub(crate) fn set_role(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    user: UserId,
    role: OrganizationRole,
    actor: &str,
) -> TxResult<()> {
    let member = tx.organization_members().find_user(organization, user)?;
    let (_, before) = member.ok_or_else(Error::not_found)?;
    let after = role == OrganizationRole::Administrator;
    if before == after {
        return Ok(());
    }
    let administrators = tx
        .organization_members()
        .list_administrators(organization)?;
    if !after && !policy::may_do_without(&administrators, user) {
        let text = "this is the last administrator of the organization; let another user administer it first";
        return Err(Error::conflict(text).into());
    }
    tx.organization_members()
        .set_role(organization, user, role)?;
    let detail = json!({"admin": [before, after]});
    note(
        tx,
        organization,
        (actor, AuditAction::UserUpdate),
        Some(user),
        &detail,
    )?;
    tx.record_event(Control::UserEdit { user });
    Ok(())
}

impl Organizations {
    /// Has a member of an organization administer it, or no longer; the caller too. It holds in
    /// every process once this answers. Doing it twice does nothing. To give the right the caller
    /// must confirm who they are.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when it is not the caller's, or the user does not belong to it;
    /// [`Error::denied`] when the caller does not administer it, and in an inactive one when the
    /// right is given; [`Error::conflict`] for the last administrator; those of [`Confirmation`].
    pub async fn set_role(
        &self,
        actor: &Actor,
        id: OrganizationId,
        user: UserId,
        role: OrganizationRole,
        confirmation: &Confirmation,
    ) -> Result<()> {
        if role == OrganizationRole::Administrator {
            self.accounts.confirm(actor, confirmation).await?;
        }
        // Held before the caller's rights are looked at: others may be taking them.
        let lock = move |tx: &mut Tx<'_>| {
            tx.organizations().lock(id)?;
            tx.users().lock(user)
        };
        let work = self
            .core
            .locked_transaction_as(actor, lock, move |tx, caller| {
                let (own, caller) = (caller.user()?.role_in(id), caller.user()?.user.id);
                let organization = tx.organizations().find(id)?.ok_or_else(Error::not_found)?;
                policy::appoint(own, &organization, role).map_err(Error::from)?;
                set_role(tx, id, user, role, &format!("user:{caller}"))
            });
        let ((), event) = work.await?;
        self.core.wait_until_applied(event).await;
        Ok(())
    }
}
