#![doc = include_str!("../README.md")]
//!
//! The crate knows no other crate of ours, and nothing of what is recorded.

mod connection;
mod message;

pub use connection::{Collector, SyslogConnection, SyslogError, UNCONFIRMED};
pub use message::SyslogMessage;
