//! Files: what messages bring along. The bytes lie in a store of objects under keys; equal bytes
//! lie there once, however many files have them.

use crate::{MessageId, RoomId};

/// The most files of one message.
pub const MAX_ATTACHMENTS: usize = 20;
/// The most characters of a file's name.
pub const MAX_NAME_CHARS: usize = 255;

/// A file, by a random id that stands in its path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileId(
    /// The text as it stands in the path.
    pub String,
);

/// Bytes that were written to the store of objects, and belong to nothing yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewObject {
    /// The key they lie under.
    pub key: String,
    /// Their SHA-256 digest.
    pub digest: [u8; 32],
    /// How many they are.
    pub size: i64,
}

/// Width and height, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimensions {
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
}

/// A file that comes with a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFile {
    /// Its id, random.
    pub id: FileId,
    /// Its name, as the sender has it.
    pub name: String,
    /// Its MIME type.
    pub content_type: String,
    /// Its bytes.
    pub object: NewObject,
    /// Of a picture: its size.
    pub picture: Option<Dimensions>,
    /// Of a picture that could be read: a small one of it.
    pub thumbnail: Option<(NewObject, Dimensions)>,
}

/// A file of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its id.
    pub id: FileId,
    /// The room it is in.
    pub room: RoomId,
    /// The message it came with.
    pub message: MessageId,
    /// Its name.
    pub name: String,
    /// Its MIME type.
    pub content_type: String,
    /// How many bytes it has.
    pub size: i64,
    /// Where the bytes lie.
    pub object: String,
    /// Where those of its small picture lie.
    pub thumbnail: Option<String>,
}
