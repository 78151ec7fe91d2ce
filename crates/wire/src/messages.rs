//! Messages and threads as a client reads them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::author::Author;

/// A message of a flow or of a private conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Message {
    /// Number, unique in the flow or conversation only.
    pub id: i64,
    /// Kind of message.
    pub event: String,
    /// Text or an object, by the kind.
    pub content: Value,
    /// Of activity and discussion: who did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
    /// Of activity and discussion: what happened, in HTML.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Of activity and discussion: what was said, in HTML.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// Deprecated: `chat`, `influx` or nothing.
    pub app: Option<String>,
    /// Who reacted to it: each emoji with the numbers of the users, in the order in which they did.
    #[serde(default, rename = "emojiReactions")]
    pub emoji_reactions: BTreeMap<String, Vec<i64>>,
    /// The identifier the client gave.
    pub uuid: Option<String>,
    /// Number of the sender, as text; `0` when anonymous.
    pub user: String,
    /// When it was sent, in milliseconds since 1970.
    pub sent: i64,
    /// The flow's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// In private conversations, the recipient's number as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Files that came with it.
    #[serde(default)]
    pub attachments: Vec<Attachment>,
    /// When it was sent, ISO 8601.
    pub created_at: String,
    /// When it was last edited, in milliseconds since 1970.
    pub edited: Option<i64>,
    /// When it was last edited, ISO 8601.
    pub edited_at: Option<String>,
    /// The name an anonymous sender gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_user_name: Option<String>,
    /// The thread it belongs to.
    pub thread_id: Option<String>,
    /// The state of that thread.
    pub thread: Option<Thread>,
    /// The text as HTML, with light markdown, where it was asked for. It is left out where it would
    /// be longer than three times the text and 4 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
    /// The title of its thread as plain text, where HTML was asked for and the title of a thread that
    /// mirrors no outside item has light markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_title: Option<String>,
}

/// A file that came with a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Attachment {
    /// MIME type.
    pub content_type: String,
    /// The id by which a body refers to it.
    pub content_id: Option<String>,
    /// Name.
    pub file_name: String,
    /// Size in bytes.
    pub file_size: i64,
    /// Path to request for the download.
    pub path: String,
    /// Of a picture: its size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<PictureSize>,
    /// Of a picture: a small one of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thumbnail: Option<Thumbnail>,
}

/// The size of a picture, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Picture)]
pub struct PictureSize {
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
}

/// A small picture of another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Thumbnail {
    /// Path to request for the download.
    pub path: String,
    /// Width, in pixels.
    pub width: u32,
    /// Height, in pixels.
    pub height: u32,
}

/// The state of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Thread {
    /// Id.
    pub id: String,
    /// A number from 0 to 31 that stands for a colour (its lowest three bits) and a shape (the two
    /// above), by which clients tell threads apart at a glance. It comes from the id and never
    /// changes.
    pub mark: u8,
    /// Title, in HTML.
    pub title: String,
    /// The title as plain text, in lists that were asked for it, where it has markdown and belongs
    /// to no outside item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plain_title: Option<String>,
    /// Body, in HTML.
    pub body: String,
    /// Address of the outside item it mirrors.
    pub external_url: Option<String>,
    /// State of the outside item.
    pub status: Option<Value>,
    /// What can be done with the outside item.
    pub actions: Vec<Value>,
    /// Further facts about the outside item.
    pub fields: Vec<Value>,
    /// The integration it comes from: `id`, `icon`, `application`, and `icon_path` for `icon`, as
    /// `avatar_path` of an author.
    pub source: Option<Value>,
    /// Number of activity messages.
    pub activities: i64,
    /// Number of chat messages.
    pub internal_comments: i64,
    /// Number of discussion messages.
    pub external_comments: i64,
    /// The message that began it.
    pub initial_message: i64,
    /// When it last changed, ISO 8601.
    pub updated_at: String,
    /// When it began, ISO 8601.
    pub created_at: String,
    /// Its last message, in lists that were asked for it. Null when all messages are gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_message: Option<ThreadLastMessage>,
    /// Whether the caller has something to read in it, in the same lists; absent for flow tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<bool>,
}

/// The last message of a thread, in one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ThreadLastMessage {
    /// Number.
    pub id: i64,
    /// Kind.
    pub event: String,
    /// The user who posted it, `"0"` when it is anonymous.
    pub user: String,
    /// The name of the author that the message itself bears: that of an activity or a discussion, or
    /// of an anonymous sender.
    pub author_name: Option<String>,
    /// The first line that can be read in it, at most 200 characters. Empty when the text was
    /// removed.
    pub text: String,
    /// When it was sent, in milliseconds since 1970.
    pub sent: i64,
}
