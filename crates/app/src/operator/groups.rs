//! Groups of organizations.

use eddyline_model::groups::{Group, GroupLabels};
use eddyline_model::names::{Email, GroupName, nick_key};
use eddyline_model::users::User;
use eddyline_model::{OrganizationId, UserId};
use eddyline_storage::{Reader, Tx};

use super::users::unproved;
use super::{OPERATOR, find_organization};
use crate::core::transaction::NoCaller;
use crate::core::transaction::TxResult;
use crate::email_addresses::holds_address;
use crate::groups::{NewGroup, change};
use crate::{Error, Operator, Result};

impl Operator {
    /// Makes a group without members in an organization, which is named as in URLs.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without such an organization; [`Error::conflict`] when a user or a
    /// group there has the name, or there are as many groups as may be.
    pub async fn create_group(&self, organization: &str, name: GroupName) -> Result<Group> {
        let new = NewGroup {
            name,
            labels: GroupLabels::default(),
            users: Vec::new(),
        };
        self.operate_on_groups(organization, move |tx, organization| {
            let id = change::create(tx, organization, &new, OPERATOR)?;
            change::find(tx, organization, id)
        })
        .await
    }

    /// The groups of an organization, by the keys of their names.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without such an organization.
    pub async fn groups(&self, organization: &str) -> Result<Vec<Group>> {
        let name = organization.to_owned();
        self.core
            .read(move |reader| {
                let organization = find_organization(reader, &name)?;
                Ok(reader.groups().list_of_organizations(&[organization])?)
            })
            .await
    }

    /// A group of an organization by its name, and its members, ordered by number.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without such an organization or group.
    pub async fn group(&self, organization: &str, name: &str) -> Result<(Group, Vec<User>)> {
        let (organization, name) = (organization.to_owned(), name.to_owned());
        self.core
            .read(move |reader| {
                let organization = find_organization(reader, &organization)?;
                let group = find(reader, organization, &name)?;
                let people = reader
                    .organization_members()
                    .list_users(organization)?
                    .into_iter()
                    .map(|(user, _)| user);
                let users = people
                    .filter(|user| group.users.contains(&user.id))
                    .collect();
                Ok((group, users))
            })
            .await
    }

    /// Brings a user of an organization into one of its groups, or takes a user out of it, and
    /// gives the group as it was before. Doing it twice does nothing.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] for an unknown organization, group or address; [`Error::conflict`] when
    /// a user who is added does not belong to the organization or has not proved the address, or
    /// when the group is full.
    pub async fn set_group_member(
        &self,
        organization: &str,
        name: &str,
        email: &Email,
        is_member: bool,
    ) -> Result<(Group, UserId)> {
        let (name, key) = (name.to_owned(), email.key());
        self.operate_on_groups(organization, move |tx, organization| {
            let group = find(tx, organization, &name)?;
            let user = tx
                .users()
                .find_account_by_email(&key)?
                .ok_or_else(Error::not_found)?
                .user;
            if is_member && !holds_address(tx, &user, organization)? {
                return Err(unproved().into());
            }
            if tx
                .organization_members()
                .list_among(organization, &[user.id])?
                .is_empty()
            {
                return Err(Error::conflict("the user is not a member of the organization").into());
            }
            change::set_member(tx, &group, user.id, is_member, OPERATOR)?;
            Ok((group, user.id))
        })
        .await
    }

    /// Removes a group.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without such an organization or group.
    pub async fn remove_group(&self, organization: &str, name: &str) -> Result<Group> {
        let name = name.to_owned();
        self.operate_on_groups(organization, move |tx, organization| {
            let group = find(tx, organization, &name)?;
            change::remove(tx, &group, OPERATOR)?;
            Ok(group)
        })
        .await
    }

    /// Changes the groups of an organization, which is held against others.
    async fn operate_on_groups<R, F>(&self, organization: &str, work: F) -> Result<R>
    where
        R: Send + 'static,
        F: Fn(&mut Tx<'_>, OrganizationId) -> TxResult<R> + Send + 'static,
    {
        let name = organization.to_owned();
        let (done, event) = self
            .core
            .transaction(NoCaller::Operator, move |tx| {
                let organization = find_organization(tx, &name)?;
                tx.organizations().lock(organization)?;
                work(tx, organization)
            })
            .await?;
        self.core.wait_until_applied(event).await;
        Ok(done)
    }
}

/// A group by its name, in any case.
fn find(reader: &mut Reader<'_>, organization: OrganizationId, name: &str) -> TxResult<Group> {
    let id = reader
        .groups()
        .find_by_name(organization, &nick_key(name))?
        .ok_or_else(Error::not_found)?;
    change::find(reader, organization, id)
}
