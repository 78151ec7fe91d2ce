//! The messages that the ring of the stream may hold, and where each text stands among them: a
//! comment repeats the text it answers, a message the title of its thread. When a text is edited
//! away or deleted, the feed finds here what has to be amended, without asking the database.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use eddyline_model::log::{LogBody, LogItem, Seq};
use eddyline_model::messages::{
    Message, MessageKind, MessageView, present_content, reference, subject_of,
};
use eddyline_model::{MessageId, RoomId, Timestamp};

/// At most this many entries, or this many bytes, are amended per change. Listeners replay older
/// entries from the log.
const MOST_ENTRIES: usize = 64;
const MOST_BYTES: usize = 1 << 20;
/// For so long a change of tags names the tags that it removed: those who listen, and those who
/// come back at once, take them off. Later listeners never had them.
const REMOVED_TAGS_MILLIS: i64 = 10_000;
/// A message shows at most so many texts of others: its own or its subject's, its parent's, its
/// thread's.
const TEXTS: usize = 3;

/// Names a text: the message it is the text of. The state of an item goes by the message that began
/// its thread.
type TextKey = (RoomId, MessageId);

/// An entry of the log that streams were told, with the message as it may be shown now.
struct IndexedEntry {
    item: LogItem,
    /// For each text that it shows, the entry before it that shows the text as well.
    before: [Option<(TextKey, Seq)>; TEXTS],
}

/// What has become of a text.
enum TextChange {
    /// The message was edited, or removed.
    Message {
        id: MessageId,
        now: Option<Arc<Message>>,
    },
    /// The thread that this message began mirrors another state of its item.
    Item {
        root: MessageId,
        view: Arc<MessageView>,
    },
}

/// Entries that have to be amended.
pub(crate) struct AmendedEntries {
    /// An entry of those to whom the text was told: the change itself.
    pub(crate) cause: LogItem,
    /// The entries as they are now. The body of one that is gone is no message any more.
    pub(crate) items: Vec<LogItem>,
    /// Through this position there are more, which were not looked at.
    pub(crate) log_through: Seq,
}

/// The entries of the ring that are messages, in ascending order.
#[derive(Default)]
pub(crate) struct RingMessageIndex {
    kept: VecDeque<IndexedEntry>,
    /// The newest entry that shows a text.
    newest: HashMap<TextKey, Seq>,
    /// Changes of tags that still name what was removed, and when they were made.
    tag_changes: VecDeque<(Timestamp, Seq)>,
}

impl RingMessageIndex {
    /// Forgets what stands before the oldest entry of the ring.
    pub(crate) fn drop_before(&mut self, oldest: Seq) {
        while let Some(kept) = self.kept.pop_front_if(|kept| kept.item.id.seq < oldest) {
            for (key, _) in texts(&kept) {
                if self.newest.get(&key) == Some(&kept.item.id.seq) {
                    self.newest.remove(&key);
                }
            }
        }
    }

    /// Takes in the next stretch of the log. Gives it as it may be told now, and what has to be
    /// amended of the entries before it.
    pub(crate) fn take(&mut self, items: &[LogItem]) -> (Vec<LogItem>, Vec<AmendedEntries>) {
        let Some(first) = items.first().map(|item| item.id.seq) else {
            return Default::default();
        };
        let mut changes: BTreeMap<(TextKey, bool), (LogItem, TextChange)> = BTreeMap::new();
        for item in items {
            if let LogBody::Message(Some(view)) = &item.body {
                for change in self.changes_of(view) {
                    changes.insert(change.key(view.message.room), (item.clone(), change));
                }
                self.keep(item, view);
            }
        }
        let mut amended = Vec::new();
        for ((key, _), (cause, change)) in changes {
            amended.push(self.amend(key, &cause, &change, first));
        }
        let told = items.iter().map(|item| {
            self.at(item.id.seq)
                .map_or_else(|| item.clone(), |kept| kept.item.clone())
        });
        (told.collect(), amended)
    }

    /// What a message that has just come says of texts that were told before.
    fn changes_of(&self, view: &Arc<MessageView>) -> Vec<TextChange> {
        let message = &view.message;
        let mut changes = Vec::new();
        // A reaction changes no text.
        if message.event != MessageKind::EmojiReaction
            && let Some(id) = subject_of(message.event, &message.content)
        {
            changes.push(TextChange::Message {
                id,
                now: view.subject.clone(),
            });
        }
        if let Some(thread) = view
            .thread
            .as_ref()
            .filter(|thread| thread.root != message.id)
            && self.last_item(message.room, thread.root) != thread.item.as_ref()
        {
            changes.push(TextChange::Item {
                root: thread.root,
                view: Arc::clone(view),
            });
        }
        changes
    }

    /// The state of an item that was told last.
    fn last_item(
        &self,
        room: RoomId,
        root: MessageId,
    ) -> Option<&Arc<eddyline_model::items::Item>> {
        let last = self.at(*self.newest.get(&(room, root))?)?;
        let LogBody::Message(Some(view)) = &last.item.body else {
            return None;
        };
        view.thread
            .as_ref()
            .filter(|thread| thread.root == root)?
            .item
            .as_ref()
    }

    fn keep(&mut self, item: &LogItem, view: &MessageView) {
        let seq = item.id.seq;
        let mut before = [None; TEXTS];
        for (place, key) in before.iter_mut().zip(shown_texts(view)) {
            *place = key.map(|key| (key, self.newest.insert(key, seq).unwrap_or_default()));
        }
        if view.message.event == MessageKind::TagChange {
            self.tag_changes.push_back((view.message.sent, seq));
        }
        self.kept.push_back(IndexedEntry {
            item: item.clone(),
            before,
        });
    }

