//! The flows and private conversations of an archive.

use std::collections::HashMap;
use std::sync::Arc;

use eddyline_archive::{
    AttachedFile, ConversationRecord, DigestHex, FlowRecord, MemberRecord, MessageRecord,
    SourceRecord, ThreadRecord, paths,
};
use eddyline_model::applications::Application;
use eddyline_model::files::{Dimensions, FileId, NewFile};
use eddyline_model::flows::{AccessMode, Flow};
use eddyline_model::log::Control;
use eddyline_model::messages::{Author, Message, MessageKind, ThreadCounts};
use eddyline_model::names::parameterized_candidates;
use eddyline_model::reactions::Emoji;
use eddyline_model::{ApplicationId, FlowId, MessageId, RoomId, Timestamp, UserId};
use eddyline_storage::{
    ImportedKind, ImportedMember, ImportedMessage, NewFlowRow, NewSourceRow, Result as StoreResult,
    ThreadOfRoom, Tx,
};

use super::OwnArchive;
use super::content::{self, RenamedFile, Users};
use crate::target::ImportWork;
use crate::{Error, LeftOutKind, Result, people, texts};

/// How many messages one transaction writes at most, and how many bytes of text.
const MESSAGES: usize = 250;
const BYTES: usize = 1 << 20;
/// How many threads one transaction writes.
const THREADS: usize = 250;
/// The longest id of a flow.
const MAX_FLOW_ID: usize = 64;
/// The largest text that is taken: no server has written a larger one.
const MAX_CONTENT: usize = 4 << 20;
const MAX_SHORT: usize = 500;
/// The most files of a message: no server has taken more.
const MAX_FILES: usize = 1_000;

/// What is known of a room before its messages.
struct RoomPlan {
    folder: String,
    /// What notes of the import call it.
    foreign_id: String,
    last: MessageId,
    members: Vec<MemberRecord>,
    flow: Option<FlowRecord>,
    /// The two users of a conversation.
    users: Option<(UserId, UserId)>,
}

impl OwnArchive {
    /// Imports all flows and conversations.
    pub(super) fn rooms(&self, work: &mut ImportWork<'_>, users: &Users) -> Result<()> {
        let own = work.origin.clone();
        let (begun, complete) = work.read(move |reader| {
            Ok((
                reader.imports().list(&own, ImportedKind::Room)?,
                reader.imports().list(&own, ImportedKind::CompleteRoom)?,
            ))
        })?;
        for plan in self.plans(work, users)? {
            let messages = format!("{}/messages.jsonl", plan.folder);
            let chains = self.reader.manifest().chains.iter();
            let count = chains
                .filter(|chain| chain.path == messages)
                .map(|chain| chain.records)
                .sum::<u64>();
            if complete.contains_key(&plan.foreign_id) {
                work.report.known_messages += count;
                continue;
            }
            if work.target.is_dry_run {
                work.report.messages += count;
                count_room(work, &plan);
                continue;
            }
            let room = match begun.get(&plan.foreign_id) {
                Some(room) => Some(RoomId(*room)),
                None => make_room(work, &plan, users)?,
            };
            match room {
                Some(room) => {
                    RoomImport::new(work, self, &plan, users, room).run()?;
                    count_room(work, &plan);
                }
                None => work
                    .report
                    .leave_out(LeftOutKind::ExistingRoom, plan.folder),
            }
        }
        Ok(())
    }

    fn plans(&self, work: &mut ImportWork<'_>, users: &Users) -> Result<Vec<RoomPlan>> {
        let mut plans = Vec::new();
        for folder in self.folders("/flow.json") {
            let flow: FlowRecord = self.reader.record(&format!("{folder}/flow.json"))?;
            plans.push(RoomPlan {
                foreign_id: flow.id.clone(),
                last: MessageId(flow.last_message.clamp(0, MessageId::MAX.0)),
                members: flow.members.clone(),
                users: None,
                flow: Some(flow),
                folder,
            });
        }
        for folder in self.folders("/conversation.json") {
            let path = format!("{folder}/conversation.json");
            let record: ConversationRecord = self.reader.record(&path)?;
            let of_members: Vec<UserId> = record
                .members
                .iter()
                .filter_map(|member| users.get(&member.person).copied())
                .collect();
            let pair = match of_members[..] {
                [one] if record.members.len() == 1 => (one, one),
                [one, other] if record.members.len() == 2 => (one, other),
                _ => {
                    work.report.leave_out(LeftOutKind::Conversation, folder);
                    continue;
                }
            };
            plans.push(RoomPlan {
                foreign_id: format!("{}-{}", pair.0.0.min(pair.1.0), pair.0.0.max(pair.1.0)),
                last: MessageId(record.last_message.clamp(0, MessageId::MAX.0)),
                members: record.members,
                users: Some(pair),
                flow: None,
                folder,
            });
        }
        Ok(plans)
    }
}

