use std::collections::{BTreeMap, HashMap};
use std::io::{Seek, Write};

use eddyline_archive::{
    ArchivePages, Digest, ExportKey, ExportManifest, ExportWriter, GroupRecord,
    OrganizationMemberRecord, OrganizationRecord, PersonMembership, RoomPages, RoomSummary,
    SelfRecord, paths,
};
use eddyline_backup::{open, while_files_are_kept};
use eddyline_files::Files;
use eddyline_model::UserId;
use eddyline_model::organizations::{Organization, OrganizationSubscription};
use eddyline_storage::copy::DumpedObject;
use eddyline_storage::{Reader, Store};
use tokio::runtime::Handle;

use crate::people::{self, People};
use crate::plan::{Plan, PlannedRoom, RoomKind};
use crate::rooms::{self, SourceNumbers};
use crate::{ExportSubject, Result};

/// How many messages there are between two reports.
const MESSAGES_FOR_A_REPORT: u64 = 5_000;
/// How many files.
const FILES_FOR_A_REPORT: u64 = 100;

/// What an export is taken from.
#[derive(Debug)]
pub struct ExportSource {
    /// The database.
    pub store: Store,
    /// The place for files.
    pub files: Files,
    /// The key that signs.
    pub key: ExportKey,
}

/// How far an export is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportProgress {
    /// Messages of a room were written.
    Messages {
        /// The folder of the room.
        room: String,
        /// How many so far.
        messages: u64,
    },
    /// Files were written.
    Files {
        /// How many so far.
        done: u64,
        /// Their bytes.
        bytes: u64,
    },
}

/// An archive that was written.
#[derive(Debug)]
pub struct Exported<W> {
    /// What was written with.
    pub out: W,
    /// How many bytes the archive has; what was written with may have more behind them.
    pub size: u64,
    /// What the archive has.
    pub manifest: ExportManifest,
}

/// Writes an archive of a subject while servers use the database: everything as it is at one moment.
/// Files that are deleted meanwhile keep their bytes until the archive has them. The audits of the
/// organizations that are concerned note it.
///
/// A file that cannot be read does not end the export; the manifest names it.
///
/// # Errors
///
/// [`Error::NotFound`](crate::Error::NotFound) before anything is written, and what the store and
/// the file system say.
pub async fn export<W: Write + Seek + Send + 'static>(
    source: ExportSource,
    subject: ExportSubject,
    out: W,
    mut progress: impl FnMut(ExportProgress) + Send + 'static,
) -> Result<Exported<W>> {
    let store = source.store.clone();
    while_files_are_kept(&store, move || {
        tokio::task::spawn_blocking(move || write(&source, &subject, out, &mut progress))
    })
    .await
}

fn write<W: Write + Seek>(
    source: &ExportSource,
    subject: &ExportSubject,
    out: W,
    progress: &mut dyn FnMut(ExportProgress),
) -> Result<Exported<W>> {
    let runtime = Handle::current();
    let mut written = source.store.snapshot(|reader| {
        let plan = Plan::find(reader, subject)?;
        plan.audit(reader, &source.store)?;
        let users = plan.users(reader)?;
        let people = People::read(reader, &users)?;
        let mut work = ExportWork {
            archive: ExportWriter::begin(out, plan.scope.clone()),
            reader,
            people,
            person: plan.person.as_ref().map(|person| person.id),
            pictures: BTreeMap::new(),
            objects: BTreeMap::new(),
            progress,
        };
        work.write_all(plan)?;
        Ok::<_, crate::Error>(work.done())
    })?;
    written.copy_files(source, &runtime, progress)?;
    let finished = written.archive.finish(&source.key)?;
    Ok(Exported {
        out: finished.out,
        size: finished.size,
        manifest: finished.manifest,
    })
}

/// An archive that has everything but its files.
struct WithoutFiles<W> {
    archive: ExportWriter<W>,
    pictures: BTreeMap<Digest, UserPicture>,
    objects: BTreeMap<Digest, DumpedObject>,
}

/// A picture that a user uploaded, which the database keeps.
type UserPicture = Vec<u8>;

struct ExportWork<'r, 'c, W> {
    archive: ExportWriter<W>,
    reader: &'r mut Reader<'c>,
    people: People,
    /// Whose data it is, in the archive of one person.
    person: Option<UserId>,
    pictures: BTreeMap<Digest, UserPicture>,
    /// The files that records name.
    objects: BTreeMap<Digest, DumpedObject>,
    progress: &'r mut dyn FnMut(ExportProgress),
}

impl<W: Write + Seek> ExportWork<'_, '_, W> {
    fn done(self) -> WithoutFiles<W> {
        WithoutFiles {
            archive: self.archive,
            pictures: self.pictures,
            objects: self.objects,
        }
    }

