//! The thread that a message belongs to.

use std::sync::Arc;

use super::MessageKind;
use crate::items::Item;
use crate::sources::ThreadSource;
use crate::{MessageId, Timestamp};

/// How many messages of each sort a thread holds, and when it last changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadCounts {
    /// Activity messages.
    pub activities: i64,
    /// Messages, comments, statuses and files.
    pub internal_comments: i64,
    /// Discussion messages.
    pub external_comments: i64,
    /// When the first message was sent.
    pub created_at: Timestamp,
    /// When the last message was sent.
    pub updated_at: Timestamp,
}

impl ThreadCounts {
    /// The thread as its first message leaves it.
    #[must_use]
    pub fn begun_by(event: MessageKind, sent: Timestamp) -> Self {
        let mut counts = Self {
            activities: 0,
            internal_comments: 0,
            external_comments: 0,
            created_at: sent,
            updated_at: sent,
        };
        counts.add(event, sent);
        counts
    }

    /// Counts one more message.
    pub fn add(&mut self, event: MessageKind, sent: Timestamp) {
        // What tells streams of another message is none itself.
        if !event.is_listed() {
            return;
        }
        match event {
            MessageKind::Activity | MessageKind::Mail => self.activities += 1,
            MessageKind::Discussion => self.external_comments += 1,
            _ => self.internal_comments += 1,
        }
        self.updated_at = self.updated_at.max(sent);
    }

    /// How many messages there are in all.
    #[must_use]
    pub fn total(&self) -> i64 {
        self.activities + self.internal_comments + self.external_comments
    }
}

/// The thread a message belongs to, as far as the store knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadState {
    /// The message that began it.
    pub root: MessageId,
    /// The text it takes its title from when there is no [`item`](Self::item): that of its first
    /// message; empty when that is gone, or nobody needs it.
    pub root_text: String,
    /// How much it holds.
    pub counts: ThreadCounts,
    /// The state of the outside item it mirrors.
    pub item: Option<Arc<Item>>,
    /// The source that keeps it.
    pub source: Option<Arc<ThreadSource>>,
}
