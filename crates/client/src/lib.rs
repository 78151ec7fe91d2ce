//! Typed client of the Eddyline API: flows, messages, users and the live stream.
//!
//! A [`Client`] is a handle on one pool of connections; clone it freely. Calls that belong to a
//! flow are made through [`Client::flow`]:
//!
//! ```no_run
//! use eddyline_client::{Client, MessageQuery, NewMessage, StreamRequest};
//!
//! # async fn example() -> Result<(), eddyline_client::Error> {
//! let client = Client::builder("http://127.0.0.1:8080")
//!     .stream_url("http://127.0.0.1:8081")
//!     .api_token("8c5cf2a5...")
//!     .build()?;
//!
//! let main = client.flow("acme", "main");
//! main.post(&NewMessage::chat("Good morning #coffee")).await?;
//! let newest = main.messages(&MessageQuery::new().limit(10)).await?;
//!
//! let mut stream = client.follow(&StreamRequest::new().flow("acme/main"));
//! loop {
//!     let event = stream.next().await?;
//!     if let Some(message) = event.message() {
//!         println!("{}: {}", message.user, message.content);
//!     }
//! }
//! # }
//! ```
//!
//! Anything the typed calls do not cover, wrong requests included, goes through
//! [`Client::request`]. The crate knows the shapes of `eddyline-wire` and HTTP; it knows nothing of
//! the server's inside. It never repeats a request that the server may have carried out: post with a
//! `uuid` and repeat the call yourself to be safe against doubles.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod client;
mod credentials;
mod error;
mod files;
mod flows;
mod groups;
mod inspect;
mod integrations;
mod messages;
mod oauth;
mod organizations;
mod private;
mod request;
mod stream;
#[cfg(test)]
mod tests;
mod users;

pub use client::{Client, ClientBuilder};
pub use credentials::Credentials;
pub use error::{ApiError, Error};
pub use files::NewFile;
pub use flows::{FlowChange, FlowClient};
pub use groups::GroupChange;
pub use inspect::Exchange;
pub use messages::{MessageChange, MessageQuery, NewMessage, Posted, Sort, TagMode};
pub use oauth::{OAuthApplication, OAuthSession, OAuthTokens};
pub use private::PrivateClient;
pub use request::{Json, RawResponse, RequestBuilder};
pub use stream::{
    Event, EventStream, MalformedStream, ResumingStream, StreamDecoder, StreamEvent, StreamFormat,
    StreamRequest,
};

pub use eddyline_wire::{
    Author, Flow, Group, Message, Organization, PrivateConversation, Source, Thread, User,
};
pub use http::{HeaderMap, Method, StatusCode};
