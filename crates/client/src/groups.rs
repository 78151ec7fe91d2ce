//! Groups of users within organizations, who are mentioned together.

use eddyline_wire::Group;
use http::Method;
use serde::Serialize;
use serde_json::json;

use crate::client::Client;
use crate::error::Error;
use crate::request::encode;

impl Client {
    /// The groups of an organization of the caller's, ordered by name.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn groups(&self, organization: &str) -> Result<Vec<Group>, Error> {
        self.request(Method::GET, &groups(organization)).call().await
    }

    /// One group of an organization of the caller's.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn group(&self, organization: &str, id: i64) -> Result<Group, Error> {
        self.request(Method::GET, &group(organization, id)).call().await
    }

    /// Creates a group of these users in an organization that the caller administers. `name` has 1 to 40 characters as
    /// in nicks, and no user or group of the organization has it. `users` are at most 1000 ids.
    ///
    /// # Errors
    /// See [`Error`]; 409 when the name is taken.
    pub async fn create_group(&self, organization: &str, name: &str, users: &[i64]) -> Result<Group, Error> {
        let body = json!({ "name": name, "users": users });
        self.request(Method::POST, &groups(organization)).json(&body).call().await
    }

    /// Changes what `change` names and gives the group as it is then.
    ///
    /// # Errors
    /// See [`Error`]; 409 when the name is taken.
    pub async fn change_group(
        &self,
        organization: &str,
        id: i64,
        change: &GroupChange,
    ) -> Result<Group, Error> {
        self.request(Method::PUT, &group(organization, id)).json(change).call().await
    }

    /// Removes a group. Messages keep its tag.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn remove_group(&self, organization: &str, id: i64) -> Result<(), Error> {
        self.request(Method::DELETE, &group(organization, id)).done().await
    }

    /// Adds a user of the organization to a group; adding a member again changes nothing.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn add_to_group(&self, organization: &str, id: i64, user: i64) -> Result<(), Error> {
        let path = format!("{}/users", group(organization, id));
        self.request(Method::POST, &path).json(&json!({ "id": user })).done().await
    }

    /// Takes a user out of a group.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn remove_from_group(&self, organization: &str, id: i64, user: i64) -> Result<(), Error> {
        let path = format!("{}/users/{user}", group(organization, id));
        self.request(Method::DELETE, &path).done().await
    }
}

/// A change of a group; what is `None` stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GroupChange {
    /// New name, by which messages mention the group from then on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The ids of all members from then on, at most 1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users: Option<Vec<i64>>,
}

fn groups(organization: &str) -> String {
    format!("/organizations/{}/groups", encode(organization))
}

fn group(organization: &str, id: i64) -> String {
    format!("{}/{id}", groups(organization))
}
