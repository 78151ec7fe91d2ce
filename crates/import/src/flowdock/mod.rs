//! Archives of Flowdock: a zip file of a flow with `messages.json` and the files of its messages, or a
//! zip file with a folder like that for each flow. An archive has ids of users and not their names.
//! `users.json` and `flows.json`, the answers of the API to `GET /organizations/ORG/users` and
//! `GET /flows/all?users=1`, may stand beside them.

mod files;
mod flows;
mod records;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use eddyline_markup as markup;
use eddyline_model::organizations::OrganizationRole;

use self::files::FlowFiles;
use self::flows::Flows;
use self::records::{FlowdockFile, FlowdockFlow, FlowdockMessage, FlowdockUser, Texts};
use crate::foreign::{Entries as _, Foreign, ForeignMessage, ForeignReaction};
use crate::foreign::{GrowingText, Mentioned, Room, RoomKind, Spool, ZipFile};
use crate::foreign::{cut_name, each_record, load, with_mentions};
use crate::people::Person;
use crate::target::{ImportWork, existing_organization};
use crate::{Error, ImportProgress, ImportReport, ImportTarget, LeftOutKind, Result};

/// What records that came from such an archive are noted as.
const SOURCE: &str = "flowdock";
/// The entry that every archive has.
pub(crate) const MESSAGES: &str = "messages.json";
const USERS: &str = "users.json";
const FLOWS: &str = "flows.json";

/// The most bytes of memory for the threads of a flow.
const MAX_THREADS: usize = 96 << 20;

/// Imports an archive. Blocks.
pub(crate) fn import(
    target: ImportTarget,
    archive: &Path,
    progress: &mut (dyn FnMut(ImportProgress) + Send),
) -> Result<ImportReport> {
    let organization = existing_organization(&target)?;
    let mut zip = ZipFile::open(archive)?;
    let mut work = ImportWork::new(target, SOURCE, organization, progress)?;
    let mut spool = Spool::of(archive)?;
    let name = archive.file_stem().unwrap_or_default().to_string_lossy();
    let foreign = Reading::begin(&mut zip, &mut work.report)?.run(&name, &mut spool)?;
    load(&mut work, archive, &foreign, spool, &mut zip)?;
    Ok(work.report)
}

struct Reading<'z> {
    zip: &'z mut ZipFile,
    report: &'z mut ImportReport,
    foreign: Foreign,
    /// What the archive calls people, by their nick in lower case.
    nicks: HashMap<String, String>,
    flows: Flows,
    /// The names of entries, sorted.
    names: Vec<Arc<str>>,
    /// The folder of the lists; those of flows are in it, or the only flow is there itself.
    top: String,
    /// The entry with the messages of each flow.
    messages: Vec<Arc<str>>,
}

impl<'z> Reading<'z> {
    fn begin(zip: &'z mut ZipFile, report: &'z mut ImportReport) -> Result<Self> {
        let names = zip.sorted_names();
        let messages = entries_with_messages(&names);
        let top = messages
            .first()
            .map(|entry| folder_of(entry))
            .unwrap_or_default();
        let top = folder_of(top).to_owned();
        let mut this = Self {
            zip,
            report,
            foreign: Foreign::default(),
            nicks: HashMap::new(),
            flows: Flows::default(),
            names,
            top,
            messages,
        };
        this.lists()?;
        Ok(this)
    }

    /// Reads the lists, which may be missing. In other folders such a name is that of an uploaded
    /// file.
    fn lists(&mut self) -> Result<()> {
        let Self {
            zip,
            report,
            foreign,
            nicks,
            flows,
            top,
            ..
        } = self;
        let entry = within(top, FLOWS);
        if zip.contains(&entry) {
            let list = (&*entry, zip.entry(&entry)?);
            each_record(list, report, &mut |_, flow: FlowdockFlow| {
                let texts = [&flow.id, &flow.name, &flow.parameterized_name];
                let more = flow.description.iter().chain(&flow.access_mode);
                let texts = texts.into_iter().chain(more).chain(&flow.users);
                foreign.count(size_of::<FlowdockFlow>(), texts)?;
                foreign.count_names([&flow.id, &flow.parameterized_name])?;
                flows.add(flow);
                Ok(())
            })?;
        }
        let entry = within(top, USERS);
        if zip.contains(&entry) {
            let list = (&*entry, zip.entry(&entry)?);
            each_record(list, report, &mut |report, user: FlowdockUser| {
                let Some(person) = person(user) else {
                    return Ok(());
                };
                foreign.count_names([&person.nick, &person.id])?;
                nicks.insert(person.nick.to_lowercase(), person.id.clone());
                foreign.add_person(report, person).map(drop)
            })?;
        }
        Ok(())
    }

