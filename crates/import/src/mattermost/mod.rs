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
use uuid::Uuid;

use self::lines::{Line, each_line};
use self::records::{Attachment, ChannelRecord, Post, Reaction, Record, UserRecord};
use crate::foreign::{Entries, Foreign, ForeignFile, ForeignMessage, ForeignReaction};
use crate::foreign::{GrowingText, Mentioned, Names, Room, RoomKind, Spool, ZipFile};
use crate::foreign::{cut_name, is_id, load, with_mentions, without_repeats};
use crate::people::Person;
use crate::target::{ImportWork, existing_organization};
use crate::{Error, ImportProgress, ImportReport, ImportTarget, LeftOutKind, Result};

/// What records that came from such an archive are noted as.
const SOURCE: &str = "mattermost";
/// How the entry with the lines ends.
pub(crate) const LINES: &str = ".jsonl";
/// The number of messages behind a message within which another one of the same author and time is
/// told from it. Twice as many are remembered.
const TIMES: usize = 200_000;
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
    let mut spool = Spool::of(archive)?;
    let mut start = [0; 2];
    let is_zip = File::open(archive)?.read(&mut start)? == 2 && start == *b"PK";
    if !is_zip {
        let file = BufReader::with_capacity(256 * 1024, File::open(archive)?);
        let reading = Reading::new(&mut work.report, &mut spool, Arc::default());
        let foreign = reading.run(file)?;
        load(&mut work, archive, &foreign, spool, &mut NoEntries)?;
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
    load(&mut work, archive, &foreign, spool, &mut zip)?;
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
    /// Places of channels that occur in posts, but have had no `channel` line yet.
    unstated: HashSet<usize>,
    /// Who is in channels, by what the archive calls these.
    members: HashMap<String, Vec<String>>,
    usernames: HashSet<String>,
    entries: Arc<Names>,
    times: Times,
}

