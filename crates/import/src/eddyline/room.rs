//! The messages of a flow or a private conversation, and all that goes with them.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher as _;
use std::sync::Arc;

use eddyline_archive::{AttachedFile, DigestHex, FlowRecord, MessageRecord, ThreadRecord, paths};
use eddyline_model::files::{Dimensions, FileId, NewFile};
use eddyline_model::flows::{AccessMode, Flow};
use eddyline_model::log::Control;
use eddyline_model::messages::{Author, MAX_UUID_CHARS, Message, MessageKind, ThreadCounts};
use eddyline_model::names::MAX_NICK;
use eddyline_model::reactions::{Emoji, MAX_EMOJI, MAX_REACTIONS};
use eddyline_model::tags::Tags;
use eddyline_model::{MessageId, RoomId, Timestamp, UserId};
use eddyline_storage::{ImportedKind, ImportedMember, ImportedMessage, Result as StoreResult, Tx};

use super::OwnArchive;
use super::content::{self, RenamedFile, Users};
use super::numbers::bounded;
use super::plan::{RoomPlan, messages_of};
use super::sources::{SourcesByNumber, make_sources};
use super::threads::{thread, within};
use crate::authority::Participant;
use crate::target::{ImportWork, MEMBERS, ROWS};
use crate::{Error, LeftOutKind, Result, texts};

/// The most messages that one transaction writes, and the most bytes of text.
const MESSAGES: usize = 250;
const BYTES: usize = 1 << 20;
/// The number of threads that one transaction writes.
const THREADS: usize = 250;
/// The largest text that is read, and the largest document that is taken: no server has written
/// larger ones.
const MAX_TEXT: usize = 4 << 20;
const MAX_DOCUMENT: usize = 1 << 20;
/// The most files of a message: no server has taken more.
const MAX_FILES: usize = 1_000;

/// The import of one room.
pub(super) struct RoomImport<'w, 'p> {
    work: &'w mut ImportWork<'p>,
    archive: &'w OwnArchive,
    plan: &'w RoomPlan,
    users: &'w Users,
    room: RoomId,
    /// Messages up to this one are here already.
    done: MessageId,
    batch: Vec<ImportedMessage>,
    bytes: usize,
    /// The reactions and files of the batch.
    rows: usize,
    /// The threads that have a row: whether they are of the inbox, and where the item is kept.
    threads: HashMap<i64, (bool, Option<MessageId>)>,
    counts: HashMap<i64, ThreadCounts>,
    last: MessageId,
    last_at: Option<Timestamp>,
    /// The uuids of the room so far, hashed: of several messages with one, the first keeps it.
    uuids: HashSet<u64>,
    hashes: RandomState,
    /// The ids of the files of the batch.
    file_ids: HashSet<String>,
}

impl<'w, 'p> RoomImport<'w, 'p> {
    pub(super) fn new(
        work: &'w mut ImportWork<'p>,
        archive: &'w OwnArchive,
        plan: &'w RoomPlan,
        users: &'w Users,
        room: RoomId,
    ) -> Self {
        Self {
            work,
            archive,
            plan,
            users,
            room,
            done: MessageId(0),
            batch: Vec::new(),
            bytes: 0,
            rows: 0,
            threads: HashMap::new(),
            counts: HashMap::new(),
            last: MessageId(0),
            last_at: None,
            uuids: HashSet::new(),
            hashes: RandomState::new(),
            file_ids: HashSet::new(),
        }
    }

    pub(super) fn run(mut self) -> Result<()> {
        let (room, end) = (self.room, self.plan.last);
        self.done = self
            .work
            .read(move |reader| reader.imports().find_highest_message(room, end))?;
        let threads: Vec<ThreadRecord> = self.read_threads()?;
        self.messages()?;
        let records = self.plan.flow.as_ref().map(|flow| &flow.sources[..]);
        let sources = make_sources(self.work, records.unwrap_or_default(), room, self.users)?;
        self.write_threads(threads, &sources)?;
        self.finish()
    }

    fn read_threads(&mut self) -> Result<Vec<ThreadRecord>> {
        let mut found: Vec<ThreadRecord> = Vec::new();
        let path = format!("{}/threads.jsonl", self.plan.folder);
        self.archive
            .reader
            .each_record(&path, |thread: ThreadRecord| {
                found.push(thread);
                Ok::<_, Error>(())
            })?;
        let last = self.plan.last;
        for thread in &found {
            let item = within(thread.item_message, last);
            self.threads.insert(thread.id, (thread.inbox, item));
        }
        Ok(found)
    }

