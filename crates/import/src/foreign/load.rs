//! Bringing what a reader has found into the store.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use eddyline_model::log::Control;
use eddyline_model::messages::{Author, Message, MessageKind};
use eddyline_model::names::nick_key;
use eddyline_model::tags::{self, Context};
use eddyline_model::{MessageId, RoomId, UserId};
use eddyline_storage::{ImportedKind, ImportedMessage, ImportedPlace};

use super::bounds::MAX_PARTS;
use super::digest::{begun_id, digest};
use super::entries::Entries;
use super::mentions::with_nicks;
use super::nicks::Nicks;
use super::reactions::reactions;
use super::rooms::{conversation, describe_flow, make_flow, show};
use super::{Foreign, ForeignFile, ForeignMessage, Room, RoomKind};
use super::{Spool, file};
use crate::authority::{
    InvitingRoom, NotedRoom, Pair, Participants, confirm_room, may_still_converse,
};
use crate::target::{ImportWork, ROWS};
use crate::{Error, LeftOutKind, Result, texts};

/// How many messages one transaction writes.
const MESSAGES: usize = 250;

/// Brings people, rooms and messages in.
pub(crate) fn load(
    work: &mut ImportWork<'_>,
    archive: &Path,
    foreign: &Foreign,
    spool: Spool,
    entries: &mut dyn Entries,
) -> Result<()> {
    let digest = digest(archive)?;
    let decisions = work.decide(foreign.people.clone())?;
    let people = work.make_participants(decisions)?;
    let origin = work.origin.clone();
    let (known, unfinished, begun) = work.read(move |reader| {
        let mut list = |kind| reader.imports().list(&origin, kind);
        Ok((
            list(ImportedKind::Room)?,
            list(ImportedKind::UnfinishedRoom)?,
            list(ImportedKind::BegunRoom)?,
        ))
    })?;
    // A second run of the archive that completed a room still sends its invitations.
    let is_of_this =
        |(id, room): &(&String, &i64)| begun.get(&begun_id(&digest, id)) == Some(*room);
    let complete = known.iter().filter(|(id, _)| !unfinished.contains_key(*id));
    let complete = complete.filter(|noted| !is_of_this(noted));
    let complete: HashSet<String> = complete.map(|(id, _)| id.clone()).collect();
    let mut loading = Loading {
        work,
        digest: &digest,
        foreign,
        by_user: by_user(&people),
        people: &people,
        known,
        unfinished,
        entries,
        room: None,
    };
    // Flows without messages are made as well.
    let mut opened = HashSet::new();
    spool.each(|place, message| {
        opened.insert(place);
        loading.message(place, &message)
    })?;
    loading.close()?;
    for place in 0..foreign.rooms.len() {
        if !opened.contains(&place) && foreign.rooms[place].kind != RoomKind::Conversation {
            loading.open(place)?;
            loading.close()?;
        }
    }
    let known = loading.known;
    let flows = foreign.rooms.iter().filter_map(|room| {
        let id = known.get(&room.id)?;
        let members = room.members.iter();
        Some(InvitingRoom {
            room: RoomId(*id),
            is_complete: complete.contains(&room.id),
            people: members.filter_map(|id| people.find(id)).collect(),
        })
    });
    work.report_invitations(flows)
}

fn by_user(people: &Participants) -> HashMap<UserId, usize> {
    let mut places = HashMap::new();
    for (place, participant) in people.all().iter().enumerate() {
        if let Some(user) = participant.user() {
            places.entry(user).or_insert(place);
        }
    }
    places
}

/// The room whose messages are coming.
struct OpenRoom {
    place: usize,
    /// `None` when the room cannot be had: its messages are left out.
    room: Option<RoomId>,
    /// The two of a conversation.
    pair: Option<Pair>,
    nicks: Nicks,
    /// What was imported before and by now, by what the archive calls it.
    numbers: HashMap<String, i64>,
    /// What waits in the batch, by what the archive calls it: its place.
    waiting: HashMap<String, i64>,
    batch: Vec<(ImportedMessage, ImportedPlace, Option<String>)>,
    /// The reactions and files of the batch.
    rows: usize,
    /// What answers are in whose thread: an answer to an answer is in the same.
    roots: HashMap<String, String>,
    authors: HashSet<UserId>,
    /// Whether an import has made it and not described it yet.
    is_unfinished: bool,
}

