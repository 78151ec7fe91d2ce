//! Adding messages to rooms: the one way by which anything that is kept comes to be.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use diesel::prelude::*;
use eddyline_model::files::NewFile;
use eddyline_model::items::Item;
use eddyline_model::messages::{Draft, Message, MessageView, Placement, ThreadCounts, ThreadPost, reference};
use eddyline_model::{MessageId, RoomId, UserId};

use crate::Result;
use crate::find;
use crate::messages::{MentionRow, Referred, Row, is_indexed, join_tags, mention_keys, message};
use crate::session::{Session, dialect};
use crate::threads::{self, Record};

/// What became of a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is a message now.
    Added(Arc<MessageView>),
    /// The same was posted before under this uuid; this is the message it became.
    Repeated(MessageId),
    /// Something else was posted before under this uuid.
    UuidTaken,
    /// Who may post here changed since the draft was checked: check it again.
    Stale,
    /// The message it answers is not there.
    NoParent,
    /// The message it answers is itself a comment.
    ParentIsComment,
    /// It brings a new state for a thread that somebody else keeps.
    ForeignThread,
    /// The room is not there, or holds as many messages as it can.
    NoRoom,
}

/// A room as a batch sees it.
#[derive(Clone, Copy, Queryable)]
pub(crate) struct LockedRoom {
    id: i64,
    last_message_id: i64,
    last_message_at: Option<i64>,
    access_version: i64,
}

