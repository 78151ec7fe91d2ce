//! Organizations: showing and renaming them, who belongs to them and administers them, and their
//! identity providers.

pub(crate) mod provider;
mod records;
mod roles;

use crate::accounts::Accounts;
use crate::actor::Actor;
use crate::audit::differences;
use crate::core::Core;
use crate::offboarding::{Leaving, lock_for_removal, offboard};
use crate::quota::KeyedSemaphore;
use crate::{Error, Result};
use eddyline_model::audit::{AuditAction, AuditEntry, AuditTarget};
use eddyline_model::log::Control;
use eddyline_model::names::display_name;
use eddyline_model::organizations::Organization as StoredOrganization;
use eddyline_model::organizations::{OrganizationMembership, OrganizationRole};
use eddyline_model::policy::{self, OrganizationAction};
use eddyline_model::{OrganizationId, UserId};
use eddyline_storage::{Result as StoreResult, Tx};
use eddyline_wire::{Organization, OrganizationSummary, User};
use serde_json::{Value, json};

pub use self::provider::{ExpectedToken, ScimDetails};
pub use self::records::ExplainedRecords;
pub(crate) use self::roles::set_role;

/// An organization of the caller's, by what it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnOrganization {
    /// Its number.
    pub id: OrganizationId,
    /// The name that people see.
    pub name: String,
    /// The name in URLs.
    pub parameterized_name: String,
    /// Whether the caller administers it.
    pub administered: bool,
    /// Whether it is active. Nothing is written in an inactive one.
    pub active: bool,
}

/// Organizations and their members. See [`crate::App::organizations`].
#[derive(Clone)]
pub struct Organizations {
    core: Core,
    accounts: Accounts,
    audit_files: KeyedSemaphore,
}

crate::core::opaque_debug!(Organizations);

impl Organizations {
    pub(crate) fn new(core: Core, accounts: Accounts) -> Self {
        Self {
            core,
            accounts,
            audit_files: KeyedSemaphore::new(records::AUDIT_FILES),
        }
    }

    /// What the organizations of the caller are called, by their names.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] for flow tokens.
    pub async fn list_own(&self, actor: &Actor) -> Result<Vec<OwnOrganization>> {
        let memberships = actor.user()?.organizations.clone();
        let found = self.core.store().read(move |reader| {
            let mut found = Vec::with_capacity(memberships.len());
            for OrganizationMembership {
                organization, role, ..
            } in memberships
            {
                let administered =
                    policy::organization(Some(role), OrganizationAction::Administer).is_ok();
                found.extend(
                    reader
                        .organizations()
                        .find(organization)?
                        .map(|organization| OwnOrganization {
                            id: organization.id,
                            name: organization.name,
                            parameterized_name: organization.parameterized_name,
                            administered,
                            active: organization.active,
                        }),
                );
            }
            Ok(found)
        });
        let mut found = found.await?;
        found.sort_by(|one, other| (&one.name, one.id).cmp(&(&other.name, other.id)));
        Ok(found)
    }

    /// The organizations the caller belongs to.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] for flow tokens.
    pub async fn list(&self, actor: &Actor) -> Result<Vec<Organization>> {
        let user = actor.user()?.user.id;
        let found = self.core.store().read(move |reader| {
            let found = reader.organizations().list_of_user(user)?;
            let ids: Vec<OrganizationId> = found
                .iter()
                .map(|(organization, _)| organization.id)
                .collect();
            Ok((found, reader.groups().list_of_organizations(&ids)?))
        });
        let (found, groups) = found.await?;
        let base = &self.core.config().addresses.base;
        let shown = found.iter().map(|(organization, people)| {
            let of_it = groups.partition_point(|group| group.organization < organization.id);
            let groups = &groups[of_it..];
            let of_it = groups.partition_point(|group| group.organization == organization.id);
            Organization::of(organization, people, &groups[..of_it], base)
        });
        Ok(shown.collect())
    }

    /// The number of the organization that has this name in URLs, or had it before, if the caller
    /// may do `action` with it.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when there is none or it is not the caller's, [`Error::denied`].
    pub async fn find(
        &self,
        actor: &Actor,
        name: &str,
        action: OrganizationAction,
    ) -> Result<OrganizationId> {
        actor.user()?;
        let name = name.to_lowercase();
        let found = self
            .core
            .store()
            .read(move |reader| reader.organizations().find_id_by_name(&name))
            .await?;
        let id = found.ok_or_else(Error::not_found)?;
        allow(actor, id, action)?;
        Ok(id)
    }

    /// An organization of the caller's, with its people and groups.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when there is none or it is not the caller's.
    pub async fn get(&self, actor: &Actor, id: OrganizationId) -> Result<Organization> {
        allow(actor, id, OrganizationAction::See)?;
        let found =
            self.core
                .store()
                .read(move |reader| match reader.organizations().find(id)? {
                    Some(organization) => Ok(Some((
                        organization,
                        reader.organization_members().list_users(id)?,
                        reader.groups().list_of_organizations(&[id])?,
                    ))),
                    None => Ok(None),
                });
        let (organization, people, groups) = found.await?.ok_or_else(Error::not_found)?;
        Ok(Organization::of(
            &organization,
            &people,
            &groups,
            &self.core.config().addresses.base,
        ))
    }

    /// What an organization of the caller's is called, and how many people it has.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when there is none or it is not the caller's.
    pub async fn summary(&self, actor: &Actor, id: OrganizationId) -> Result<OrganizationSummary> {
        allow(actor, id, OrganizationAction::See)?;
        let found = self
            .core
            .store()
            .read(move |reader| reader.organizations().find(id))
            .await?;
        let base = &self.core.config().addresses.base;
        Ok(OrganizationSummary::of(
            &found.ok_or_else(Error::not_found)?,
            base,
        ))
    }