    fn write_all(&mut self, plan: Plan) -> Result<()> {
        self.write_people(self.person)?;
        if let Some(organization) = &plan.organization {
            let record = self.organization(organization)?;
            self.archive.record(paths::ORGANIZATION, &record)?;
        }
        if let Some(person) = &plan.person {
            let record = self.person(person.id)?;
            self.archive.record(paths::PERSON, &record)?;
        }
        let title = self.archive.manifest().scope.name.clone();
        let mut pages = ArchivePages::new(title, self.people.names().into_values().collect());
        for room in plan.rooms(&self.people) {
            pages.push(self.write_room(&room)?);
        }
        let page = pages.finish()?;
        Ok(self.archive.entry(&page.path, page.html.as_bytes())?)
    }

    /// Writes the people. In the archive of one person, the others show their addresses only where
    /// that person sees them in an organization.
    fn write_people(&mut self, only_of: Option<UserId>) -> Result<()> {
        let mut chain = self.archive.chain(paths::PEOPLE)?;
        for (number, user) in self.people.users() {
            let shows_email = match only_of {
                Some(person) if person != user.id => {
                    let mut members = self.reader.organization_members();
                    members.have_common(person, user.id)?
                }
                _ => true,
            };
            let (record, picture) = people::record(self.reader, number, user, shows_email)?;
            if let Some(bytes) = picture {
                self.pictures.insert(people::sha256(&bytes), bytes);
            }
            chain.record(&record)?;
        }
        Ok(chain.finish()?)
    }

    fn organization(&mut self, found: &Organization) -> Result<OrganizationRecord> {
        let parent = match found.parent {
            Some(id) => self.reader.organizations().find(id)?,
            None => None,
        };
        let (trial_ends, billing_date) = match &found.subscription {
            OrganizationSubscription::Trial { ends } => (Some(ends.to_string()), None),
            OrganizationSubscription::Paid { next_bill } => {
                (None, next_bill.as_ref().map(ToString::to_string))
            }
        };
        let mut names = self.reader.organizations().list_names(found.id)?;
        names.sort();
        let members = self.reader.organization_members().list_users(found.id)?;
        let member = |(user, administrator): &(eddyline_model::users::User, bool)| {
            OrganizationMemberRecord {
                person: self.people.number(user.id),
                administrator: *administrator,
            }
        };
        let mut members: Vec<_> = members.iter().map(member).collect();
        members.sort_by_key(|member| member.person);
        let groups = self.reader.groups().list_of_organizations(&[found.id])?;
        Ok(OrganizationRecord {
            name: found.name.clone(),
            parameterized_name: found.parameterized_name.clone(),
            names,
            parent: parent.map(|parent| parent.parameterized_name),
            user_limit: found.user_limit,
            active: found.active,
            created_at: found.created_at.0,
            trial_ends,
            billing_date,
            members,
            groups: groups
                .into_iter()
                .map(|group| GroupRecord {
                    people: self.people.numbers(group.users),
                    name: group.name,
                    created_at: group.created_at.0,
                })
                .collect(),
        })
    }

    fn person(&mut self, user: UserId) -> Result<SelfRecord> {
        let mut organizations = Vec::new();
        for membership in self.reader.organization_members().list_of_user(user)? {
            let id = membership.organization;
            let Some(found) = self.reader.organizations().find(id)? else {
                continue;
            };
            let groups = self.reader.groups().list_of_organizations(&[id])?;
            let groups = groups.into_iter();
            organizations.push(PersonMembership {
                organization: found.parameterized_name,
                name: found.name,
                administrator: membership.role
                    == eddyline_model::organizations::OrganizationRole::Administrator,
                groups: groups
                    .filter(|group| group.users.contains(&user))
                    .map(|group| group.name)
                    .collect(),
            });
        }
        organizations.sort_by(|one, other| one.organization.cmp(&other.organization));
        Ok(SelfRecord {
            person: self.people.number(user),
            organizations,
        })
    }

    /// Writes the records of a room and its pages, and gives what the first page says of it.
    fn write_room(&mut self, planned: &PlannedRoom) -> Result<RoomSummary> {
        let folder = &planned.folder;
        let mut names = self.people.names();
        let (mut sources, mut about) = (SourceNumbers::new(), None);
        let name = match &planned.kind {
            RoomKind::Flow(flow) => {
                let (record, numbers) =
                    rooms::flow(self.reader, &self.people, flow, planned.only_of)?;
                sources = numbers;
                about = record.description.clone();
                let former = record.former_members.iter();
                names.extend(former.map(|member| (member.person, member.name.clone())));
                self.archive
                    .record(&format!("{folder}/flow.json"), &record)?;
                record.name
            }
            RoomKind::Conversation => {
                let record =
                    rooms::conversation(self.reader, &self.people, planned.room, self.person)?;
                let path = format!("{folder}/conversation.json");
                self.archive.record(&path, &record)?;
                rooms::name_of(&record, &names)
            }
        };
        let mut titles = HashMap::new();
        if planned.only_of.is_none() {
            titles = self.write_threads(planned, &sources)?;
        }
        self.write_messages(planned)?;
        let names = names.into_iter().collect();
        let pages = RoomPages::new(folder.clone(), name, about, &names);
        self.write_pages(planned, pages, &titles)
    }

