//! Bulk exports of Mattermost: lines of JSON, each of which is a team, a channel, a user or a post
//! with its replies, alone or in a zip file with the files of posts under `data`.

mod lines;
mod records;

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use eddyline_model::organizations::OrganizationRole;

use self::lines::{Line, each_line};
use self::records::{Attachment, Post, Record, UserRecord};
use crate::foreign::{Entries, Foreign, ForeignFile, ForeignMessage, ForeignReaction};
use crate::foreign::{Mentioned, Names, Room, RoomKind, Spool, ZipFile, load, with_mentions};
use crate::people::Person;
use crate::target::{ImportWork, existing_organization};
use crate::{Error, ImportProgress, ImportReport, ImportTarget, LeftOutKind, Result};

/// What records that came from such an archive are noted as.
const SOURCE: &str = "mattermost";
/// How the entry with the lines ends.
pub(crate) const LINES: &str = ".jsonl";
/// The number of remembered times of messages above which only those of one millisecond stay.
const TIMES: usize = 100_000;
/// The longest name of a user.
const MAX_USERNAME: usize = 256;
/// The folders in which paths of attachments begin.
const FOLDERS: [&str; 3] = ["data/", "", "bulk-export-attachments/"];

/// Imports an export. Blocks.
pub(crate) fn import(
    target: ImportTarget,
    archive: &Path,
    progress: &mut (dyn FnMut(ImportProgress) + Send),
) -> Result<ImportReport> {
    let organization = existing_organization(&target)?;
    let mut work = ImportWork::new(target, SOURCE, organization, progress)?;
    let mut spool = Spool::new()?;
    let mut start = [0; 2];
    let is_zip = File::open(archive)?.read(&mut start)? == 2 && start == *b"PK";
    if !is_zip {
        let file = BufReader::with_capacity(256 * 1024, File::open(archive)?);
        let reading = Reading::new(&mut work.report, &mut spool, Arc::default());
        let foreign = reading.run(file)?;
        load(&mut work, &foreign, spool, &mut NoEntries)?;
        return Ok(work.report);
    }
    let mut zip = ZipFile::open(archive)?;
    let names = zip.names();
    let lines = names.keys().filter(|name| name.ends_with(LINES));
    let lines = lines
        .min_by_key(|name| (name.matches('/').count(), name.len(), *name))
        .cloned();
    let missing = || Error::Unfit("the zip file has no entry that ends with .jsonl".to_owned());
    let lines = lines.ok_or_else(missing)?;
    let reading = Reading::new(&mut work.report, &mut spool, names);
    let foreign = reading.run(BufReader::with_capacity(256 * 1024, zip.entry(&lines)?))?;
    load(&mut work, &foreign, spool, &mut zip)?;
    Ok(work.report)
}

/// The files of an archive that has none.
struct NoEntries;

impl Entries for NoEntries {
    fn contains(&self, _: &str) -> bool {
        false
    }

    fn open<'b>(&'b mut self, _: &str) -> Result<Box<dyn Read + 'b>> {
        Err(Error::Zip(zip::result::ZipError::FileNotFound))
    }
}

struct Reading<'r> {
    report: &'r mut ImportReport,
    spool: &'r mut Spool,
    foreign: Foreign,
    /// Places of rooms, by what the archive calls them.
    places: HashMap<String, usize>,
    /// Who is in channels, by what the archive calls these.
    members: HashMap<String, Vec<String>>,
    usernames: HashSet<String>,
    entries: Arc<Names>,
    /// How often a message of an author had a time: messages have no ids.
    times: HashMap<(usize, i64, String), u32>,
}

impl<'r> Reading<'r> {
    fn new(report: &'r mut ImportReport, spool: &'r mut Spool, entries: Arc<Names>) -> Self {
        Self {
            report,
            spool,
            foreign: Foreign::default(),
            places: HashMap::new(),
            members: HashMap::new(),
            usernames: HashSet::new(),
            entries,
            times: HashMap::new(),
        }
    }

    fn run(mut self, lines: impl Read) -> Result<Foreign> {
        let mut is_first = true;
        each_line(BufReader::new(lines), &mut |number, line| {
            let record = match line {
                Line::Whole(bytes) => serde_json::from_slice::<Record>(bytes).ok(),
                Line::TooLong => None,
            };
            if is_first {
                is_first = false;
                return check_version(record.as_ref());
            }
            match record {
                Some(record) => self.record(record, number),
                None => {
                    let which = format!("line {number}");
                    self.report.leave_out(LeftOutKind::UnreadableRecord, which);
                    Ok(())
                }
            }
        })?;
        if is_first {
            check_version(None)?;
        }
        for room in &mut self.foreign.rooms {
            if let Some(members) = self.members.remove(&room.id) {
                room.members.extend(members);
            }
        }
        Ok(self.foreign)
    }

