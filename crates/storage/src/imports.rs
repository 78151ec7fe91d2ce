//! What only imports write: messages with their numbers and times, without entries in the log, and
//! which records of an archive are here already.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};

use diesel::prelude::*;
use eddyline_model::files::NewFile;
use eddyline_model::messages::{Message, MessageKind, ThreadCounts};
use eddyline_model::{
    ApplicationId, MessageId, OrganizationId, RoomId, SourceId, Timestamp, UserId, search,
};
use eddyline_portable::portable;

use crate::areas::{Files, Imports, Messages, Rooms, Threads};
use crate::backlog::Backlog;
use crate::cohorts::CohortIds;
use crate::exports::ThreadOfRoom;
use crate::find;
use crate::messages::{is_indexed, join_tags};
use crate::reader::{Access, dialect};
use crate::rows::{MentionRow, MessageRow, ThreadRow};
use crate::schema::{
    flows, former_members, imported_records, messages, organizations, reactions, room_members,
    rooms, thread_items, threads, users,
};
use crate::threads::{CHAT, INBOX, ThreadRecord, ThreadSnapshot};
use crate::transaction::Tx;
use crate::{Error, Result};

mod accounts;

/// How many rows one statement adds.
const ROWS: usize = 200;

/// Where imported records come from, and into which organization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportOrigin {
    /// The organization.
    pub organization: OrganizationId,
    /// The kind of archive.
    pub source: String,
}

/// A kind of record of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportedKind {
    /// An account that an import made, by the address that it was made for.
    MadeAccount,
    /// A flow or a private conversation, which is a room here.
    Room,
    /// A message, by its number in this room.
    Message(RoomId),
    /// A room of which everything was imported.
    CompleteRoom,
    /// A room that an import of another program has made and not described yet.
    UnfinishedRoom,
    /// An account that was made and still lacks the picture of the archive, by its number.
    AwaitedPicture,
    /// An application, by its name: the stand-in that an import has made for it.
    Application,
    /// A room that an import of an archive has made, or completed where the archive is of another
    /// program, by the digest of the archive and its id there.
    BegunRoom,
}

impl ImportedKind {
    /// The kinds of the records of users. Earlier versions wrote the first of them.
    pub(crate) const OF_USERS: [i16; 3] = [0, 5, 6];

    fn columns(self) -> (i16, i64) {
        match self {
            Self::Room => (1, 0),
            Self::Message(room) => (2, room.0),
            Self::CompleteRoom => (3, 0),
            Self::UnfinishedRoom => (4, 0),
            Self::AwaitedPicture => (5, 0),
            Self::MadeAccount => (6, 0),
            Self::Application => (7, 0),
            Self::BegunRoom => (8, 0),
        }
    }
}

/// A message as an archive has it, with its number.
#[derive(Clone, Debug)]
pub struct ImportedMessage {
    /// The message.
    pub message: Message,
    /// The counts that it left its thread with, and the message under whose number the item of the
    /// thread is kept; `None` when the thread had no row then.
    pub left: Option<(ThreadCounts, Option<MessageId>)>,
    /// Its files, whose bytes are written already.
    pub files: Vec<NewFile>,
    /// Emoji with users, in the order in which they reacted.
    pub reactions: Vec<(String, UserId)>,
}

/// Where a message of another program stands in its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportedPlace {
    /// In no thread.
    Unthreaded,
    /// It begins one.
    StartsThread,
    /// In the thread of this message, which is in the room already.
    Answers(MessageId),
    /// In the thread of the new message at this place.
    AnswersNew(MessageId),
}

impl ImportedPlace {
    /// Gives a message its number and its place. A comment bears the number of what it answers as a
    /// tag (specification, section 2).
    fn apply(self, base: MessageId, id: MessageId, message: &mut Message) {
        message.id = id;
        let root = match self {
            Self::Unthreaded => return,
            Self::StartsThread => {
                message.thread_root = Some(id);
                return;
            }
            Self::Answers(root) => root,
            Self::AnswersNew(place) => MessageId(base.0 + place.0),
        };
        message.thread_root = Some(root);
        if message.event == MessageKind::Comment {
            message.parent = Some(root);
            message.tags.put_first(format!(":influx:{root}"));
        }
    }
}

