//! Messages: what is said and what happens in a room.

mod cursor;
mod last;
mod notice;
mod query;
mod rows;
mod thread;

use std::borrow::Cow;
use std::sync::Arc;

pub use crate::events::MessageKind;
use crate::files::NewFile;
use crate::items::Item;
use crate::reactions::Reactions;
use crate::search::SearchTokens;
use crate::sources::{ThreadOwner, ThreadSource};
use crate::tags::Tags;
use crate::{MessageId, RoomId, Timestamp, UserId};

pub use self::cursor::{InvalidCursor, MessageCursor};
pub use self::last::LastMessage;
pub use self::notice::{LiveNotice, Notice, present_content, subject_of};
pub use self::query::{Around, MessageQuery, Sort};
pub use self::thread::{ThreadCounts, ThreadState};

/// The most Unicode scalar values a chat message may have (specification, section 8).
pub const MAX_CONTENT_CHARS: usize = 8096;
/// The most characters a client's `uuid` may have.
pub const MAX_UUID_CHARS: usize = 100;
/// The most characters an `external_user_name` may have.
pub const MAX_EXTERNAL_NAME_CHARS: usize = 100;

/// The text by which others refer to a message of this kind: what was said, the name of a file, or
/// what can be read first in what an integration pushed.
#[must_use]
pub fn reference(event: MessageKind, content: &str) -> Cow<'_, str> {
    match event {
        event if event.has_text() => content.into(),
        MessageKind::File | MessageKind::Activity | MessageKind::Discussion | MessageKind::Mail => {
            crate::search::heading(content).into()
        }
        _ => "".into(),
    }
}

/// Who a message is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    /// The user; `None` when the message is anonymous.
    pub user: Option<UserId>,
    /// The name an anonymous sender gave.
    pub external_name: Option<String>,
}

impl Author {
    /// A message from a user.
    #[must_use]
    pub fn user(id: UserId) -> Self {
        Self {
            user: Some(id),
            external_name: None,
        }
    }

    /// An anonymous message.
    #[must_use]
    pub fn anonymous(name: Option<String>) -> Self {
        Self {
            user: None,
            external_name: name,
        }
    }
}

/// A message as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The room it is in.
    pub room: RoomId,
    /// Its number in the room.
    pub id: MessageId,
    /// Its kind.
    pub event: MessageKind,
    /// Who it is from.
    pub author: Author,
    /// Text, or a JSON document, as [`MessageKind::has_text`] tells.
    pub content: String,
    /// All tags, as sent and as found, in the order they are shown.
    pub tags: Tags,
    /// Those of the tags that somebody set, rather than the text; they survive an edit.
    pub explicit_tags: Vec<String>,
    /// The identifier the client gave.
    pub uuid: Option<String>,
    /// When it was sent.
    pub sent: Timestamp,
    /// When it was last edited.
    pub edited: Option<Timestamp>,
    /// The message that began its thread, which may be itself.
    pub thread_root: Option<MessageId>,
    /// The message a comment answers.
    pub parent: Option<MessageId>,
    /// To whom a private message is; in a conversation with oneself that is its author.
    pub to: Option<UserId>,
}

impl Message {
    /// Whether it is a message of the chat that was deleted, and stays as an empty place.
    #[must_use]
    pub fn is_emptied(&self) -> bool {
        matches!(self.event, MessageKind::Message | MessageKind::Comment) && self.content.is_empty()
    }

    /// About how many bytes it takes, in memory and where it is shown, beside those of a short one.
    /// A mark of a cohort counts although the cohort is shared: what is shown spells it out.
    #[must_use]
    pub fn weight(&self) -> usize {
        /// What a text takes in memory beside its bytes.
        const STRING: usize = 40;
        let explicit: usize = self.explicit_tags.iter().map(String::len).sum();
        let strings = self.explicit_tags.len() + self.tags.listed().len();
        json_len(&self.content) + self.tags.shown_len() + explicit + STRING * strings
    }
}

/// The length of a text as JSON, where a control character has six bytes.
fn json_len(text: &str) -> usize {
    let of_byte = |byte| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' => 2,
        0..0x20 => 6,
        _ => 1,
    };
    text.bytes().map(of_byte).sum()
}

/// Where a new message stands among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// It answers nothing and begins a thread.
    StartsThread,
    /// It belongs to no thread.
    Unthreaded,
    /// It is a comment on this message.
    Answers(MessageId),
    /// It goes into the thread that this message began.
    InThread(MessageId),
    /// It goes into the thread that [`ThreadPost::external_id`] names, which begins with it if
    /// there is none.
    InMirror,
}

/// What an integration's post says of the thread it goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadPost {
    /// Who posts.
    pub thread_owner: ThreadOwner,
    /// What the thread shows of them.
    pub source: Option<Arc<ThreadSource>>,
    /// The id they have for the thread, unique among their own.
    pub external_id: Option<String>,
    /// Whether the thread may begin with this message.
    pub begins: bool,
    /// The new state of what the thread mirrors.
    pub item: Option<Arc<Item>>,
    /// The title of a thread that begins without such a state; HTML.
    pub title: String,
}

