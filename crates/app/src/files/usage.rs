//! Bounds on how many bytes of files are kept: in the flows of an organization, and of what a user
//! sends in private conversations.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use eddyline_model::{OrganizationId, UserId};
use eddyline_storage::COUNTED_FILE_BYTES;
use tokio::time::Instant;

use crate::rooms::Room;
use crate::{Error, Files, Limit, Result};

/// How long a sum is used before the database is asked again. Uploads through this process are
/// added to it at once; those through other processes, and removals there, count after this time.
const SUM_LIFETIME: Duration = Duration::from_secs(60);

/// The files that are summed up together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FilesOf {
    /// Those in the flows of an organization.
    Organization(OrganizationId),
    /// Those that a user has sent in private conversations.
    Private(UserId),
}

impl FilesOf {
    /// The quota against which files count that are posted into this room.
    pub(crate) fn room(room: &Room) -> Self {
        match room {
            Room::Flow(room) => Self::Organization(room.flow.organization),
            Room::Private(room) => Self::Private(room.own()),
        }
    }
}

/// The sums that were read lately.
#[derive(Debug, Default)]
pub(crate) struct FileSums(Mutex<Sums>);

#[derive(Debug, Default)]
struct Sums {
    known: BTreeMap<FilesOf, Sum>,
    /// Counts the files that came or went, of all organizations and users.
    changes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Sum {
    bytes: u64,
    read_at: Instant,
}

impl FileSums {
    fn lock(&self) -> MutexGuard<'_, Sums> {
        // A panic leaves no sum half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was read lately; or else how many changes there were, for noting what is read now.
    fn known(&self, of: FilesOf) -> std::result::Result<u64, u64> {
        let sums = self.lock();
        let fresh = sums
            .known
            .get(&of)
            .filter(|sum| sum.read_at.elapsed() < SUM_LIFETIME);
        fresh.map(|sum| sum.bytes).ok_or(sums.changes)
    }

    /// Notes what was read, unless files came or went since there were so many `changes`: the
    /// reading may have missed them.
    fn note(&self, of: FilesOf, bytes: u64, changes: u64) {
        let mut sums = self.lock();
        sums.known
            .retain(|_, sum| sum.read_at.elapsed() < SUM_LIFETIME);
        if sums.changes == changes {
            sums.known.insert(
                of,
                Sum {
                    bytes,
                    read_at: Instant::now(),
                },
            );
        }
    }

    fn add(&self, of: FilesOf, bytes: u64) {
        let mut sums = self.lock();
        sums.changes += 1;
        if let Some(sum) = sums.known.get_mut(&of) {
            sum.bytes = sum.bytes.saturating_add(bytes);
        }
    }

    /// Has the database asked again, after files were removed.
    pub(crate) fn invalidate(&self, of: FilesOf) {
        let mut sums = self.lock();
        sums.changes += 1;
        sums.known.remove(&of);
    }
}

impl Files {
    /// Checks that the caller may post files into a room, before their bytes are taken.
    ///
    /// # Errors
    ///
    /// [`Error::file_quota`].
    pub async fn may_send(&self, room: &Room) -> Result<()> {
        self.check_file_quota(FilesOf::room(room), 0).await
    }

    /// Checks that so many bytes of files more may be kept. Several uploads at the same time may
    /// exceed the quota by what they bring.
    ///
    /// # Errors
    ///
    /// [`Error::file_quota`].
    pub(crate) async fn check_file_quota(&self, of: FilesOf, bytes: u64) -> Result<()> {
        let quotas = self.core.config().files.quotas;
        let (quota, whose, limit) = match of {
            FilesOf::Organization(_) => (
                quotas.organization,
                "The files of the organization",
                Limit::OrganizationFiles,
            ),
            FilesOf::Private(_) => (
                quotas.private,
                "The files of your private conversations",
                Limit::PrivateFiles,
            ),
        };
        if quota == 0 {
            return Ok(());
        }
        let kept = match self.sums.known(of) {
            Ok(kept) => kept,
            Err(changes) => {
                let kept = self.core.store().read(move |reader| match of {
                    FilesOf::Organization(id) => reader.files().count_bytes_of_organization(id),
                    FilesOf::Private(user) => reader.files().count_private_bytes_of_user(user),
                });
                let kept = kept.await?;
                self.sums.note(of, kept, changes);
                kept
            }
        };
        // An empty file is refused too once the quota is reached.
        if kept.saturating_add(bytes.max(1)) > quota {
            let text =
                format!("{whose} take {kept} of at most {quota} bytes; remove some to send others");
            return Err(Error::file_quota(limit, text));
        }
        Ok(())
    }

    /// Counts files that were kept.
    pub(crate) fn note_files(&self, of: FilesOf, bytes: u64) {
        self.sums.add(of, bytes);
    }
}

/// How many bytes some files count for, which is more than they have where they are small.
pub(crate) fn charged_bytes<'a>(files: impl IntoIterator<Item = &'a super::NewAttachment>) -> u64 {
    files
        .into_iter()
        .map(|file| file.file.object.size.max(COUNTED_FILE_BYTES).unsigned_abs())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACME: FilesOf = FilesOf::Organization(OrganizationId(1));
    const ADA: FilesOf = FilesOf::Private(UserId(1));

    #[test]
    fn a_sum_is_not_noted_when_files_came_or_went_while_it_was_read() {
        let changes: [fn(&FileSums); 2] = [|sums| sums.add(ACME, 7), |sums| sums.invalidate(ACME)];
        for change in changes {
            let sums = FileSums::default();
            let before = sums.known(ACME).unwrap_err();
            change(&sums);
            sums.note(ACME, 100, before);
            let now = sums.known(ACME).expect_err("it may be out of date");
            sums.note(ACME, 107, now);
            assert_eq!(sums.known(ACME), Ok(107));
        }
    }

    #[test]
    fn a_known_sum_grows_with_what_is_kept_and_is_forgotten_alone() {
        let sums = FileSums::default();
        for of in [ACME, ADA] {
            sums.note(of, 100, sums.known(of).unwrap_err());
        }
        sums.add(ACME, 7);
        assert_eq!((sums.known(ACME), sums.known(ADA)), (Ok(107), Ok(100)));
        sums.invalidate(ADA);
        assert!(sums.known(ADA).is_err());
        assert_eq!(sums.known(ACME), Ok(107));
    }
}