    fn index(&self, seq: Seq) -> Option<usize> {
        self.kept
            .binary_search_by_key(&seq, |kept| kept.item.id.seq)
            .ok()
    }

    fn at(&self, seq: Seq) -> Option<&IndexedEntry> {
        self.index(seq).map(|index| &self.kept[index])
    }

    /// Makes the newest of the entries that show a text show it as it is now. Those from `first` on
    /// were not told yet, and are changed only here.
    fn amend(
        &mut self,
        key: TextKey,
        cause: &LogItem,
        change: &TextChange,
        first: Seq,
    ) -> AmendedEntries {
        let mut amended = AmendedEntries {
            cause: cause.clone(),
            items: Vec::new(),
            log_through: Seq::default(),
        };
        let (mut entries, mut bytes) = (0, 0);
        let mut next = self.newest.get(&key).copied();
        while let Some(seq) = next.take()
            && let Some(index) = self.index(seq)
        {
            if entries >= MOST_ENTRIES || bytes >= MOST_BYTES {
                amended.log_through = seq;
                break;
            }
            let kept = &mut self.kept[index];
            next = kept
                .before
                .iter()
                .flatten()
                .find(|(other, _)| *other == key)
                .map(|(_, before)| *before);
            // The change itself is told live, with what it removed.
            if seq == cause.id.seq {
                continue;
            }
            entries += 1;
            if let LogBody::Message(Some(view)) = &kept.item.body
                && let Some(now) = change.apply(view)
            {
                bytes += view.weight();
                kept.item.body = LogBody::Message(now.map(Arc::new));
                if seq < first {
                    amended.items.push(kept.item.clone());
                }
            }
        }
        amended
    }

    /// Takes the removed tags out of the changes of tags that were told long enough ago.
    pub(crate) fn expire(&mut self, now: Timestamp) -> Vec<AmendedEntries> {
        let mut amended = Vec::new();
        let until = now.plus_millis(-REMOVED_TAGS_MILLIS);
        while let Some((_, seq)) = self.tag_changes.pop_front_if(|(sent, _)| *sent <= until) {
            let Some(index) = self.index(seq) else {
                continue;
            };
            let item = &mut self.kept[index].item;
            let LogBody::Message(Some(view)) = &item.body else {
                continue;
            };
            let Some(now) = view
                .subject
                .clone()
                .and_then(|now| with_present_content(view, now))
            else {
                continue;
            };
            item.body = LogBody::Message(Some(Arc::new(now)));
            let item = item.clone();
            amended.push(AmendedEntries {
                cause: item.clone(),
                items: vec![item],
                log_through: Seq::default(),
            });
        }
        amended
    }
}

impl TextChange {
    /// The text that changed. Two changes of one kind to one text are one: the later.
    fn key(&self, room: RoomId) -> (TextKey, bool) {
        match self {
            Self::Message { id, .. } => ((room, *id), false),
            Self::Item { root, .. } => ((room, *root), true),
        }
    }

    /// A message as it is to be shown after the change; the inner `None` when it is gone. The outer
    /// is `None` when it shows nothing of what changed.
    fn apply(&self, view: &Arc<MessageView>) -> Option<Option<MessageView>> {
        match self {
            Self::Message { id, now } => apply_message(view, *id, now.as_ref()),
            Self::Item { root, view: newer } => {
                let newer = newer.thread.as_ref()?;
                let thread = view.thread.as_ref().filter(|thread| thread.root == *root)?;
                if thread.item == newer.item {
                    return None;
                }
                let mut now = MessageView::clone(view);
                if let Some(thread) = &mut now.thread {
                    thread.item.clone_from(&newer.item);
                    thread.root_text.clone_from(&newer.root_text);
                }
                Some(Some(now))
            }
        }
    }
}

fn apply_message(
    view: &Arc<MessageView>,
    id: MessageId,
    now: Option<&Arc<Message>>,
) -> Option<Option<MessageView>> {
    let message = &view.message;
    let is_notice = subject_of(message.event, &message.content) == Some(id);
    if now.is_none() && (message.id == id || (is_notice && view.subject.is_some())) {
        return Some(None);
    }
    let text = || {
        now.map_or_else(String::new, |now| {
            reference(now.event, &now.content).into_owned()
        })
    };
    let mut after = MessageView::clone(view);
    if let Some(now) = now {
        if message.id == id {
            after.message = Message::clone(now);
        } else if is_notice {
            after = with_present_content(view, Arc::clone(now)).unwrap_or(after);
        }
    }
    if message.parent == Some(id) {
        after.parent_text = Some(text());
    }
    if let Some(thread) = after
        .thread
        .as_mut()
        .filter(|thread| thread.root == id && thread.item.is_none())
    {
        thread.root_text = text();
    }
    (after != **view).then_some(Some(after))
}

/// A notice with what it may say now of its subject, if that is something else.
fn with_present_content(view: &MessageView, subject: Arc<Message>) -> Option<MessageView> {
    let mut now = view.clone();
    now.message.content = present_content(view.message.event, &view.message.content, &subject)?;
    now.subject = Some(subject);
    (now != *view).then_some(now)
}

/// The texts that a message shows, each once.
fn shown_texts(view: &MessageView) -> [Option<TextKey>; TEXTS] {
    let message = &view.message;
    let own = subject_of(message.event, &message.content).or(Some(message.id));
    let parent = message.parent.filter(|id| Some(*id) != own);
    let root = view.thread.as_ref().map(|thread| thread.root);
    let root = root.filter(|id| Some(*id) != own && Some(*id) != parent);
    [own, parent, root].map(|id| id.map(|id| (message.room, id)))
}

fn texts(kept: &IndexedEntry) -> impl Iterator<Item = (TextKey, Seq)> {
    kept.before.iter().flatten().copied()
}

#[cfg(test)]
mod tests;
