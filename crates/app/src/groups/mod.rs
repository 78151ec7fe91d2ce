//! Groups of users within an organization: every member of the organization sees them, its
//! administrators change them.

pub(crate) mod change;
mod mentions;
#[cfg(test)]
mod tests;

use crate::core::Core;
use eddyline_model::groups::GroupLabels;
use eddyline_model::names::GroupName;
use eddyline_model::policy::{self, OrganizationAction};
use eddyline_model::{GroupId, OrganizationId, UserId};
use eddyline_storage::Tx;
use eddyline_wire::Group;

pub(crate) use self::mentions::MentionGroups;
use crate::actor::Actor;
use crate::core::transaction::TxResult;
use crate::{Error, Result};

/// A group to be made.
#[derive(Clone, Debug)]
pub struct NewGroup {
    /// By which it is mentioned.
    pub name: GroupName,
    /// What an identity provider calls it.
    pub labels: GroupLabels,
    /// Its members.
    pub users: Vec<UserId>,
}

/// What is to change about a group; what is absent stays.
#[derive(Clone, Debug, Default)]
pub struct GroupChanges {
    /// By which it is mentioned from now on.
    pub name: Option<GroupName>,
    /// What an identity provider calls it from now on. Without them, another name takes the place
    /// of what the provider called it.
    pub labels: Option<GroupLabels>,
    /// All members that it is to have.
    pub users: Option<Vec<UserId>>,
}

/// Groups of users of an organization. See [`crate::App::groups`].
#[derive(Clone)]
pub struct Groups {
    core: Core,
}

crate::core::opaque_debug!(Groups);

impl Groups {
    pub(crate) fn new(core: Core) -> Self {
        Self { core }
    }

    /// The groups of an organization of the caller's, by the keys of their names.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when it is not the caller's, [`Error::denied`] for flow tokens.
    pub async fn list(&self, actor: &Actor, organization: OrganizationId) -> Result<Vec<Group>> {
        policy::organization(actor.user()?.role_in(organization), OrganizationAction::See)?;
        let found = self.core.store().read(move |reader| {
            let shown = reader.organizations().find(organization)?;
            Ok((
                shown,
                reader.groups().list_of_organizations(&[organization])?,
            ))
        });
        let (shown, groups) = found.await?;
        let (shown, base) = (
            shown.ok_or_else(Error::not_found)?,
            &self.core.config().addresses.base,
        );
        Ok(groups
            .iter()
            .map(|group| Group::of(group, &shown, base))
            .collect())
    }

    /// A group of an organization of the caller's.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when there is none or the organization is not the caller's,
    /// [`Error::denied`] for flow tokens.
    pub async fn get(
        &self,
        actor: &Actor,
        organization: OrganizationId,
        id: GroupId,
    ) -> Result<Group> {
        policy::organization(actor.user()?.role_in(organization), OrganizationAction::See)?;
        let found = self.core.read(move |reader| {
            let shown = reader
                .organizations()
                .find(organization)?
                .ok_or_else(Error::not_found)?;
            Ok((shown, change::find(reader, organization, id)?))
        });
        let (shown, group) = found.await?;
        Ok(Group::of(
            &group,
            &shown,
            &self.core.config().addresses.base,
        ))
    }

    /// Makes a group.
    ///
    /// # Errors
    ///
    /// [`Error::invalid`] for users who do not belong to the organization and for too many of them,
    /// [`Error::conflict`] when a user or a group of the organization has the name, or there are as
    /// many groups as may be; and as [`Groups::remove`].
    pub async fn create(
        &self,
        actor: &Actor,
        organization: OrganizationId,
        new: NewGroup,
    ) -> Result<Group> {
        let id = self
            .change_groups(actor, organization, move |tx, by| {
                change::create(tx, organization, &new, by)
            })
            .await?;
        self.get(actor, organization, id).await
    }

    /// Gives a group another name or other members.
    ///
    /// # Errors
    ///
    /// As [`Groups::create`] and [`Groups::remove`].
    pub async fn update(
        &self,
        actor: &Actor,
        organization: OrganizationId,
        id: GroupId,
        changes: GroupChanges,
    ) -> Result<Group> {
        self.change_groups(actor, organization, move |tx, by| {
            let group = change::find(tx, organization, id)?;
            change::change(tx, &group, &changes, by)
        })
        .await?;
        self.get(actor, organization, id).await
    }

    /// Brings a user into a group, or takes a user out of it. Doing it twice does nothing.
    ///
    /// # Errors
    ///
    /// For a user who does not belong to the organization: [`Error::invalid`] when the call adds the
    /// user, [`Error::not_found`] when it removes the user. [`Error::conflict`] when the group has as many
    /// members as it may; and as [`Groups::remove`].
    pub async fn set_member(
        &self,
        actor: &Actor,
        organization: OrganizationId,
        id: GroupId,
        user: UserId,
        is_member: bool,
    ) -> Result<()> {
        self.change_groups(actor, organization, move |tx, by| {
            let group = change::find(tx, organization, id)?;
            if tx
                .organization_members()
                .list_among(organization, &[user])?
                .is_empty()
            {
                let unknown = match is_member {
                    true => Error::invalid("id", "is not a user of the organization"),
                    false => Error::not_found(),
                };
                return Err(unknown.into());
            }
            change::set_member(tx, &group, user, is_member, by)
        })
        .await
    }

    /// Removes a group. Messages keep the tags by which they mention it.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when there is none or the organization is not the caller's,
    /// [`Error::denied`] when the caller does not administer it or it is inactive.
    pub async fn remove(
        &self,
        actor: &Actor,
        organization: OrganizationId,
        id: GroupId,
    ) -> Result<()> {
        self.change_groups(actor, organization, move |tx, by| {
            let group = change::find(tx, organization, id)?;
            change::remove(tx, &group, by)
        })
        .await
    }

    /// Changes the groups of an organization, which is held against others, in one transaction for
    /// an administrator of it. `work` is given the caller's name in the audit log. Once this
    /// answers, every process mentions the groups as they are now.
    async fn change_groups<R, F>(
        &self,
        actor: &Actor,
        organization: OrganizationId,
        work: F,
    ) -> Result<R>
    where
        R: Send + 'static,
        F: Fn(&mut Tx<'_>, &str) -> TxResult<R> + Send + 'static,
    {
        let lock = move |tx: &mut Tx<'_>| tx.organizations().lock(organization).map(drop);
        let (done, event) = self
            .core
            .locked_transaction_as(actor, lock, move |tx, actor| {
                let caller = actor.user()?;
                let held = tx
                    .organizations()
                    .find(organization)?
                    .ok_or_else(Error::not_found)?;
                let role = caller.role_in(organization);
                let allowed = policy::organization(role, OrganizationAction::Administer);
                allowed
                    .and_then(|()| policy::write(&held))
                    .map_err(Error::from)?;
                work(tx, &format!("user:{}", caller.user.id))
            })
            .await?;
        self.core.wait_until_applied(event).await;
        Ok(done)
    }
}
