//! Notices: messages that tell streams of a change to another message, their subject. Lists do not
//! show them.
//!
//! A notice is kept for good, and so it keeps no text that an edit or a deletion may take away
//! later. A kept `message-edit` has the number of its subject only. A kept `tag-change` has the
//! tags that were added, and of those that were removed the ones that the server makes; unread marks,
//! of which there are as many as a flow has members, only where they are few. A kept
//! `emoji-reaction` has all that it said: no edit takes an emoji away. When a notice is read again,
//! [`present_content`] fills it from its subject as it is then.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;

use super::{Message, MessageKind};
use crate::MessageId;
use crate::reactions::Emoji;
use crate::tags::{self, MAX_TAGS, TagChanges};

/// What a notice says when it is posted. Kept is less: the content of its draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveNotice {
    /// The content that streams deliver at once.
    pub content: String,
    /// The subject after the change; `None` when the change removed it.
    pub subject: Option<Arc<Message>>,
}

/// A notice: what is kept of it, and what streams deliver at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Its kind.
    pub event: MessageKind,
    /// The content that is kept.
    pub kept: String,
    /// What streams deliver at once.
    pub live: LiveNotice,
}

impl Notice {
    /// The text of a message has changed, which is given as it is now.
    #[must_use]
    pub fn edit(after: &Message) -> Self {
        let kept = json!({"message": after.id.0}).to_string();
        let live = LiveNotice {
            content: edit_content(after),
            subject: Some(Arc::new(after.clone())),
        };
        Self {
            event: MessageKind::MessageEdit,
            kept,
            live,
        }
    }

    /// The tags of a message have changed, which is given as it is now.
    #[must_use]
    pub fn tag_change(after: &Message, changes: &TagChanges) -> Self {
        let (added, adds_marks) = without_many_marks(&changes.add);
        let (mut removed, _) = without_many_marks(&changes.remove);
        removed.retain(|tag| tags::is_generated(tag));
        let mut kept = json!({"message": after.id.0, "add": added, "remove": removed});
        if adds_marks {
            kept["adds_marks"] = true.into();
        }
        let kept = kept.to_string();
        let live = json!({"message": after.id.0, "add": changes.add, "remove": changes.remove});
        let live = LiveNotice {
            content: live.to_string(),
            subject: Some(Arc::new(after.clone())),
        };
        Self {
            event: MessageKind::TagChange,
            kept,
            live,
        }
    }

    /// The author of the notice reacted to a message, or took the reaction back.
    #[must_use]
    pub fn reaction(subject: &Message, emoji: Emoji, is_added: bool) -> Self {
        let change = if is_added { "add" } else { "remove" };
        let kept = json!({"message": subject.id.0, "emoji": emoji.as_str(), "type": change});
        let kept = kept.to_string();
        let live = LiveNotice {
            content: kept.clone(),
            subject: Some(Arc::new(subject.clone())),
        };
        Self {
            event: MessageKind::EmojiReaction,
            kept,
            live,
        }
    }

    /// A message was removed.
    #[must_use]
    pub fn removal(id: MessageId) -> Self {
        let kept = json!({"message": id.0}).to_string();
        let live = LiveNotice {
            content: kept.clone(),
            subject: None,
        };
        Self {
            event: MessageKind::MessageDelete,
            kept,
            live,
        }
    }
}

/// Returns the tags, without unread marks if those are more than [`MAX_TAGS`], and `true` if so.
fn without_many_marks(tags: &[String]) -> (Vec<&String>, bool) {
    let is_mark = |tag: &&String| tags::parse_unread(tag).is_some();
    let are_many = tags.iter().filter(is_mark).count() > MAX_TAGS;
    let kept = tags.iter().filter(|tag| !are_many || !is_mark(tag));
    (kept.collect(), are_many)
}

#[derive(Deserialize)]
struct StoredNotice {
    message: i64,
    #[serde(default)]
    add: Vec<String>,
    /// `true` if so many unread marks were added that they are not among `add`.
    #[serde(default)]
    adds_marks: bool,
    #[serde(default)]
    remove: Vec<String>,
}

/// The subject of a notice; `None` for a message that is none.
#[must_use]
pub fn subject_of(event: MessageKind, content: &str) -> Option<MessageId> {
    let kept: StoredNotice = (!event.is_listed())
        .then(|| serde_json::from_str(content).ok())
        .flatten()?;
    Some(MessageId(kept.message))
}