/// Who is in an imported room, and up to where they have read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportedMember {
    /// The user.
    pub user: UserId,
    /// Whether clients show a tab for the room.
    pub open: bool,
    /// Whether the user is blocked.
    pub blocked: bool,
    /// The message up to which the chat was read.
    pub read_up_to: MessageId,
    /// The message up to which the inbox was read.
    pub inbox_read_up_to: MessageId,
}

#[portable]
impl<C: Access> Imports<'_, C> {
    /// The records of a kind that were imported: their numbers by what the archive calls them.
    pub fn list(
        c: &mut Connection,
        origin: &ImportOrigin,
        kind: ImportedKind,
    ) -> Result<HashMap<String, i64>> {
        let (kind, room) = kind.columns();
        let rows = imported_records::table
            .filter(imported_records::organization_id.eq(origin.organization.0))
            .filter(imported_records::source.eq(&origin.source))
            .filter(imported_records::kind.eq(kind))
            .filter(imported_records::room_id.eq(room))
            .select((imported_records::foreign_id, imported_records::local_id))
            .load::<(String, i64)>(c)?;
        Ok(rows.into_iter().collect())
    }

    /// The number of one record that was imported.
    pub fn find(
        c: &mut Connection,
        origin: &ImportOrigin,
        kind: ImportedKind,
        foreign: &str,
    ) -> Result<Option<i64>> {
        let (kind, room) = kind.columns();
        let key = (origin.organization.0, &origin.source, kind, room, foreign);
        let number = imported_records::table
            .find(key)
            .select(imported_records::local_id)
            .get_result(c);
        Ok(number.optional()?)
    }

    /// Those of some uuids that messages of a room have.
    fn list_taken_uuids(
        c: &mut Connection,
        room: RoomId,
        uuids: &[&str],
    ) -> Result<HashSet<String>> {
        let mut taken = HashSet::new();
        for part in uuids.chunks(ROWS) {
            let found = messages::table
                .filter(messages::room_id.eq(room.0))
                .filter(messages::uuid.eq_any(part))
                .select(messages::uuid)
                .load::<Option<String>>(c)?;
            taken.extend(found.into_iter().flatten());
        }
        Ok(taken)
    }

    /// The rooms that imports have written into.
    pub fn list_rooms(c: &mut Connection) -> Result<BTreeSet<RoomId>> {
        let (kind, _) = ImportedKind::Room.columns();
        let rooms = imported_records::table
            .filter(imported_records::kind.eq(kind))
            .select(imported_records::local_id)
            .load::<i64>(c)?;
        Ok(rooms.into_iter().map(RoomId).collect())
    }

    /// The highest number that a message of a room has, of those up to `end`.
    pub fn find_highest_message(
        c: &mut Connection,
        room: RoomId,
        end: MessageId,
    ) -> Result<MessageId> {
        let highest = messages::table
            .filter(messages::room_id.eq(room.0))
            .filter(messages::id.le(end.0))
            .select(diesel::dsl::max(messages::id))
            .get_result::<Option<i64>>(c)?;
        Ok(MessageId(highest.unwrap_or_default()))
    }

    /// The kinds and times of the first message of a thread and of all behind it.
    pub fn list_of_thread(
        c: &mut Connection,
        room: RoomId,
        root: MessageId,
    ) -> Result<Vec<(MessageKind, Timestamp)>> {
        let kind = |(event, sent): (i16, i64)| {
            let event = MessageKind::from_code(event).ok_or(Error::Corrupt("event"))?;
            Ok((event, Timestamp(sent)))
        };
        let columns = (messages::event, messages::sent);
        let first = messages::table.find((room.0, root.0)).select(columns);
        let mut rows = first.load::<(i16, i64)>(&mut *c)?;
        // Their numbers come from the index of answers. With the columns in the same select, SQLite
        // would rather read the whole room.
        let answers = diesel::alias!(messages as answers);
        let numbers = answers
            .filter(answers.field(messages::room_id).eq(room.0))
            .filter(answers.field(messages::thread_root).eq(root.0))
            .filter(
                answers
                    .field(messages::thread_root)
                    .ne(answers.field(messages::id).nullable()),
            )
            .select(answers.field(messages::id));
        let answers = messages::table
            .filter(messages::room_id.eq(room.0))
            .filter(messages::id.eq_any(numbers))
            .order(messages::id)
            .select(columns);
        rows.extend(answers.load::<(i16, i64)>(c)?);
        rows.into_iter().map(kind).collect()
    }

    /// Whether a user is in a room, or was in it and has left.
    pub fn has_member(c: &mut Connection, room: RoomId, user: UserId) -> Result<bool> {
        let key = (room.0, user.0);
        let member = diesel::dsl::exists(room_members::table.find(key));
        let former = diesel::dsl::exists(former_members::table.find(key));
        Ok(diesel::select(member.or(former)).get_result(c)?)
    }

    /// Whether a file has this id.
    pub fn has_file(c: &mut Connection, id: &str) -> Result<bool> {
        let file = crate::schema::files::table.find(id);
        Ok(diesel::select(diesel::dsl::exists(file)).get_result(c)?)
    }
}

