//! Flows (specification, section 4): list, find, create, change.

use eddyline_wire::Flow;
use http::Method;
use serde::Serialize;

use crate::client::Client;
use crate::error::Error;
use crate::request::{RequestBuilder, encode};

impl Client {
    /// The flows the caller has joined; with `users` each holds its users.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn flows(&self, users: bool) -> Result<Vec<Flow>, Error> {
        self.request(Method::GET, "/flows").query("users", u8::from(users)).call().await
    }

    /// The flows the caller has joined or may join.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn all_flows(&self, users: bool) -> Result<Vec<Flow>, Error> {
        self.request(Method::GET, "/flows/all").query("users", u8::from(users)).call().await
    }

    /// The flow with this id.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn find_flow(&self, id: &str) -> Result<Flow, Error> {
        self.request(Method::GET, "/flows/find").query("id", id).call().await
    }

    /// Creates a flow named `name` (at most 100 characters) in an organization; the caller is its
    /// first member.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn create_flow(&self, organization: &str, name: &str) -> Result<Flow, Error> {
        self.request(Method::POST, &format!("/flows/{}", encode(organization)))
            .json(&serde_json::json!({ "name": name }))
            .call()
            .await
    }
}

/// The calls that belong to one flow; made by [`Client::flow`].
#[derive(Clone, Debug)]
pub struct FlowClient {
    client: Client,
    path: String,
}

impl FlowClient {
    pub(crate) fn new(client: Client, organization: &str, flow: &str) -> Self {
        let path = format!("/flows/{}/{}", encode(organization), encode(flow));
        Self { client, path }
    }

    /// The client that makes the calls.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Starts a request to `path` under the flow's own path: `/messages`, for instance.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, &format!("{}{path}", self.path))
    }

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
    pub async fn update(&self, change: &FlowChange) -> Result<Flow, Error> {
        self.request(Method::PUT, "").json(change).call().await
    }

    /// Replaces the flow's join link and gives the flow with the new one; the link before leads nowhere.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn replace_join_link(&self) -> Result<Flow, Error> {
        self.request(Method::POST, "/join_url").call().await
    }
}

/// A change of a flow; what is `None` stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FlowChange {
    /// New name, at most 100 characters. The name in URLs does not change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether the caller's clients show the flow. `true` also joins a flow not joined yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open: Option<bool>,
    /// Whether the flow is archived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
    /// `invitation`, `link` or `organization`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_mode: Option<String>,
}
