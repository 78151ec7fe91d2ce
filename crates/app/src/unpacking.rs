//! How many pictures are unpacked at the same time, and how much memory they take together:
//! pictures of users and those of which a thumbnail is made alike.

use std::time::Duration;

use crate::quota::{KeyedSemaphore, Permit, Quota, QuotaExceeded, QuotaKeys};
use crate::{Error, Result};

const MIB: u64 = 1024 * 1024;

/// How often the bytes of a file are in memory while it is unpacked: as they came, and what a
/// decoder keeps.
pub(crate) const COPIES: u64 = 2;

/// Pictures that are unpacked at the same time. Each keeps a core busy; half of the cores are the
/// share of one caller.
fn pictures(cores: u64) -> Quota {
    let total = cores.clamp(2, 4);
    Quota::new(total, total - 1, total / 2)
}

/// Bytes of memory for unpacking. One organization leaves room for ordinary pictures of others,
/// whatever it sends.
const MEMORY: Quota = Quota::new(256 * MIB, 192 * MIB, 192 * MIB);

/// How long a picture waits for others before it is refused. The requests that wait are bounded
/// themselves.
const WAIT: Duration = Duration::from_secs(2);

/// Bounds on unpacking pictures in this process.
pub(crate) struct Unpacking {
    pictures: KeyedSemaphore,
    memory: KeyedSemaphore,
    wait: Duration,
}

/// Memory for one picture, until it is dropped.
#[derive(Debug)]
pub(crate) struct Reservation {
    _picture: Permit,
    _memory: Permit,
}

impl Default for Unpacking {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
        Self::on(cores)
    }
}

impl Unpacking {
    /// On a machine with so many cores.
    fn on(cores: u64) -> Self {
        let (pictures, memory) = (
            KeyedSemaphore::new(pictures(cores)),
            KeyedSemaphore::new(MEMORY),
        );
        Self {
            pictures,
            memory,
            wait: WAIT,
        }
    }
}

impl Unpacking {
    /// Reserves so many bytes of memory for unpacking one picture.
    ///
    /// # Errors
    ///
    /// [`QuotaExceeded`] when others have not released as much after two seconds.
    pub(crate) async fn reserve(
        &self,
        keys: QuotaKeys,
        bytes: u64,
    ) -> std::result::Result<Reservation, QuotaExceeded> {
        let picture = self.pictures.acquire_within(keys, 1, self.wait).await?;
        let memory = self.memory.acquire_within(keys, bytes, self.wait).await?;
        Ok(Reservation {
            _picture: picture,
            _memory: memory,
        })
    }
}

/// Works on a thread that may block. The permit is held as long as the work takes, also when the
/// request ends before.
pub(crate) async fn aside<T: Send + 'static>(
    permit: impl Send + 'static,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    let task = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        work()
    });
    task.await
        .map_err(|error| Error::internal(error.to_string()))
}

#[cfg(test)]
mod tests {
    use eddyline_model::{OrganizationId, UserId};

    use super::*;
    use crate::quota::{QuotaKey, QuotaSubject};

    fn unpacking() -> Unpacking {
        Unpacking {
            wait: Duration::ZERO,
            ..Unpacking::on(4)
        }
    }

    fn keys(user: i64, organization: i64) -> QuotaKeys {
        let organization = Some(OrganizationId(organization));
        QuotaSubject {
            user: Some(UserId(user)),
            organization,
        }
        .quota_keys()
    }

    async fn refused(unpacking: &Unpacking, keys: QuotaKeys, bytes: u64) -> Option<QuotaExceeded> {
        unpacking.reserve(keys, bytes).await.err()
    }

    #[tokio::test]
    async fn pictures_are_unpacked_for_several_callers_at_once() {
        let unpacking = unpacking();
        let (ada, ben, vic, mia) = (keys(1, 1), keys(2, 1), keys(3, 2), keys(4, 3));
        let mut held = Vec::new();
        for _ in 0..3 {
            held.push(
                unpacking
                    .reserve(ada, MIB)
                    .await
                    .expect("it is within the bounds"),
            );
        }
        assert_eq!(
            refused(&unpacking, ada, MIB).await,
            Some(QuotaExceeded::Share(QuotaKey::User(UserId(1))))
        );
        assert_eq!(
            refused(&unpacking, ben, MIB).await,
            Some(QuotaExceeded::Share(QuotaKey::Organization(
                OrganizationId(1)
            )))
        );
        held.push(
            unpacking
                .reserve(vic, MIB)
                .await
                .expect("it is within the bounds"),
        );
        assert_eq!(
            refused(&unpacking, mia, MIB).await,
            Some(QuotaExceeded::Total)
        );
        held.clear();
        assert_eq!(refused(&unpacking, ada, MIB).await, None);
    }

    #[test]
    fn half_of_the_cores_are_the_share_of_a_caller() {
        assert_eq!(pictures(1), Quota::new(2, 1, 1));
        assert_eq!(pictures(2), Quota::new(2, 1, 1));
        assert_eq!(pictures(64), Quota::new(4, 3, 2));
    }

    #[tokio::test]
    async fn the_memory_of_all_pictures_is_bounded() {
        let unpacking = unpacking();
        let (ada, ben, vic) = (keys(1, 1), keys(2, 1), keys(3, 2));
        let large = unpacking
            .reserve(ada, 192 * MIB)
            .await
            .expect("it is within the bounds");
        assert_eq!(
            refused(&unpacking, ada, MIB).await,
            Some(QuotaExceeded::Share(QuotaKey::User(UserId(1))))
        );
        assert_eq!(
            refused(&unpacking, ben, 33 * MIB).await,
            Some(QuotaExceeded::Share(QuotaKey::Organization(
                OrganizationId(1)
            )))
        );
        assert_eq!(refused(&unpacking, ben, 32 * MIB).await, None);
        assert_eq!(
            refused(&unpacking, vic, 65 * MIB).await,
            Some(QuotaExceeded::Total)
        );
        assert_eq!(refused(&unpacking, vic, 64 * MIB).await, None);
        drop(large);
        assert_eq!(refused(&unpacking, ben, 192 * MIB).await, None);
    }

    #[tokio::test]
    async fn the_largest_picture_fits_when_there_is_no_other() {
        assert_eq!(refused(&unpacking(), keys(1, 1), 256 * MIB).await, None);
    }
}
