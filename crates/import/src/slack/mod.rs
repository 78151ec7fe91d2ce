//! Exports of Slack workspaces: a zip file with lists of users and channels, and for each channel a
//! folder with the messages of each day.
//!
//! Slack's own export has the addresses of files and not their bytes. Tools that add those put them
//! under `__uploads/ID/NAME`, or under `CHANNEL/attachments/ID-NAME`.

mod markup;
mod records;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use eddyline_model::organizations::OrganizationRole;
use serde::de::DeserializeOwned;

use self::markup::Names;
use self::records::{Channel, FileRecord, MessageRecord, User};
use crate::foreign::{Entries as _, Foreign, ForeignFile, ForeignMessage, ForeignReaction};
use crate::foreign::{Room, RoomKind, Spool, ZipFile, each_record, load};
use crate::people::Person;
use crate::target::{ImportWork, existing_organization};
use crate::{Error, ImportProgress, ImportReport, ImportTarget, LeftOutKind, Result};

/// What records that came from such an archive are noted as.
const SOURCE: &str = "slack";
/// The entry that every export has.
pub(crate) const USERS: &str = "users.json";

/// A message of a user. All other kinds are of the system: who joined, or what the topic is.
const SAID: &[&str] = &[
    "bot_message",
    "file_comment",
    "file_mention",
    "file_share",
    "me_message",
    "reply_broadcast",
    "thread_broadcast",
];

/// Imports an export. Blocks.
pub(crate) fn import(
    target: ImportTarget,
    archive: &Path,
    progress: &mut (dyn FnMut(ImportProgress) + Send),
) -> Result<ImportReport> {
    let organization = existing_organization(&target)?;
    let mut zip = ZipFile::open(archive)?;
    let mut work = ImportWork::new(target, SOURCE, organization, progress)?;
    let mut spool = Spool::of(archive)?;
    let foreign = Reading::begin(&mut zip, &mut work.report)?.run(&mut spool)?;
    load(&mut work, archive, &foreign, spool, &mut zip)?;
    Ok(work.report)
}

/// The folder within the zip file that has the lists.
fn prefix(zip: &ZipFile) -> String {
    let names = zip.sorted_names();
    let lists = names.iter().filter_map(|name| name.strip_suffix(USERS));
    let own = lists.filter(|prefix| prefix.is_empty() || prefix.ends_with('/'));
    own.min_by_key(|prefix| prefix.len())
        .unwrap_or_default()
        .to_owned()
}

struct Reading<'z> {
    zip: &'z mut ZipFile,
    report: &'z mut ImportReport,
    foreign: Foreign,
    names: Names,
    /// Entries of days, by folder.
    days: BTreeMap<String, Vec<Arc<str>>>,
    /// Entries with the bytes of files, by the id of the file.
    files: HashMap<String, Arc<str>>,
}

impl<'z> Reading<'z> {
    fn begin(zip: &'z mut ZipFile, report: &'z mut ImportReport) -> Result<Self> {
        let prefix = prefix(zip);
        let (mut days, mut files) = (BTreeMap::<String, Vec<Arc<str>>>::new(), HashMap::new());
        for name in zip.sorted_names() {
            let Some(path) = name.strip_prefix(&prefix) else {
                continue;
            };
            match path.split('/').collect::<Vec<_>>()[..] {
                ["__uploads", id, _] => drop(files.insert(id.to_owned(), name.clone())),
                [_, "attachments", file] => {
                    let id = file.split('-').next().unwrap_or_default();
                    files.insert(id.to_owned(), name.clone());
                }
                [folder, day] if day.ends_with(".json") => {
                    days.entry(folder.to_owned())
                        .or_default()
                        .push(name.clone());
                }
                _ => {}
            }
        }
        let mut this = Self {
            zip,
            report,
            foreign: Foreign::default(),
            names: Names::default(),
            days,
            files,
        };
        this.lists(&prefix)?;
        Ok(this)
    }