    fn messages(&mut self) -> Result<()> {
        let archive = self.archive;
        let path = messages_of(&self.plan.folder);
        archive.reader.each_record(&path, |record: MessageRecord| {
            let bytes = record.content.get().len();
            let is_full = self.batch.len() >= MESSAGES || self.rows + record.tags.len() >= ROWS;
            if is_full || self.bytes + bytes > BYTES {
                self.write_batch()?;
            }
            self.message(&record)
        })?;
        self.write_batch()
    }

    fn message(&mut self, record: &MessageRecord) -> Result<()> {
        let (id, end) = (MessageId(record.id), self.plan.last);
        let event = MessageKind::parse(&record.event);
        // Before it is read, which takes memory many times its length.
        let max_raw = if event.is_some_and(MessageKind::has_text) {
            2 * MAX_TEXT
        } else {
            2 * MAX_DOCUMENT
        };
        if record.content.get().len() > max_raw {
            return self.leave_out(record.id);
        }
        let content = event.and_then(|event| content::content(self.users, event, &record.content));
        let (Some(event), Some(mut content)) = (event, content) else {
            return self.leave_out(record.id);
        };
        let most = if event.has_text() {
            MAX_TEXT
        } else {
            MAX_DOCUMENT
        };
        if id <= self.last
            || id > end
            || content.len() > most
            || record.files.len() > MAX_FILES
            || !self.is_of_the_two(record)
        {
            return self.leave_out(record.id);
        }
        self.last = id;
        let uuid = self.uuid(record);
        let now = self.work.now;
        let sent = texts::time(record.sent, now);
        let left = self.left(record, event, sent);
        if event.is_listed() {
            self.last_at = self.last_at.max(Some(sent));
        }
        if id <= self.done {
            self.work.report.known_messages += 1;
            return Ok(());
        }
        let earlier = |number: Option<i64>| {
            number
                .map(MessageId)
                .filter(|other| other.0 > 0 && *other <= id)
        };
        let (files, renamed) = self.files(record)?;
        if !renamed.is_empty() {
            let own = content::with_ids(&record.content, &renamed);
            let own = own.and_then(|own| content::content(self.users, event, &own));
            content = own.unwrap_or(content);
        }
        let kept = texts::end_of_part(&content);
        if event.has_text() && kept < content.len() {
            content.truncate(kept);
            let which = format!("{}/{id}", self.plan.folder);
            self.work
                .report
                .leave_out(LeftOutKind::ShortenedText, which);
        }
        let to = record.to.filter(|_| self.plan.pair.is_some());
        let tags = content::tags(self.users, &record.tags);
        let tag_count = tags.len();
        let message = Message {
            room: self.room,
            id,
            event,
            author: self.author(record),
            tags: Tags::compact(tags, &[]),
            explicit_tags: content::tags(self.users, &record.explicit_tags),
            uuid,
            sent,
            edited: record.edited.map(|at| texts::time(at, now)),
            thread_root: earlier(record.thread),
            parent: earlier(record.parent).filter(|parent| *parent < id),
            to: to.and_then(|number| self.user(number)),
            content,
        };
        let reactions = self.reactions(record);
        self.work.report.messages += 1;
        self.work.report.reactions += reactions.len() as u64;
        self.work.report.files += files.len() as u64;
        self.bytes += message.content.len();
        self.rows += tag_count + reactions.len() + files.len();
        self.batch.push(ImportedMessage {
            message,
            left,
            files,
            reactions,
        });
        Ok(())
    }

    /// The account of a person.
    fn user(&self, number: u32) -> Option<UserId> {
        self.users.get(&number)?.user()
    }

    /// Returns the author of a message. A name that stands beside it is that of a person without an
    /// account.
    fn author(&self, record: &MessageRecord) -> Author {
        let person = record.author.and_then(|number| self.users.get(&number));
        let named = record.external_name.as_deref().map(texts::external_name);
        let known = person.map(Participant::author);
        Author {
            user: known.as_ref().and_then(|known| known.user),
            external_name: named.or(known.and_then(|known| known.external_name)),
        }
    }

    /// The uuid of a message, where it is one and no message before has it.
    fn uuid(&mut self, record: &MessageRecord) -> Option<String> {
        let fits = |uuid: &&String| uuid.chars().count() <= MAX_UUID_CHARS && !uuid.contains('\0');
        let uuid = record.uuid.as_ref().filter(fits)?;
        let is_new = self.uuids.insert(self.hashes.hash_one(uuid));
        is_new.then(|| uuid.clone())
    }

