//! Throwing away what has ended, now and then: links, and sessions that nobody uses.

use std::time::Duration;

use tokio::sync::watch;

use crate::App;
use crate::accounts::SESSION_DAYS;

const EVERY: Duration = Duration::from_secs(3600);
const DAY_MILLIS: i64 = 24 * 3_600_000;

impl App {
    /// Tidies up once an hour, until `stop` says so.
    pub(crate) async fn run_tidying(&self, mut stop: watch::Receiver<bool>) {
        let mut timer = tokio::time::interval(EVERY);
        timer.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        while !*stop.borrow() {
            tokio::select! {
                _ = timer.tick() => {}
                changed = stop.changed() => if changed.is_err() { return } else { continue },
            }
            let tidied = self.store().write(|tx| {
                let now = tx.now();
                tx.delete_ended_links(now)?;
                tx.delete_ended_claims(now)?;
                tx.delete_idle_sessions(now.plus_millis(-SESSION_DAYS * DAY_MILLIS))
            });
            if let Err(error) = tidied.await {
                tracing::debug!(%error, "what has ended could not be thrown away");
            }
        }
    }
}
