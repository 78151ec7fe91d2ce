//! Where an import goes.

use eddyline_files::Files;
use eddyline_model::OrganizationId;
use eddyline_storage::{ImportOrigin, Reader, Result as StoreResult, Store, Tx};
use tokio::runtime::Handle;

use crate::uploads::Uploads;
use crate::{ImportProgress, ImportReport, Result};

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
    /// Whether people who get an account are mailed a link to choose a password.
    pub invites: bool,
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
            target,
            runtime,
            report: ImportReport::default(),
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

    /// Says how far the import is.
    pub(crate) fn note_progress(&mut self, room: &str) {
        (self.progress)(ImportProgress {
            room: room.to_owned(),
            messages: self.report.messages,
        });
    }
}

/// The organization that an import goes into, which must be there.
pub(crate) fn existing_organization(target: &ImportTarget) -> Result<OrganizationId> {
    let name = target.organization.clone();
    let read = target
        .store
        .read(move |reader| find_organization(reader, &name));
    let found = Handle::current().block_on(read)?;
    found.ok_or_else(|| crate::Error::NoOrganization(target.organization.clone()))
}

/// The organization of this name.
pub(crate) fn find_organization(
    reader: &mut Reader<'_>,
    name: &str,
) -> StoreResult<Option<OrganizationId>> {
    reader.organizations().find_id_by_name(name)
}