    fn record(&mut self, record: Record, number: u64) -> Result<()> {
        match record.kind.as_str() {
            "channel" => {
                if let Some(channel) = record.channel {
                    let kind = match channel.kind.as_deref() {
                        Some("P") => RoomKind::Closed,
                        _ => RoomKind::Open,
                    };
                    let name = channel.display_name.filter(|name| !name.trim().is_empty());
                    let said = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
                    let room = Room {
                        id: format!("{}/{}", channel.team, channel.name),
                        name: name.unwrap_or(channel.name),
                        description: said(channel.purpose).or_else(|| said(channel.header)),
                        is_archived: channel.deleted_at.is_some_and(|at| at > 0),
                        kind,
                        ..Room::default()
                    };
                    return self.room(room).map(drop);
                }
            }
            "user" => {
                if let Some(user) = record.user {
                    return self.user(user);
                }
            }
            "bot" => {
                if let Some(bot) = record.bot {
                    return self.person(Person {
                        name: bot.display_name.unwrap_or_else(|| bot.username.clone()),
                        nick: bot.username.clone(),
                        id: bot.username,
                        is_bot: true,
                        ..Person::default()
                    });
                }
            }
            "post" => {
                if let Some(post) = record.post
                    && let (Some(team), Some(channel)) = (&post.team, &post.channel)
                {
                    let room = self.named_room(team, channel)?;
                    return self.post(room, post);
                }
            }
            "direct_channel" => {
                if let Some(channel) = record.direct_channel {
                    return self.direct_room(channel.people()).map(drop);
                }
            }
            "direct_post" => {
                if let Some(post) = record.direct_post {
                    let room = self.direct_room(post.channel_members.clone())?;
                    return self.post(room, post);
                }
            }
            // There is one organization here.
            "team" | "version" => return Ok(()),
            other => {
                let which = format!("{other} in line {number}");
                self.report.leave_out(LeftOutKind::UnusedField, which);
                return Ok(());
            }
        }
        let which = format!("line {number}");
        self.report.leave_out(LeftOutKind::UnreadableRecord, which);
        Ok(())
    }

    fn room(&mut self, room: Room) -> Result<usize> {
        if let Some(place) = self.places.get(&room.id) {
            return Ok(*place);
        }
        let id = room.id.clone();
        self.foreign.count_names([&id])?;
        let place = self.foreign.add_room(room)?;
        self.places.insert(id, place);
        Ok(place)
    }

    fn person(&mut self, person: Person) -> Result<()> {
        self.foreign.count_names([&person.id])?;
        self.usernames.insert(person.id.clone());
        self.foreign.add_person(person)
    }

    /// The room of a channel, also of one that has no line of its own.
    fn named_room(&mut self, team: &str, channel: &str) -> Result<usize> {
        self.room(Room {
            id: format!("{team}/{channel}"),
            name: channel.to_owned(),
            ..Room::default()
        })
    }

    fn direct_room(&mut self, mut members: Vec<String>) -> Result<usize> {
        members.sort_unstable();
        members.dedup();
        let id = known_as(&members.join(","));
        let is_group = members.len() > 2;
        if is_group && !self.places.contains_key(&id) {
            self.report
                .leave_out(LeftOutKind::GroupConversation, members.join(","));
        }
        self.room(Room {
            name: members.join(" "),
            kind: match is_group {
                true => RoomKind::Closed,
                false => RoomKind::Conversation,
            },
            id,
            members,
            ..Room::default()
        })
    }

    fn user(&mut self, user: UserRecord) -> Result<()> {
        let is_gone = user.delete_at.is_some_and(|at| at > 0);
        for team in user.teams.iter().flatten() {
            for channel in team.channels.iter().flatten() {
                let id = format!("{}/{}", team.name, channel.name);
                self.foreign.count_names([&id, &user.username])?;
                self.members
                    .entry(id)
                    .or_default()
                    .push(user.username.clone());
            }
        }
        let parts = [user.first_name, user.last_name].into_iter().flatten();
        let parts: Vec<String> = parts.filter(|part| !part.trim().is_empty()).collect();
        let name = match parts.is_empty() {
            true => user.nickname.filter(|name| !name.trim().is_empty()),
            false => Some(parts.join(" ")),
        };
        self.person(Person {
            name: name.unwrap_or_else(|| user.username.clone()),
            nick: user.username.clone(),
            membership: (!is_gone && user.email.is_some()).then_some(OrganizationRole::Member),
            email: user.email,
            is_active: !is_gone,
            is_proved: true,
            id: user.username,
            ..Person::default()
        })
    }