    /// Reads each flow twice: which message begins a thread is known only at its end.
    fn run(mut self, archive: &str, spool: &mut Spool) -> Result<Foreign> {
        for entry in self.messages.clone() {
            let threads = self.threads(&entry)?;
            let folder = folder_of(&entry);
            let name = last_parts(folder, 1).filter(|name| !name.is_empty());
            let flow = self.room(name.unwrap_or(archive), threads.flow.as_deref())?;
            let Some(flow) = flow else {
                continue;
            };
            let files = FlowFiles::of(&self.names, folder);
            let mut authors = HashSet::new();
            self.messages(&entry, &mut |this, report, message| {
                if let Some(user) = message
                    .user
                    .as_ref()
                    .filter(|user| !authors.contains(*user))
                {
                    this.foreign.count_names([user])?;
                    authors.insert(user.clone());
                }
                match this.message(report, &files, &threads, message) {
                    Some(message) => spool.push(report, flow, &message),
                    None => Ok(()),
                }
            })?;
            let room = &mut self.foreign.rooms[flow];
            // Authors may have been removed from a flow whose members are known.
            if room.members.is_empty() {
                room.members = authors.into_iter().collect();
                room.members.sort_unstable();
            }
        }
        Ok(self.foreign)
    }

    /// The place of a flow, which is known by the name of its folder and the id that its messages
    /// name; `None` for one that is left out.
    fn room(&mut self, folder: &str, id: Option<&str>) -> Result<Option<usize>> {
        let mut room = Room {
            id: id.unwrap_or(folder).to_owned(),
            name: cut_name(folder.to_owned()),
            // The archive does not say who could join.
            kind: RoomKind::Closed,
            ..Room::default()
        };
        if let Some(flow) = self.flows.find(folder, id) {
            room.id.clone_from(&flow.id);
            room.name = cut_name(flow.name.clone());
            room.description = flow
                .description
                .clone()
                .filter(|text| !text.trim().is_empty());
            room.is_archived = flow.disabled;
            room.members.clone_from(&flow.users);
            if flow.access_mode.as_deref() == Some("organization") {
                room.kind = RoomKind::Open;
            }
        }
        self.foreign.add_room(self.report, room)
    }

    /// Gives each message of an entry to a function.
    fn messages(
        &mut self,
        entry: &str,
        take: &mut dyn FnMut(
            &mut MessageReading<'_>,
            &mut ImportReport,
            FlowdockMessage,
        ) -> Result<()>,
    ) -> Result<()> {
        let mut reading = MessageReading {
            foreign: &mut self.foreign,
            nicks: &self.nicks,
        };
        let list = (entry, self.zip.entry(entry)?);
        each_record(
            list,
            self.report,
            &mut |report, message: FlowdockMessage| {
                if message.is_bounded() {
                    return take(&mut reading, report, message);
                }
                let which = format!("{entry}, message {}", message.id);
                report.leave_out(LeftOutKind::UnreadableRecord, which);
                Ok(())
            },
        )
    }

    /// Which messages begin threads.
    fn threads(&mut self, entry: &str) -> Result<ThreadStarts> {
        let mut threads = ThreadStarts::default();
        let list = (entry, self.zip.entry(entry)?);
        // Unreadable records are counted when they are read again.
        let mut uncounted = ImportReport::default();
        each_record(
            list,
            &mut uncounted,
            &mut |_, message: FlowdockMessage| match message.is_bounded() {
                true => threads.note(message),
                false => Ok(()),
            },
        )?;
        Ok(threads)
    }
}

