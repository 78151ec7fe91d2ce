//! Where an import goes.

use eddyline_files::Files;
use eddyline_model::deletion::DeletionTarget;
use eddyline_model::{OrganizationId, RoomId, Timestamp, UserId};
use eddyline_storage::{ImportOrigin, Reader, Result as StoreResult, Store, Tx};
use tokio::runtime::Handle;

use crate::uploads::Uploads;
use crate::{Error, ImportPlan, ImportProgress, ImportReport, Result};

/// The number of members of a room, or of former ones, that one transaction writes.
pub(crate) const MEMBERS: usize = 250;
/// The most reactions and files that one transaction writes with messages, unless one message has
/// more.
pub(crate) const ROWS: usize = 5_000;

/// What an import goes into.
#[derive(Debug)]
pub struct ImportTarget {
    /// The database.
    pub store: Store,
    /// The place for files.
    pub files: Files,
    /// The name in URLs of the organization.
    pub organization: String,
    /// How many bytes the files of an organization may have.
    pub max_file_bytes: u64,
    /// The name in URLs of the organization above one that the archive makes. The parent that the
    /// archive names does not count.
    pub parent: Option<String>,
    /// `Some` if people who get an account are mailed a link to choose a password: the number of
    /// mails about accounts that the organization may cause in a day; 0 for any number.
    pub invites: Option<u32>,
    /// Whether nothing is written, and the report says what would be.
    pub is_dry_run: bool,
}

/// An import under way. Its methods block.
pub(crate) struct ImportWork<'p> {
    pub(crate) target: ImportTarget,
    pub(crate) origin: ImportOrigin,
    pub(crate) runtime: Handle,
    pub(crate) uploads: Uploads,
    pub(crate) report: ImportReport,
    /// The organization above one that is to be made.
    pub(crate) parent: Option<OrganizationId>,
    /// When the import began.
    pub(crate) now: Timestamp,
    progress: &'p mut (dyn FnMut(ImportProgress) + Send),
}

impl<'p> ImportWork<'p> {
    pub(crate) fn new(
        target: ImportTarget,
        source: &str,
        organization: OrganizationId,
        progress: &'p mut (dyn FnMut(ImportProgress) + Send),
    ) -> Result<Self> {
        let runtime = Handle::current();
        let used = target.store.read(move |reader| {
            let mut files = reader.files();
            files.count_bytes_of_organization(organization)
        });
        let left = target
            .max_file_bytes
            .saturating_sub(runtime.block_on(used)?);
        let (store, files) = (target.store.clone(), target.files.clone());
        Ok(Self {
            uploads: Uploads::new(store, files, runtime.clone(), left),
            origin: ImportOrigin {
                organization,
                source: source.to_owned(),
            },
            now: target.store.now(),
            target,
            runtime,
            report: ImportReport::default(),
            parent: None,
            progress,
        })
    }

    /// Writes in one transaction, between those of others.
    pub(crate) fn write<R: Send + 'static>(
        &self,
        work: impl FnMut(&mut Tx<'_>) -> StoreResult<R> + Send + 'static,
    ) -> Result<R> {
        Ok(self.runtime.block_on(self.target.store.write(work))?.0)
    }

    pub(crate) fn read<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Reader<'_>) -> StoreResult<R> + Send + 'static,
    ) -> Result<R> {
        Ok(self.runtime.block_on(self.target.store.read(work))?)
    }

    /// Notes users who have left a room, with the names and the nicks that they had then.
    pub(crate) fn note_former(
        &self,
        room: RoomId,
        former: &[(UserId, String, String)],
    ) -> Result<()> {
        for part in former.chunks(MEMBERS) {
            let part = part.to_vec();
            self.write(move |tx| {
                tx.rooms().lock(room)?;
                tx.imports().insert_former(room, &part)
            })?;
        }
        Ok(())
    }

    /// The organization whose domains count for the archive: the one above an organization that is
    /// to be made.
    pub(crate) fn domains_of(&self) -> OrganizationId {
        self.parent.unwrap_or(self.origin.organization)
    }

    /// Reports the people whom the import concerns.
    pub(crate) fn note_plan(&mut self, plan: ImportPlan) {
        (self.progress)(ImportProgress::Plan(plan));
    }

    /// Says how far the import is.
    pub(crate) fn note_progress(&mut self, room: &str) {
        (self.progress)(ImportProgress::Messages {
            room: room.to_owned(),
            messages: self.report.messages,
        });
    }
}

/// The organization that an import goes into, which must be there.
pub(crate) fn existing_organization(target: &ImportTarget) -> Result<OrganizationId> {
    if target.parent.is_some() {
        return Err(parent_of_existing());
    }
    let found = find_organization(target, &target.organization)?;
    let found = found.ok_or_else(|| Error::NoOrganization(target.organization.clone()))?;
    refuse_closed(target, found)?;
    Ok(found)
}

/// The refusal of a parent for an organization that no archive makes.
pub(crate) fn parent_of_existing() -> Error {
    Error::Unfit("--parent is for an organization that the archive makes".to_owned())
}

/// Refuses an organization that is to be deleted, since its members have no access to it.
pub(crate) fn refuse_closed(target: &ImportTarget, organization: OrganizationId) -> Result<()> {
    let read = target.store.read(move |reader| {
        let deletion = DeletionTarget::Organization(organization);
        reader.deletions().find(deletion)
    });
    match Handle::current().block_on(read)? {
        Some(_) => Err(Error::Unfit(format!(
            "the organization {} is to be deleted; cancel that first",
            target.organization
        ))),
        None => Ok(()),
    }
}

/// The organization of this name.
pub(crate) fn find_organization(
    target: &ImportTarget,
    name: &str,
) -> Result<Option<OrganizationId>> {
    let name = name.to_owned();
    let read = target
        .store
        .read(move |reader| reader.organizations().find_id_by_name(&name));
    Ok(Handle::current().block_on(read)?)
}