    fn post(&mut self, room: usize, mut post: Post) -> Result<()> {
        let replies = post.replies.take().unwrap_or_default();
        let root = self.message(room, post, None)?;
        for reply in replies {
            self.message(room, reply, root.as_deref())?;
        }
        Ok(())
    }

    /// Takes a message, and gives its id; `None` for messages of the system.
    fn message(&mut self, room: usize, post: Post, root: Option<&str>) -> Result<Option<String>> {
        let kind = post.kind.as_deref().unwrap_or_default();
        if kind.starts_with("system_") {
            self.report.leave_out(LeftOutKind::NotSaid, kind);
            return Ok(None);
        }
        if post.user.len() > MAX_USERNAME {
            let which = format!("a message at {}", post.create_at);
            self.report.leave_out(LeftOutKind::UnreadableRecord, which);
            return Ok(None);
        }
        // Messages of one time stand beside each other.
        if self.times.len() >= TIMES {
            self.times.retain(|(_, at, _), _| *at == post.create_at);
        }
        let time = (room, post.create_at, post.user.clone());
        let count = self
            .times
            .entry(time)
            .and_modify(|count| *count += 1)
            .or_insert(1);
        let id = match *count {
            1 => known_as(&format!("{}:{}", post.create_at, post.user)),
            count => known_as(&format!("{}:{}:{count}", post.create_at, post.user)),
        };
        let reactions = post.reactions.into_iter().flatten();
        let mut by_emoji: Vec<ForeignReaction> = Vec::new();
        for reaction in reactions {
            match by_emoji
                .iter_mut()
                .find(|known| known.emoji == reaction.emoji_name)
            {
                Some(known) => known.people.push(reaction.user),
                None => by_emoji.push(ForeignReaction {
                    emoji: reaction.emoji_name,
                    people: vec![reaction.user],
                }),
            }
        }
        let files = post
            .attachments
            .iter()
            .flatten()
            .map(|attachment| self.file(attachment));
        let message = ForeignMessage {
            files: files.collect(),
            text: self.text(post.message.as_deref().unwrap_or_default()),
            sent: post.create_at,
            edited: post.edit_at.filter(|at| *at > post.create_at),
            answers: root.map(str::to_owned),
            author_name: Some(post.user.clone()),
            author: Some(post.user),
            reactions: by_emoji,
            id: id.clone(),
        };
        self.spool.push(room, &message)?;
        Ok(Some(id))
    }

    fn file(&self, attachment: &Attachment) -> ForeignFile {
        let path = attachment.path.as_str();
        let found = FOLDERS.iter().map(|folder| format!("{folder}{path}"));
        ForeignFile {
            name: path.rsplit('/').next().unwrap_or_default().to_owned(),
            content_type: String::new(),
            entry: found
                .into_iter()
                .find(|entry| self.entries.contains_key(entry.as_str())),
            url: Some(path.to_owned()),
        }
    }

    /// The text with mentions of people by what the archive calls them.
    fn text(&self, text: &str) -> String {
        with_mentions(text, |name| match name {
            "all" | "channel" | "here" => Some(Mentioned::Everyone),
            known if self.usernames.contains(known) => Some(Mentioned::Person(known.to_owned())),
            _ => None,
        })
    }
}

fn check_version(record: Option<&Record>) -> Result<()> {
    let unfit = |text: &str| Err(Error::Unfit(text.to_owned()));
    match record {
        Some(record) if record.kind == "version" => match record.version {
            Some(1) => Ok(()),
            _ => unfit("this version of the bulk export of Mattermost is not known; version 1 is"),
        },
        _ => unfit(
            "this is no bulk export of Mattermost, whose first line is {\"type\":\"version\",\"version\":1}",
        ),
    }
}

/// What notes of the import call a record that has no id of its own: a digest, since names of people
/// in notes would outlive the erasure of a person.
fn known_as(text: &str) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
    let short = digest.as_ref().first_chunk::<16>().copied();
    uuid::Uuid::from_bytes(short.unwrap_or_default())
        .simple()
        .to_string()
}