/// The first messages of threads.
#[derive(Default)]
struct ThreadStarts {
    first: HashMap<String, i64>,
    /// The number of bytes that the ids of the threads have together.
    bytes: usize,
    /// The flow that the messages name.
    flow: Option<String>,
}

impl ThreadStarts {
    fn note(&mut self, message: FlowdockMessage) -> Result<()> {
        /// The bytes that the map needs for an id besides those of the id.
        const ENTRY: usize = 2 * size_of::<(String, i64)>() + 16;
        if self.flow.is_none() {
            self.flow = message.flow.clone();
        }
        let (Some(_), Some(thread)) = (Said::of(&message), message.thread_id) else {
            return Ok(());
        };
        if let Some(first) = self.first.get_mut(&thread) {
            *first = message.id.min(*first);
            return Ok(());
        }
        self.bytes += ENTRY + thread.len();
        if self.bytes > MAX_THREADS {
            return Err(Error::Unfit("a flow has too many threads".to_owned()));
        }
        self.first.insert(thread, message.id);
        Ok(())
    }

    /// The message that another one answers.
    fn answered(&self, message: &FlowdockMessage) -> Option<i64> {
        let first = message.thread_id.as_ref();
        let first = first.and_then(|thread| self.first.get(thread)).copied();
        // Before there were threads, a comment named its message in a tag.
        let tags = message.tags.iter();
        let mut named = tags.filter_map(|tag| tag.strip_prefix("influx:")?.parse().ok());
        first
            .or_else(|| named.next())
            .filter(|id| *id != message.id)
    }
}

/// What a user or a tool said.
#[derive(Default)]
struct Said {
    text: String,
    files: Vec<FlowdockFile>,
}

impl Said {
    /// `None` for events that tell of changes, and for items of the inbox in forms that only their
    /// tools knew.
    fn of(message: &FlowdockMessage) -> Option<Self> {
        let described = || message.described::<Texts>().and_then(|texts| texts.text);
        let said = match message.event.as_str() {
            "message" | "status" | "line" => Self::text(message.said()?),
            "comment" => Self::text(described().or_else(|| message.said())?),
            "file" => Self {
                files: vec![message.described()?],
                ..Self::default()
            },
            "activity" | "discussion" => Self::text(item(message)),
            _ => return None,
        };
        let attachments = message.attachments.iter();
        let new = attachments.filter(|of| !said.files.iter().any(|known| known.path == of.path));
        let files = said.files.iter().chain(new).cloned().collect();
        let said = Self { files, ..said };
        (!said.text.trim().is_empty() || !said.files.is_empty()).then_some(said)
    }

    fn text(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }
}

/// Title and body of an item of the inbox as one text.
fn item(message: &FlowdockMessage) -> String {
    let content = message.described::<Texts>().unwrap_or_default();
    let title = message.title.as_ref().or(content.title.as_ref());
    let body = message.body.as_ref().or(content.body.as_ref());
    let parts = [title, body]
        .into_iter()
        .flatten()
        .map(|text| markup::text(text));
    let parts: Vec<String> = parts.filter(|part| !part.trim().is_empty()).collect();
    parts.join("\n")
}

/// What it takes to read a message.
struct MessageReading<'r> {
    foreign: &'r mut Foreign,
    nicks: &'r HashMap<String, String>,
}

impl MessageReading<'_> {
    fn message(
        &self,
        report: &mut ImportReport,
        files: &FlowFiles,
        threads: &ThreadStarts,
        message: FlowdockMessage,
    ) -> Option<ForeignMessage> {
        let Some(said) = Said::of(&message) else {
            report.leave_out(LeftOutKind::NotSaid, &message.event);
            return None;
        };
        let answers = threads.answered(&message).map(|id| id.to_string());
        let edited = message.edited().filter(|at| *at > message.sent);
        let author = message.author.and_then(|author| author.name);
        let name = message.external_user_name.or(author);
        let unknown = || Some(format!("User {}", message.user.as_ref()?));
        let reactions: BTreeMap<_, _> = message.reactions.into_iter().flatten().collect();
        let reactions = reactions
            .into_iter()
            .map(|(emoji, people)| ForeignReaction {
                emoji: emoji.trim_matches(':').to_owned(),
                people: people.0.into_iter().filter_map(|person| person.0).collect(),
            });
        let attached = said.files.into_iter().map(|file| files.file(file));
        let text = self.text(&said.text);
        Some(ForeignMessage {
            files: attached.collect(),
            text: text.text,
            is_cut: text.is_cut,
            id: message.id.to_string(),
            sent: message.sent,
            edited,
            answers,
            author_name: name.or_else(unknown).map(cut_name),
            author: message.user,
            reactions: reactions.collect(),
        })
    }

    fn text(&self, text: &str) -> GrowingText {
        with_mentions(text, |nick| {
            let person = self.nicks.get(&nick.to_lowercase())?;
            Some(Mentioned::Person(person.clone()))
        })
    }
}

