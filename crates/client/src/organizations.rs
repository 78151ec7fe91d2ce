//! Organizations (specification, section 4).

use eddyline_model::OrganizationId;
use eddyline_wire::requests::{
    DeleteOrganization, FindOrganization, ListAudit, RenameOrganization,
};
use eddyline_wire::{NamedRecord, Organization, ScheduledDeletion, User};
use http::Method;

use crate::client::Client;
use crate::error::Error;

impl Client {
    /// The organizations the caller belongs to.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn organizations(&self) -> Result<Vec<Organization>, Error> {
        self.request(Method::GET, "/organizations").call().await
    }

    /// An organization of the caller's, by its name in URLs.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn organization(&self, parameterized_name: &str) -> Result<Organization, Error> {
        self.request(Method::GET, &format!("/organizations/{parameterized_name}"))
            .call()
            .await
    }

    /// An organization of the caller's, by its persistent id.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn find_organization(&self, id: i64) -> Result<Organization, Error> {
        self.request(Method::GET, "/organizations/find")
            .query_of(&FindOrganization {
                id: OrganizationId(id),
            })
            .call()
            .await
    }

    /// Gives an organization that the caller administers another display name.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn rename_organization(
        &self,
        parameterized_name: &str,
        name: &str,
    ) -> Result<Organization, Error> {
        let path = format!("/organizations/{parameterized_name}");
        self.request(Method::PUT, &path)
            .json_of(&RenameOrganization {
                name: name.to_owned(),
            })
            .call()
            .await
    }

    /// Requests the deletion of an organization that the caller administers. It is closed at once, and
    /// can be restored until the answer's `due_at`.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn delete_organization(
        &self,
        parameterized_name: &str,
    ) -> Result<ScheduledDeletion, Error> {
        let path = format!("/organizations/{parameterized_name}");
        self.request(Method::DELETE, &path)
            .query_of(&DeleteOrganization {
                name: parameterized_name.to_owned(),
            })
            .call()
            .await
    }

    /// The pending deletion of an organization that the caller administers.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn organization_deletion(
        &self,
        parameterized_name: &str,
    ) -> Result<ScheduledDeletion, Error> {
        let path = format!("/organizations/{parameterized_name}/deletion");
        self.request(Method::GET, &path).call().await
    }

    /// Cancels the deletion of an organization that the caller administers.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn cancel_organization_deletion(
        &self,
        parameterized_name: &str,
    ) -> Result<(), Error> {
        let path = format!("/organizations/{parameterized_name}/deletion");
        self.request(Method::DELETE, &path).done().await
    }

    /// The users of an organization, each with whether they administer it.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn organization_users(&self, parameterized_name: &str) -> Result<Vec<User>, Error> {
        self.request(
            Method::GET,
            &format!("/organizations/{parameterized_name}/users"),
        )
        .call()
        .await
    }

    /// Records of the audit log of an organization that the caller administers: the newest first, or as
    /// the request says.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn audit_records(
        &self,
        parameterized_name: &str,
        wanted: &ListAudit,
    ) -> Result<Vec<NamedRecord>, Error> {
        let path = format!("/organizations/{parameterized_name}/audit");
        self.request(Method::GET, &path)
            .query_of(wanted)
            .call()
            .await
    }

    /// Takes a user out of an organization that the caller administers.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn remove_from_organization(
        &self,
        parameterized_name: &str,
        id: i64,
    ) -> Result<(), Error> {
        self.request(
            Method::DELETE,
            &format!("/organizations/{parameterized_name}/users/{id}"),
        )
        .done()
        .await
    }
}
