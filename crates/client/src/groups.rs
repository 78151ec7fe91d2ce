//! Groups of users within organizations, who are mentioned together.

use eddyline_model::UserId;
use eddyline_wire::Group;
use eddyline_wire::requests::{AddGroupMember, CreateGroup, UpdateGroup};
use http::Method;

use crate::client::Client;
use crate::error::Error;
use crate::request::encode;

impl Client {
    /// The groups of an organization of the caller's, ordered by name.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn groups(&self, organization: &str) -> Result<Vec<Group>, Error> {
        self.request(Method::GET, &groups(organization))
            .call()
            .await
    }

    /// One group of an organization of the caller's.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn group(&self, organization: &str, id: i64) -> Result<Group, Error> {
        self.request(Method::GET, &group(organization, id))
            .call()
            .await
    }

    /// Creates a group of users in an organization that the caller administers. No user or group of
    /// the organization has its name.
    ///
    /// # Errors
    /// See [`Error`]; 409 when the name is taken.
    pub async fn create_group(
        &self,
        organization: &str,
        new: &CreateGroup,
    ) -> Result<Group, Error> {
        self.request(Method::POST, &groups(organization))
            .json_of(new)
            .call()
            .await
    }

    /// Changes what `change` names and gives the group as it is then.
    ///
    /// # Errors
    /// See [`Error`]; 409 when the name is taken.
    pub async fn change_group(
        &self,
        organization: &str,
        id: i64,
        change: &UpdateGroup,
    ) -> Result<Group, Error> {
        self.request(Method::PUT, &group(organization, id))
            .json_of(change)
            .call()
            .await
    }

    /// Removes a group. Messages keep its tag.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn remove_group(&self, organization: &str, id: i64) -> Result<(), Error> {
        self.request(Method::DELETE, &group(organization, id))
            .done()
            .await
    }

    /// Adds a user of the organization to a group; adding a member again changes nothing.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn add_to_group(&self, organization: &str, id: i64, user: i64) -> Result<(), Error> {
        let path = format!("{}/users", group(organization, id));
        self.request(Method::POST, &path)
            .json_of(&AddGroupMember { id: UserId(user) })
            .done()
            .await
    }

    /// Takes a user out of a group.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn remove_from_group(
        &self,
        organization: &str,
        id: i64,
        user: i64,
    ) -> Result<(), Error> {
        let path = format!("{}/users/{user}", group(organization, id));
        self.request(Method::DELETE, &path).done().await
    }
}

fn groups(organization: &str) -> String {
    format!("/organizations/{}/groups", encode(organization))
}

fn group(organization: &str, id: i64) -> String {
    format!("{}/{id}", groups(organization))
}