#[portable]
impl Imports<'_, Tx<'_>> {
    /// Notes what records of an archive have become. Those that are noted already stay.
    pub fn insert_records(
        c: &mut Connection,
        origin: &ImportOrigin,
        kind: ImportedKind,
        records: &[(String, i64)],
    ) -> Result<()> {
        let (kind, room) = kind.columns();
        for (foreign, local) in records {
            diesel::insert_into(imported_records::table)
                .values((
                    imported_records::organization_id.eq(origin.organization.0),
                    imported_records::source.eq(&origin.source),
                    imported_records::kind.eq(kind),
                    imported_records::room_id.eq(room),
                    imported_records::foreign_id.eq(foreign),
                    imported_records::local_id.eq(local),
                ))
                .on_conflict_do_nothing()
                .execute(c)?;
        }
        Ok(())
    }

    /// Removes the note of a record, if there is one.
    pub fn delete_record(
        c: &mut Connection,
        origin: &ImportOrigin,
        kind: ImportedKind,
        foreign: &str,
    ) -> Result<()> {
        let (kind, room) = kind.columns();
        let key = (origin.organization.0, &origin.source, kind, room, foreign);
        diesel::delete(imported_records::table.find(key)).execute(c)?;
        Ok(())
    }

    /// Has the members of a room who have read everything up to `before` have read up to `end`.
    fn advance_markers(
        c: &mut Connection,
        room: RoomId,
        before: MessageId,
        end: MessageId,
    ) -> Result<()> {
        let of_room = || room_members::table.filter(room_members::room_id.eq(room.0));
        diesel::update(of_room().filter(room_members::read_up_to.ge(before.0)))
            .set(room_members::read_up_to.eq(end.0))
            .execute(c)?;
        diesel::update(of_room().filter(room_members::inbox_read_up_to.ge(before.0)))
            .set(room_members::inbox_read_up_to.eq(end.0))
            .execute(c)?;
        Ok(())
    }

    /// Sets when an organization was made.
    pub fn set_organization_created(
        c: &mut Connection,
        id: OrganizationId,
        at: Timestamp,
    ) -> Result<()> {
        diesel::update(organizations::table.find(id.0))
            .set(organizations::created_at.eq(at.0))
            .execute(c)?;
        Ok(())
    }

    /// Sets when a group was made.
    pub fn set_group_created(
        c: &mut Connection,
        id: eddyline_model::GroupId,
        at: Timestamp,
    ) -> Result<()> {
        use crate::schema::user_groups;
        diesel::update(user_groups::table.find(id.0))
            .set(user_groups::created_at.eq(at.0))
            .execute(c)?;
        Ok(())
    }

