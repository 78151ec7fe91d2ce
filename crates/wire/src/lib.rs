#![doc = include_str!("../README.md")]
//!
//! Names and types are those of Flowdock's API. [`forms`] reads parameters that come as a form
//! instead of JSON. The crate knows neither storage nor HTTP.

mod audit;
mod author;
mod disposition;
mod encode;
mod errors;
mod flows;
pub mod forms;
mod groups;
mod invitations;
mod items;
pub mod media_types;
mod messages;
mod notifications;
pub mod oauth;
mod organizations;
pub mod params;
mod private;
mod reading;
pub mod request;
pub mod requests;
mod sources;
mod users;

pub use audit::{NamedRecord, RecordTarget};
pub use author::Author;
pub use disposition::disposition;
pub use encode::{Encoder, RoomRef, ThreadNews};
pub use errors::{ErrorBody, IntegrationError};
pub use flows::{Flow, FlowInbox, FlowUser, Link, UserPresence};
pub use groups::Group;
pub use invitations::{ImportedInvitations, Invitation};
pub use items::{InboxContent, read_author, read_item};
pub use messages::{Attachment, Message, PictureSize, Thread, ThreadLastMessage, Thumbnail};
pub use notifications::{FlowNotifications, UserNotifications};
pub use organizations::{
    Organization, OrganizationSubscription, OrganizationSummary, OrganizationUser,
    ScheduledDeletion,
};
pub use private::{Participant, PrivateActivity, PrivateConversation};
pub use reading::{FieldErrors, NUMBER_TOO_LARGE, check_url, is_unseen, text_of_number};
pub use request::{OneOf, Parameters, Request};
pub use sources::{SetupApplication, Source, SourceApplication};
pub use users::{FormerUser, User, avatar_url};