    /// Returns `true` if a message of a conversation is of one of its two users, and to none but
    /// one of them.
    fn is_of_the_two(&self, record: &MessageRecord) -> bool {
        let Some(pair) = self.plan.pair else {
            return true;
        };
        let is_of_pair = |number| self.user(number).is_some_and(|user| pair.has(user));
        record.author.is_some_and(is_of_pair) && record.to.is_none_or(is_of_pair)
    }

    /// The files of a message, with the ids of those that have another one here.
    fn files(&mut self, record: &MessageRecord) -> Result<(Vec<NewFile>, Vec<RenamedFile>)> {
        let (mut files, mut renamed) = (Vec::with_capacity(record.files.len()), Vec::new());
        for file in &record.files {
            let Some(kept) = self.file(file)? else {
                continue;
            };
            if kept.id.0 != file.id && eddyline_random::is_hex(&file.id, 32) {
                renamed.push((file.id.clone(), kept.id.0.clone()));
            }
            files.push(kept);
        }
        Ok((files, renamed))
    }

    fn leave_out(&mut self, id: i64) -> Result<()> {
        let which = format!("{}/{id}", self.plan.folder);
        self.work
            .report
            .leave_out(LeftOutKind::UnreadableRecord, which);
        Ok(())
    }

    /// The counts that a message leaves its thread with, if the thread has a row by then.
    fn left(
        &mut self,
        record: &MessageRecord,
        event: MessageKind,
        sent: Timestamp,
    ) -> Option<(ThreadCounts, Option<MessageId>)> {
        let root = record.thread?;
        let (is_inbox, item) = *self.threads.get(&root)?;
        let counts = self
            .counts
            .entry(root)
            .and_modify(|counts| counts.add(event, sent));
        let counts = *counts.or_insert_with(|| ThreadCounts::begun_by(event, sent));
        (is_inbox || root != record.id).then_some((counts, item))
    }

    fn reactions(&mut self, record: &MessageRecord) -> Vec<(String, UserId)> {
        let (mut found, mut emoji) = (Vec::new(), HashSet::new());
        let mut seen = HashSet::new();
        for reaction in &record.reactions {
            if reaction.emoji.parse::<Emoji>().is_err() {
                self.work
                    .report
                    .leave_out(LeftOutKind::UnknownEmoji, reaction.emoji.clone());
                continue;
            }
            emoji.insert(&reaction.emoji);
            if emoji.len() > MAX_EMOJI {
                self.work
                    .report
                    .leave_out(LeftOutKind::BeyondLimit, reaction.emoji.clone());
                continue;
            }
            let numbers = reaction.people.iter();
            let users = numbers.filter_map(|number| self.user(*number));
            let users = users.filter(|user| seen.insert((&reaction.emoji, *user)));
            found.extend(users.map(|user| (reaction.emoji.clone(), user)));
        }
        for (emoji, _) in found.drain(found.len().min(MAX_REACTIONS)..) {
            self.work.report.leave_out(LeftOutKind::BeyondLimit, emoji);
        }
        found
    }

    fn file(&mut self, file: &AttachedFile) -> Result<Option<NewFile>> {
        let DigestHex(sha256) = &file.sha256;
        let is_missing = self.archive.missing.contains(&file.sha256);
        if is_missing || eddyline_archive::parse_digest(sha256).is_none() {
            self.work
                .report
                .leave_out(LeftOutKind::MissingFile, file.name.clone());
            return Ok(None);
        }
        let (reader, path) = (&self.archive.reader, paths::file(sha256));
        let bytes = || Ok(reader.open_entry(&path)? as Box<dyn std::io::Read>);
        let uploads = &mut self.work.uploads;
        let mut kept = uploads.keep(sha256, &file.name, &file.content_type, file.size, bytes)?;
        let id = file.id.clone();
        let is_taken = !eddyline_random::is_hex(&id, 32)
            || !self.file_ids.insert(id.clone())
            || self
                .work
                .read(move |reader| reader.imports().has_file(&id))?;
        if !is_taken {
            kept.id = FileId(file.id.clone());
        }
        // A version that cannot read a picture keeps the size that an earlier version has found.
        let side = |side: Option<i64>| side.and_then(|side| u32::try_from(side).ok());
        if let (None, Some(width), Some(height)) =
            (kept.picture, side(file.width), side(file.height))
        {
            kept.picture = Some(Dimensions { width, height });
        }
        self.work.report.file_bytes += file.size;
        Ok(Some(kept))
    }