    /// Sets what a new account says of its user beside the name.
    pub fn set_person(
        c: &mut Connection,
        id: UserId,
        website: &str,
        status: Option<&str>,
        is_proved: bool,
    ) -> Result<()> {
        diesel::update(users::table.find(id.0))
            .set((
                users::website.eq(website),
                users::status.eq(status),
                users::email_proved.eq(is_proved),
            ))
            .execute(c)?;
        Ok(())
    }

    /// Has the next message of a room get a number behind this one.
    fn set_room_end(c: &mut Connection, room: RoomId, last: MessageId) -> Result<()> {
        diesel::update(
            rooms::table
                .find(room.0)
                .filter(rooms::last_message_id.lt(last.0)),
        )
        .set(rooms::last_message_id.eq(last.0))
        .execute(c)?;
        Ok(())
    }

    /// Notes when the last message of a room was sent, unless a later one was.
    pub fn set_last_message_at(c: &mut Connection, room: RoomId, at: Timestamp) -> Result<()> {
        let earlier = rooms::last_message_at
            .is_null()
            .or(rooms::last_message_at.lt(at.0));
        diesel::update(rooms::table.find(room.0))
            .filter(earlier.assume_not_null())
            .set(rooms::last_message_at.eq(Some(at.0)))
            .execute(c)?;
        Ok(())
    }

    /// Sets the creator of a flow.
    pub fn set_flow_creator(c: &mut Connection, room: RoomId, creator: UserId) -> Result<()> {
        diesel::update(flows::table.find(room.0))
            .set(flows::creator_id.eq(Some(creator.0)))
            .execute(c)?;
        Ok(())
    }

    /// Sets what is known of the members of a room, or adds them.
    pub fn upsert_members(
        c: &mut Connection,
        room: RoomId,
        members: &[ImportedMember],
    ) -> Result<()> {
        for member in members {
            let state = (
                room_members::open.eq(member.open),
                room_members::blocked.eq(member.blocked),
                room_members::read_up_to.eq(member.read_up_to.0),
                room_members::inbox_read_up_to.eq(member.inbox_read_up_to.0),
            );
            diesel::insert_into(room_members::table)
                .values((
                    room_members::room_id.eq(room.0),
                    room_members::user_id.eq(member.user.0),
                    state,
                ))
                .on_conflict((room_members::room_id, room_members::user_id))
                .do_update()
                .set(state)
                .execute(c)?;
        }
        Ok(())
    }

    /// Notes users who have left a room, with the name and the nick that they had then. Members stay
    /// members.
    pub fn insert_former(
        c: &mut Connection,
        room: RoomId,
        former: &[(UserId, String, String)],
    ) -> Result<()> {
        for (user, name, nick) in former {
            let member = room_members::table.find((room.0, user.0));
            if diesel::select(diesel::dsl::exists(member)).get_result(c)? {
                continue;
            }
            diesel::insert_into(former_members::table)
                .values((
                    former_members::room_id.eq(room.0),
                    former_members::user_id.eq(user.0),
                    former_members::name.eq(name),
                    former_members::nick.eq(nick),
                ))
                .on_conflict_do_nothing()
                .execute(c)?;
        }
        Ok(())
    }

    fn set_edited(c: &mut Connection, edited: &[(RoomId, MessageId, Timestamp)]) -> Result<()> {
        for (room, id, at) in edited {
            diesel::update(messages::table.find((room.0, id.0)))
                .set(messages::edited.eq(Some(at.0)))
                .execute(c)?;
        }
        Ok(())
    }

    /// Adds reactions to messages of a room, which have no others: the message, the emoji, the user
    /// and the place among the reactions to the message.
    fn insert_reactions(
        c: &mut Connection,
        room: RoomId,
        new: &[(MessageId, String, UserId, i64)],
    ) -> Result<()> {
        for part in new.chunks(ROWS) {
            for (message, emoji, user, position) in part {
                diesel::insert_into(reactions::table)
                    .values((
                        reactions::room_id.eq(room.0),
                        reactions::message_id.eq(message.0),
                        reactions::emoji.eq(emoji),
                        reactions::user_id.eq(user.0),
                        reactions::position.eq(position),
                    ))
                    .on_conflict_do_nothing()
                    .execute(c)?;
            }
        }
        Ok(())
    }

