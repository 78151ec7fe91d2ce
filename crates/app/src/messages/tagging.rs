//! The tags of a message: computed from its text, from the tags that the client gave and from the
//! people of the room.

use eddyline_model::UserId;
use eddyline_model::messages::Message;
use eddyline_model::tags::{self, Context, Extracted};

use crate::rooms::Room;

/// The tags of a new message.
pub(super) fn of_new(
    room: &Room,
    sender: Option<UserId>,
    given: &[String],
    text: &str,
    has_attachments: bool,
) -> Extracted {
    if !room.has_tags() {
        return Extracted::default();
    }
    let context = Context {
        roster: room,
        sender,
        has_attachments,
    };
    let mut extracted = tags::extract(given, text, &context);
    if let Some(reader) = reader(room.recipient(), sender) {
        tags::set_unread(&mut extracted, reader, true);
    }
    extracted
}

/// The tags of a message whose text becomes `content`.
pub(super) fn of_content(room: &Room, message: &Message, content: &str) -> Extracted {
    if !room.has_tags() {
        return Extracted::default();
    }
    let context = Context {
        roster: room,
        sender: message.author.user,
        has_attachments: false,
    };
    let mut extracted = tags::reparse(&message.tags, &message.explicit_tags, content, &context);
    if let Some(reader) = reader(message.to, message.author.user) {
        let unread = message.tags.contains(&tags::unread_tag(reader));
        tags::set_unread(&mut extracted, reader, unread);
    }
    extracted
}

/// The tags of a message that a user sets to `wanted`.
pub(super) fn as_wanted(
    room: &Room,
    message: &Message,
    wanted: &[String],
    user: UserId,
) -> Extracted {
    if !room.has_tags() {
        return Extracted::default();
    }
    let context = Context {
        roster: room,
        sender: Some(user),
        has_attachments: has_files(message),
    };
    let mut extracted = tags::replace(&message.tags, &message.explicit_tags, wanted, &context);
    if let Some(reader) = reader(message.to, message.author.user) {
        let unread = tags::keeps_unread(&message.tags, wanted, reader);
        tags::set_unread(&mut extracted, reader, unread);
    }
    extracted
}

/// Whether a message has files: it has the tag for files, and no client gave that tag.
fn has_files(message: &Message) -> bool {
    let tagged = |tags: &[String]| tags.iter().any(|tag| tag == tags::FILE);
    tagged(message.tags.listed()) && !tagged(&message.explicit_tags)
}

/// The user who has a private message to read. `None` in a conversation with oneself.
fn reader(recipient: Option<UserId>, author: Option<UserId>) -> Option<UserId> {
    recipient.filter(|to| author != Some(*to))
}
