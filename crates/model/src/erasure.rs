//! Erasing a person: what becomes of the account and of each message.
//!
//! The number of the user stays, since messages, threads and the log refer to it. Everything that
//! the person wrote, and everything by which the person is known, goes.

use serde_json::Value;

use crate::UserId;
use crate::messages::{Message, MessageKind};

/// The domain of the addresses of erased users. No mail reaches it (RFC 2606).
const DOMAIN: &str = "deleted.invalid";

/// What an erased user is called, in place of everything that named the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErasedProfile {
    /// Full name, the same for all.
    pub name: &'static str,
    /// Short name, which no two have.
    pub nick: String,
    /// Address, which no two have and which nothing reaches.
    pub email: String,
}

impl ErasedProfile {
    /// That of the user with this number.
    #[must_use]
    pub fn of(user: UserId) -> Self {
        Self {
            name: "Deleted user",
            nick: format!("deleted-{user}"),
            email: format!("deleted-{user}@{DOMAIN}"),
        }
    }
}

/// What becomes of a message when a person is erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageErasure {
    /// It stays as it is: another user wrote it.
    Keep,
    /// It stays as an empty place, as after its author has deleted it, so that answers have
    /// something to answer.
    Truncate,
    /// It is deleted, and streams get a `message-delete`.
    Remove,
    /// It goes without a word: a notice, which lists do not show.
    Discard,
    /// It stays, since it is a notice that has nothing but numbers and an emoji.
    Bare,
}

/// What becomes of a message when the user is erased who is known by these names: addresses, nicks
/// and full names. A message of the server itself goes when it names the user.
#[must_use]
pub fn of_message(message: &Message, user: UserId, names: &[String]) -> MessageErasure {
    let is_own = message.author.user == Some(user);
    match message.event {
        MessageKind::Action if is_own || names_person(&message.content, names) => {
            MessageErasure::Remove
        }
        _ if !is_own => MessageErasure::Keep,
        MessageKind::Message | MessageKind::Comment => MessageErasure::Truncate,
        MessageKind::TagChange => MessageErasure::Discard,
        MessageKind::MessageEdit | MessageKind::MessageDelete | MessageKind::EmojiReaction => {
            MessageErasure::Bare
        }
        MessageKind::Status
        | MessageKind::File
        | MessageKind::Activity
        | MessageKind::Discussion
        | MessageKind::Mail
        | MessageKind::Action => MessageErasure::Remove,
    }
}

/// Whether the description of what happened has one of these names as a text of its own or in a list
/// with commas, in whatever case.
fn names_person(content: &str, names: &[String]) -> bool {
    let Ok(document) = serde_json::from_str::<Value>(content) else {
        return false;
    };
    let is_name = |text: &str| {
        let text = text.trim().to_lowercase();
        names.iter().any(|name| name.to_lowercase() == text)
    };
    let mut left: Vec<&Value> = document.get("description").into_iter().collect();
    while let Some(value) = left.pop() {
        match value {
            Value::String(text) => {
                if is_name(text) || text.split(',').any(is_name) {
                    return true;
                }
            }
            Value::Array(values) => left.extend(values),
            Value::Object(fields) => left.extend(fields.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::Author;
    use crate::names::{Email, Nick};
    use crate::{MessageId, RoomId, Timestamp};

    fn message(event: MessageKind, user: i64, content: &str) -> Message {
        Message {
            room: RoomId(1),
            id: MessageId(7),
            event,
            author: Author::user(UserId(user)),
            content: content.into(),
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
    fn an_erased_user_has_an_address_and_a_nick_that_others_could_have() {
        let erased = ErasedProfile::of(UserId(7));
        assert!(erased.email.parse::<Email>().is_ok());
        assert!(erased.nick.parse::<Nick>().is_ok());
        assert_ne!(erased, ErasedProfile::of(UserId(8)));
    }

    #[test]
    fn only_the_persons_own_messages_are_erased() {
        for event in MessageKind::ALL {
            assert_ne!(
                of_message(&message(event, 1, "a word"), UserId(1), &[]),
                MessageErasure::Keep,
                "{event:?}"
            );
            assert_eq!(
                of_message(&message(event, 2, "a word"), UserId(1), &["a word".into()]),
                MessageErasure::Keep,
                "{event:?}"
            );
        }
    }

    #[test]
    fn what_can_be_answered_stays_as_an_empty_place() {
        for event in [MessageKind::Message, MessageKind::Comment] {
            assert_eq!(
                of_message(&message(event, 1, "a word"), UserId(1), &[]),
                MessageErasure::Truncate
            );
        }
    }

    #[test]
    fn a_message_of_the_server_goes_when_it_names_the_person() {
        let names = ["Eve".to_owned(), "eve@example.org".to_owned()];
        let of = |content| of_message(&message(MessageKind::Action, 2, content), UserId(1), &names);
        for content in [
            r#"{"type":"add_people","description":"eve"}"#,
            r#"{"type":"invite","description":{"email":"Eve@example.org"}}"#,
            r#"{"type":"x","description":["ben",{"nick":"Eve"}]}"#,
            r#"{"type":"add_people","description":"ben,eve"}"#,
            r#"{"type":"invite","description":{"email":"ben@example.org,eve@example.org"}}"#,
        ] {
            assert_eq!(of(content), MessageErasure::Remove, "{content}");
        }
        for content in [
            r#"{"type":"join","description":"evelyn"}"#,
            r#"{"eve":1}"#,
            r#"{"type":"eve","description":"ben"}"#,
            r#"{"type":"invite","description":{"email":"ben@example.org, steve@example.org"}}"#,
            "eve",
        ] {
            assert_eq!(of(content), MessageErasure::Keep, "{content}");
        }
    }
}