/// A message checked and ready to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The room it goes to.
    pub room: RoomId,
    /// The room's access version under which the sender was allowed to post; the store refuses
    /// the draft when it has changed since. `None` for what the server itself posts.
    pub access_version: Option<i64>,
    /// The epoch of ended credentials in which the sender's was found to hold; the store refuses
    /// the draft when another has begun. `None` where the transaction itself checks the credential,
    /// and for what the server itself posts.
    pub credential_epoch: Option<u64>,
    /// Its kind.
    pub event: MessageKind,
    /// Who it is from.
    pub author: Author,
    /// Text, or a JSON document.
    pub content: String,
    /// All tags.
    pub tags: Tags,
    /// The tags that somebody set.
    pub explicit_tags: Vec<String>,
    /// The words it is found by.
    pub search_tokens: SearchTokens,
    /// The identifier the client gave.
    pub uuid: Option<String>,
    /// Digest of everything a repeat with the same uuid must agree in.
    pub fingerprint: i64,
    /// Where it stands.
    pub placement: Placement,
    /// What an integration says of the thread it goes to.
    pub thread: Option<Box<ThreadPost>>,
    /// The files it brings along, whose bytes are written already.
    pub files: Vec<NewFile>,
    /// To whom a private message is.
    pub to: Option<UserId>,
    /// What streams deliver at once in place of the content, when it is a notice of another
    /// message.
    pub live: Option<Box<LiveNotice>>,
    /// When it was sent.
    pub sent: Timestamp,
}

impl Draft {
    /// A message that nothing but these is known of: in no thread, without tags, and for the users
    /// who are in the room.
    #[must_use]
    pub fn bare(
        room: RoomId,
        event: MessageKind,
        author: Author,
        content: String,
        sent: Timestamp,
    ) -> Self {
        Self {
            room,
            access_version: None,
            credential_epoch: None,
            event,
            author,
            content,
            tags: Tags::default(),
            explicit_tags: Vec::new(),
            search_tokens: SearchTokens::default(),
            uuid: None,
            fingerprint: 0,
            placement: Placement::Unthreaded,
            thread: None,
            files: Vec::new(),
            to: None,
            live: None,
            sent,
        }
    }
}

/// A message with what is needed to show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageView {
    /// The message.
    pub message: Message,
    /// For a comment, the text of what it answers; empty when that is gone.
    pub parent_text: Option<String>,
    /// The thread it belongs to.
    pub thread: Option<ThreadState>,
    /// Who reacted to it, and with which emoji.
    pub reactions: Reactions,
    /// The subject of a notice, as it is; `None` for any other message, and when the subject is
    /// gone.
    pub subject: Option<Arc<Message>>,
}

impl MessageView {
    /// About how many bytes it takes, in memory and where it is shown, beside those of a short one:
    /// the message, and what is told of others with it.
    #[must_use]
    pub fn weight(&self) -> usize {
        let thread = self.thread.as_ref().map_or(0, |thread| {
            let item = thread.item.as_ref().map_or(0, |item| item.weight());
            thread.root_text.len() + item
        });
        let subject = self.subject.as_ref().map_or(0, |subject| subject.weight());
        let parent = self.parent_text.as_ref().map_or(0, String::len);
        self.message.weight() + parent + thread + self.reactions.weight() + subject
    }

    /// Whether streams may deliver it: a notice that says something of its subject needs the
    /// subject.
    #[must_use]
    pub fn is_deliverable(&self) -> bool {
        !matches!(
            self.message.event,
            MessageKind::MessageEdit | MessageKind::TagChange | MessageKind::EmojiReaction
        ) || self.subject.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_texts_of_a_message_and_all_its_marks_count() {
        use crate::tags::{Cohort, CohortMarks};
        let message = |content: &str, listed: &[&str], addressed: i64| {
            let listed = listed.iter().map(|tag| (*tag).to_owned()).collect();
            let marks = CohortMarks {
                place: 0,
                cohorts: vec![Arc::new(Cohort::of((0..addressed).map(UserId).collect()))],
                without: Vec::new(),
            };
            Message {
                room: RoomId(1),
                id: MessageId(1),
                event: MessageKind::Message,
                author: Author::user(UserId(1)),
                content: content.to_owned(),
                tags: Tags::new(listed, Some(marks)),
                explicit_tags: Vec::new(),
                uuid: None,
                sent: Timestamp(0),
                edited: None,
                thread_root: None,
                parent: None,
                to: None,
            }
        };
        let view = |message: Message| MessageView {
            message,
            parent_text: None,
            thread: None,
            reactions: Reactions::default(),
            subject: None,
        };
        let plain = view(message("text", &[], 0));
        assert_eq!(plain.weight(), 4);
        let long = "x".repeat(1_000);
        let mut explicit = message("text", &[], 0);
        explicit.explicit_tags.push(long.clone());
        for heavy in [
            view(message(&long, &[], 0)),
            view(message(&"\u{1}".repeat(200), &[], 0)),
            view(message("text", &[&long], 0)),
            view(message("text", &[], 100)),
            view(explicit),
            MessageView {
                parent_text: Some(long.clone()),
                ..plain.clone()
            },
            MessageView {
                subject: Some(Arc::new(message(&long, &[], 0))),
                ..plain
            },
        ] {
            assert!(heavy.weight() >= 1_000, "{heavy:?}");
        }
    }

    #[test]
    fn every_event_survives_its_name_and_its_number() {
        for event in MessageKind::ALL {
            assert_eq!(MessageKind::parse(event.as_str()), Some(event));
            assert_eq!(MessageKind::from_code(event.code()), Some(event));
        }
        assert_eq!(MessageKind::parse("Message"), None);
        assert_eq!(MessageKind::from_code(-1), None);
        assert_eq!(MessageKind::from_code(12), None);
    }
}