    fn write_batch(&mut self) -> Result<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let (room, batch) = (self.room, Arc::new(std::mem::take(&mut self.batch)));
        (self.bytes, self.rows) = (0, 0);
        self.file_ids.clear();
        self.work.write(move |tx| {
            tx.rooms().lock(room)?;
            tx.imports().insert_messages(room, &batch)
        })?;
        self.work.uploads.note_taken();
        self.work.note_progress(&self.plan.folder);
        Ok(())
    }

    fn write_threads(
        &mut self,
        records: Vec<ThreadRecord>,
        sources: &SourcesByNumber,
    ) -> Result<()> {
        let mut threads = Vec::with_capacity(records.len());
        for record in records {
            match thread(&record, sources, self.plan.last, self.work.now) {
                Some(thread) => threads.push(thread),
                None => self.leave_out(record.id)?,
            }
        }
        for part in threads.chunks(THREADS) {
            let (part, room) = (part.to_vec(), self.room);
            self.work
                .write(move |tx| tx.imports().insert_threads(room, &part))?;
        }
        Ok(())
    }

    /// Shows the room to its members, with everything in it.
    fn finish(&mut self) -> Result<()> {
        self.show()?;
        let former = self.plan.flow.iter().flat_map(|flow| &flow.former_members);
        let former: Vec<(UserId, String, String)> = former
            .filter_map(|former| {
                let nick = texts::short(&former.nick, MAX_NICK);
                Some((
                    self.user(former.person)?,
                    texts::display_name(&former.name),
                    nick,
                ))
            })
            .collect();
        self.work.note_former(self.room, &former)?;
        let (room, origin, last_at) = (self.room, self.work.origin.clone(), self.last_at);
        let (flow, foreign_id) = (self.plan.flow.clone(), self.plan.foreign_id.clone());
        self.work.write(move |tx| {
            tx.rooms().lock(room)?;
            if let Some(at) = last_at {
                tx.imports().set_last_message_at(room, at)?;
            }
            if let Some(record) = &flow {
                show_flow(tx, room, record)?;
                tx.rooms().advance_access(room)?;
                tx.record_event(Control::FlowChange { room });
            }
            let done = [(foreign_id.clone(), room.0)];
            tx.imports()
                .insert_records(&origin, ImportedKind::CompleteRoom, &done)
        })
    }

    /// Makes members of users, each once: several people of an archive may have one account. In a
    /// flow, what has become of a member since an import was interrupted stays.
    fn show(&self) -> Result<()> {
        let mut seen = HashSet::new();
        let members = self.plan.members.iter().filter_map(|member| {
            let user = self.user(member.person)?;
            seen.insert(user).then_some(ImportedMember {
                user,
                open: member.open,
                blocked: member.blocked,
                read_up_to: MessageId(bounded(member.read_up_to, self.plan.last)),
                inbox_read_up_to: MessageId(bounded(member.inbox_read_up_to, self.plan.last)),
            })
        });
        let members: Vec<ImportedMember> = members.collect();
        let (room, is_flow) = (self.room, self.plan.flow.is_some());
        let organization = self.work.origin.organization;
        for part in members.chunks(MEMBERS) {
            let part = part.to_vec();
            self.work.write(move |tx| {
                tx.rooms().lock(room)?;
                let mut within = Vec::with_capacity(part.len());
                for member in &part {
                    let user = member.user;
                    let mut of_organization = tx.organization_members();
                    let is_new = !is_flow
                        || (of_organization.find_user(organization, user)?.is_some()
                            && !tx.imports().has_member(room, user)?);
                    within.extend(is_new.then_some(*member));
                }
                tx.imports().upsert_members(room, &within)?;
                if is_flow {
                    tx.rooms().advance_access(room)?;
                    for member in &within {
                        let user = member.user;
                        tx.record_event(Control::FlowAdd { room, user });
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// Sets the description, the access mode and the disabled state of a flow.
fn show_flow(tx: &mut Tx<'_>, room: RoomId, record: &FlowRecord) -> StoreResult<()> {
    let Some(found) = tx.flows().find(room)? else {
        return Ok(());
    };
    tx.flows().update(&Flow {
        description: record
            .description
            .as_deref()
            .map(|text| texts::short(text, texts::MAX_DESCRIPTION)),
        access_mode: AccessMode::parse(&record.access_mode).unwrap_or(AccessMode::Invitation),
        disabled: record.disabled,
        ..found
    })
}
