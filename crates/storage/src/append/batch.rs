//! What a batch of drafts does to its rooms and threads, reckoned without asking the database
//! again.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use eddyline_model::MessageId;
use eddyline_model::items::Item;
use eddyline_model::messages::{
    Draft, Message, MessageView, Placement, ThreadCounts, ThreadPost, reference,
};

use eddyline_model::reactions::Reactions;
use eddyline_model::tags::Tags;

use super::AppendOutcome;
use crate::Result;
use crate::cohorts::CohortIds;
use crate::messages::join_tags;
use crate::rows::{LockedRoom, MessageRow, ThreadRow};
use crate::threads::{self, Referred, ThreadRecord};

/// A batch under way: what its rooms, threads and earlier items look like by now.
#[derive(Default)]
pub(super) struct AppendState<'d> {
    pub(super) rooms: HashMap<i64, LockedRoom>,
    pub(super) changed: BTreeSet<i64>,
    pub(super) uuids: HashMap<(i64, &'d str), Earlier>,
    pub(super) referred: HashMap<(i64, i64), Referred>,
    pub(super) threads: HashMap<(i64, i64), ThreadRecord>,
    /// The numbers of the cohorts that the drafts address, by room.
    pub(super) cohorts: HashMap<i64, CohortIds>,
    /// Threads of the inbox, by room, source and the id they have there.
    pub(super) mirrors: HashMap<(i64, i64, &'d str), i64>,
    /// Threads that must be written.
    changed_threads: BTreeSet<(i64, i64)>,
    /// States of items that must be written, by room and the message that brought the first one.
    new_items: Vec<(i64, i64, Arc<Item>)>,
}

#[derive(Clone)]
pub(super) struct Earlier {
    pub(super) id: MessageId,
    pub(super) user: Option<i64>,
    pub(super) external_name: Option<String>,
    pub(super) fingerprint: i64,
}

impl<'d> AppendState<'d> {
    /// A batch for these rooms.
    pub(super) fn of(rooms: Vec<LockedRoom>) -> Self {
        let rooms = rooms.into_iter().map(|room| (room.id, room)).collect();
        Self {
            rooms,
            ..Self::default()
        }
    }

    /// The cohorts that drafts of a room address.
    pub(super) fn cohorts_of(&self, room: i64) -> &CohortIds {
        &self.cohorts[&room]
    }

    /// Gives the draft its number and place, or says why it has none; with the tags of the message.
    pub(super) fn place(
        &mut self,
        draft: &'d Draft,
    ) -> std::result::Result<(MessageRow, Tags), AppendOutcome> {
        let room = self
            .rooms
            .get(&draft.room.0)
            .copied()
            .ok_or(AppendOutcome::NoRoom)?;
        if draft
            .access_version
            .is_some_and(|version| version != room.access_version)
        {
            return Err(AppendOutcome::Stale);
        }
        if let Some(uuid) = &draft.uuid
            && let Some(earlier) = self.uuids.get(&(draft.room.0, uuid.as_str()))
        {
            return Err(earlier.outcome_for(draft));
        }
        let id = room.last_message_id + 1;
        if id > MessageId::MAX.0 {
            return Err(AppendOutcome::NoRoom);
        }
        let (thread_root, parent) = self.thread_of(draft, id)?;
        let tags = tags_of(draft);
        let tags_text = self.cohorts_of(draft.room.0).text(&tags);
        let mut row = row(draft, id, tags_text, thread_root, parent);
        self.note(draft, &row);
        let thread = thread_root.and_then(|root| self.threads.get(&(row.room_id, root)));
        row.thread_left = thread.map(|thread| thread.left().to_string());
        Ok((row, tags))
    }

    /// The thread a draft goes to and the message it answers.
    fn thread_of(
        &self,
        draft: &Draft,
        id: i64,
    ) -> std::result::Result<(Option<i64>, Option<i64>), AppendOutcome> {
        match draft.placement {
            Placement::Unthreaded => Ok((None, None)),
            Placement::StartsThread => Ok((Some(id), None)),
            Placement::InThread(root) => {
                let first = self.referred.get(&(draft.room.0, root.0));
                let thread = self.threads.get(&(draft.room.0, root.0));
                let begun =
                    first.is_some_and(|first| first.thread_root == Some(root)) || thread.is_some();
                if !begun {
                    return Err(AppendOutcome::NoParent);
                }
                match draft.thread.as_deref().filter(|post| post.item.is_some()) {
                    Some(post) if !keeps(post, thread) => Err(AppendOutcome::ForeignThread),
                    _ => Ok((Some(root.0), None)),
                }
            }
            Placement::InMirror => {
                let root = mirror_of(draft)
                    .and_then(|mirror| self.mirrors.get(&mirror))
                    .copied();
                let begins = draft.thread.as_ref().is_some_and(|post| post.begins);
                match root.or(begins.then_some(id)) {
                    Some(root) => Ok((Some(root), None)),
                    None => Err(AppendOutcome::NoParent),
                }
            }
            Placement::Answers(parent) => {
                let answered = self
                    .referred
                    .get(&(draft.room.0, parent.0))
                    .ok_or(AppendOutcome::NoParent)?;
                if answered.event == eddyline_model::messages::MessageKind::Comment {
                    return Err(AppendOutcome::ParentIsComment);
                }
                if !answered.event.is_listed() {
                    return Err(AppendOutcome::NoParent);
                }
                Ok((answered.thread_root.map(|root| root.0), Some(parent.0)))
            }
        }
    }

    /// Makes later items of the batch see this one.
    fn note(&mut self, draft: &'d Draft, row: &MessageRow) {
        if let Some(room) = self.rooms.get_mut(&row.room_id) {
            room.last_message_id = row.id;
            room.last_message_at = Some(room.last_message_at.unwrap_or(row.sent).max(row.sent));
            self.changed.insert(row.room_id);
        }
        if let Some(uuid) = &draft.uuid {
            let earlier = Earlier {
                id: MessageId(row.id),
                user: row.user_id,
                external_name: row.external_user_name.clone(),
                fingerprint: row.fingerprint,
            };
            self.uuids.insert((row.room_id, uuid), earlier);
        }
        let Some(root) = row.thread_root else { return };
        if root != row.id {
            self.go_on(draft, row, root);
        } else if let Some(post) = &draft.thread {
            self.begin(draft, row, post);
        }
        // A thread of the chat that begins here has no entry: nobody can know its number in this
        // batch.
    }

    /// One more message in a thread that is there.
    fn go_on(&mut self, draft: &'d Draft, row: &MessageRow, root: i64) {
        let begun = match self.referred.get(&(row.room_id, root)) {
            Some(first) => ThreadCounts::begun_by(first.event, first.sent),
            None => ThreadCounts::begun_by(draft.event, draft.sent),
        };
        let thread = self
            .threads
            .entry((row.room_id, root))
            .or_insert_with(|| ThreadRecord::chat(begun));
        thread.counts.add(draft.event, draft.sent);
        // A thread whose state was deleted takes its title from the next message of its
        // integration.
        let is_untitled = thread.item_id.is_some() && thread.item.is_none();
        let titled = |post: &ThreadPost| {
            let is_kept = is_untitled && thread.thread_owner == Some(post.thread_owner);
            is_kept.then(|| {
                Arc::new(Item {
                    title: post.title.clone(),
                    ..Item::default()
                })
            })
        };
        let item = draft
            .thread
            .as_ref()
            .and_then(|post| post.item.clone().or_else(|| titled(post)));
        if item.is_some() {
            thread.item_from = Some(row.id);
        }
        // One that is as it was is not kept again.
        if let Some(item) = item.filter(|item| thread.item.as_ref() != Some(item)) {
            thread.item = Some(item.clone());
            // It takes the place of the state before: that is not kept.
            let place = *thread.item_id.get_or_insert(row.id);
            self.new_items.push((row.room_id, place, item));
        }
        self.changed_threads.insert((row.room_id, root));
    }

    /// The first message of a thread of the inbox.
    fn begin(&mut self, draft: &'d Draft, row: &MessageRow, post: &'d ThreadPost) {
        let item = post.item.clone().unwrap_or_else(|| {
            Arc::new(Item {
                title: post.title.clone(),
                ..Item::default()
            })
        });
        let record = ThreadRecord {
            counts: ThreadCounts::begun_by(draft.event, draft.sent),
            thread_owner: Some(post.thread_owner),
            external_id: post.external_id.clone(),
            item_id: Some(row.id),
            item_from: Some(row.id),
            item: Some(item.clone()),
            source: post.source.clone(),
        };
        self.threads.insert((row.room_id, row.id), record);
        self.changed_threads.insert((row.room_id, row.id));
        self.new_items.push((row.room_id, row.id, item));
        if let Some(mirror) = mirror_of(draft) {
            self.mirrors.insert(mirror, row.id);
        }
    }

    /// The threads that changed, as they are to be written.
    pub(super) fn thread_rows(&self) -> Vec<ThreadRow> {
        let changed = self.changed_threads.iter();
        changed
            .filter_map(|(room, root)| Some(self.threads.get(&(*room, *root))?.row(*room, *root)))
            .collect()
    }

    /// The states of items that came, as they are to be written.
    pub(super) fn item_rows(&self) -> Result<Vec<(i64, i64, String)>> {
        let items = self.new_items.iter();
        items
            .map(|(room, message, item)| {
                let json =
                    serde_json::to_string(item).map_err(|_| crate::Error::Corrupt("item"))?;
                Ok((*room, *message, json))
            })
            .collect()
    }

    pub(super) fn view(&self, message: Message) -> MessageView {
        let text = |id: MessageId| {
            self.referred
                .get(&(message.room.0, id.0))
                .map_or_else(String::new, Referred::text)
        };
        let parent_text = message.parent.map(text);
        let thread = message.thread_root.map(|root| {
            let own = root == message.id;
            let root_text = || match own {
                true => reference(message.event, &message.content).into_owned(),
                false => text(root),
            };
            match self.threads.get(&(message.room.0, root.0)) {
                Some(record) => record.state(root, root_text),
                None => {
                    let counts = ThreadCounts::begun_by(message.event, message.sent);
                    ThreadRecord::chat(counts).state(root, root_text)
                }
            }
        });
        MessageView {
            message,
            parent_text,
            thread,
            // A new message has none.
            reactions: Reactions::default(),
            subject: None,
        }
    }
}

impl Earlier {
    fn outcome_for(&self, draft: &Draft) -> AppendOutcome {
        let same_author = self.user == draft.author.user.map(|user| user.0)
            && self.external_name == draft.author.external_name;
        if same_author && self.fingerprint == draft.fingerprint {
            AppendOutcome::Repeated(self.id)
        } else {
            AppendOutcome::UuidTaken
        }
    }
}

/// The thread that a draft names by an id of its sender's own.
pub(super) fn mirror_of(draft: &Draft) -> Option<(i64, i64, &str)> {
    let post = draft
        .thread
        .as_ref()
        .filter(|_| draft.placement == Placement::InMirror)?;
    Some((
        draft.room.0,
        threads::source_key(post.thread_owner),
        post.external_id.as_deref()?,
    ))
}

/// Whether a thread's item is the sender's to change.
fn keeps(post: &ThreadPost, thread: Option<&ThreadRecord>) -> bool {
    thread
        .and_then(|thread| thread.thread_owner)
        .is_some_and(|thread_owner| post.thread_owner.keeps(thread_owner))
}

fn row(
    draft: &Draft,
    id: i64,
    tags: String,
    thread_root: Option<i64>,
    parent_id: Option<i64>,
) -> MessageRow {
    MessageRow {
        room_id: draft.room.0,
        id,
        event: draft.event.code(),
        user_id: draft.author.user.map(|user| user.0),
        external_user_name: draft.author.external_name.clone(),
        content: draft.content.clone(),
        tags,
        explicit_tags: join_tags(&draft.explicit_tags),
        uuid: draft.uuid.clone(),
        fingerprint: draft.fingerprint,
        sent: draft.sent.0,
        edited: None,
        thread_root,
        parent_id,
        to_user_id: draft.to.map(|user| user.0),
        thread_left: None,
    }
}

/// The tags of the message. A comment bears the number of what it answers as one (specification,
/// section 2).
fn tags_of(draft: &Draft) -> Tags {
    let mut tags = draft.tags.clone();
    if let Placement::Answers(parent) = draft.placement {
        tags.put_first(format!(":influx:{parent}"));
    }
    tags
}
