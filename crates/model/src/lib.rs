#![doc = include_str!("../README.md")]

pub mod address_list;
pub mod applications;
pub mod audit;
pub mod audit_export;
pub mod deletion;
pub mod erasure;
mod events;
pub mod files;
pub mod flows;
pub mod grants;
pub mod groups;
pub mod identities;
pub mod ids;
pub mod invitations;
pub mod items;
pub mod log;
mod mac;
pub mod mail;
pub mod messages;
pub mod names;
pub mod notifications;
pub mod organizations;
pub mod paths;
pub mod pictures;
pub mod policy;
pub mod reactions;
pub mod reading;
pub mod retention;
pub mod scopes;
pub mod search;
pub mod shares;
pub mod sources;
pub mod tags;
pub mod threads;
pub mod time;
pub mod users;

pub use ids::{
    ApplicationId, CredentialId, FlowId, GrantId, GroupId, InvitationId, MessageId, OrganizationId,
    RoomId, SourceId, UserId,
};
pub use log::{EventId, Seq};
pub use time::{Day, Timestamp};