    /// Adds a thread of a room as it is kept, with its item. `application` is that of its source.
    pub fn insert_thread(
        c: &mut Connection,
        room: RoomId,
        thread: &ThreadOfRoom,
        application: Option<ApplicationId>,
    ) -> Result<()> {
        let row = ThreadRow {
            room_id: room.0,
            root_id: thread.root.0,
            activities: thread.activities,
            internal_comments: thread.internal_comments,
            external_comments: thread.external_comments,
            created_at: thread.created_at.0,
            updated_at: thread.updated_at.0,
            origin: if thread.is_inbox { INBOX } else { CHAT },
            source_id: thread.source,
            application_id: application.map(|id| id.0),
            external_id: thread.external_id.clone(),
            item_id: thread.item_message.map(|id| id.0),
            item_from: thread.item_from.map(|id| id.0),
        };
        diesel::insert_into(threads::table)
            .values(&row)
            .on_conflict_do_nothing()
            .execute(c)?;
        if let (Some(message), Some(item)) = (thread.item_message, &thread.item) {
            diesel::insert_into(thread_items::table)
                .values((
                    thread_items::room_id.eq(room.0),
                    thread_items::message_id.eq(message.0),
                    thread_items::item.eq(item),
                ))
                .on_conflict_do_nothing()
                .execute(c)?;
        }
        Ok(())
    }

    /// Sets when a source was removed.
    pub fn set_source_removed(c: &mut Connection, id: SourceId, at: Timestamp) -> Result<()> {
        use crate::schema::sources;
        diesel::update(sources::table.find(id.0))
            .set(sources::removed_at.eq(Some(at.0)))
            .execute(c)?;
        Ok(())
    }
}