/// A batch under way: what its rooms, threads and earlier items look like by now.
struct Batch<'d> {
    rooms: HashMap<i64, LockedRoom>,
    changed: BTreeSet<i64>,
    uuids: HashMap<(i64, &'d str), Earlier>,
    referred: HashMap<(i64, i64), Referred>,
    threads: HashMap<(i64, i64), Record>,
    /// Threads of the inbox, by room, source and the id they have there.
    mirrors: HashMap<(i64, i64, &'d str), i64>,
    /// Threads that must be written.
    changed_threads: BTreeSet<(i64, i64)>,
    /// States of items that must be written, by room and the message that brought them.
    new_items: Vec<(i64, i64, Arc<Item>)>,
}

#[derive(Clone)]
struct Earlier {
    id: MessageId,
    user: Option<i64>,
    external_name: Option<String>,
    fingerprint: i64,
}

impl Session<'_> {
    /// Adds the drafts, in order, within the transaction at hand, and says what became of each.
    /// Nothing is written to the log; that comes last, with [`Session::append_log`].
    pub(crate) fn append_messages(&mut self, drafts: &[Draft]) -> Result<Vec<Outcome>> {
        let mut batch = self.load_batch(drafts)?;
        let mut rows = Vec::with_capacity(drafts.len());
        let mut added: Vec<(usize, Arc<MessageView>)> = Vec::with_capacity(drafts.len());
        let mut outcomes: Vec<Option<Outcome>> = vec![None; drafts.len()];
        for (i, draft) in drafts.iter().enumerate() {
            match batch.place(draft) {
                Ok(row) => {
                    // At once: it shows its thread as it leaves it, whatever comes later in the batch.
                    let view = Arc::new(batch.view(message(row.clone())?));
                    rows.push(row);
                    added.push((i, view));
                }
                Err(outcome) => outcomes[i] = Some(outcome),
            }
        }
        self.write_batch(drafts, &rows, &added, &batch)?;
        for (i, view) in added {
            outcomes[i] = Some(Outcome::Added(view));
        }
        Ok(outcomes.into_iter().flatten().collect())
    }

    /// Holds a room against other writers until the transaction ends.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn lock_room(&mut self, room: RoomId) -> Result<()> {
        let _locked: Vec<LockedRoom> = dialect!(self, lock_rooms, &[room.0])?;
        Ok(())
    }

    fn load_batch<'d>(&mut self, drafts: &'d [Draft]) -> Result<Batch<'d>> {
        let ids: Vec<i64> = drafts.iter().map(|d| d.room.0).collect::<BTreeSet<_>>().into_iter().collect();
        let locked: Vec<LockedRoom> = dialect!(self, lock_rooms, &ids)?;
        let mut batch = Batch {
            rooms: locked.into_iter().map(|room| (room.id, room)).collect(),
            changed: BTreeSet::new(),
            uuids: HashMap::new(),
            referred: HashMap::new(),
            threads: HashMap::new(),
            mirrors: HashMap::new(),
            changed_threads: BTreeSet::new(),
            new_items: Vec::new(),
        };
        self.load_uuids(drafts, &mut batch)?;
        self.load_mirrors(drafts, &mut batch)?;
        for room in ids {
            self.load_referred(drafts, RoomId(room), &mut batch)?;
        }
        Ok(batch)
    }

    fn load_uuids<'d>(&mut self, drafts: &'d [Draft], batch: &mut Batch<'d>) -> Result<()> {
        let wanted: HashMap<(i64, &str), &str> =
            drafts.iter().filter_map(|d| d.uuid.as_deref().map(|uuid| ((d.room.0, uuid), uuid))).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let pairs: Vec<(i64, &str)> = wanted.keys().copied().collect();
        for row in dialect!(self, same_uuid, &pairs)? {
            let Some(uuid) = row.uuid.as_deref() else { continue };
            if let Some(uuid) = wanted.get(&(row.room_id, uuid)) {
                let earlier = Earlier {
                    id: MessageId(row.id),
                    user: row.user_id,
                    external_name: row.external_user_name,
                    fingerprint: row.fingerprint,
                };
                batch.uuids.insert((row.room_id, uuid), earlier);
            }
        }
        Ok(())
    }

    /// Finds the threads that integrations name by ids of their own.
    fn load_mirrors<'d>(&mut self, drafts: &'d [Draft], batch: &mut Batch<'d>) -> Result<()> {
        let wanted: BTreeSet<(i64, i64, &str)> = drafts.iter().filter_map(mirror_of).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let wanted: Vec<(i64, i64, &str)> = wanted.into_iter().collect();
        let roots = dialect!(self, mirrors, &wanted)?;
        let found = wanted.into_iter().zip(roots).filter_map(|(mirror, root)| Some((mirror, root?)));
        batch.mirrors.extend(found);
        Ok(())
    }

    /// Loads what the drafts of one room answer: the messages, and the state of their threads.
    fn load_referred(&mut self, drafts: &[Draft], room: RoomId, batch: &mut Batch<'_>) -> Result<()> {
        let mut ids: Vec<i64> = drafts
            .iter()
            .filter(|draft| draft.room == room)
            .filter_map(|draft| match draft.placement {
                Placement::Answers(id) | Placement::InThread(id) => Some(id.0),
                Placement::StartsThread | Placement::Unthreaded | Placement::InMirror => None,
            })
            .collect();
        ids.extend(batch.mirrors.iter().filter(|((of, ..), _)| *of == room.0).map(|(_, root)| *root));
        if ids.is_empty() {
            return Ok(());
        }
        ids.sort_unstable();
        ids.dedup();
        let found = self.referred(room, &ids)?;
        let roots: Vec<i64> = found
            .iter()
            .map(|(id, m)| m.thread_root.map_or(*id, |root| root.0))
            .chain(ids.iter().copied())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let missing: Vec<i64> = roots.iter().copied().filter(|id| !found.contains_key(id)).collect();
        let further = self.referred(room, &missing)?;
        batch.referred.extend(found.into_iter().chain(further).map(|(id, m)| ((room.0, id), m)));
        let records = self.thread_records(room, &roots)?;
        batch.threads.extend(records.into_iter().map(|(id, record)| ((room.0, id), record)));
        Ok(())
    }

    fn write_batch(
        &mut self,
        drafts: &[Draft],
        rows: &[Row],
        added: &[(usize, Arc<MessageView>)],
        batch: &Batch<'_>,
    ) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut tags: Vec<(i64, &str, i64)> = Vec::new();
        let mut words: Vec<(i64, i64, &[String])> = Vec::new();
        let mut mentions: Vec<MentionRow> = Vec::new();
        let mut arrived: BTreeSet<(i64, i64)> = BTreeSet::new();
        let mut files: Vec<(RoomId, MessageId, &[NewFile])> = Vec::new();
        for (i, view) in added {
            let (draft, message) = (&drafts[*i], &view.message);
            let (room, id) = (message.room.0, message.id.0);
            tags.extend(
                message.tags.iter().filter(|tag| is_indexed(tag)).map(|tag| (room, tag.as_str(), id)),
            );
            tags.extend(find::kind_tag(message.event).map(|kind| (room, kind, id)));
            if !draft.search_tokens.is_empty() {
                words.push((room, id, &draft.search_tokens));
            }
            if !draft.files.is_empty() {
                files.push((message.room, message.id, &draft.files));
            }
            if let Some(to) =
                message.to.filter(|to| message.event.is_listed() && message.author.user != Some(*to))
            {
                arrived.insert((room, to.0));
            }
            let sender = message.author.user.map_or(0, |user| user.0);
            mentions.extend(mention_keys(&draft.mentions).into_iter().map(|user| (room, user, id, sender)));
        }
        dialect!(self, insert_messages, rows)?;
        if !tags.is_empty() {
            dialect!(self, insert_tags, &tags)?;
        }
        if !words.is_empty() {
            dialect!(self, index_at_once, &words)?;
        }
        if !mentions.is_empty() {
            dialect!(self, insert_mentions, &mentions)?;
        }
        if let Some(now) = added.iter().map(|(_, view)| view.message.sent).max().filter(|_| !files.is_empty())
        {
            self.keep_files(&files, now)?;
        }
        let items = batch.item_rows()?;
        if !items.is_empty() {
            self.insert_items(&items)?;
        }
        let threads = batch.thread_rows();
        if !threads.is_empty() {
            dialect!(self, put_threads, &threads)?;
        }
        // What is unread shows itself (specification, section 3).
        for (room, user) in arrived {
            self.open_if_closed(RoomId(room), UserId(user))?;
        }
        let rooms: Vec<(i64, i64, Option<i64>)> = batch
            .changed
            .iter()
            .filter_map(|id| batch.rooms.get(id))
            .map(|room| (room.id, room.last_message_id, room.last_message_at))
            .collect();
        dialect!(self, update_rooms, &rooms)
    }
}

