//! Archives that `eddyline export` has written. Ids of flows, numbers of messages, times, and all
//! else that an archive has are kept, so that an export of what was imported is the same.

mod content;
mod numbers;
mod organization;
mod plan;
mod room;
mod rooms;
mod sources;
mod threads;

use std::collections::HashSet;
use std::io::Read as _;
use std::path::Path;

use eddyline_archive::{DigestHex, ExportReader, FlowRecord, OrganizationRecord, PersonRecord};
use eddyline_archive::{PictureRecord, ScopeKind, paths, verify};
use eddyline_model::names::email_key;
use eddyline_model::organizations::OrganizationRole;
use eddyline_model::{OrganizationId, UserId};
use eddyline_storage::{ImportedKind, Result as StoreResult, Tx};

use self::content::Users;
use crate::authority::Participants;
use crate::people::Person;
use crate::target::{ImportWork, find_organization, refuse_closed};
use crate::{Error, ImportProgress, ImportReport, ImportTarget, LeftOutKind, Result};

/// What records that came from such an archive are noted as.
const SOURCE: &str = "eddyline";
/// The largest uploaded picture of a person, in bytes.
const MAX_PICTURE: u64 = 4 << 20;

/// Imports an archive. Blocks.
pub(crate) fn import(
    target: ImportTarget,
    archive: &Path,
    progress: &mut (dyn FnMut(ImportProgress) + Send),
) -> Result<ImportReport> {
    let verified = verify(archive, None, &mut |_| ())?;
    if let Some(first) = verified.findings.first() {
        return Err(Error::NotSound {
            first: first.to_string(),
            count: verified.findings.len() as u64 + verified.further_findings,
        });
    }
    let reader = ExportReader::open(archive)?;
    let scope = &reader.manifest().scope;
    if scope.kind == ScopeKind::User {
        let text = "an archive of a user has only what this user wrote, and cannot be imported";
        return Err(Error::Unfit(text.to_owned()));
    }
    let records = person_records(&reader)?;
    let record: Option<OrganizationRecord> = match scope.kind {
        ScopeKind::Organization => Some(organization::read(&reader, &records)?),
        _ => None,
    };
    let digest = digest(&reader)?;
    let existing = target_organization(&target, &digest)?;
    let is_new = existing.is_none_or(|(_, is_unfinished)| is_unfinished);
    let parent = organization::find_parent(&target, is_new && record.is_some())?;
    if existing.is_none() {
        let record = record.as_ref();
        record.ok_or_else(|| Error::NoOrganization(target.organization.clone()))?;
        organization::check_name(&target)?;
    }
    // An organization that is to be made has no number yet.
    let id = existing.map_or(OrganizationId(0), |(id, _)| id);
    let mut work = ImportWork::new(target, SOURCE, id, progress)?;
    work.parent = parent;
    let archive = OwnArchive {
        missing: reader.manifest().files.missing.iter().cloned().collect(),
        reader,
        record,
        digest,
    };
    let decisions = work.decide(archive.people(&records, is_new)?)?;
    if !work.target.is_dry_run
        && existing.is_none()
        && let Some(record) = &archive.record
    {
        work.origin.organization = organization::make(&work, record, &archive.digest)?;
    }
    let participants = work.make_participants(decisions)?;
    archive.pictures(&mut work, &records, &participants)?;
    let users = records.iter().map(|record| record.number);
    let users: Users = users.zip(participants.all().iter().cloned()).collect();
    if let Some(record) = &archive.record {
        organization::fill(&mut work, record, &users, is_new)?;
    }
    archive.rooms(&mut work, &users)?;
    if !work.target.is_dry_run
        && is_new
        && let Some(record) = &archive.record
    {
        organization::finish(&work, record)?;
    }
    Ok(work.report)
}

/// The SHA-256 of the manifest, which stands for the whole archive: it has the digests of all else.
fn digest(reader: &ExportReader) -> Result<String> {
    let mut manifest = Vec::new();
    reader
        .open_entry(paths::MANIFEST)?
        .read_to_end(&mut manifest)?;
    let digest = ring::digest::digest(&ring::digest::SHA256, &manifest);
    Ok(eddyline_random::to_hex(digest.as_ref()))
}

/// The organization, if it exists, and `true` if this archive has made it and not filled it yet.
fn target_organization(
    target: &ImportTarget,
    digest: &str,
) -> Result<Option<(OrganizationId, bool)>> {
    let Some(id) = find_organization(target, &target.organization)? else {
        return Ok(None);
    };
    refuse_closed(target, id)?;
    let origin = organization::origin(id);
    let read = target
        .store
        .read(move |reader| reader.imports().list(&origin, ImportedKind::Room));
    let unfinished = tokio::runtime::Handle::current().block_on(read)?;
    let begun = organization::begun_id(digest);
    let is_unfinished = unfinished.contains_key(&begun) && !unfinished.contains_key("done");
    Ok(Some((id, is_unfinished)))
}

/// An archive that was verified.
struct OwnArchive {
    reader: ExportReader,
    record: Option<OrganizationRecord>,
    /// The SHA-256 of its manifest.
    digest: String,
    /// The digests of files whose bytes it does not have.
    missing: HashSet<DigestHex>,
}

