//! Messages as the API encodes them, as far as pages show them: what no page needs is skipped where
//! the JSON is decoded.

use std::collections::BTreeMap;

use eddyline_app::Error;
use eddyline_wire::{Attachment, Author, ThreadLastMessage};
use serde::Deserialize;
use serde_json::Value;

/// A message. The fields are those of [`eddyline_wire::Message`].
#[derive(Deserialize)]
pub(super) struct PageMessage {
    pub(super) id: i64,
    pub(super) event: String,
    pub(super) content: Value,
    pub(super) author: Option<Author>,
    pub(super) title: Option<String>,
    pub(super) body: Option<String>,
    pub(super) tags: Vec<String>,
    #[serde(default, rename = "emojiReactions")]
    pub(super) emoji_reactions: BTreeMap<String, Vec<i64>>,
    pub(super) uuid: Option<String>,
    pub(super) user: String,
    pub(super) sent: i64,
    pub(super) flow: Option<String>,
    pub(super) to: Option<String>,
    #[serde(default)]
    pub(super) attachments: Vec<Attachment>,
    pub(super) created_at: String,
    pub(super) edited: Option<i64>,
    pub(super) external_user_name: Option<String>,
    pub(super) thread_id: Option<String>,
    pub(super) thread: Option<PageThread>,
    /// The text as HTML, where the page has made it.
    #[serde(skip)]
    pub(super) html: Option<String>,
}

/// A thread. The fields are those of [`eddyline_wire::Thread`].
#[derive(Deserialize)]
pub(super) struct PageThread {
    pub(super) id: String,
    pub(super) mark: u8,
    pub(super) title: String,
    pub(super) status: Option<Value>,
    pub(super) source: Option<PageSource>,
    pub(super) internal_comments: i64,
    pub(super) external_comments: i64,
    pub(super) initial_message: i64,
    pub(super) updated_at: String,
    /// In lists of threads.
    pub(super) last_message: Option<ThreadLastMessage>,
}

/// The source of a thread.
#[derive(Deserialize)]
pub(super) struct PageSource {
    /// What its application is called.
    pub(super) application: Option<String>,
}

/// Decodes what the server has encoded itself.
pub(super) fn decoded<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T, Error> {
    serde_json::from_slice(json).map_err(|error| Error::internal(error.to_string()))
}
