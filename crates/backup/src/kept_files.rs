use std::io;
use std::time::Duration;

use eddyline_storage::{Error as StoreError, Store};
use tokio::task::JoinHandle;

/// For how long servers keep the bytes of deleted files. The backup renews it while it runs.
const POSTPONED_MILLIS: i64 = 600_000;
const POSTPONED_AGAIN: Duration = Duration::from_secs(120);

/// Has servers keep the bytes of files that are deleted while `begin`'s work is done, which reads
/// them.
///
/// # Errors
///
/// What the work answers; when it panics, and when servers cannot be told.
pub async fn while_files_are_kept<R, E: From<StoreError> + From<io::Error>>(
    store: &Store,
    begin: impl FnOnce() -> JoinHandle<Result<R, E>>,
) -> Result<R, E> {
    postpone_deletions(store).await?;
    let mut work = begin();
    let mut again = tokio::time::interval(POSTPONED_AGAIN);
    again.tick().await;
    loop {
        tokio::select! {
            done = &mut work => return done.map_err(io::Error::other)?,
            _ = again.tick() => {
                if let Err(error) = postpone_deletions(store).await {
                    tracing::warn!(%error, "servers may remove files that were deleted meanwhile");
                }
            }
        }
    }
}

async fn postpone_deletions(store: &Store) -> Result<(), StoreError> {
    let until = store.now().plus_millis(POSTPONED_MILLIS);
    store
        .write(move |tx| tx.files().postpone_deletions(until))
        .await?;
    Ok(())
}
