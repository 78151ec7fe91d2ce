//! Making organizations, and changing what only operators may.

use eddyline_auth::Secret;
use eddyline_model::UserId;
use eddyline_model::audit::AuditAction;
use eddyline_model::deletion::DeletionTarget;
use eddyline_model::log::Control;
use eddyline_model::names::{display_name, parameterized_candidates};
use eddyline_model::organizations::{Organization, OrganizationSubscription};
use eddyline_storage::{Error as StoreError, Result as StoreResult, Tx};
use serde_json::json;

use super::{find_organization, taken};
use crate::core::transaction::NoCaller;
use crate::organizations::{note_change, note_organization};
use crate::{Error, Operator, Result};

/// An organization to be made.
#[derive(Clone, Debug)]
pub struct NewOrganization {
    /// Display name.
    pub name: String,
    /// Name in URLs; made from the display name when absent.
    pub parameterized_name: Option<String>,
    /// How many people it may hold.
    pub user_limit: i64,
    /// The organization above it, by its name in URLs.
    pub parent: Option<String>,
}

/// What is to change about an organization; what is absent stays.
#[derive(Clone, Debug, Default)]
pub struct OrganizationChanges {
    /// Display name.
    pub name: Option<String>,
    /// Name in URLs. The one before goes on leading to the organization.
    pub parameterized_name: Option<String>,
    /// How many people it may hold; with fewer than it has, nobody new comes in.
    pub user_limit: Option<i64>,
    /// What is paid for.
    pub subscription: Option<OrganizationSubscription>,
    /// Whether it may be written to.
    pub active: Option<bool>,
}

impl Operator {
    /// Makes an organization.
    ///
    /// # Errors
    ///
    /// [`Error::conflict`] when the name is or was another's, [`Error::not_found`] without such a
    /// parent, [`Error::invalid`].
    pub async fn create_organization(&self, new: NewOrganization) -> Result<Organization> {
        let wanted = new.parameterized_name.as_deref().unwrap_or(&new.name);
        let random = Secret::generate_hex::<4>();
        let name = parameterized_candidates(wanted, random.expose())
            .next()
            .unwrap_or_default();
        if let Some(given) = &new.parameterized_name {
            check_parameterized(given)?;
        }
        let display = display_name(&new.name).map_err(Error::invalid_name)?;
        check_limit(new.user_limit)?;
        let conflict = format!("the name {name} is taken");
        let text = conflict.clone();
        let (made, _) = self
            .core
            .store()
            .transaction(NoCaller::Operator, move |tx| {
                let parent = match &new.parent {
                    Some(parent) => Some(find_organization(tx, parent)?),
                    None => None,
                };
                if tx.organizations().find_id_by_name(&name)?.is_some() {
                    return Err(Error::conflict(text.clone()).into());
                }
                let now = tx.now();
                let id = tx
                    .organizations()
                    .insert(&display, &name, new.user_limit, now)?;
                let mut made = tx
                    .organizations()
                    .find(id)?
                    .ok_or(StoreError::Corrupt("a new organization"))?;
                if parent.is_some() {
                    made.parent = parent;
                    tx.organizations().update(&made)?;
                }
                note_organization(tx, &made, AuditAction::OrganizationCreate, &json!({}))?;
                Ok(made)
            })
            .await
            .map_err(|abort| taken(abort, &conflict))?;
        Ok(made)
    }

    /// Changes an organization, found by its name in URLs.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without such an organization, [`Error::conflict`] when the new name in
    /// URLs is or was another's, [`Error::invalid`].
    pub async fn update_organization(
        &self,
        organization: &str,
        changes: OrganizationChanges,
    ) -> Result<Organization> {
        if let Some(given) = &changes.parameterized_name {
            check_parameterized(given)?;
        }
        if let Some(limit) = changes.user_limit {
            check_limit(limit)?;
        }
        let name = changes
            .name
            .as_deref()
            .map(display_name)
            .transpose()
            .map_err(Error::invalid_name)?;
        let changes = OrganizationChanges { name, ..changes };
        let organization = organization.to_owned();
        let (changed, event) = self
            .core
            .store()
            .transaction(NoCaller::Operator, move |tx| {
                let id = find_organization(tx, &organization)?;
                // Rooms before organizations, as everybody holds them.
                if changes.active.is_some() {
                    let people: Vec<UserId> = tx
                        .organization_members()
                        .list_users(id)?
                        .into_iter()
                        .map(|(user, _)| user.id)
                        .collect();
                    tx.rooms().lock_of_organizations(&[id], &people)?;
                }
                let before = tx.organizations().lock(id)?.ok_or_else(Error::not_found)?;
                let deletion = DeletionTarget::Organization(id);
                if changes.active == Some(true) && tx.deletions().find(deletion)?.is_some() {
                    let text = "this organization is to be deleted; `delete cancel organization` opens it again";
                    return Err(Error::conflict(text).into());
                }
                if changes.active == Some(false) {
                    tx.deletions().set_inactive(deletion)?;
                }
                let after = changes.applied_to(&before);
                if let Some(owner) = tx
                    .organizations()
                    .find_id_by_name(&after.parameterized_name)?
                    && owner != id
                {
                    let text = format!("the name {} is taken", after.parameterized_name);
                    return Err(Error::conflict(text).into());
                }
                if after != before {
                    apply(tx, &before, &after)?;
                }
                Ok(after)
            })
            .await
            .map_err(|abort| taken(abort, "the name is taken"))?;
        self.core.wait_until_applied(event).await;
        Ok(changed)
    }
}

impl OrganizationChanges {
    fn applied_to(&self, before: &Organization) -> Organization {
        let mut after = before.clone();
        if let Some(name) = &self.name {
            after.name.clone_from(name);
        }
        if let Some(name) = &self.parameterized_name {
            after.parameterized_name.clone_from(name);
        }
        if let Some(subscription) = &self.subscription {
            after.subscription.clone_from(subscription);
        }
        after.user_limit = self.user_limit.unwrap_or(before.user_limit);
        after.active = self.active.unwrap_or(before.active);
        after
    }
}

fn apply(tx: &mut Tx<'_>, before: &Organization, after: &Organization) -> StoreResult<()> {
    tx.organizations().update(after)?;
    note_change(tx, before, after)?;
    if before.active != after.active {
        // What is on its way into a flow or to somebody is checked again.
        for flow in tx.flows().list_of_organization(after.id)? {
            tx.rooms().advance_access(flow.room)?;
        }
        for (user, _) in tx.organization_members().list_users(after.id)? {
            tx.rooms().advance_private_access_of_user(user.id)?;
        }
    }
    tx.record_event(Control::OrganizationChange);
    Ok(())
}

fn check_limit(limit: i64) -> Result<()> {
    if limit < 1 {
        Err(Error::invalid("user_limit", "must be at least 1"))
    } else {
        Ok(())
    }
}

/// A name in URLs that was given must be one as it stands.
fn check_parameterized(given: &str) -> Result<()> {
    let random = Secret::generate_hex::<4>();
    let name = parameterized_candidates(given, random.expose())
        .next()
        .unwrap_or_default();
    if given == name {
        return Ok(());
    }
    Err(Error::invalid(
        "parameterized_name",
        format!("is not a name for URLs; {name:?} would be"),
    ))
}