impl OpenRoom {
    /// Whether a message is here, or waits in the batch.
    fn has(&self, message: &str) -> bool {
        self.numbers.contains_key(message) || self.waiting.contains_key(message)
    }
}

struct Loading<'l, 'w> {
    work: &'l mut ImportWork<'w>,
    /// The digest of the archive.
    digest: &'l str,
    foreign: &'l Foreign,
    people: &'l Participants,
    /// Places of people in their list, by account.
    by_user: HashMap<UserId, usize>,
    known: HashMap<String, i64>,
    /// Rooms that an import which was interrupted has made.
    unfinished: HashMap<String, i64>,
    entries: &'l mut dyn Entries,
    room: Option<OpenRoom>,
}

impl Loading<'_, '_> {
    fn user(&self, person: &str) -> Option<UserId> {
        self.people.find(person)?.user()
    }

    fn message(&mut self, place: usize, message: &ForeignMessage) -> Result<()> {
        if self.room.as_ref().is_none_or(|room| room.place != place) {
            self.close()?;
            self.open(place)?;
        }
        let Some(mut room) = self.room.take() else {
            return Ok(());
        };
        let added = self.add(&mut room, message);
        self.room = Some(room);
        added
    }

    fn open(&mut self, place: usize) -> Result<()> {
        let foreign = &self.foreign.rooms[place];
        let pair = match foreign.kind {
            RoomKind::Conversation => {
                let members = foreign.members.iter();
                let members: Vec<_> = members.map(|id| self.people.find(id)).collect();
                Pair::of(&members)
            }
            RoomKind::Open | RoomKind::Closed => None,
        };
        let is_possible = foreign.kind != RoomKind::Conversation || pair.is_some();
        let noted = self.known.get(&foreign.id).map(|room| RoomId(*room));
        let organization = self.work.origin.organization;
        let noted = self
            .work
            .read(move |reader| confirm_room(reader, organization, noted, pair))?;
        let room = match noted {
            _ if !is_possible => None,
            NotedRoom::Same(room) => Some(room),
            NotedRoom::Another => None,
            NotedRoom::Absent if self.work.target.is_dry_run => Some(RoomId(0)),
            NotedRoom::Absent => self.make(foreign, pair)?,
        };
        let is_known = matches!(noted, NotedRoom::Same(_));
        let mut numbers = HashMap::new();
        if let Some(room) = room {
            let origin = self.work.origin.clone();
            numbers = self
                .work
                .read(move |reader| reader.imports().list(&origin, ImportedKind::Message(room)))?;
            if !is_known {
                match pair {
                    Some(_) => self.work.report.conversations += 1,
                    None => self.work.report.flows += 1,
                }
            }
        }
        self.room = Some(OpenRoom {
            place,
            room,
            pair,
            nicks: self.nicks(foreign),
            numbers,
            waiting: HashMap::new(),
            batch: Vec::new(),
            rows: 0,
            roots: HashMap::new(),
            authors: HashSet::new(),
            is_unfinished: !is_known || self.unfinished.contains_key(&foreign.id),
        });
        Ok(())
    }

    fn nicks(&self, foreign: &Room) -> Nicks {
        let mut nicks = Nicks::default();
        for known in foreign.members.iter().filter_map(|id| self.people.find(id)) {
            if let Some(user) = known.user() {
                nicks.by_nick.insert(nick_key(known.nick()), user);
                nicks.users.insert(user);
            }
        }
        nicks
    }

    /// Makes a room, or takes the conversation that there is. `None` for a conversation that may not
    /// come in any more.
    fn make(&mut self, foreign: &Room, pair: Option<Pair>) -> Result<Option<RoomId>> {
        let creator = foreign.creator.as_ref().and_then(|id| self.user(id));
        let (origin, foreign, own) = (
            self.work.origin.clone(),
            foreign.clone(),
            foreign.id.clone(),
        );
        let name = texts::display_name(&foreign.name);
        let shown = name.clone();
        let made = self.work.write(move |tx| {
            let made = match pair {
                Some(pair) if !may_still_converse(tx, origin.organization, pair)? => {
                    return Ok(None);
                }
                Some(pair) => (conversation(tx, pair)?, false),
                None => make_flow(tx, origin.organization, &name, &foreign, creator)?,
            };
            let records = [(foreign.id.clone(), made.0.0)];
            for kind in [ImportedKind::Room, ImportedKind::UnfinishedRoom] {
                // There may be a note of a room that is gone.
                tx.imports().delete_record(&origin, kind, &foreign.id)?;
                tx.imports().insert_records(&origin, kind, &records)?;
            }
            Ok(Some(made))
        })?;
        let Some((room, is_renamed)) = made else {
            return Ok(None);
        };
        if is_renamed {
            self.work.report.leave_out(LeftOutKind::TakenName, shown);
        }
        self.known.insert(own, room.0);
        Ok(Some(room))
    }

