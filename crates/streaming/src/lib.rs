#![doc = include_str!("../README.md")]
//!
//! Everything that happens is an entry of one log, in one order. The [`Hub`] keeps the newest
//! entries in a ring, each encoded once and shared by all. A [`Subscription`] has no queue: it is a
//! position in the log and a [`SubscriptionFilter`]. When it is ready to write, it takes whatever
//! stands after its position from the ring; a position that the ring has left behind is served by
//! pages of the [`Log`] until the ring is reached again. Which of the two applies is decided under
//! the ring's lock, every time anew, so that a live listener, one that reads slowly and one that
//! reconnects go through the same few lines, and none of them can lose an entry, get it twice or
//! out of order. A slow reader costs nothing but its position, and slows nobody.
//!
//! Where to look:
//!
//! - [`Entry`], [`Audience`], [`SubscriptionFilter`]: an event, its receivers, and what a
//!   subscription asks for;
//! - `framing`: the bytes of an entry on a JSON stream and on an event stream;
//! - `ring`, `transient`: what was said lately, stored or not;
//! - `listeners`: who is waiting for which topic, and how a listener is woken;
//! - `shared`: the lock around these;
//! - [`Hub`]: publishing, subscribing, and (in `revocation`) taking rights away at once;
//! - [`Amendment`]: replacing entries whose text was edited away or deleted;
//! - [`Log`] in `catchup`: reading what the ring no longer has, in pages shared by listeners;
//! - [`Subscription`] and the [`Batch`] it hands out;
//! - [`presence`]: who is online, and how often an activity is worth telling.
//!
//! The crate is handed encoded objects and a way to read the log. It knows neither a database,
//! nor the shape of a message, nor HTTP; it starts no task, and its only clock is the pause
//! between two attempts to read a log that is away.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a panic fails the test"))]

mod amendment;
mod batch;
mod catchup;
mod entry;
mod framing;
mod hub;
mod listeners;
pub mod presence;
mod revocation;
mod rights;
mod ring;
mod shared;
mod subscription;
mod transient;
mod wakes;

#[cfg(test)]
mod tests;

pub use amendment::Amendment;
pub use batch::Batch;
pub use catchup::{Log, LogUnavailable, Page, PageLookups};
pub use entry::{AddHtml, Audience, Entry, SubscriptionFilter};
pub use framing::{Frame, StreamFormat};
pub use hub::{Hub, ResumePoint, SubscribeError, SubscribeRequest};
pub use rights::{CredentialKey, OpenedWith, RightsMark};
pub use shared::HubConfig;
pub use subscription::Subscription;
pub use transient::{Transient, TransientKind};