fn count_room(work: &mut ImportWork<'_>, plan: &RoomPlan) {
    match plan.flow {
        Some(_) => work.report.flows += 1,
        None => work.report.conversations += 1,
    }
}

/// Makes a room whose numbers up to the last of the archive are left to it; `None` when there is
/// such a room already, or a conversation would be one between users of other organizations.
fn make_room(work: &mut ImportWork<'_>, plan: &RoomPlan, users: &Users) -> Result<Option<RoomId>> {
    let (origin, last, foreign_id) = (work.origin.clone(), plan.last, plan.foreign_id.clone());
    let (flow, pair) = (plan.flow.clone(), plan.users);
    let creator = flow
        .as_ref()
        .and_then(|flow| users.get(&flow.creator?).copied());
    let made = work.write(move |tx| {
        let room = match (&flow, pair) {
            (Some(flow), _) => make_flow(tx, origin.organization, flow, creator)?,
            (None, Some((one, other))) => {
                let organization = origin.organization;
                if !people::may_converse(tx, organization, one)?
                    || !people::may_converse(tx, organization, other)?
                {
                    return Ok(None);
                }
                let found = tx.rooms().find_private(one, other)?;
                let is_used = match &found {
                    Some(found) => tx.rooms().find_last_message_id(found.id)?,
                    None => None,
                };
                match is_used.is_some_and(|last| last.0 > 0) {
                    true => None,
                    false => Some((tx.rooms().insert_private(one, other)?, None)),
                }
            }
            (None, None) => None,
        };
        let Some((room, renamed)) = room else {
            return Ok(None);
        };
        tx.imports().claim_numbers(room, last)?;
        let record = [(foreign_id.clone(), room.0)];
        tx.imports()
            .insert_records(&origin, ImportedKind::Room, &record)?;
        Ok(Some((room, renamed)))
    })?;
    Ok(made.map(|(room, renamed)| {
        if let Some(name) = renamed {
            work.report.leave_out(LeftOutKind::TakenName, name);
        }
        room
    }))
}

/// Makes a flow under its id. Gives its name in URLs when it had to be another.
fn make_flow(
    tx: &mut Tx<'_>,
    organization: eddyline_model::OrganizationId,
    record: &FlowRecord,
    creator: Option<UserId>,
) -> StoreResult<Option<(RoomId, Option<String>)>> {
    if tx.flows().find_room_by_id(&record.id)?.is_some() {
        return Ok(None);
    }
    let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    let is_id = (1..=MAX_FLOW_ID).contains(&record.id.len()) && record.id.bytes().all(fits);
    let id = match is_id {
        true => record.id.clone(),
        false => uuid::Uuid::new_v4().to_string(),
    };
    tx.organizations().lock(organization)?;
    let mut name = String::new();
    let random = eddyline_random::hex::<4>();
    for candidate in parameterized_candidates(&record.parameterized_name, &random) {
        if tx
            .flows()
            .find_room_by_name(organization, &candidate)?
            .is_none()
        {
            name = candidate;
            break;
        }
    }
    let renamed = (name != record.parameterized_name).then(|| record.parameterized_name.clone());
    let room = tx.flows().insert(&NewFlowRow {
        id: FlowId(id),
        organization,
        name: texts::display_name(&record.name),
        parameterized_name: name,
        creator,
        join_secret: eddyline_random::hex::<20>(),
        created_at: texts::time(record.created_at),
    })?;
    Ok(Some((room, renamed)))
}