    /// Gives an organization another display name. Its addresses stay.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when it is not the caller's, [`Error::denied`] when the caller does not
    /// administer it or it is inactive, [`Error::invalid`].
    pub async fn rename(
        &self,
        actor: &Actor,
        id: OrganizationId,
        name: &str,
    ) -> Result<Organization> {
        let (caller, name) = (
            actor.user()?.user.id,
            display_name(name).map_err(Error::invalid_name)?,
        );
        let ((), event) = self
            .core
            .transaction_as(actor, move |tx, _| {
                let mut organization = tx.organizations().lock(id)?.ok_or_else(Error::not_found)?;
                let role = role_in(&tx.organization_members().list_of_user(caller)?, id);
                let allowed = policy::organization(role, OrganizationAction::Administer);
                allowed
                    .and_then(|()| policy::write(&organization))
                    .map_err(Error::from)?;
                if organization.name != name {
                    let before = organization.clone();
                    organization.name.clone_from(&name);
                    tx.organizations().update(&organization)?;
                    note_change(tx, &before, &organization)?;
                    tx.record_event(Control::OrganizationChange);
                }
                Ok(())
            })
            .await?;
        self.core.wait_until_applied(event).await;
        self.get(actor, id).await
    }

    /// The people of an organization of the caller's.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when it is not the caller's.
    pub async fn users(&self, actor: &Actor, id: OrganizationId) -> Result<Vec<User>> {
        allow(actor, id, OrganizationAction::See)?;
        let people = self
            .core
            .store()
            .read(move |reader| reader.organization_members().list_users(id))
            .await?;
        let base = &self.core.config().addresses.base;
        Ok(people
            .iter()
            .map(|(user, admin)| User::of_organization(user, *admin, base))
            .collect())
    }

    /// Somebody of an organization of the caller's.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when it is not the caller's, or the user does not belong to it.
    pub async fn user(&self, actor: &Actor, id: OrganizationId, user: UserId) -> Result<User> {
        allow(actor, id, OrganizationAction::See)?;
        let found = self
            .core
            .store()
            .read(move |reader| reader.organization_members().find_user(id, user))
            .await?;
        let (user, admin) = found.ok_or_else(Error::not_found)?;
        Ok(User::of_organization(
            &user,
            admin,
            &self.core.config().addresses.base,
        ))
    }

    /// Takes somebody out of an organization, which ends all their rights there at once. That is
    /// possible in an inactive one too.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when it is not the caller's, or the user does not belong to it;
    /// [`Error::denied`] when the caller does not administer it; [`Error::conflict`] for the last
    /// administrator.
    pub async fn remove_user(&self, actor: &Actor, id: OrganizationId, user: UserId) -> Result<()> {
        let caller = actor.user()?.user.id;
        // Held before the caller's rights are looked at: others may be taking them.
        let lock = move |tx: &mut Tx<'_>| lock_for_removal(tx, &[id], user);
        let ((), event) = self
            .core
            .locked_transaction_as(actor, lock, move |tx, _| {
                let role = role_in(&tx.organization_members().list_of_user(caller)?, id);
                policy::organization(role, OrganizationAction::Administer).map_err(Error::from)?;
                let (user, _) = tx
                    .organization_members()
                    .find_user(id, user)?
                    .ok_or_else(Error::not_found)?;
                match offboard(
                    tx,
                    &[id],
                    &user,
                    &format!("user:{caller}"),
                    Leaving::Announced,
                )? {
                    true => Ok(()),
                    false => Err(Error::not_found().into()),
                }
            })
            .await?;
        self.core.wait_until_applied(event).await;
        Ok(())
    }
}

/// Whether a caller may do `action` with an organization.
///
/// # Errors
///
/// [`Error::not_found`] when it is not the caller's, [`Error::denied`].
fn allow(actor: &Actor, id: OrganizationId, action: OrganizationAction) -> Result<()> {
    let caller = actor.user()?;
    policy::organization(caller.role_in(id), action).map_err(|refusal| caller.refused(id, refusal))
}

/// Records what is different about an organization.
pub(crate) fn note_change(
    tx: &mut Tx<'_>,
    before: &StoredOrganization,
    after: &StoredOrganization,
) -> StoreResult<()> {
    let plan = |of: &StoredOrganization| json!(format!("{:?}", of.subscription));
    let changed = differences(&[
        ("name", json!(before.name), json!(after.name)),
        (
            "parameterized_name",
            json!(before.parameterized_name),
            json!(after.parameterized_name),
        ),
        (
            "user_limit",
            json!(before.user_limit),
            json!(after.user_limit),
        ),
        ("subscription", plan(before), plan(after)),
        ("active", json!(before.active), json!(after.active)),
    ]);
    note_organization(tx, after, AuditAction::OrganizationChange, &changed)
}

/// Records what was done to an organization.
pub(crate) fn note_organization(
    tx: &mut Tx<'_>,
    organization: &StoredOrganization,
    action: AuditAction,
    detail: &Value,
) -> StoreResult<()> {
    let target = AuditTarget::new("organization", organization.id, &organization.name);
    let entry = AuditEntry::new(action, Some(organization.id)).on(target);
    tx.audit().insert(&entry.with(detail))
}

fn role_in(memberships: &[OrganizationMembership], id: OrganizationId) -> Option<OrganizationRole> {
    memberships
        .iter()
        .find(|membership| membership.organization == id)
        .map(|membership| membership.role)
}
