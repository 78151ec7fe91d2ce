#![doc = include_str!("../README.md")]
//!
//! A [`Client`] is a handle on one pool of connections; clone it freely. Calls that belong to a
//! room are made through [`Client::flow`] and [`Client::private`].
//!
//! Anything the typed calls do not cover, wrong requests included, goes through
//! [`Client::request`]. The crate knows the shapes of `eddyline-wire` and HTTP; it knows nothing of
//! the server's inside. It never repeats a request that the server may have carried out: post with
//! a `uuid` and repeat the call yourself to be safe against doubles.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a panic fails the test"))]

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
mod renewal;
mod request;
mod response;
mod room;
mod send;
mod stream;
#[cfg(test)]
mod tests;
mod users;

pub use client::{Client, ClientBuilder};
pub use credentials::Credentials;
pub use error::{ApiError, Error, MalformedStream};
pub use files::NewFile;
pub use inspect::Exchange;
pub use messages::{FoundMessages, MessageQuery, NewMessage, Posted};
pub use oauth::{OAuthApplication, OAuthSession, OAuthTokens};
pub use request::RequestBuilder;
pub use response::{Json, RawResponse};
pub use room::{FlowClient, InFlow, InPrivate, PrivateClient, RoomClient};
pub use stream::{
    Event, EventStream, ReactionChange, ResumingStream, StreamDecoder, StreamEvent, StreamFormat,
    StreamRequest,
};

pub use eddyline_model::UserId;
pub use eddyline_model::messages::{MessageCursor, MessageKind};
pub use eddyline_model::names::{FlowName, GroupName};
pub use eddyline_wire::requests;
pub use eddyline_wire::{
    Author, Flow, Group, Message, Organization, PrivateConversation, Source, Thread, User,
};
pub use http::{HeaderMap, Method, StatusCode};