impl Imports<'_, Tx<'_>> {
    /// Leaves the numbers of a new room up to this one to the messages that are imported: what is
    /// posted meanwhile comes behind them.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn claim_numbers(&mut self, room: RoomId, last: MessageId) -> Result<()> {
        self.set_room_end(room, last)?;
        dialect!(self, catch_up, &{
            let mut backlog = Backlog::default();
            backlog.add_room(room.0);
            backlog
        })
    }

    /// Adds messages of one room under their numbers, which were claimed and are free. The log gets
    /// no entries, so that streams do not show them and they cause no notifications. A uuid that
    /// another message of the room has stays with it: users may post between the transactions of an
    /// import.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`] when a number is taken.
    pub fn insert_messages(&mut self, room: RoomId, new: &[ImportedMessage]) -> Result<()> {
        let now = self.0.now();
        let messages = || new.iter().map(|imported| &imported.message);
        let tags = || messages().map(|message| &message.tags);
        if tags().any(|tags| tags.marks().is_some()) {
            Rooms(self.0).lock(room)?;
        }
        let cohorts = Messages(self.0).find_cohorts(room, tags())?;
        let uuids: Vec<&str> = messages()
            .filter_map(|message| message.uuid.as_deref())
            .collect();
        let taken = self.list_taken_uuids(room, &uuids)?;
        let mut rows: Vec<MessageRow> = new
            .iter()
            .map(|imported| row(imported, cohorts.text(&imported.message.tags)))
            .collect();
        for row in &mut rows {
            row.uuid = row.uuid.take().filter(|uuid| !taken.contains(uuid));
        }
        dialect!(self, insert_messages, &rows)?;
        let edited: Vec<_> = messages()
            .filter_map(|message| Some((room, message.id, message.edited?)))
            .collect();
        self.set_edited(&edited)?;
        let mut tags: Vec<(i64, &str, i64)> = Vec::new();
        let mut mentions: Vec<MentionRow> = Vec::new();
        for message in messages() {
            let id = message.id.0;
            let listed = message.tags.listed().iter();
            let indexed = listed.filter(|tag| is_indexed(tag));
            tags.extend(indexed.map(|tag| (room.0, tag.as_str(), id)));
            tags.extend(find::kind_tag(message.event).map(|kind| (room.0, kind, id)));
            let keys = cohorts.mention_keys(&message.tags);
            Messages(self.0).insert_cohorts(room, &cohorts, &keys)?;
            mentions.extend(CohortIds::mention_rows(message, keys));
        }
        if !tags.is_empty() {
            dialect!(self, insert_tags, &tags)?;
        }
        Messages(self.0).insert_mentions(&mentions)?;
        let words: Vec<_> = messages()
            .map(|message| {
                let words = search::of_message(message.event, &message.content);
                (room.0, message.id.0, words)
            })
            .filter(|(.., words)| !words.is_empty())
            .collect();
        let words: Vec<_> = words
            .iter()
            .map(|(room, id, words)| (*room, *id, words))
            .collect();
        if !words.is_empty() {
            dialect!(self, index_now, &words)?;
        }
        let files: Vec<_> = new
            .iter()
            .filter(|imported| !imported.files.is_empty())
            .map(|imported| (room, imported.message.id, &imported.files[..]))
            .collect();
        if !files.is_empty() {
            Files(self.0).insert(&files, now)?;
        }
        let reactions = new
            .iter()
            .map(|imported| (imported.message.id, &imported.reactions[..]));
        self.insert_reactions(room, &numbered(reactions))
    }

    /// Adds messages behind those of a room, as [`insert_messages`](Self::insert_messages) does, and
    /// notes which records they were. Their numbers are places in `new`, from 1 on, and so are
    /// those of messages that they answer, where these are `new` as well. Gives the number before the
    /// first of them. The room must be locked.
    ///
    /// The threads, the time of the last message and the markers of those who had read everything go
    /// with the messages, so that an import that ends here leaves nothing to another one.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] when the room is not there or has too many messages.
    pub fn append_messages(
        &mut self,
        origin: &ImportOrigin,
        room: RoomId,
        new: &[(ImportedMessage, ImportedPlace, Option<String>)],
    ) -> Result<MessageId> {
        let end = Rooms(self.0).find_last_message_id(room)?;
        let base = end.ok_or(Error::Refused("no such room"))?;
        let count = i64::try_from(new.len()).unwrap_or(i64::MAX);
        if count > MessageId::MAX.0 - base.0 {
            return Err(Error::Refused("a room has too many messages"));
        }
        let end = MessageId(base.0 + count);
        self.claim_numbers(room, end)?;
        let mut threads = self.list_grown_threads(room, new)?;
        let mut messages = Vec::with_capacity(new.len());
        let mut records = Vec::with_capacity(new.len());
        for (imported, place, foreign) in new {
            let mut imported = imported.clone();
            let id = MessageId(base.0 + imported.message.id.0);
            place.apply(base, id, &mut imported.message);
            imported.left = threads.add(&imported.message);
            records.extend(foreign.clone().map(|foreign| (foreign, id.0)));
            messages.push(imported);
        }
        self.insert_messages(room, &messages)?;
        self.insert_records(origin, ImportedKind::Message(room), &records)?;
        let rows = threads.rows(room);
        if !rows.is_empty() {
            dialect!(self, put_threads, &rows)?;
        }
        if let Some(at) = messages.iter().map(|new| new.message.sent).max() {
            self.set_last_message_at(room, at)?;
        }
        self.advance_markers(room, base, end)?;
        Ok(base)
    }

    /// The threads of a room that new messages answer, as they are now.
    fn list_grown_threads(
        &mut self,
        room: RoomId,
        new: &[(ImportedMessage, ImportedPlace, Option<String>)],
    ) -> Result<GrownThreads> {
        let roots: BTreeSet<i64> = new
            .iter()
            .filter_map(|(_, place, _)| match place {
                ImportedPlace::Answers(root) => Some(root.0),
                _ => None,
            })
            .collect();
        let roots: Vec<i64> = roots.into_iter().collect();
        let mut known = Threads(self.0).list_records_without_items(room, &roots)?;
        for root in roots {
            // A thread of the chat has no row before its first answer.
            if !known.contains_key(&root)
                && let Some(counts) = self.count_thread(room, MessageId(root))?
            {
                known.insert(root, ThreadRecord::chat(counts));
            }
        }
        Ok(GrownThreads {
            known,
            answered: BTreeSet::new(),
        })
    }

    /// Counts the messages of a thread of the chat.
    fn count_thread(&mut self, room: RoomId, root: MessageId) -> Result<Option<ThreadCounts>> {
        let of_thread = self.list_of_thread(room, root)?;
        let Some((first, rest)) = of_thread.split_first() else {
            return Ok(None);
        };
        let mut counts = ThreadCounts::begun_by(first.0, first.1);
        for (event, sent) in rest {
            counts.add(*event, *sent);
        }
        Ok(Some(counts))
    }

    /// Adds the threads of a room, each with the application of its source.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn insert_threads(
        &mut self,
        room: RoomId,
        new: &[(ThreadOfRoom, Option<ApplicationId>)],
    ) -> Result<()> {
        for (thread, application) in new {
            self.insert_thread(room, thread, *application)?;
        }
        Ok(())
    }
}

