#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a panic fails the test"))]

mod access;
mod asyncapi;
mod body_kind;
mod document;
mod examples;
mod failures;
mod operation;
mod parameters;
mod response;
pub mod response_headers;
mod schemas;
mod stream_events;
pub mod tags;

pub use access::{AllowedCallers, EndpointAccess};
pub use asyncapi::asyncapi_document;
pub use body_kind::{BodyKind, FileBody};
pub use document::DocumentBuilder;
pub use operation::{DescribeOperation, Operation};
pub use response::{ResponseSpec, Shape};
