//! Private conversations (specification, section 4).

use eddyline_model::MessageId;
use eddyline_wire::requests::{EditMessage, MarkRead};
use eddyline_wire::{Message, PrivateConversation};
use http::Method;

use crate::client::Client;
use crate::error::Error;
use crate::messages::{MessageQuery, NewMessage, Posted, send_message};
use crate::request::RequestBuilder;

impl Client {
    /// The caller's private conversations.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn private_conversations(&self) -> Result<Vec<PrivateConversation>, Error> {
        self.request(Method::GET, "/private").call().await
    }

    /// The calls that belong to the conversation with the user of this number.
    pub fn private(&self, user: i64) -> PrivateClient {
        PrivateClient {
            client: self.clone(),
            path: format!("/private/{user}"),
        }
    }
}

/// The calls that belong to one private conversation; made by [`Client::private`].
#[derive(Clone, Debug)]
pub struct PrivateClient {
    client: Client,
    path: String,
}

impl PrivateClient {
    /// Starts a request to `path` under the conversation's own path: `/messages`, for instance.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, &format!("{}{path}", self.path))
    }

    /// The conversation.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn get(&self) -> Result<PrivateConversation, Error> {
        self.request(Method::GET, "").call().await
    }

    /// Posts a message, which begins the conversation if there is none yet.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn post(&self, message: &NewMessage) -> Result<Posted, Error> {
        send_message(self.request(Method::POST, "/messages"), message).await
    }

    /// Lists or searches the messages.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn messages(&self, query: &MessageQuery) -> Result<Vec<Message>, Error> {
        query
            .apply(self.request(Method::GET, "/messages"))
            .call()
            .await
    }

    /// One message.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn message(&self, id: i64) -> Result<Message, Error> {
        self.request(Method::GET, &format!("/messages/{id}"))
            .call()
            .await
    }

    /// Edits one of the caller's own messages.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn edit(&self, id: i64, change: &EditMessage) -> Result<(), Error> {
        self.request(Method::PUT, &format!("/messages/{id}"))
            .json_of(change)
            .done()
            .await
    }

    /// Deletes one of the caller's own messages.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn delete(&self, id: i64) -> Result<(), Error> {
        self.request(Method::DELETE, &format!("/messages/{id}"))
            .done()
            .await
    }

    /// Notes that the caller has read everything through this message.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn mark_read(&self, message: i64) -> Result<(), Error> {
        self.request(Method::PUT, "/read")
            .json_of(&MarkRead {
                message: MessageId(message),
            })
            .done()
            .await
    }
}
