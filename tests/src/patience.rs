//! Waiting for what happens by and by.

use std::time::{Duration, Instant};

/// How long to look again before giving up: far longer than anything takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// Between two looks at something that is to happen.
#[derive(Debug)]
pub struct Patience {
    what: &'static str,
    since: Instant,
}

impl Patience {
    /// For something to happen from now on.
    #[must_use]
    pub fn until(what: &'static str) -> Self {
        Self {
            what,
            since: Instant::now(),
        }
    }

    /// Waits a moment before the next look.
    ///
    /// # Panics
    ///
    /// When it did not happen within a minute.
    pub async fn goes_on(&self) {
        assert!(
            self.since.elapsed() < LIMIT,
            "never happened: {}",
            self.what
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