/// The import of one room.
struct RoomImport<'w, 'p> {
    work: &'w mut ImportWork<'p>,
    archive: &'w OwnArchive,
    plan: &'w RoomPlan,
    users: &'w Users,
    room: RoomId,
    /// Messages up to this one are here already.
    done: MessageId,
    batch: Vec<ImportedMessage>,
    bytes: usize,
    /// The threads that have a row: whether they are of the inbox, and where the item is kept.
    threads: HashMap<i64, (bool, Option<MessageId>)>,
    counts: HashMap<i64, ThreadCounts>,
    last: MessageId,
    last_at: Option<Timestamp>,
}

impl<'w, 'p> RoomImport<'w, 'p> {
    fn new(
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
            threads: HashMap::new(),
            counts: HashMap::new(),
            last: MessageId(0),
            last_at: None,
        }
    }

    fn run(mut self) -> Result<()> {
        let (room, end) = (self.room, self.plan.last);
        self.done = self
            .work
            .read(move |reader| reader.imports().find_highest_message(room, end))?;
        let threads: Vec<ThreadRecord> = self.read_threads()?;
        self.messages()?;
        let sources = self.sources()?;
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
        for thread in &found {
            let item = thread.item_message.map(MessageId);
            self.threads.insert(thread.id, (thread.inbox, item));
        }
        Ok(found)
    }

    fn messages(&mut self) -> Result<()> {
        let archive = self.archive;
        let path = format!("{}/messages.jsonl", self.plan.folder);
        archive.reader.each_record(&path, |record: MessageRecord| {
            let bytes = record.content.get().len();
            if self.bytes + bytes > BYTES || self.batch.len() >= MESSAGES {
                self.write_batch()?;
            }
            self.message(&record)
        })?;
        self.write_batch()
    }

    fn message(&mut self, record: &MessageRecord) -> Result<()> {
        let (id, end) = (MessageId(record.id), self.plan.last);
        let event = MessageKind::parse(&record.event);
        let content = event.and_then(|event| content::content(self.users, event, &record.content));
        let (Some(event), Some(mut content)) = (event, content) else {
            return self.leave_out(record.id);
        };
        if id <= self.last
            || id > end
            || content.len() > MAX_CONTENT
            || record.files.len() > MAX_FILES
            || !self.is_of_the_two(record)
        {
            return self.leave_out(record.id);
        }
        self.last = id;
        let sent = texts::time(record.sent);
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
        let person =
            |number: Option<u32>| number.and_then(|number| self.users.get(&number).copied());
        let (files, renamed) = self.files(record)?;
        if !renamed.is_empty() {
            let own = content::with_ids(&record.content, &renamed);
            let own = own.and_then(|own| content::content(self.users, event, &own));
            content = own.unwrap_or(content);
        }
        let message = Message {
            room: self.room,
            id,
            event,
            author: Author {
                user: person(record.author),
                external_name: record.external_name.as_deref().map(texts::external_name),
            },
            tags: content::tags(self.users, &record.tags),
            explicit_tags: content::tags(self.users, &record.explicit_tags),
            uuid: record
                .uuid
                .clone()
                .filter(|uuid| uuid.len() <= MAX_SHORT && !uuid.contains('\0')),
            sent,
            edited: record.edited.map(texts::time),
            thread_root: earlier(record.thread),
            parent: earlier(record.parent).filter(|parent| *parent < id),
            to: person(record.to),
            content,
        };
        let reactions = self.reactions(record);
        self.work.report.messages += 1;
        self.work.report.reactions += reactions.len() as u64;
        self.work.report.files += files.len() as u64;
        self.bytes += message.content.len();
        self.batch.push(ImportedMessage {
            message,
            left,
            files,
            reactions,
        });
        Ok(())
    }

    /// Whether a message of a conversation is of one of its two users, and to one of them.
    fn is_of_the_two(&self, record: &MessageRecord) -> bool {
        let Some((one, other)) = self.plan.users else {
            return true;
        };
        [record.author, record.to].iter().flatten().all(|number| {
            let user = self.users.get(number);
            user.is_some_and(|user| *user == one || *user == other)
        })
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
        let mut found = Vec::new();
        for reaction in &record.reactions {
            if reaction.emoji.parse::<Emoji>().is_err() {
                self.work
                    .report
                    .leave_out(LeftOutKind::UnknownEmoji, reaction.emoji.clone());
                continue;
            }
            let users = reaction
                .people
                .iter()
                .filter_map(|number| self.users.get(number));
            found.extend(users.map(|user| (reaction.emoji.clone(), *user)));
        }
        found
    }

    fn file(&mut self, file: &AttachedFile) -> Result<Option<NewFile>> {
        let DigestHex(sha256) = &file.sha256;
        let missing = &self.archive.reader.manifest().files.missing;
        if eddyline_archive::parse_digest(sha256).is_none() || missing.contains(&file.sha256) {
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
            || self
                .work
                .read(move |reader| reader.imports().has_file(&id))?;
        if !is_taken {
            kept.id = FileId(file.id.clone());
        }
        // A version that cannot read a picture of an earlier one keeps what that has found.
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
        self.bytes = 0;
        self.work.write(move |tx| {
            tx.rooms().lock(room)?;
            tx.imports().insert_messages(room, &batch)
        })?;
        self.work.uploads.note_taken();
        self.work.note_progress(&self.plan.folder);
        Ok(())
    }

    /// Makes the sources of a flow, and gives them with their applications, by number.
    fn sources(&mut self) -> Result<HashMap<u32, (i64, Option<ApplicationId>)>> {
        let Some(flow) = self
            .plan
            .flow
            .as_ref()
            .filter(|flow| !flow.sources.is_empty())
        else {
            return Ok(HashMap::new());
        };
        let (sources, users) = (flow.sources.clone(), self.users.clone());
        let (organization, room) = (self.work.origin.organization, self.room);
        self.work.write(move |tx| {
            // An import that was interrupted here has made them.
            let there = tx.sources().list_all_of_room(room)?;
            let mut found = HashMap::new();
            for (place, source) in sources.iter().enumerate() {
                let made = match there.get(place) {
                    Some(there) => (there.source.id.0, there.source.application),
                    None => make_source(tx, organization, room, source, &users)?,
                };
                found.insert(source.number, made);
            }
            Ok(found)
        })
    }

    fn write_threads(
        &mut self,
        records: Vec<ThreadRecord>,
        sources: &HashMap<u32, (i64, Option<ApplicationId>)>,
    ) -> Result<()> {
        let threads: Vec<_> = records
            .into_iter()
            .filter_map(|record| thread(&record, sources))
            .collect();
        for part in threads.chunks(THREADS) {
            let (part, room) = (part.to_vec(), self.room);
            self.work
                .write(move |tx| tx.imports().insert_threads(room, &part))?;
        }
        Ok(())
    }

    /// Shows the room to its members, with everything in it.
    fn finish(&mut self) -> Result<()> {
        let person = |number: u32| self.users.get(&number).copied();
        let members = self.plan.members.iter().filter_map(|member| {
            Some(ImportedMember {
                user: person(member.person)?,
                open: member.open,
                blocked: member.blocked,
                read_up_to: MessageId(member.read_up_to.clamp(0, self.plan.last.0)),
                inbox_read_up_to: MessageId(member.inbox_read_up_to.clamp(0, self.plan.last.0)),
            })
        });
        let members: Vec<ImportedMember> = members.collect();
        let former = self.plan.flow.iter().flat_map(|flow| &flow.former_members);
        let former: Vec<(UserId, String, String)> = former
            .filter_map(|former| {
                let nick = texts::without_nul(&former.nick);
                Some((
                    person(former.person)?,
                    texts::display_name(&former.name),
                    nick,
                ))
            })
            .collect();
        let (room, origin, last_at) = (self.room, self.work.origin.clone(), self.last_at);
        let (flow, foreign_id) = (self.plan.flow.clone(), self.plan.foreign_id.clone());
        self.work.write(move |tx| {
            tx.rooms().lock(room)?;
            let mut within = Vec::with_capacity(members.len());
            for member in &members {
                let organization = origin.organization;
                let found = tx
                    .organization_members()
                    .find_user(organization, member.user)?;
                if flow.is_none() || found.is_some() {
                    within.push(*member);
                }
            }
            tx.imports().upsert_members(room, &within)?;
            tx.imports().insert_former(room, &former)?;
            if let Some(at) = last_at {
                tx.imports().set_last_message_at(room, at)?;
            }
            if let Some(record) = &flow {
                show_flow(tx, room, record)?;
                tx.rooms().advance_access(room)?;
                for member in &within {
                    let user = member.user;
                    tx.record_event(Control::FlowAdd { room, user });
                }
            }
            let done = [(foreign_id.clone(), room.0)];
            tx.imports()
                .insert_records(&origin, ImportedKind::CompleteRoom, &done)
        })
    }
}

