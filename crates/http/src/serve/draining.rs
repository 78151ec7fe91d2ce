//! The sign for the server to stop.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Tells when the server is to stop.
#[derive(Clone)]
pub(super) struct Draining(watch::Receiver<bool>);

impl Draining {
    pub(super) fn new(receiver: watch::Receiver<bool>) -> Self {
        Self(receiver)
    }

    /// Waits for the server to stop. A server that is gone has stopped.
    pub(super) async fn begun(&mut self) {
        let _ = self.0.wait_for(|begun| *begun).await;
    }

    /// Waits until the server has been stopping for so long.
    pub(super) async fn begun_for(&mut self, time: Duration) {
        self.begun().await;
        sleep_until(Instant::now() + time).await;
    }
}
