//! Private conversations (specification, section 4).

use eddyline_wire::PrivateConversation;
use http::Method;

use crate::client::Client;
use crate::error::Error;
use crate::room::PrivateClient;

impl Client {
    /// The caller's private conversations.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn private_conversations(&self) -> Result<Vec<PrivateConversation>, Error> {
        self.request(Method::GET, "/private").call().await
    }
}

impl PrivateClient {
    /// The conversation.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn get(&self) -> Result<PrivateConversation, Error> {
        self.request(Method::GET, "").call().await
    }
}