    fn lists(&mut self, prefix: &str) -> Result<()> {
        let Self {
            zip,
            report,
            foreign,
            names,
            ..
        } = self;
        each_of(
            zip,
            &format!("{prefix}{USERS}"),
            report,
            &mut |report, user: User| {
                foreign.count_names([&user.id])?;
                names.people.insert(user.id.clone());
                foreign.add_person(report, person(user)).map(drop)
            },
        )?;
        for (list, kind) in [
            ("channels.json", RoomKind::Open),
            ("groups.json", RoomKind::Closed),
            ("mpims.json", RoomKind::Closed),
            ("dms.json", RoomKind::Conversation),
        ] {
            let entry = format!("{prefix}{list}");
            each_of(zip, &entry, report, &mut |report, channel: Channel| {
                if foreign.place(&channel.id).is_some() {
                    let which = format!("a second record of {} in {entry}", channel.id);
                    report.leave_out(LeftOutKind::UnreadableRecord, which);
                    return Ok(());
                }
                if list == "mpims.json" {
                    let which = channel.name.clone().unwrap_or_else(|| channel.id.clone());
                    report.leave_out(LeftOutKind::GroupConversation, which);
                }
                if let Some(name) = &channel.name {
                    foreign.count_names([&channel.id, name])?;
                    names.channels.insert(channel.id.clone(), name.clone());
                }
                foreign.add_room(report, room(channel, kind)).map(drop)
            })?;
        }
        Ok(())
    }

    fn run(mut self, spool: &mut Spool) -> Result<Foreign> {
        let mut days = std::mem::take(&mut self.days);
        for place in 0..self.foreign.rooms.len() {
            let room = &self.foreign.rooms[place];
            let by_name = days.remove(&room.name);
            let of_room = by_name.or_else(|| days.remove(&room.id));
            for day in of_room.unwrap_or_default() {
                self.day(place, &day, spool)?;
            }
        }
        for (folder, _) in days {
            // Folders of canvases and the like, and of channels that no list has.
            self.report.leave_out(LeftOutKind::UnreadableRecord, folder);
        }
        Ok(self.foreign)
    }

    fn day(&mut self, room: usize, entry: &str, spool: &mut Spool) -> Result<()> {
        let Self {
            zip,
            report,
            names,
            files,
            ..
        } = self;
        let reading = MessageReading { names, files };
        each_of(zip, entry, report, &mut |report, record: MessageRecord| {
            let is_said = match record.subtype.as_deref() {
                None | Some("") => true,
                Some(subtype) => SAID.contains(&subtype),
            };
            if !is_said {
                let which = format!(
                    "{} in {entry}",
                    record.subtype.as_deref().unwrap_or_default()
                );
                report.leave_out(LeftOutKind::NotSaid, which);
                return Ok(());
            }
            match reading.message(record) {
                Ok(message) => spool.push(report, room, &message),
                Err(ts) => {
                    let which = format!("{entry}, message {ts}");
                    report.leave_out(LeftOutKind::UnreadableRecord, which);
                    Ok(())
                }
            }
        })
    }
}

/// Gives each record of an entry that may be missing to a function. An entry that cannot be read to
/// its end is left out from there on.
fn each_of<T: DeserializeOwned>(
    zip: &mut ZipFile,
    entry: &str,
    report: &mut ImportReport,
    take: &mut dyn FnMut(&mut ImportReport, T) -> Result<()>,
) -> Result<()> {
    if !zip.contains(entry) {
        return Ok(());
    }
    let mut is_taken = true;
    let read = each_record((entry, zip.entry(entry)?), report, &mut |report, record| {
        let taken = take(report, record);
        is_taken = taken.is_ok();
        taken
    });
    match read {
        Err(Error::Unfit(_)) if is_taken => {
            report.leave_out(LeftOutKind::UnreadableRecord, entry);
            Ok(())
        }
        read => read,
    }
}

/// The parts of an archive that reading a message takes.
struct MessageReading<'r> {
    names: &'r Names,
    files: &'r HashMap<String, Arc<str>>,
}