    /// Takes a message into the batch of its room.
    fn add(&mut self, room: &mut OpenRoom, message: &ForeignMessage) -> Result<()> {
        let author = message.author.as_deref().and_then(|id| self.user(id));
        let is_foreign = room
            .pair
            .is_some_and(|pair| author.is_none_or(|author| !pair.has(author)));
        if room.room.is_none() || is_foreign {
            let which = format!("{}/{}", self.foreign.rooms[room.place].id, message.id);
            self.work.report.leave_out(LeftOutKind::Conversation, which);
            return Ok(());
        }
        let root = match (&message.answers, room.pair) {
            (Some(root), None) if *root != message.id => Some(room.roots.get(root).unwrap_or(root)),
            _ => None,
        };
        let is_missing = root.is_some_and(|root| !room.has(root));
        let root = root.filter(|_| !is_missing).cloned();
        if let Some(root) = &root {
            room.roots.insert(message.id.clone(), root.clone());
        }
        if room.has(&message.id) {
            // An import that was interrupted may have added it, and not noted its author.
            room.authors.extend(author);
            self.work.report.known_messages += 1;
            return Ok(());
        }
        if is_missing {
            self.work
                .report
                .leave_out(LeftOutKind::MissingParent, message.id.clone());
        }
        let parts = self.texts(message);
        let files = self.files(message)?;
        if parts.is_empty() && files.is_empty() {
            let which = format!("{}/{}", self.foreign.rooms[room.place].id, message.id);
            self.work.report.leave_out(LeftOutKind::NotSaid, which);
            return Ok(());
        }
        let event = match root {
            Some(_) => MessageKind::Comment,
            None => MessageKind::Message,
        };
        let texts = parts.into_iter().map(|content| Said {
            event,
            content,
            file: None,
            author,
            reactions: Vec::new(),
        });
        let files = files.into_iter().map(|file| Said {
            event: MessageKind::File,
            content: file::describe(&file),
            file: Some(file),
            author,
            reactions: Vec::new(),
        });
        let mut each: Vec<Said> = texts.chain(files).collect();
        each[0].reactions = self.reactions_to(message);
        let rows: usize = each.iter().map(Said::rows).sum();
        if room.batch.len() + each.len() > MESSAGES || room.rows + rows > ROWS {
            self.flush(room)?;
        }
        room.rows += rows;
        for (place, said) in each.into_iter().enumerate() {
            self.push(room, message, root.as_deref(), place == 0, said);
        }
        self.work.report.messages += 1;
        Ok(())
    }

    fn push(
        &mut self,
        room: &mut OpenRoom,
        message: &ForeignMessage,
        root: Option<&str>,
        is_first: bool,
        said: Said,
    ) {
        let place_in_batch = room.batch.len() as i64 + 1;
        let now = self.work.now;
        let sent = texts::time(message.sent, now);
        let place = match (root, room.pair) {
            (_, Some(_)) => ImportedPlace::Unthreaded,
            (None, None) => ImportedPlace::StartsThread,
            (Some(root), None) => match room.numbers.get(root) {
                Some(number) => ImportedPlace::Answers(MessageId(*number)),
                None => {
                    let waiting = room.waiting.get(root).copied().unwrap_or(place_in_batch);
                    ImportedPlace::AnswersNew(MessageId(waiting))
                }
            },
        };
        room.authors.extend(said.author);
        let to = room.pair.map(|pair| pair.other(said.author));
        self.work.report.reactions += said.reactions.len() as u64;
        let imported = ImportedMessage {
            message: Message {
                room: room.room.unwrap_or(RoomId(0)),
                id: MessageId(place_in_batch),
                event: said.event,
                author: self.author(message, said.author),
                tags: said.tags(room).into(),
                content: said.content,
                explicit_tags: Vec::new(),
                uuid: None,
                sent,
                edited: message.edited.map(|at| texts::time(at, now)),
                thread_root: None,
                parent: None,
                to,
            },
            left: None,
            files: said.file.into_iter().collect(),
            reactions: said.reactions,
        };
        if is_first {
            room.waiting.insert(message.id.clone(), place_in_batch);
        }
        let foreign_id = is_first.then(|| message.id.clone());
        room.batch.push((imported, place, foreign_id));
    }

