#![doc = include_str!("../README.md")]
//!
//! [`Store`] is the handle. Reads are closures over a [`Reader`], which has every query as a method; writes are
//! posts, or closures over a [`Tx`], for one writer, which commits posts in batches and answers only after
//! the commit. Everything that is kept also stands in the log, whose order is the order of the
//! commits; [`Store::committed`] and [`Store::change_notifier`] tell of its growth.
//!
//! Only this crate knows diesel, and it knows only the model: nothing of tokens, streams or HTTP.

mod api_tokens;
mod append;
mod applications;
mod audit;
mod avatars;
mod backlog;
mod budget;
mod change_notifier;
mod commit;
mod connect;
mod credentials;
mod domains;
mod error;
mod fair;
mod files;
mod find;
mod flows;
mod gate;
mod grants;
mod groups;
mod identities;
mod invitations;
mod lists;
mod live;
mod log;
mod mail_records;
mod mails;
mod messages;
mod node_presence;
mod nodes;
mod operators;
mod organizations;
#[cfg(feature = "postgres")]
mod postgres;
mod private;
mod reader;
mod reads;
mod recovery;
mod removed_members;
mod schema;
mod sessions;
mod settings;
mod sources;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store;
mod suspended;
mod threads;
mod transaction;
mod users;
mod work;
mod writer;

pub use api_tokens::ApiToken;
pub use append::Outcome;
pub use avatars::AvatarOf;
pub use budget::{Account, ReadBudget};
pub use change_notifier::ChangeNotifier;
pub use error::{Error, Result};
pub use files::COUNTED_FILE_BYTES;
pub use flows::NewFlow;
pub use gate::PostGate;
pub use grants::GrantsOf;
pub use identities::ProvidedQuery;
pub use invitations::{AddressOwner, NewInvitations};
pub use lists::MessagePage;
pub use log::{LogFilter, LogPage};
pub use mails::NewMail;
pub use node_presence::{OtherNode, PresenceRow};
pub use operators::{FlowToken, ProviderDetails};
pub use private::{Conversation, PrivateRoom};
pub use reader::Reader;
pub use sessions::BrowserSession;
pub use sources::{FlowTokenOf, NewSource};
pub use store::{Clock, Options, Store};
pub use threads::ThreadPage;
pub use transaction::Tx;
pub use users::{NewUser, People};
pub use work::Abort;
pub use writer::Posted;
