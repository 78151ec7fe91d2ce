#![doc = include_str!("../README.md")]
//!
//! [`Store`] is the handle. Reads are closures over a [`Reader`]; writes are posts, or closures
//! over a [`Tx`], for one writer, which commits posts in batches and answers only after the commit.
//! Everything that is kept also stands in the log, whose order is the order of the commits;
//! [`Store::committed`] and [`Store::change_notifier`] tell of its growth.
//!
//! # Queries
//!
//! A [`Reader`] and a [`Tx`] give a handle for each area of the store, which has its queries as
//! methods: `reader.groups().find(id)`, `tx.groups().insert(…)`. The [`areas`] are listed in one
//! place. The name of a method begins with its verb.
//!
//! These read, with a [`Reader`] or a [`Tx`]:
//!
//! - `find` gives one record, or a part of one, or `None`;
//! - `list` gives several, and `list_page` those after a position, up to a limit;
//! - `count` gives a number or a sum;
//! - `contains`, `is`, `has` and `have` answer yes or no.
//!
//! These write, with a [`Tx`]:
//!
//! - `insert` adds records; `upsert` replaces those that there are; `append` adds to the log, or
//!   messages with their entries in the log;
//! - `update` writes all changeable fields of a record, `set` some of them, `clear` empties one;
//! - `advance` moves a number or a time on, `touch` records that something was used;
//! - `delete` removes records;
//! - `lock` holds records against other transactions until the end of this one;
//! - `claim` takes something for a time, from which `release` gives it back, and `postpone` puts it
//!   off;
//! - `mark` marks objects for deletion.
//!
//! Only this crate knows diesel, and it knows only the model: nothing of tokens, streams or HTTP.

mod api_tokens;
mod append;
mod applications;
pub mod areas;
mod around;
mod audit;
mod audit_exports;
mod avatars;
mod backlog;
mod budget;
mod change_notifier;
mod clock;
mod cohorts;
mod commit;
mod connect;
pub mod copy;
mod credential_epoch;
mod credentials;
mod deletions;
mod domains;
mod erasure;
mod error;
mod exports;
mod fair;
mod files;
mod find;
mod flows;
mod grants;
mod groups;
mod identities;
mod imports;
mod inspection;
mod invitations;
mod lists;
mod live;
mod log;
mod mail_records;
mod mails;
mod messages;
mod metrics;
mod news;
mod node_presence;
mod nodes;
mod notifications;
mod operators;
mod organizations;
mod page_budget;
#[cfg(feature = "postgres")]
mod postgres;
mod private;
mod pushes;
mod reactions;
mod read_threads;
mod reader;
mod readers;
mod reading;
mod reads;
mod recovery;
mod removal;
mod removed_members;
mod retention;
mod rewriting;
mod rooms_list;
mod rows;
mod schema;
mod scrub;
mod sessions;
mod settings;
mod sources;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store;
mod suspended;
mod threads;
mod transaction;
mod turns;
mod unread_mentions;
mod users;
mod work;
mod write_queue;
mod writer;

pub use api_tokens::ApiToken;
pub use append::AppendOutcome;
pub use audit_exports::AuditExport;
pub use avatars::AvatarOf;
pub use budget::{BudgetKey, TaskBudget};
pub use change_notifier::ChangeNotifier;
pub use clock::Clock;
pub use credential_epoch::CredentialEpoch;
pub use erasure::PersonalNames;
pub use error::{Error, Result};
pub use exports::{FileOfMessage, PrivateRoom, SourceOfFlow, ThreadOfRoom};
pub use files::COUNTED_FILE_BYTES;
pub use flows::{NewFlowRow, TabKind};
pub use grants::GrantsOf;
pub use identities::ProvidedQuery;
pub use imports::{ImportOrigin, ImportedKind, ImportedMember, ImportedMessage, ImportedPlace};
#[cfg(feature = "postgres")]
pub use inspection::PostgresSettings;
pub use inspection::{DatabaseSettings, EnabledProvider, Inspection, SqliteSettings, TableState};
pub use invitations::{AddressOwner, NewInvitations};
pub use lists::MessagePage;
pub use log::{LogFilter, LogPage};
pub use mail_records::MailRecord;
pub use mails::NewMail;
pub use node_presence::{OtherNode, PresenceRow};
pub use nodes::{SILENCE_MILLIS, ServingNode};
pub use notifications::{PushSubscription, Subscriber};
pub use operators::{FlowToken, ProviderDetails};
pub use private::{Conversation, VersionedRoom};
pub use pushes::{DuePush, NewPush, QueuedPush};
pub use reader::{Access, Reader};
pub use retention::{OldMessage, PlacedHold};
pub use rooms_list::{RoomQuery, RoomWithNews, RoomsPage, RoomsPart};
pub use scrub::{ScrubStep, Scrubbed};
pub use sessions::BrowserSession;
pub use settings::{BACKUPS_SETTING, SECRET_KEY_SETTING};
pub use sources::{FlowTokenOf, NewSourceRow};
pub use store::{Options, Store};
pub use threads::ThreadPage;
pub use transaction::{Abort, Tx};
pub use users::{NewUser, People};
pub use write_queue::PostResult;
