//! Types and rules of the Eddyline messaging server.
//!
//! Everything here is plain data and plain functions over it: names and identifiers, users,
//! organizations, flows, messages and their tags, and the one place that decides who may do what
//! ([`policy`]). The crate does no I/O: it knows neither a runtime, nor a database, nor HTTP, and
//! it takes the time as an argument.

pub mod address_list;
pub mod applications;
pub mod audit;
pub mod files;
pub mod flows;
pub mod grants;
pub mod groups;
pub mod identities;
pub mod ids;
pub mod invitations;
pub mod items;
pub mod log;
pub mod mail;
pub mod messages;
pub mod names;
pub mod organizations;
pub mod paths;
pub mod policy;
pub mod scopes;
pub mod search;
pub mod sources;
pub mod tags;
pub mod threads;
pub mod time;
pub mod users;

pub use ids::{
    ApplicationId, CredentialId, FlowId, GrantId, GroupId, InvitationId, MessageId, OrganizationId, RoomId,
    SourceId, UserId,
};
pub use log::{EventId, Seq};
pub use time::{Day, Timestamp};