    fn author(&self, message: &ForeignMessage, user: Option<UserId>) -> Author {
        if let Some(user) = user {
            return Author::user(user);
        }
        let name = message.author_name.as_deref().map(texts::external_name);
        Author::anonymous(name.or_else(|| {
            let participant = self.people.find(message.author.as_deref()?)?;
            participant.author().external_name
        }))
    }

    /// The text with what people are called here, in as many parts as it takes.
    fn texts(&mut self, message: &ForeignMessage) -> Vec<String> {
        let people = self.people;
        let named = with_nicks(&message.text, |person| people.find(person));
        let whole = texts::without_nul(&named.text);
        let (mut rest, mut parts) = (whole.as_str(), Vec::new());
        while !rest.trim().is_empty() && parts.len() < MAX_PARTS {
            let end = texts::end_of_part(rest);
            parts.push(rest[..end].to_owned());
            rest = &rest[end..];
        }
        let is_cut = message.is_cut || named.is_cut || !rest.trim().is_empty();
        if is_cut {
            let which = message.id.clone();
            self.work.report.leave_out(LeftOutKind::CutText, which);
        } else if parts.len() > 1 {
            let which = message.id.clone();
            self.work.report.leave_out(LeftOutKind::LongText, which);
        }
        parts
    }

    fn reactions_to(&mut self, message: &ForeignMessage) -> Vec<(String, UserId)> {
        let people = self.people;
        let user = |person: &str| people.find(person)?.user();
        reactions(&message.reactions, user, &mut self.work.report)
    }

    fn files(&mut self, message: &ForeignMessage) -> Result<Vec<eddyline_model::files::NewFile>> {
        let mut kept = Vec::new();
        for file in message.files.iter().take(MAX_PARTS) {
            kept.extend(self.file(file)?);
        }
        for file in message.files.iter().skip(MAX_PARTS) {
            self.work
                .report
                .leave_out(LeftOutKind::TooManyFiles, file.name.clone());
        }
        Ok(kept)
    }

    fn file(&mut self, file: &ForeignFile) -> Result<Option<eddyline_model::files::NewFile>> {
        let entry = file
            .entry
            .as_deref()
            .filter(|entry| self.entries.contains(entry));
        let Some(entry) = entry else {
            let which = file.url.clone().unwrap_or_else(|| file.name.clone());
            self.work.report.leave_out(LeftOutKind::MissingFile, which);
            return Ok(None);
        };
        self.work.report.files += 1;
        if self.work.target.is_dry_run {
            return Ok(Some(file::unread(&file.name)));
        }
        let entries = &mut *self.entries;
        let uploads = &mut self.work.uploads;
        let (name, kind) = (&file.name, &file.content_type);
        let kept = uploads.keep(entry, name, kind, super::zip_file::MAX_FILE, || {
            entries.open(entry)
        });
        match kept {
            Ok(kept) => {
                self.work.report.file_bytes += kept.object.size.unsigned_abs();
                Ok(Some(kept))
            }
            // What strangers packed may be broken; a full disk is for the operator.
            Err(Error::Zip(_) | Error::Files(eddyline_files::Error::TooLarge)) => {
                self.damaged(file)
            }
            Err(Error::Io(error)) if file::is_of_data(&error) => self.damaged(file),
            Err(error) => Err(error),
        }
    }

    fn damaged(&mut self, file: &ForeignFile) -> Result<Option<eddyline_model::files::NewFile>> {
        self.work.report.files -= 1;
        self.work
            .report
            .leave_out(LeftOutKind::DamagedFile, file.name.clone());
        Ok(None)
    }

    fn flush(&mut self, room: &mut OpenRoom) -> Result<()> {
        let Some(id) = room.room.filter(|_| !room.batch.is_empty()) else {
            return Ok(());
        };
        let batch = Arc::new(std::mem::take(&mut room.batch));
        room.rows = 0;
        let waiting = std::mem::take(&mut room.waiting);
        let mut base = MessageId(0);
        if !self.work.target.is_dry_run {
            let (origin, own) = (self.work.origin.clone(), batch.clone());
            base = self.work.write(move |tx| {
                tx.rooms().lock(id)?;
                tx.imports().append_messages(&origin, id, &own)
            })?;
        }
        self.work.uploads.note_taken();
        let placed = waiting
            .into_iter()
            .map(|(foreign, place)| (foreign, base.0 + place));
        room.numbers.extend(placed);
        self.work
            .note_progress(&self.foreign.rooms[room.place].name);
        Ok(())
    }

