//! Events of a stream, and what they say.

use eddyline_wire::{Flow, Message};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::response::Json;

/// The longest event taken, in bytes. A server that sends more without an end is broken, and
/// would otherwise fill the memory.
pub(super) const MAX_EVENT: usize = 16 * 1024 * 1024;

/// One event of a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamEvent {
    /// The id to continue from after this event; `None` for events that are not stored, and on a
    /// JSON stream that was not opened with a last event id.
    pub id: Option<String>,
    /// The message or other object.
    pub json: Json,
}

/// What an event of a stream says. [`StreamEvent::json`] has all of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A message was posted.
    Message(Box<Message>),
    /// A message has another text, which is empty when the message was deleted.
    MessageEdit {
        /// The message.
        message: i64,
        /// Its text now.
        content: String,
    },
    /// A message has other tags.
    TagChange {
        /// The message.
        message: i64,
        /// Tags that it has now.
        add: Vec<String>,
        /// Tags that it has no more. When the event is heard later, only those that the server
        /// makes.
        remove: Vec<String>,
        /// All its tags, when the event is heard later.
        tags: Option<Vec<String>>,
    },
    /// The user who is the event's `user` reacted to a message, or took the reaction back.
    EmojiReaction {
        /// The message.
        message: i64,
        /// With which emoji.
        emoji: String,
        /// What the user did.
        change: ReactionChange,
    },
    /// A message is gone.
    MessageDelete {
        /// The message.
        message: i64,
    },
    /// The caller has read through this message, maybe in another program.
    Read {
        /// The message.
        message: i64,
        /// `chat` or `inbox` where only that was read.
        marker: Option<String>,
        /// The id of the thread where only that was read.
        thread: Option<String>,
    },
    /// The caller has come into a flow.
    FlowAdd(Box<Flow>),
    /// The caller has left the flow with this id, or was removed from it.
    FlowRemove {
        /// The flow's id.
        id: String,
    },
    /// The place to continue from is not known any more: what was missed has to be listed.
    Reset,
    /// Something else, such as presence.
    Other,
}

/// What a user did to their reaction to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReactionChange {
    /// Reacted.
    Add,
    /// Took the reaction back.
    Remove,
}

impl StreamEvent {
    /// Its kind, such as `message` or `flow-add`; empty when it names none.
    pub fn kind(&self) -> &str {
        self.json["event"].as_str().unwrap_or_default()
    }

    /// The id of the flow that it is about.
    pub fn flow(&self) -> Option<&str> {
        self.json["flow"].as_str()
    }

    /// The message that it brings; `None` for events that tell of changes.
    pub fn message(&self) -> Option<Message> {
        match self.event() {
            Event::Message(message) => Some(*message),
            _ => None,
        }
    }

    /// What it says.
    pub fn event(&self) -> Event {
        self.known().unwrap_or(Event::Other)
    }

    fn known(&self) -> Option<Event> {
        #[derive(Deserialize)]
        struct Edit {
            message: i64,
            updated_content: String,
        }
        #[derive(Deserialize)]
        struct Tags {
            message: i64,
            add: Vec<String>,
            remove: Vec<String>,
            tags: Option<Vec<String>>,
        }
        #[derive(Deserialize)]
        struct Reaction {
            message: i64,
            emoji: String,
            #[serde(rename = "type")]
            change: ReactionChange,
        }
        #[derive(Deserialize)]
        struct Of {
            message: i64,
        }
        #[derive(Deserialize)]
        struct ReadUpTo {
            message: i64,
            marker: Option<String>,
            thread_id: Option<String>,
        }
        #[derive(Deserialize)]
        struct Gone {
            id: String,
        }
        Some(match self.kind() {
            "message-edit" => {
                let Edit {
                    message,
                    updated_content: content,
                } = self.content()?;
                Event::MessageEdit { message, content }
            }
            "tag-change" => {
                let Tags {
                    message,
                    add,
                    remove,
                    tags,
                } = self.content()?;
                Event::TagChange {
                    message,
                    add,
                    remove,
                    tags,
                }
            }
            "emoji-reaction" => {
                let Reaction {
                    message,
                    emoji,
                    change,
                } = self.content()?;
                Event::EmojiReaction {
                    message,
                    emoji,
                    change,
                }
            }
            "message-delete" => Event::MessageDelete {
                message: self.content::<Of>()?.message,
            },
            "read" => {
                let ReadUpTo {
                    message,
                    marker,
                    thread_id: thread,
                } = self.content()?;
                Event::Read {
                    message,
                    marker,
                    thread,
                }
            }
            "flow-add" => Event::FlowAdd(Box::new(self.content()?)),
            "flow-remove" => Event::FlowRemove {
                id: self.content::<Gone>()?.id,
            },
            "reset" => Event::Reset,
            // Only messages have a number.
            _ => Event::Message(Box::new(Message::deserialize(&self.json).ok()?)),
        })
    }

    fn content<T: DeserializeOwned>(&self) -> Option<T> {
        T::deserialize(&self.json["content"]).ok()
    }
}
