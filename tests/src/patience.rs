//! Waiting for what happens by and by.

use std::time::Duration;

/// How long to look again before giving up: far longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Looks until something is so.
///
/// # Panics
///
/// When it is not so after a minute.
pub async fn eventually(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let looking = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, looking).await.unwrap_or_else(|_| panic!("never happened: {what}"));
}
