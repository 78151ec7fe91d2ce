//! The calls that belong to one room: a flow, or a private conversation.

use std::fmt;
use std::marker::PhantomData;

use http::Method;

use crate::client::Client;
use crate::request::{RequestBuilder, encode};

/// The calls that belong to one flow; made by [`Client::flow`].
pub type FlowClient = RoomClient<InFlow>;

/// The calls that belong to one private conversation; made by [`Client::private`].
pub type PrivateClient = RoomClient<InPrivate>;

/// The room is a flow.
#[derive(Clone, Copy, Debug)]
pub enum InFlow {}

/// The room is a private conversation.
#[derive(Clone, Copy, Debug)]
pub enum InPrivate {}

/// The calls that belong to one room. `R` tells flows and private conversations apart.
#[derive(Clone)]
pub struct RoomClient<R> {
    client: Client,
    path: String,
    kind: PhantomData<fn() -> R>,
}

impl Client {
    /// The calls that belong to the flow `flow` of `organization`, both named as in URLs.
    pub fn flow(&self, organization: &str, flow: &str) -> FlowClient {
        self.room(format!("/flows/{}/{}", encode(organization), encode(flow)))
    }

    /// The calls that belong to the conversation with the user of this number.
    pub fn private(&self, user: i64) -> PrivateClient {
        self.room(format!("/private/{user}"))
    }

    fn room<R>(&self, path: String) -> RoomClient<R> {
        RoomClient {
            client: self.clone(),
            path,
            kind: PhantomData,
        }
    }
}

impl<R> RoomClient<R> {
    /// The client that makes the calls.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Starts a request to `path` under the room's own path: `/messages`, for instance.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, &format!("{}{path}", self.path))
    }
}

impl<R> fmt::Debug for RoomClient<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RoomClient").field(&self.path).finish()
    }
}