impl<'d> Batch<'d> {
    /// Gives the draft its number and place, or says why it has none.
    fn place(&mut self, draft: &'d Draft) -> std::result::Result<Row, Outcome> {
        let room = self.rooms.get(&draft.room.0).copied().ok_or(Outcome::NoRoom)?;
        if draft.access_version.is_some_and(|version| version != room.access_version) {
            return Err(Outcome::Stale);
        }
        if let Some(uuid) = &draft.uuid
            && let Some(earlier) = self.uuids.get(&(draft.room.0, uuid.as_str()))
        {
            return Err(earlier.outcome_for(draft));
        }
        let id = room.last_message_id + 1;
        if id > MessageId::MAX.0 {
            return Err(Outcome::NoRoom);
        }
        let (thread_root, parent) = self.thread_of(draft, id)?;
        let mut row = row(draft, id, thread_root, parent);
        self.note(draft, &row);
        let thread = thread_root.and_then(|root| self.threads.get(&(row.room_id, root)));
        row.thread_left = thread.map(|thread| thread.left().to_string());
        Ok(row)
    }

    /// The thread a draft goes to and the message it answers.
    fn thread_of(&self, draft: &Draft, id: i64) -> std::result::Result<(Option<i64>, Option<i64>), Outcome> {
        match draft.placement {
            Placement::Unthreaded => Ok((None, None)),
            Placement::StartsThread => Ok((Some(id), None)),
            Placement::InThread(root) => {
                let first = self.referred.get(&(draft.room.0, root.0));
                let thread = self.threads.get(&(draft.room.0, root.0));
                let begun = first.is_some_and(|first| first.thread_root == Some(root)) || thread.is_some();
                if !begun {
                    return Err(Outcome::NoParent);
                }
                match draft.thread.as_deref().filter(|post| post.item.is_some()) {
                    Some(post) if !keeps(post, thread) => Err(Outcome::ForeignThread),
                    _ => Ok((Some(root.0), None)),
                }
            }
            Placement::InMirror => {
                let root = mirror_of(draft).and_then(|mirror| self.mirrors.get(&mirror)).copied();
                let begins = draft.thread.as_ref().is_some_and(|post| post.begins);
                match root.or(begins.then_some(id)) {
                    Some(root) => Ok((Some(root), None)),
                    None => Err(Outcome::NoParent),
                }
            }
            Placement::Answers(parent) => {
                let answered = self.referred.get(&(draft.room.0, parent.0)).ok_or(Outcome::NoParent)?;
                if answered.event == eddyline_model::messages::Event::Comment {
                    return Err(Outcome::ParentIsComment);
                }
                if !answered.event.is_listed() {
                    return Err(Outcome::NoParent);
                }
                Ok((answered.thread_root.map(|root| root.0), Some(parent.0)))
            }
        }
    }

    /// Makes later items of the batch see this one.
    fn note(&mut self, draft: &'d Draft, row: &Row) {
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
        // A thread of the chat that begins here has no entry: nobody can know its number in this batch.
    }

