//! Messages: who changes and deletes which, and reacts to which.

use super::{FlowAction, PrivateAction, Refusal};
use crate::UserId;
use crate::messages::{Message, MessageKind};

/// What a caller wants to do with the messages of a room, be it a flow or a private conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageAction {
    /// Read them, or mark them as read.
    Read,
    /// Change or delete one. [`edit_content`] and [`delete`] decide about each message.
    Change,
    /// Post one.
    Post,
    /// React to one. [`react`] decides about each message.
    React,
}

impl MessageAction {
    /// What the caller must be allowed to do in a flow. Those who read there also tag, and delete
    /// from the inbox; those who post there also react.
    #[must_use]
    pub fn in_flow(self) -> FlowAction {
        match self {
            Self::Read | Self::Change => FlowAction::Read,
            Self::Post | Self::React => FlowAction::Post,
        }
    }

    /// What the caller must be allowed to do in a private conversation.
    #[must_use]
    pub fn in_private(self) -> PrivateAction {
        match self {
            Self::Read => PrivateAction::Read,
            Self::Change | Self::Post | Self::React => PrivateAction::Write,
        }
    }
}

/// What deleting a message does (specification, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// The message goes.
    Remove,
    /// The message stays, empty.
    Truncate,
}

/// Whether, and how, a reader of the room may delete a message.
///
/// # Errors
///
/// [`Refusal::Denied`] for every other message.
pub fn delete(user: UserId, message: &Message) -> Result<Deletion, Refusal> {
    let own = message.author.user == Some(user);
    match message.event {
        MessageKind::Activity | MessageKind::Discussion | MessageKind::Mail => Ok(Deletion::Remove),
        MessageKind::File if own => Ok(Deletion::Remove),
        MessageKind::Message | MessageKind::Comment if own => Ok(Deletion::Truncate),
        _ => Err(Refusal::Denied),
    }
}

/// Whether a reader of the room may change a message's content: only their own chat messages and
/// comments (specification, section 4).
///
/// # Errors
///
/// [`Refusal::Denied`].
pub fn edit_content(user: UserId, message: &Message) -> Result<(), Refusal> {
    match message.event {
        // An empty one was deleted, and stays so.
        MessageKind::Message | MessageKind::Comment
            if message.author.user == Some(user) && !message.is_emptied() =>
        {
            Ok(())
        }
        _ => Err(Refusal::Denied),
    }
}

/// Whether a user who may post in the room may react to a message: not to one that was deleted.
///
/// # Errors
///
/// [`Refusal::Denied`].
pub fn react(message: &Message) -> Result<(), Refusal> {
    if message.is_emptied() {
        return Err(Refusal::Denied);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::Author;
    use crate::{MessageId, RoomId, Timestamp};

    fn message(event: MessageKind, user: Option<UserId>) -> Message {
        Message {
            room: RoomId(1),
            id: MessageId(1),
            event,
            author: Author {
                user,
                external_name: None,
            },
            content: String::new(),
            tags: crate::tags::Tags::default(),
            explicit_tags: vec![],
            uuid: None,
            sent: Timestamp(0),
            edited: None,
            thread_root: None,
            parent: None,
            to: None,
        }
    }

    #[test]
    fn every_message_takes_reactions_but_a_deleted_one() {
        for event in [MessageKind::Message, MessageKind::Comment] {
            let mut message = message(event, None);
            assert_eq!(react(&message), Err(Refusal::Denied), "{event:?}");
            message.content = "hello".into();
            assert_eq!(react(&message), Ok(()), "{event:?}");
        }
        for event in [
            MessageKind::File,
            MessageKind::Activity,
            MessageKind::Action,
        ] {
            assert_eq!(react(&message(event, None)), Ok(()), "{event:?}");
        }
    }

    /// Shows: 3.13, 4.29
    #[test]
    fn deletion_removes_inbox_messages_and_own_files_and_truncates_own_chat() {
        let (own, other) = (Some(UserId(1)), Some(UserId(2)));
        for (event, author, expected) in [
            (MessageKind::Message, own, Ok(Deletion::Truncate)),
            (MessageKind::Comment, own, Ok(Deletion::Truncate)),
            (MessageKind::Message, other, Err(Refusal::Denied)),
            (MessageKind::Message, None, Err(Refusal::Denied)),
            (MessageKind::File, own, Ok(Deletion::Remove)),
            (MessageKind::File, other, Err(Refusal::Denied)),
            (MessageKind::Activity, None, Ok(Deletion::Remove)),
            (MessageKind::Mail, None, Ok(Deletion::Remove)),
            (MessageKind::Action, own, Err(Refusal::Denied)),
            (MessageKind::Status, own, Err(Refusal::Denied)),
        ] {
            assert_eq!(
                delete(UserId(1), &message(event, author)),
                expected,
                "{event:?}"
            );
        }
    }
}