impl<'r> Reading<'r> {
    fn new(report: &'r mut ImportReport, spool: &'r mut Spool, entries: Arc<Names>) -> Self {
        Self {
            report,
            spool,
            foreign: Foreign::default(),
            unstated: HashSet::new(),
            members: HashMap::new(),
            usernames: HashSet::new(),
            entries,
            times: Times::default(),
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
                room.members = without_repeats(std::mem::take(&mut room.members));
            }
        }
        Ok(self.foreign)
    }

    fn record(&mut self, record: Record, number: u64) -> Result<()> {
        match record.kind.as_str() {
            "channel" => {
                if let Some(channel) = record.channel {
                    return self.channel(room_of(channel));
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
                    return match self.named_room(team, channel)? {
                        Some(room) => self.post(room, post),
                        None => Ok(()),
                    };
                }
            }
            "direct_channel" => {
                if let Some(channel) = record.direct_channel {
                    return self.direct_room(channel.people()).map(drop);
                }
            }
            "direct_post" => {
                if let Some(post) = record.direct_post {
                    return match self.direct_room(post.channel_members.clone())? {
                        Some(room) => self.post(room, post),
                        None => Ok(()),
                    };
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

    /// The place of a room; `None` for one that is left out.
    fn room(&mut self, room: Room) -> Result<Option<usize>> {
        let room = Room {
            name: cut_name(room.name),
            ..room
        };
        self.foreign.add_room(self.report, room)
    }

    /// Adds a channel by its `channel` line, which may follow posts in it.
    fn channel(&mut self, room: Room) -> Result<()> {
        let named = self.foreign.place(&room.id);
        match named.filter(|place| self.unstated.remove(place)) {
            Some(place) => {
                let name = cut_name(room.name);
                self.foreign.put_room(place, Room { name, ..room })
            }
            None => self.room(room).map(drop),
        }
    }

    fn person(&mut self, person: Person) -> Result<()> {
        let id = person.id.clone();
        let person = Person {
            name: cut_name(person.name),
            nick: cut_name(person.nick),
            ..person
        };
        if self.foreign.add_person(self.report, person)? {
            self.foreign.count_names([&id])?;
            self.usernames.insert(id);
        }
        Ok(())
    }

    /// The room of a channel. Without a `channel` line it is closed, since only that line says
    /// whether it is private.
    fn named_room(&mut self, team: &str, channel: &str) -> Result<Option<usize>> {
        let id = format!("{team}/{channel}");
        let known = self.foreign.place(&id);
        if known.is_some() {
            return Ok(known);
        }
        let place = self.room(Room {
            id,
            name: channel.to_owned(),
            kind: RoomKind::Closed,
            ..Room::default()
        })?;
        self.unstated.extend(place);
        Ok(place)
    }

    fn direct_room(&mut self, mut members: Vec<String>) -> Result<Option<usize>> {
        members.sort_unstable();
        members.dedup();
        let id = known_as(&members.join(","));
        let is_group = members.len() > 2;
        if is_group && self.foreign.place(&id).is_none() {
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
        let teams = user.teams.iter().flatten();
        // Others are left out themselves.
        for team in teams.filter(|team| is_id(&team.name) && is_id(&user.username)) {
            let channels = team.channels.iter().flatten();
            for channel in channels.filter(|channel| is_id(&channel.name)) {
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
        if !is_id(&post.user) {
            let which = format!("a message at {}", post.create_at);
            self.report.leave_out(LeftOutKind::UnreadableRecord, which);
            return Ok(None);
        }
        let id = match self.times.count(room, post.create_at, &post.user) {
            1 => known_as(&format!("{}:{}", post.create_at, post.user)),
            count => known_as(&format!("{}:{}:{count}", post.create_at, post.user)),
        };
        let said = self.text(post.message.as_deref().unwrap_or_default());
        let files = post
            .attachments
            .iter()
            .map(|attachment| self.file(attachment));
        let message = ForeignMessage {
            files: files.collect(),
            text: said.text,
            is_cut: said.is_cut,
            sent: post.create_at,
            edited: post.edit_at.filter(|at| *at > post.create_at),
            answers: root.map(str::to_owned),
            author_name: Some(post.user.clone()),
            author: Some(post.user),
            reactions: by_emoji(post.reactions.unwrap_or_default()),
            id: id.clone(),
        };
        self.spool.push(self.report, room, &message)?;
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
    fn text(&self, text: &str) -> GrowingText {
        with_mentions(text, |name| match name {
            "all" | "channel" | "here" => Some(Mentioned::Everyone),
            name if self.usernames.contains(name) => Some(Mentioned::Person(name.to_owned())),
            _ => None,
        })
    }
}

fn room_of(channel: ChannelRecord) -> Room {
    let said = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    Room {
        id: format!("{}/{}", channel.team, channel.name),
        name: said(channel.display_name).unwrap_or(channel.name),
        description: said(channel.purpose).or_else(|| said(channel.header)),
        is_archived: channel.deleted_at.is_some_and(|at| at > 0),
        kind: match channel.kind.as_deref() {
            Some("P") => RoomKind::Closed,
            _ => RoomKind::Open,
        },
        ..Room::default()
    }
}

/// The times at which authors have said something: messages have no ids.
#[derive(Default)]
struct Times {
    /// The number of messages of an author and a time, in two parts of which the older one
    /// goes when the newer one is full. Digests take the same memory for any name.
    newer: HashMap<Uuid, u32>,
    older: HashMap<Uuid, u32>,
}

impl Times {
    /// Counts a message: how many an author had at this time in this room, with it. Those of one
    /// time stand near each other.
    fn count(&mut self, room: usize, at: i64, author: &str) -> u32 {
        let key = digest(&format!("{room}:{at}:{author}"));
        let before = self.newer.get(&key).or_else(|| self.older.get(&key));
        let count = before.map_or(1, |count| count.saturating_add(1));
        if self.newer.len() >= TIMES {
            self.older = std::mem::take(&mut self.newer);
        }
        self.newer.insert(key, count);
        count
    }
}

/// Reactions with the same emoji together, in the order of the first of each.
fn by_emoji(reactions: Vec<Reaction>) -> Vec<ForeignReaction> {
    let (mut places, mut grouped) = (HashMap::new(), Vec::<ForeignReaction>::new());
    for Reaction { user, emoji_name } in reactions {
        let place = *places.entry(emoji_name.clone()).or_insert(grouped.len());
        if place == grouped.len() {
            grouped.push(ForeignReaction {
                emoji: emoji_name,
                people: Vec::new(),
            });
        }
        grouped[place].people.push(user);
    }
    grouped
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
    digest(text).simple().to_string()
}

/// As many bytes of the SHA-256 of a text as make an id.
fn digest(text: &str) -> Uuid {
    let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
    let short = digest.as_ref().first_chunk::<16>().copied();
    Uuid::from_bytes(short.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read of these lines, and how many messages wait.
    fn read(lines: &[String]) -> (Foreign, ImportReport, Vec<(usize, ForeignMessage)>) {
        let (mut report, mut spool) = (ImportReport::default(), Spool::new(0).unwrap());
        let lines = [&["{\"type\":\"version\",\"version\":1}".to_owned()], lines].concat();
        let reading = Reading::new(&mut report, &mut spool, Arc::default());
        let foreign = reading.run(lines.join("\n").as_bytes()).unwrap();
        let mut messages = Vec::new();
        spool
            .each(|room, message| {
                messages.push((room, message));
                Ok(())
            })
            .unwrap();
        (foreign, report, messages)
    }

    fn post(channel: &str, user: &str) -> String {
        let post = format!(r#""team":"t","channel":"{channel}","user":"{user}","create_at":1"#);
        format!(r#"{{"type":"post","post":{{{post},"message":"@u"}}}}"#)
    }

    #[test]
    fn messages_of_one_time_get_ids_of_their_own() {
        let lines = ["u", "u", "v", "u"].map(|user| post("c", user));
        let (_, _, messages) = read(&lines);
        let ids: HashSet<_> = messages.iter().map(|(_, message)| &message.id).collect();
        assert_eq!(ids.len(), 4);
        assert!(ids.contains(&known_as("1:u")) && ids.contains(&known_as("1:u:3")));
    }

    #[test]
    fn a_channel_is_closed_until_its_line_says_otherwise() {
        let channel = |kind: &str, name: &str| {
            let channel =
                format!(r#""team":"t","name":"c","display_name":"{name}","type":"{kind}""#);
            format!(r#"{{"type":"channel","channel":{{{channel}}}}}"#)
        };
        for (lines, kind, name) in [
            (vec![post("c", "u")], RoomKind::Closed, "c"),
            (
                vec![post("c", "u"), channel("O", "Sea")],
                RoomKind::Open,
                "Sea",
            ),
            (
                vec![post("c", "u"), channel("P", "Sea")],
                RoomKind::Closed,
                "Sea",
            ),
            (
                vec![channel("O", "Sea"), post("c", "u")],
                RoomKind::Open,
                "Sea",
            ),
            (
                vec![channel("P", "Sea"), channel("O", "Bay")],
                RoomKind::Closed,
                "Sea",
            ),
        ] {
            let (foreign, _, _) = read(&lines);
            assert_eq!(foreign.rooms.len(), 1, "{lines:?}");
            let room = &foreign.rooms[0];
            assert_eq!((room.kind, &*room.name), (kind, name), "{lines:?}");
        }
    }

    #[test]
    fn members_and_files_have_no_repeats_and_a_bound() {
        let channels = r#"{"name":"c"}"#;
        let channels = [channels; 3].join(",");
        let teams = format!(r#"[{{"name":"t","channels":[{channels}]}}]"#);
        let user = format!(r#"{{"type":"user","user":{{"username":"u","teams":{teams}}}}}"#);
        let with_files = |count: usize| {
            let files = vec![r#"["a"]"#; count].join(",");
            let post = format!(
                r#""team":"t","channel":"c","user":"u","create_at":1,"attachments":[{files}]"#
            );
            format!(r#"{{"type":"post","post":{{{post}}}}}"#)
        };
        let (foreign, report, messages) = read(&[user, with_files(10_000), with_files(10_001)]);
        assert_eq!(foreign.rooms[0].members, ["u"]);
        assert_eq!(messages.len(), 1);
        assert_eq!(messages[0].1.files.len(), 10_000);
        assert_eq!(report.left_out[0].first, "line 4");
    }

    #[test]
    fn messages_of_one_time_take_no_longer_for_each() {
        let mut times = Times::default();
        assert_eq!(times.count(0, 1, "first"), 1);
        for author in 0..TIMES {
            assert_eq!(times.count(0, 1, &author.to_string()), 1);
        }
        assert_eq!(times.count(0, 1, "first"), 2, "it is remembered");
        for author in 0..2 * TIMES {
            times.count(0, 2, &author.to_string());
        }
        assert_eq!(times.newer.len().max(times.older.len()), TIMES);
    }

    #[test]
    fn reactions_are_grouped_by_emoji_without_a_pass_for_each() {
        let reaction = |user: &str, emoji: String| Reaction {
            user: user.to_owned(),
            emoji_name: emoji,
        };
        let mut many: Vec<_> = (0..200_000)
            .map(|number| reaction("u", format!("e{number}")))
            .collect();
        many.push(reaction("v", "e0".to_owned()));
        let grouped = by_emoji(many);
        assert_eq!(grouped.len(), 200_000);
        assert_eq!(grouped[0].people, ["u", "v"]);
    }

    #[test]
    fn what_has_no_id_is_left_out_and_counted() {
        let long = "n".repeat(300);
        let lines = [
            format!(r#"{{"type":"user","user":{{"username":"{long}"}}}}"#),
            r#"{"type":"user","user":{"username":"u"}}"#.to_owned(),
            r#"{"type":"channel","channel":{"team":"t","name":"c\u0000"}}"#.to_owned(),
            post(&long, "u"),
            post("c", &long),
            post("c", "\\u0000"),
            post("c", "u"),
        ];
        let (foreign, report, messages) = read(&lines);
        assert_eq!((foreign.people.len(), foreign.rooms.len()), (1, 1));
        assert_eq!(messages.len(), 1);
        assert_eq!(report.left_out[0].kind, LeftOutKind::UnreadableRecord);
        assert_eq!(report.left_out[0].count, 5);
    }
}
