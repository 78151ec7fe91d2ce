//! Users (specification, section 4), and the members of a flow.

use eddyline_model::UserId;
use eddyline_wire::requests::{AddFlowUser, BlockFlowUser};
use eddyline_wire::{FormerUser, User};
use http::Method;

use crate::client::Client;
use crate::error::Error;
use crate::room::FlowClient;

impl Client {
    /// The caller.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn me(&self) -> Result<User, Error> {
        self.request(Method::GET, "/user").call().await
    }

    /// The users whom the caller sees: all of the organizations they administer, and those in a
    /// flow with them.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn users(&self) -> Result<Vec<User>, Error> {
        self.request(Method::GET, "/users").call().await
    }

    /// A user of one of the caller's organizations.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn user(&self, id: i64) -> Result<User, Error> {
        self.request(Method::GET, &format!("/users/{id}"))
            .call()
            .await
    }
}

impl FlowClient {
    /// The flow's users.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn users(&self) -> Result<Vec<User>, Error> {
        self.request(Method::GET, "/users").call().await
    }

    /// The users who have left the flow, or were removed from it.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn former_users(&self) -> Result<Vec<FormerUser>, Error> {
        self.request(Method::GET, "/former_users").call().await
    }

    /// Adds a user of the flow's organization; adding a member again changes nothing.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn add_user(&self, id: i64) -> Result<(), Error> {
        self.request(Method::POST, "/users")
            .json_of(&AddFlowUser { id: UserId(id) })
            .done()
            .await
    }

    /// Shuts a user out of the flow.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn block_user(&self, id: i64) -> Result<(), Error> {
        self.set_disabled(id, true).await
    }

    /// Lets a blocked user in again.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn unblock_user(&self, id: i64) -> Result<(), Error> {
        self.set_disabled(id, false).await
    }

    /// Takes the caller, whose own id this is, out of the flow.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn leave(&self, own_id: i64) -> Result<(), Error> {
        self.request(Method::DELETE, &format!("/users/{own_id}"))
            .done()
            .await
    }

    async fn set_disabled(&self, id: i64, disabled: bool) -> Result<(), Error> {
        let path = format!("/users/{id}");
        self.request(Method::PUT, &path)
            .json_of(&BlockFlowUser { disabled })
            .done()
            .await
    }
}