/// Sets what a flow says of itself.
fn show_flow(tx: &mut Tx<'_>, room: RoomId, record: &FlowRecord) -> StoreResult<()> {
    let Some(found) = tx.flows().find(room)? else {
        return Ok(());
    };
    tx.flows().update(&Flow {
        description: record.description.as_deref().map(texts::without_nul),
        access_mode: AccessMode::parse(&record.access_mode).unwrap_or(AccessMode::Invitation),
        disabled: record.disabled,
        ..found
    })
}

fn make_source(
    tx: &mut Tx<'_>,
    organization: eddyline_model::OrganizationId,
    room: RoomId,
    record: &SourceRecord,
    users: &Users,
) -> StoreResult<(i64, Option<ApplicationId>)> {
    let application = match &record.application {
        Some(name) => Some(application(
            tx,
            organization,
            &texts::display_name(name),
            record,
        )?),
        None => None,
    };
    let url = record.external_url.clone();
    let source = tx.sources().insert(&NewSourceRow {
        room,
        application,
        name: texts::display_name(&record.name),
        external_url: url.filter(|url| url.starts_with("http://") || url.starts_with("https://")),
        creator: record
            .creator
            .and_then(|number| users.get(&number).copied()),
        created_at: texts::time(record.created_at),
    })?;
    if let Some(at) = record.removed_at {
        tx.imports().set_source_removed(source, texts::time(at))?;
    }
    Ok((source.0, application))
}