impl MessageReading<'_> {
    /// A message; its time as it stands there when that is none.
    fn message(&self, record: MessageRecord) -> std::result::Result<ForeignMessage, String> {
        let Some(sent) = millis(&record.ts) else {
            return Err(record.ts);
        };
        let mut said = self.names.text(record.text.as_deref().unwrap_or_default());
        if said.text.trim().is_empty() {
            said = self.names.text(&record.attached_text());
        }
        if record.subtype.as_deref() == Some("me_message") && !said.text.is_empty() {
            said.text = format!("_{}_", said.text);
        }
        let files = record.files.iter().filter(|file| !file.is_gone());
        let files = files.map(|file| self.file(file)).collect();
        let reactions = record.reactions.iter().map(|reaction| ForeignReaction {
            emoji: reaction.name.clone(),
            people: reaction.users.clone(),
        });
        Ok(ForeignMessage {
            answers: record.thread_ts.clone().filter(|root| *root != record.ts),
            author_name: record.author_name(),
            edited: record.edited.as_ref().and_then(|edited| millis(&edited.ts)),
            author: record.user,
            reactions: reactions.collect(),
            id: record.ts,
            text: said.text,
            is_cut: said.is_cut,
            sent,
            files,
        })
    }

    fn file(&self, file: &FileRecord) -> ForeignFile {
        let name = file.name.clone().or_else(|| file.title.clone());
        ForeignFile {
            name: name.unwrap_or_default(),
            content_type: file.mimetype.clone().unwrap_or_default(),
            entry: file
                .id
                .as_ref()
                .and_then(|id| Some(self.files.get(id)?.to_string())),
            // The rest of the address may be a token.
            url: file
                .url_private
                .as_ref()
                .map(|url| url.split('?').next().unwrap_or_default().to_owned()),
        }
    }
}

fn person(user: User) -> Person {
    let profile = user.profile.unwrap_or_default();
    let first = |texts: [Option<String>; 4]| {
        let mut said = texts
            .into_iter()
            .flatten()
            .filter(|text| !text.trim().is_empty());
        said.next().unwrap_or_default()
    };
    let is_gone = user.deleted;
    let email = profile.email.filter(|_| !user.is_bot);
    Person {
        name: first([
            profile.real_name,
            user.real_name,
            profile.display_name.clone(),
            user.name.clone(),
        ]),
        nick: first([profile.display_name, user.name, None, None]),
        is_bot: user.is_bot,
        is_active: !is_gone,
        is_proved: true,
        membership: (!is_gone && email.is_some()).then_some(OrganizationRole::Member),
        id: user.id,
        email,
        ..Person::default()
    }
}

fn room(channel: Channel, kind: RoomKind) -> Room {
    let said = |text: Option<records::Said>| {
        text.map(|text| text.value)
            .filter(|text| !text.trim().is_empty())
    };
    Room {
        name: channel.name.unwrap_or_else(|| channel.id.clone()),
        description: said(channel.purpose).or_else(|| said(channel.topic)),
        created_at: channel.created.map(|seconds| seconds.saturating_mul(1000)),
        creator: channel.creator,
        members: channel.members,
        is_archived: channel.is_archived,
        id: channel.id,
        kind,
    }
}

/// A time of Slack, seconds with a fraction, in milliseconds.
fn millis(ts: &str) -> Option<i64> {
    let (seconds, fraction) = ts.split_once('.').unwrap_or((ts, ""));
    let seconds: i64 = seconds
        .parse()
        .ok()
        .filter(|seconds| (0..1 << 36).contains(seconds))?;
    let digits = |b: u8| b.is_ascii_digit();
    let thousandths = fraction.get(..fraction.len().min(3))?;
    if !fraction.bytes().all(digits) {
        return None;
    }
    let thousandths: i64 = format!("{thousandths:0<3}").parse().ok()?;
    Some(seconds * 1000 + thousandths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_or_refused() {
        for (ts, expected) in [
            ("1609459200.000200", Some(1_609_459_200_000)),
            ("1609459200.123456", Some(1_609_459_200_123)),
            ("1609459200", Some(1_609_459_200_000)),
            ("1609459200.5", Some(1_609_459_200_500)),
            ("1609459200.x", None),
            ("1.ä", None),
            ("-1.0", None),
            ("99999999999999999999", None),
            ("", None),
        ] {
            assert_eq!(millis(ts), expected, "{ts}");
        }
    }
}