/// The content of a notice as it may be delivered now, given its subject as it is now; `None` where
/// that is the kept one. It has the
/// present text, the tags of those added that the subject still has, and of those removed only what
/// the server makes. Since it cannot name the others, it has all tags of the subject as well.
#[must_use]
pub fn present_content(event: MessageKind, content: &str, subject: &Message) -> Option<String> {
    match event {
        MessageKind::MessageEdit => Some(edit_content(subject)),
        MessageKind::TagChange => {
            let StoredNotice {
                message,
                mut add,
                adds_marks,
                mut remove,
            } = serde_json::from_str(content).ok()?;
            let all = subject.tags.to_vec();
            let present: HashSet<&String> = all.iter().collect();
            add.retain(|tag| present.contains(tag));
            if adds_marks {
                add.extend(subject.tags.marked().map(tags::unread_tag));
            }
            remove.retain(|tag| tags::is_generated(tag));
            let content = json!({"message": message, "add": add, "remove": remove, "tags": all});
            Some(content.to_string())
        }
        _ => None,
    }
}

fn edit_content(subject: &Message) -> String {
    json!({"message": subject.id.0, "updated_content": subject.content}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::Author;
    use crate::{RoomId, Timestamp, UserId};

    fn message(content: &str, tags: &[&str]) -> Message {
        Message {
            room: RoomId(1),
            id: MessageId(7),
            event: MessageKind::Message,
            author: Author::user(UserId(2)),
            content: content.into(),
            tags: tags
                .iter()
                .map(|&tag| tag.to_owned())
                .collect::<Vec<_>>()
                .into(),
            explicit_tags: vec![],
            uuid: None,
            sent: Timestamp(0),
            edited: None,
            thread_root: Some(MessageId(7)),
            parent: None,
            to: None,
        }
    }

    fn read(content: &str) -> serde_json::Value {
        serde_json::from_str(content).unwrap()
    }

    #[test]
    fn an_edit_keeps_the_number_alone_and_has_the_text_of_now() {
        let notice = Notice::edit(&message("first", &[]));
        assert_eq!(notice.kept, r#"{"message":7}"#);
        assert_eq!(
            read(&notice.live.content),
            json!({"message": 7, "updated_content": "first"})
        );
        let now = present_content(
            MessageKind::MessageEdit,
            &notice.kept,
            &message("second", &[]),
        )
        .unwrap();
        assert_eq!(
            read(&now),
            json!({"message": 7, "updated_content": "second"})
        );
    }

    #[test]
    fn a_tag_change_names_no_tag_that_its_message_has_no_more() {
        let changes = TagChanges {
            add: vec!["plan".into(), "map".into(), ":user:4".into()],
            remove: vec![
                "secret".into(),
                ":unread:3".into(),
                ":url".into(),
                ":user:secret".into(),
            ],
        };
        let notice = Notice::tag_change(&message("x", &["plan", "map", ":user:4"]), &changes);
        let live = read(&notice.live.content);
        assert_eq!(
            live["remove"],
            json!(["secret", ":unread:3", ":url", ":user:secret"])
        );
        assert!(!notice.kept.contains("secret"), "{}", notice.kept);
        let now = present_content(
            MessageKind::TagChange,
            &notice.kept,
            &message("x", &["map", "late"]),
        )
        .unwrap();
        let expected = json!({"message": 7, "add": ["map"], "remove": [":unread:3", ":url"], "tags": ["map", "late"]});
        assert_eq!(read(&now), expected);
        let again = present_content(
            MessageKind::TagChange,
            &notice.live.content,
            &message("x", &["map", "late"]),
        );
        assert_eq!(again, Some(now), "from what was delivered at first, too");
    }

    #[test]
    fn a_reaction_is_kept_as_it_was_said() {
        let emoji = "thumbsup".parse().unwrap();
        for (is_added, change) in [(true, "add"), (false, "remove")] {
            let notice = Notice::reaction(&message("tea?", &[]), emoji, is_added);
            assert_eq!(
                read(&notice.kept),
                json!({"message": 7, "emoji": "👍", "type": change})
            );
            assert_eq!(notice.live.content, notice.kept);
            assert_eq!(subject_of(notice.event, &notice.kept), Some(MessageId(7)));
            assert_eq!(
                present_content(notice.event, &notice.kept, &message("coffee?", &[])),
                None,
                "it repeats nothing of the message"
            );
        }
    }

    #[test]
    fn a_notice_names_its_subject() {
        let removal = Notice::removal(MessageId(9));
        assert_eq!(subject_of(removal.event, &removal.kept), Some(MessageId(9)));
        assert_eq!(
            present_content(removal.event, &removal.kept, &message("x", &[])),
            None
        );
        assert_eq!(subject_of(MessageKind::Message, r#"{"message":9}"#), None);
        assert_eq!(subject_of(MessageKind::MessageEdit, "null"), None);
    }
}