    /// Writes the threads, and gives the titles of those of the inbox by their first messages.
    fn write_threads(
        &mut self,
        planned: &PlannedRoom,
        sources: &SourceNumbers,
    ) -> Result<HashMap<i64, String>> {
        let path = format!("{}/threads.jsonl", planned.folder);
        let mut chain = self.archive.chain(&path)?;
        let mut titles = HashMap::new();
        rooms::each_thread(self.reader, planned.room, sources, |thread| {
            titles.extend(rooms::title(thread).map(|title| (thread.id, title)));
            Ok(chain.record(thread)?)
        })?;
        chain.finish()?;
        Ok(titles)
    }

    fn write_messages(&mut self, planned: &PlannedRoom) -> Result<()> {
        let folder = &planned.folder;
        let mut chain = self.archive.chain(&format!("{folder}/messages.jsonl"))?;
        let (objects, progress) = (&mut self.objects, &mut self.progress);
        let (room, only_of) = (planned.room, planned.only_of);
        let mut report = |messages| {
            progress(ExportProgress::Messages {
                room: folder.clone(),
                messages,
            });
        };
        rooms::each_message(self.reader, &self.people, room, only_of, |found| {
            chain.record(&found.record)?;
            if chain.records().is_multiple_of(MESSAGES_FOR_A_REPORT) {
                report(chain.records());
            }
            for file in found.files {
                objects
                    .entry(rooms::digest_of(&file)?)
                    .or_insert(DumpedObject {
                        key: file.object,
                        size: file.size,
                        digest: file.digest,
                    });
            }
            Ok(())
        })?;
        report(chain.records());
        Ok(chain.finish()?)
    }

    /// Writes the pages of a room. Its messages are read once more: together, its pages may not fit
    /// into memory while its records are written.
    fn write_pages(
        &mut self,
        planned: &PlannedRoom,
        mut pages: RoomPages<'_>,
        titles: &HashMap<i64, String>,
    ) -> Result<RoomSummary> {
        let archive = &mut self.archive;
        let (room, only_of) = (planned.room, planned.only_of);
        rooms::each_message(self.reader, &self.people, room, only_of, |found| {
            let title = found.record.thread.and_then(|root| titles.get(&root));
            if let Some(page) = pages.push(&found.record, title.map(String::as_str))? {
                archive.entry(&page.path, page.html.as_bytes())?;
            }
            Ok(())
        })?;
        let (last, summary) = pages.finish()?;
        for page in last {
            self.archive.entry(&page.path, page.html.as_bytes())?;
        }
        Ok(summary)
    }
}

impl<W: Write + Seek> WithoutFiles<W> {
    /// Writes the files, in the order of their digests.
    fn copy_files(
        &mut self,
        source: &ExportSource,
        runtime: &Handle,
        progress: &mut dyn FnMut(ExportProgress),
    ) -> Result<()> {
        let mut digests: Vec<Digest> = self.objects.keys().copied().collect();
        digests.extend(self.pictures.keys());
        digests.sort_unstable();
        digests.dedup();
        for digest in digests {
            self.copy_file(digest, source, runtime)?;
            let (done, bytes) = {
                let files = &self.archive.manifest().files;
                (files.count, files.bytes)
            };
            if done.is_multiple_of(FILES_FOR_A_REPORT) {
                progress(ExportProgress::Files { done, bytes });
            }
        }
        let files = &self.archive.manifest().files;
        progress(ExportProgress::Files {
            done: files.count,
            bytes: files.bytes,
        });
        Ok(())
    }

    fn copy_file(&mut self, digest: Digest, source: &ExportSource, runtime: &Handle) -> Result<()> {
        if let Some(bytes) = self.pictures.get(&digest) {
            self.archive.file(digest, bytes.len() as u64, &bytes[..])?;
            return Ok(());
        }
        let Some(object) = self.objects.get(&digest) else {
            return Ok(());
        };
        match open(&source.files, object, runtime) {
            Some(content) => {
                let size = object.size.unsigned_abs();
                self.archive.file(digest, size, content)?;
            }
            None => self.archive.note_missing(digest),
        }
        Ok(())
    }
}