/// The application of this name in the organization. One that is made stands for the application
/// that was: without a secret and redirect URIs it cannot be used.
fn application(
    tx: &mut Tx<'_>,
    organization: eddyline_model::OrganizationId,
    name: &str,
    record: &SourceRecord,
) -> StoreResult<ApplicationId> {
    let known = tx.applications().list_of_organization(organization)?;
    if let Some(known) = known.iter().find(|known| known.name == name) {
        return Ok(known.id);
    }
    let made = Application {
        id: ApplicationId(0),
        client_id: eddyline_random::hex::<32>(),
        organization,
        name: name.to_owned(),
        public: false,
        redirect_uris: Vec::new(),
        configuration_uri: None,
        setup_uri: None,
        icon_url: None,
        password_grant: false,
        out_of_band: false,
        creator: None,
        created_at: texts::time(record.created_at),
    };
    tx.applications().insert(&made, None)
}

type Thread = (ThreadOfRoom, Option<ApplicationId>);

fn thread(
    record: &ThreadRecord,
    sources: &HashMap<u32, (i64, Option<ApplicationId>)>,
) -> Option<Thread> {
    let source = record
        .source
        .and_then(|number| sources.get(&number).copied());
    let item = record.item.as_deref();
    let item = match item {
        Some(item) => {
            serde_json::from_str::<eddyline_model::items::Item>(item.get()).ok()?;
            Some(content::document(MessageKind::Activity, item)?)
        }
        None => None,
    };
    let thread = ThreadOfRoom {
        root: MessageId(record.id),
        is_inbox: record.inbox,
        source: record.inbox.then(|| source.map_or(0, |(id, _)| id)),
        external_id: record.external_id.as_deref().map(texts::without_nul),
        activities: record.activities.max(0),
        internal_comments: record.internal_comments.max(0),
        external_comments: record.external_comments.max(0),
        created_at: texts::time(record.created_at),
        updated_at: texts::time(record.updated_at),
        item_message: record.item_message.map(MessageId),
        item_from: record.item_from.map(MessageId),
        item,
    };
    Some((thread, source.and_then(|(_, application)| application)))
}