    /// Ends a room: describes it, and shows it to its members. A room that is complete has the
    /// members that those within have let in, whatever a newer archive says.
    fn close(&mut self) -> Result<()> {
        let Some(mut room) = self.room.take() else {
            return Ok(());
        };
        self.flush(&mut room)?;
        let Some(id) = room.room.filter(|_| !self.work.target.is_dry_run) else {
            return Ok(());
        };
        let foreign = &self.foreign.rooms[room.place];
        let members = self.newcomers(foreign, &room);
        let former = self.authors(&room);
        let (pair, is_unfinished) = (room.pair, room.is_unfinished);
        show(self.work, id, &members, pair.is_none())?;
        // Those who are members are not taken for former ones.
        self.work.note_former(id, &former)?;
        let (origin, foreign) = (self.work.origin.clone(), foreign.clone());
        let begun = [(begun_id(self.digest, &foreign.id), id.0)];
        self.work.write(move |tx| {
            tx.rooms().lock(id)?;
            if pair.is_none() {
                tx.rooms().advance_access(id)?;
                if is_unfinished {
                    describe_flow(tx, id, &foreign)?;
                }
                tx.record_event(Control::FlowChange { room: id });
            }
            let mut imports = tx.imports();
            imports.delete_record(&origin, ImportedKind::UnfinishedRoom, &foreign.id)?;
            if is_unfinished {
                // There may be a note of a room that is gone.
                let kind = ImportedKind::BegunRoom;
                imports.delete_record(&origin, kind, &begun[0].0)?;
                imports.insert_records(&origin, kind, &begun)?;
            }
            Ok(())
        })
    }

    /// The users to whom the room is shown: none, once it is complete.
    fn newcomers(&self, foreign: &Room, room: &OpenRoom) -> Vec<UserId> {
        let members = foreign.members.iter().filter(|_| room.is_unfinished);
        let mut seen = HashSet::new();
        let users = members.filter_map(|person| {
            let participant = self.people.find(person)?;
            // A conversation has both, also one whose account belongs to no organization.
            match room.pair {
                Some(pair) => participant.user().filter(|user| pair.has(*user)),
                None => participant.member(),
            }
        });
        // Several people of an archive may have one account.
        users.filter(|user| seen.insert(*user)).collect()
    }

    /// The authors in a flow, with the names that those keep who are no members.
    fn authors(&self, room: &OpenRoom) -> Vec<(UserId, String, String)> {
        let mut authors: Vec<UserId> = room.authors.iter().copied().collect();
        authors.retain(|_| room.pair.is_none());
        authors.sort_unstable();
        let named = authors.into_iter().filter_map(|user| {
            let participant = &self.people.all()[*self.by_user.get(&user)?];
            let (name, nick) = (participant.name(), participant.nick());
            Some((user, name.to_owned(), nick.to_owned()))
        });
        named.collect()
    }
}

/// What is said in one message here.
struct Said {
    event: MessageKind,
    content: String,
    file: Option<eddyline_model::files::NewFile>,
    author: Option<UserId>,
    reactions: Vec<(String, UserId)>,
}

impl Said {
    /// The number of rows that go with its message.
    fn rows(&self) -> usize {
        self.reactions.len() + usize::from(self.file.is_some())
    }

    /// The tags that it has in a room.
    fn tags(&self, room: &OpenRoom) -> Vec<String> {
        if room.pair.is_some() {
            return Vec::new();
        }
        let mut tags = Vec::new();
        if self.event.has_text() {
            let context = Context {
                roster: &room.nicks,
                sender: self.author,
                has_attachments: false,
            };
            let extracted = tags::extract(&[], &self.content, &context);
            tags.extend_from_slice(extracted.tags.listed());
        }
        // Old messages are not unread for anyone.
        tags.retain(|tag| tags::parse_unread(tag).is_none());
        if self.file.is_some() {
            tags.push(tags::FILE.to_owned());
        }
        tags
    }
}
