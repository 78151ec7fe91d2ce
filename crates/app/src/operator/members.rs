//! What users are in organizations and flows: administrators, and those who are taken out.

use eddyline_model::UserId;
use eddyline_model::audit::AuditAction;
use eddyline_model::names::Email;
use eddyline_model::organizations::OrganizationRole;
use serde_json::json;

use super::flows::find_flow;
use super::{OPERATOR, find_organization};
use crate::accounts::end_access;
use crate::audit::{note, note_flow_member};
use crate::core::transaction::NoCaller;
use crate::flows::take_out;
use crate::offboarding::{Leaving, lock_for_removal, offboard};
use crate::organizations::set_role;
use crate::{Error, Operator, Result};

impl Operator {
    /// Has a user administer an organization, named by its name in URLs, or no longer. It holds in
    /// every process once this answers. Doing it twice does nothing.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without such an organization or user in it, [`Error::conflict`] for the
    /// last administrator.
    pub async fn set_admin(
        &self,
        organization: &str,
        email: &Email,
        admin: bool,
    ) -> Result<UserId> {
        let (name, key) = (organization.to_owned(), email.key());
        let (user, event) = self
            .core
            .transaction(NoCaller::Operator, move |tx| {
                let organization = find_organization(tx, &name)?;
                tx.organizations().lock(organization)?;
                let account = tx.users().find_account_by_email(&key)?;
                let user = account.ok_or_else(Error::not_found)?.user.id;
                tx.users().lock(user)?;
                let role = if admin {
                    OrganizationRole::Administrator
                } else {
                    OrganizationRole::Member
                };
                set_role(tx, organization, user, role, OPERATOR)?;
                Ok(user)
            })
            .await?;
        self.core.wait_until_applied(event).await;
        Ok(user)
    }

    /// Takes a user out of an organization, named by its name in URLs, with everything they had
    /// there; or, without a name, out of all of them, and ends all that lets them in. The account
    /// and what they wrote stay. It holds in every process once this answers.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without such an organization or user in it, [`Error::conflict`] for the
    /// last administrator of one of the organizations.
    pub async fn remove_user(&self, organization: Option<&str>, email: &Email) -> Result<UserId> {
        let (name, key) = (organization.map(str::to_owned), email.key());
        let (user, event) = self
            .core
            .transaction(NoCaller::Operator, move |tx| {
                let id = tx
                    .users()
                    .find_account_by_email(&key)?
                    .ok_or_else(Error::not_found)?
                    .user
                    .id;
                let known = tx
                    .identities()
                    .find(id)?
                    .filter(|known| known.removed_at.is_none());
                let organizations = match &name {
                    Some(name) => vec![find_organization(tx, name)?],
                    // That of the provider too: it may have suspended the membership.
                    None => {
                        let of = tx
                            .organization_members()
                            .list_of_user(id)?
                            .into_iter()
                            .map(|membership| membership.organization);
                        of.chain(known.as_ref().map(|known| known.organization))
                            .collect()
                    }
                };
                lock_for_removal(tx, &organizations, id)?;
                let user = tx.users().find(id)?.ok_or_else(Error::not_found)?;
                let memberships = tx.organization_members().list_of_user(id)?;
                if name.is_none()
                    && memberships
                        .iter()
                        .any(|now| !organizations.contains(&now.organization))
                {
                    let text = "the user has just come into another organization; ask again";
                    return Err(Error::unavailable(text).into());
                }
                for membership in memberships {
                    let is_noted = known
                        .as_ref()
                        .is_some_and(|known| known.organization == membership.organization);
                    if organizations.contains(&membership.organization) && !is_noted {
                        let action = (OPERATOR, AuditAction::UserRemove);
                        note(
                            tx,
                            membership.organization,
                            action,
                            Some(id),
                            &json!({"email": user.email}),
                        )?;
                    }
                }
                let was_in = offboard(tx, &organizations, &user, OPERATOR, Leaving::Silent)?;
                match name {
                    Some(_) if !was_in => return Err(Error::not_found().into()),
                    Some(_) => {}
                    None => end_access(tx, id)?,
                }
                Ok(id)
            })
            .await?;
        self.core.wait_until_applied(event).await;
        Ok(user)
    }

    /// Takes a user out of a flow. It holds in every process once this answers.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] for an unknown flow, or a user who is not in it; [`Error::conflict`]
    /// for one who is blocked: a block outlasts leaving.
    pub async fn remove_flow_user(
        &self,
        organization: &str,
        flow: &str,
        email: &Email,
    ) -> Result<UserId> {
        let (organization, flow, key) = (organization.to_owned(), flow.to_owned(), email.key());
        let (user, event) = self
            .core
            .transaction(NoCaller::Operator, move |tx| {
                let room = find_flow(tx, &organization, &flow)?.ok_or_else(Error::not_found)?;
                tx.rooms().lock(room)?;
                let user = tx
                    .users()
                    .find_account_by_email(&key)?
                    .ok_or_else(Error::not_found)?
                    .user
                    .id;
                let place = tx
                    .members()
                    .find(room, user)?
                    .ok_or_else(Error::not_found)?;
                if place.blocked {
                    let text =
                        "the user is blocked from the flow, which is more than being out of it";
                    return Err(Error::conflict(text).into());
                }
                note_flow_member(tx, room, AuditAction::FlowMemberRemove, user)?;
                take_out(tx, room, user, None)?;
                Ok(user)
            })
            .await?;
        self.core.wait_until_applied(event).await;
        Ok(user)
    }
}