/// Threads that grow by new messages, by the numbers of their first messages.
struct GrownThreads {
    known: HashMap<i64, ThreadRecord>,
    answered: BTreeSet<i64>,
}

impl GrownThreads {
    /// Counts a message, and gives how it leaves its thread, if that has or gets a row.
    fn add(&mut self, message: &Message) -> Option<(ThreadCounts, Option<MessageId>)> {
        let root = message.thread_root?;
        if root == message.id {
            let begun = ThreadCounts::begun_by(message.event, message.sent);
            self.known.insert(root.0, ThreadRecord::chat(begun));
            return None;
        }
        let thread = match self.known.entry(root.0) {
            Entry::Occupied(known) => {
                let thread = known.into_mut();
                thread.counts.add(message.event, message.sent);
                thread
            }
            // All messages before it were deleted.
            Entry::Vacant(unknown) => {
                let begun = ThreadCounts::begun_by(message.event, message.sent);
                unknown.insert(ThreadRecord::chat(begun))
            }
        };
        self.answered.insert(root.0);
        Some((thread.counts, thread.item_id.map(MessageId)))
    }

    /// The threads that were answered, as they are to be written.
    fn rows(&self, room: RoomId) -> Vec<ThreadRow> {
        let answered = self.answered.iter();
        answered
            .filter_map(|root| Some(self.known.get(root)?.row(room.0, *root)))
            .collect()
    }
}

fn row(imported: &ImportedMessage, tags: String) -> MessageRow {
    let message = &imported.message;
    MessageRow {
        room_id: message.room.0,
        id: message.id.0,
        event: message.event.code(),
        user_id: message.author.user.map(|user| user.0),
        external_user_name: message.author.external_name.clone(),
        content: message.content.clone(),
        tags,
        explicit_tags: join_tags(&message.explicit_tags),
        uuid: message.uuid.clone(),
        fingerprint: 0,
        sent: message.sent.0,
        edited: None,
        thread_root: message.thread_root.map(|id| id.0),
        parent_id: message.parent.map(|id| id.0),
        to_user_id: message.to.map(|user| user.0),
        thread_left: imported
            .left
            .map(|(counts, item)| ThreadSnapshot::of(counts, item).to_string()),
    }
}

/// Reactions with their places.
fn numbered<'r>(
    of_messages: impl IntoIterator<Item = (MessageId, &'r [(String, UserId)])>,
) -> Vec<(MessageId, String, UserId, i64)> {
    let mut found = Vec::new();
    for (message, reactions) in of_messages {
        let placed = (1..).zip(reactions);
        found.extend(placed.map(|(place, (emoji, user))| (message, emoji.clone(), *user, place)));
    }
    found
}
