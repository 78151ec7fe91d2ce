//! Threads and sources (specification, section 4): what integrations keep in a flow.

use eddyline_wire::requests::{CreateSource, ListThreads, TriggerAction, UpdateSource};
use eddyline_wire::{Source, Thread};
use http::Method;

use crate::client::Client;
use crate::error::Error;
use crate::request::encode;
use crate::room::FlowClient;

impl FlowClient {
    /// The latest threads, those that changed last first: at most `limit`.
    /// [`list_threads`](Self::list_threads) has the filters.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn threads(&self, limit: u32) -> Result<Vec<Thread>, Error> {
        self.list_threads(&ListThreads {
            limit: Some(i64::from(limit)),
            ..ListThreads::default()
        })
        .await
    }

    /// The threads that a question asks for, those that changed last first: by words in their
    /// titles, by status, by application or by time. [`Client::request`] reaches the next pages.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn list_threads(&self, wanted: &ListThreads) -> Result<Vec<Thread>, Error> {
        self.request(Method::GET, "/threads")
            .query_of(wanted)
            .call()
            .await
    }

    /// One thread.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn thread(&self, id: &str) -> Result<Thread, Error> {
        self.request(Method::GET, &format!("/threads/{}", encode(id)))
            .call()
            .await
    }

    /// The sources that post into the flow's inbox.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn sources(&self) -> Result<Vec<Source>, Error> {
        self.request(Method::GET, "/sources").call().await
    }

    /// Makes a source of the application whose access token the client shows. Its `flow_token` is
    /// told this once.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn create_source(&self, name: &str) -> Result<Source, Error> {
        let new = CreateSource {
            name: name.to_owned(),
            external_url: None,
        };
        self.request(Method::POST, "/sources")
            .json_of(&new)
            .call()
            .await
    }

    /// Removes a source; its token is refused from then on.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn remove_source(&self, id: i64) -> Result<(), Error> {
        self.request(Method::DELETE, &format!("/sources/{id}"))
            .done()
            .await
    }

    /// Has the server send the request of an action of a thread, the first being number 0. `name`
    /// must be what the action is called; when the thread has changed meanwhile, the answer is 409.
    ///
    /// # Errors
    /// See [`Error`]; 424 when the integration did not do it.
    pub async fn trigger(&self, thread: &str, position: usize, name: &str) -> Result<(), Error> {
        let path = format!("/threads/{}/actions/{position}", encode(thread));
        let action = TriggerAction {
            name: Some(name.to_owned()),
        };
        self.request(Method::POST, &path)
            .json_of(&action)
            .done()
            .await
    }
}

impl Client {
    /// Says what is wrong with the source whose flow token the client shows; an empty text says
    /// that all is well.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn set_source_error(&self, message: &str) -> Result<Source, Error> {
        let change = UpdateSource {
            error_message: Some(message.to_owned()),
            ..UpdateSource::default()
        };
        self.request(Method::PUT, "/sources")
            .json_of(&change)
            .call()
            .await
    }
}
