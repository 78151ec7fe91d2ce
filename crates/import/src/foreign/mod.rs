//! The common form of what archives of other programs have, and how it comes into the store.
//!
//! A reader of a format gives people, rooms and messages in any order. The messages wait in a file,
//! and only a few numbers of each in memory, until they are sorted by room and time.

mod entries;
mod file;
pub(crate) mod load;
mod mentions;
mod spool;
mod zip_file;

use serde::{Deserialize, Serialize};

pub(crate) use self::entries::Entries;
pub(crate) use self::load::load;
pub(crate) use self::mentions::{Mentioned, with_mentions};
pub(crate) use self::spool::Spool;
pub(crate) use self::zip_file::ZipFile;

use crate::people::Person;

/// Everything that a reader has found in an archive.
#[derive(Default)]
pub(crate) struct Foreign {
    pub(crate) people: Vec<Person>,
    pub(crate) rooms: Vec<Room>,
}

/// A flow or a conversation of an archive.
#[derive(Clone, Debug, Default)]
pub(crate) struct Room {
    /// What the archive calls it.
    pub(crate) id: String,
    /// What people call it.
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) created_at: Option<i64>,
    pub(crate) creator: Option<String>,
    /// What the archive calls its members.
    pub(crate) members: Vec<String>,
    pub(crate) kind: RoomKind,
    pub(crate) is_archived: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RoomKind {
    /// All members of the organization may join.
    #[default]
    Open,
    /// Only who is invited.
    Closed,
    /// A private conversation of one or two people.
    Conversation,
}

/// A message of an archive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ForeignMessage {
    /// What the archive calls it, within its room.
    pub(crate) id: String,
    /// What the archive calls the author.
    pub(crate) author: Option<String>,
    /// The name that stands beside it, for authors without an account.
    pub(crate) author_name: Option<String>,
    pub(crate) text: String,
    /// In milliseconds.
    pub(crate) sent: i64,
    pub(crate) edited: Option<i64>,
    /// What the archive calls the message that it answers.
    pub(crate) answers: Option<String>,
    pub(crate) files: Vec<ForeignFile>,
    pub(crate) reactions: Vec<ForeignReaction>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ForeignFile {
    pub(crate) name: String,
    pub(crate) content_type: String,
    /// The entry of the archive with its bytes; `None` when there is none.
    pub(crate) entry: Option<String>,
    /// Where else it might be found.
    pub(crate) url: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ForeignReaction {
    pub(crate) emoji: String,
    /// What the archive calls those who reacted.
    pub(crate) people: Vec<String>,
}

/// Whom a text mentions: where the text of a message names a person, it has [`mention`] of what the
/// archive calls them, until it is known what they are called here.
pub(crate) const MENTION: char = '\u{e000}';

/// A mention of a person in a text that waits.
pub(crate) fn mention(person: &str) -> String {
    format!("{MENTION}{person}{MENTION}")
}