fn person_records(reader: &ExportReader) -> Result<Vec<PersonRecord>> {
    let mut records: Vec<PersonRecord> = Vec::new();
    reader.each_record(paths::PEOPLE, |person| {
        records.push(person);
        Ok::<_, Error>(())
    })?;
    Ok(records)
}

impl OwnArchive {
    fn people(&self, records: &[PersonRecord], is_new: bool) -> Result<Vec<Person>> {
        let members = self.members(is_new)?;
        let people = records.iter();
        Ok(people
            .map(|record| person(record, members.get(&record.number).copied()))
            .collect())
    }

    /// Gives new accounts their pictures, also those that an import which was interrupted has made.
    fn pictures(
        &self,
        work: &mut ImportWork<'_>,
        records: &[PersonRecord],
        participants: &Participants,
    ) -> Result<()> {
        if work.target.is_dry_run {
            return Ok(());
        }
        let origin = work.origin.clone();
        let awaited =
            work.read(move |reader| reader.imports().list(&origin, ImportedKind::AwaitedPicture))?;
        for (record, participant) in records.iter().zip(participants.all()) {
            let user = participant.user();
            if let Some(user) = user.filter(|user| awaited.contains_key(&user.to_string())) {
                self.picture(work, record, user)?;
            }
        }
        Ok(())
    }

    /// The type and the bytes of a picture; `None` for one that the server would not take from its
    /// owner. One that is not larger than uploaded pictures are kept stays as it is.
    fn read_picture(&self, picture: &PictureRecord) -> Result<Option<(String, Vec<u8>)>> {
        let mut bytes = Vec::new();
        let Ok(entry) = self.reader.open_entry(&paths::file(&picture.sha256.0)) else {
            return Ok(None);
        };
        // What the record says of its size is a claim.
        entry.take(MAX_PICTURE + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_PICTURE {
            return Ok(None);
        }
        let picture = eddyline_avatars::scale(&bytes, *eddyline_avatars::SIDES.end()).ok();
        Ok(picture.map(|picture| (picture.content_type.to_owned(), picture.bytes)))
    }

    /// Who is to belong to the organization. An archive names the administrators of an organization
    /// that is made for it, and none of one that is there.
    fn members(&self, is_new: bool) -> Result<std::collections::HashMap<u32, OrganizationRole>> {
        if let Some(record) = &self.record {
            let role = |is_administrator: bool| match is_administrator && is_new {
                true => OrganizationRole::Administrator,
                false => OrganizationRole::Member,
            };
            let members = record.members.iter();
            return Ok(members
                .map(|member| (member.person, role(member.administrator)))
                .collect());
        }
        let mut members = std::collections::HashMap::new();
        for folder in self.folders("/flow.json") {
            let flow: FlowRecord = self.reader.record(&format!("{folder}/flow.json"))?;
            let of_flow = flow.members.iter();
            members.extend(of_flow.map(|member| (member.person, OrganizationRole::Member)));
        }
        Ok(members)
    }

    /// The folders that have an entry with this end, in their order.
    fn folders(&self, end: &str) -> Vec<String> {
        let paths = self.reader.paths();
        paths
            .filter_map(|path| path.strip_suffix(end))
            .map(str::to_owned)
            .collect()
    }

    /// Gives a new account the picture that the person had uploaded, unless the user has set
    /// one since.
    fn picture(
        &self,
        work: &mut ImportWork<'_>,
        record: &PersonRecord,
        user: UserId,
    ) -> Result<()> {
        let picture = record.picture.as_ref();
        let picture = picture.map_or(Ok(None), |picture| self.read_picture(picture))?;
        let is_left_out = picture.is_none();
        let origin = work.origin.clone();
        work.write(move |tx| {
            if let Some((content_type, bytes)) = &picture
                && takes_picture(tx, origin.organization, user)?
            {
                let name = eddyline_random::hex::<16>();
                tx.users().set_avatar(user, &name, content_type, bytes)?;
            }
            let kind = ImportedKind::AwaitedPicture;
            tx.imports().delete_record(&origin, kind, &user.to_string())
        })?;
        if is_left_out {
            let who = record.email.clone().unwrap_or_default();
            work.report.leave_out(LeftOutKind::Picture, who);
        }
        Ok(())
    }
}

/// Returns `true` if an account still takes the picture of the archive: nobody has set one since,
/// and no other organization has a part in the account by now.
fn takes_picture(tx: &mut Tx<'_>, organization: OrganizationId, user: UserId) -> StoreResult<bool> {
    let Some(account) = tx.users().find(user)? else {
        return Ok(false);
    };
    let key = email_key(&account.email);
    let owner = tx.imports().find_address_account(organization, &key)?;
    let is_elsewhere = owner.is_none_or(|(_, belonging)| belonging.is_elsewhere);
    let avatar = tx.users().find_avatar(&account.avatar)?;
    Ok(!is_elsewhere && !avatar.is_some_and(|avatar| avatar.uploaded))
}

fn person(record: &PersonRecord, membership: Option<OrganizationRole>) -> Person {
    Person {
        id: record.email.clone().unwrap_or_default(),
        email: record.email.clone(),
        name: record.name.clone(),
        nick: record.nick.clone(),
        website: record.website.clone(),
        status: record.status.clone(),
        is_bot: record.bot,
        is_active: record.active,
        is_proved: record.email_proved,
        created_at: Some(record.created_at),
        membership,
        has_picture: record.picture.is_some(),
    }
}
