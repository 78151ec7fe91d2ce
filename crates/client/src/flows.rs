//! Flows (specification, section 4): list, find, create, change.

use eddyline_model::names::FlowName;
use eddyline_wire::Flow;
use eddyline_wire::requests::{CreateFlow, FindFlow, ListFlows, UpdateFlow};
use http::Method;

use crate::client::Client;
use crate::error::Error;
use crate::request::encode;
use crate::room::FlowClient;

impl Client {
    /// The flows the caller has joined; with `users` each holds its users.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn flows(&self, users: bool) -> Result<Vec<Flow>, Error> {
        self.request(Method::GET, "/flows")
            .query_of(&ListFlows { users, after: None })
            .call()
            .await
    }

    /// The flows the caller has joined or may join.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn all_flows(&self, users: bool) -> Result<Vec<Flow>, Error> {
        self.request(Method::GET, "/flows/all")
            .query_of(&ListFlows { users, after: None })
            .call()
            .await
    }

    /// The flow with this id.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn find_flow(&self, id: &str) -> Result<Flow, Error> {
        self.request(Method::GET, "/flows/find")
            .query_of(&FindFlow { id: id.to_owned() })
            .call()
            .await
    }

    /// Creates a flow of this name in an organization; the caller is its first member.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn create_flow(&self, organization: &str, name: FlowName) -> Result<Flow, Error> {
        let path = format!("/flows/{}", encode(organization));
        self.request(Method::POST, &path)
            .json_of(&CreateFlow { name })
            .call()
            .await
    }
}

impl FlowClient {
    /// The flow, with its users.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn get(&self) -> Result<Flow, Error> {
        self.request(Method::GET, "").call().await
    }

    /// Changes what `change` names and gives the flow as it is then.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn update(&self, change: &UpdateFlow) -> Result<Flow, Error> {
        self.request(Method::PUT, "").json_of(change).call().await
    }

    /// Replaces the flow's join link and gives the flow with the new one; the link before leads
    /// nowhere.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn replace_join_link(&self) -> Result<Flow, Error> {
        self.request(Method::POST, "/join_url").call().await
    }
}