fn person(user: FlowdockUser) -> Option<Person> {
    let said = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    let is_member = !user.disabled && user.in_organization != Some(false);
    let email = said(user.email);
    Some(Person {
        id: user.id?,
        name: cut_name(said(user.name).unwrap_or_else(|| user.nick.clone())),
        nick: cut_name(user.nick),
        website: user.website.unwrap_or_default(),
        status: said(user.status),
        is_active: !user.disabled,
        is_proved: true,
        membership: (is_member && email.is_some()).then_some(OrganizationRole::Member),
        email,
        ..Person::default()
    })
}

/// The entries that have messages of flows: all in folders of the same depth, since deeper ones are
/// uploaded files of that name.
fn entries_with_messages(names: &[Arc<str>]) -> Vec<Arc<str>> {
    let is_it = |name: &&Arc<str>| last_parts(name, 1) == Some(MESSAGES);
    let depth = |name: &Arc<str>| name.matches('/').count();
    let found = || names.iter().filter(is_it);
    let Some(least) = found().map(depth).min() else {
        return Vec::new();
    };
    found()
        .filter(|name| depth(name) == least)
        .cloned()
        .collect()
}

/// The folder of an entry, without the slash at its end.
fn folder_of(entry: &str) -> &str {
    entry.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The name of an entry of a folder.
fn within(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}

/// The last parts of a path, if it has so many.
fn last_parts(path: &str, parts: usize) -> Option<&str> {
    let mut slashes = path.rmatch_indices('/').map(|(at, _)| at + 1);
    match slashes.nth(parts - 1) {
        Some(start) => Some(&path[start..]),
        None => (path.matches('/').count() + 1 == parts).then_some(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uploaded_files_are_not_taken_for_messages() {
        let names =
            |list: &[&str]| -> Vec<Arc<str>> { list.iter().copied().map(Arc::from).collect() };
        let found = |list: &[&str]| -> Vec<String> {
            let entries = entries_with_messages(&names(list));
            entries.iter().map(ToString::to_string).collect()
        };
        assert_eq!(
            found(&["files/a/messages.json", "messages.json"]),
            ["messages.json"]
        );
        assert_eq!(
            found(&[
                "a/messages.json",
                "b/files/messages.json",
                "b/messages.json"
            ]),
            ["a/messages.json", "b/messages.json"]
        );
        assert!(found(&["a/other.json"]).is_empty());
    }

    #[test]
    fn the_threads_of_a_flow_have_a_bound() {
        let message = |thread: &str| -> FlowdockMessage {
            let record = serde_json::json!({
                "id": 1, "event": "message", "sent": 1, "content": "a", "thread_id": thread,
            });
            serde_json::from_value(record).unwrap()
        };
        let mut threads = ThreadStarts {
            bytes: MAX_THREADS - 100,
            ..ThreadStarts::default()
        };
        threads.note(message("one")).unwrap();
        threads.note(message("one")).unwrap();
        let error = threads.note(message("two")).unwrap_err();
        assert_eq!(error.to_string(), "a flow has too many threads");
    }

    #[test]
    fn the_last_parts_of_a_path() {
        assert_eq!(last_parts("a/b/c", 1), Some("c"));
        assert_eq!(last_parts("a/b/c", 2), Some("b/c"));
        assert_eq!(last_parts("b/c", 2), Some("b/c"));
        assert_eq!(last_parts("c", 1), Some("c"));
        assert_eq!(last_parts("c", 2), None);
    }
}
