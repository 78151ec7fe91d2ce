//! The job that shows other processes on the same database that this one lives.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::jobs::Ticker;
use crate::{App, Result};

/// How often a process shows that it lives.
const INTERVAL: Duration = Duration::from_secs(4);

impl App {
    /// Shows once that this process lives. Presence is exchanged once there are other processes.
    pub(crate) async fn heartbeat(&self) -> Result<()> {
        if self.core().record_heartbeat().await? {
            self.presence().online.note_others();
        }
        Ok(())
    }

    /// Shows that this process lives, and takes it off the list at last. `control_seen` is notified
    /// when others may be waiting for it.
    pub(crate) async fn run_heartbeat(self, control_seen: Arc<Notify>, stop: CancellationToken) {
        let mut ticker = Ticker::new(INTERVAL, stop);
        while ticker.tick_or(control_seen.notified()).await {
            if let Err(error) = self.heartbeat().await {
                tracing::debug!(%error, "no sign of life could be given");
            }
        }
        self.core().leave().await;
    }
}