    /// One more message in a thread that is there.
    fn go_on(&mut self, draft: &'d Draft, row: &Row, root: i64) {
        let begun = match self.referred.get(&(row.room_id, root)) {
            Some(first) => ThreadCounts::begun_by(first.event, first.sent),
            None => ThreadCounts::begun_by(draft.event, draft.sent),
        };
        let thread = self.threads.entry((row.room_id, root)).or_insert_with(|| Record::chat(begun));
        thread.counts.add(draft.event, draft.sent);
        let item = draft.thread.as_ref().and_then(|post| post.item.clone());
        // One that is as it was is not kept again.
        if let Some(item) = item.filter(|item| thread.item.as_ref() != Some(item)) {
            thread.item = Some(item.clone());
            thread.item_id = Some(row.id);
            self.new_items.push((row.room_id, row.id, item));
        }
        self.changed_threads.insert((row.room_id, root));
    }

    /// The first message of a thread of the inbox.
    fn begin(&mut self, draft: &'d Draft, row: &Row, post: &'d ThreadPost) {
        let item = post
            .item
            .clone()
            .unwrap_or_else(|| Arc::new(Item { title: post.title.clone(), ..Item::default() }));
        let record = Record {
            counts: ThreadCounts::begun_by(draft.event, draft.sent),
            keeper: Some(post.keeper),
            external_id: post.external_id.clone(),
            item_id: Some(row.id),
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
    fn thread_rows(&self) -> Vec<threads::Row> {
        let changed = self.changed_threads.iter();
        changed
            .filter_map(|(room, root)| Some(self.threads.get(&(*room, *root))?.row(*room, *root)))
            .collect()
    }

    /// The states of items that came, as they are to be written.
    fn item_rows(&self) -> Result<Vec<(i64, i64, String)>> {
        let items = self.new_items.iter();
        items
            .map(|(room, message, item)| {
                let json = serde_json::to_string(item).map_err(|_| crate::Error::Corrupt("item"))?;
                Ok((*room, *message, json))
            })
            .collect()
    }

    fn view(&self, message: Message) -> MessageView {
        let text = |id: MessageId| {
            self.referred.get(&(message.room.0, id.0)).map_or_else(String::new, Referred::text)
        };
        let parent_text = message.parent.map(text);
        let thread = message.thread_root.map(|root| {
            let own = root == message.id;
            let root_text = match own {
                true => reference(message.event, &message.content).into_owned(),
                false => text(root),
            };
            match self.threads.get(&(message.room.0, root.0)) {
                Some(record) => record.state(root, root_text),
                None => {
                    let counts = ThreadCounts::begun_by(message.event, message.sent);
                    Record::chat(counts).state(root, root_text)
                }
            }
        });
        MessageView { message, parent_text, thread }
    }
}

impl Earlier {
    fn outcome_for(&self, draft: &Draft) -> Outcome {
        let same_author = self.user == draft.author.user.map(|user| user.0)
            && self.external_name == draft.author.external_name;
        if same_author && self.fingerprint == draft.fingerprint {
            Outcome::Repeated(self.id)
        } else {
            Outcome::UuidTaken
        }
    }
}

/// The thread that a draft names by an id of its sender's own.
fn mirror_of(draft: &Draft) -> Option<(i64, i64, &str)> {
    let post = draft.thread.as_ref().filter(|_| draft.placement == Placement::InMirror)?;
    Some((draft.room.0, threads::source_key(post.keeper), post.external_id.as_deref()?))
}

/// Whether a thread's item is the sender's to change.
fn keeps(post: &ThreadPost, thread: Option<&Record>) -> bool {
    thread.and_then(|thread| thread.keeper).is_some_and(|keeper| post.keeper.keeps(keeper))
}

fn row(draft: &Draft, id: i64, thread_root: Option<i64>, parent_id: Option<i64>) -> Row {
    Row {
        room_id: draft.room.0,
        id,
        event: draft.event.code(),
        user_id: draft.author.user.map(|user| user.0),
        external_user_name: draft.author.external_name.clone(),
        content: draft.content.clone(),
        tags: join_tags(&comment_tag(draft)),
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

/// A comment bears the number of what it answers as a tag (specification, section 2).
fn comment_tag(draft: &Draft) -> Vec<String> {
    let mut tags = draft.tags.clone();
    if let Placement::Answers(parent) = draft.placement {
        let tag = format!(":influx:{parent}");
        tags.retain(|other| *other != tag);
        tags.insert(0, tag);
    }
    tags
}
