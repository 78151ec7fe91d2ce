//! Deleting messages that have been kept for as long as the rules say.

use std::time::Duration;

use eddyline_model::messages::Message;
use eddyline_model::retention::{RetentionPeriod, RoomUnderHold};
use eddyline_model::{MessageId, RoomId};
use eddyline_storage::{Result as StoreResult, Tx};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
use tokio_util::sync::CancellationToken;

use crate::Result;
use crate::core::Core;
use crate::core::transaction::NoCaller;
use crate::jobs::Ticker;
use crate::messages::delete::remove;

/// How often a server looks whether the rules are to be applied.
const LOOK: Duration = Duration::from_secs(60);
/// How long after one server has begun to apply them another one may.
const EVERY_MILLIS: i64 = 3_600_000;
/// The setting with the time from which the rules are to be applied again.
const DUE: &str = "retention_due";
/// How many messages one read looks at.
const PAGE: i64 = 500;
/// How many messages one transaction deletes.
const BATCH: usize = 50;

/// How long messages are kept. See [`crate::App::retention`].
#[derive(Clone)]
pub struct Retention {
    core: Core,
    deleted: Counter,
}

crate::core::opaque_debug!(Retention);

/// What applying the rules came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AppliedRetention {
    /// Messages that were deleted. Notices are not counted.
    pub deleted: u64,
    /// Messages that have expired and that a legal hold keeps.
    pub held: u64,
}

impl AppliedRetention {
    fn add(&mut self, other: Self) {
        self.deleted += other.deleted;
        self.held += other.held;
    }
}

impl Retention {
    pub(crate) fn new(core: Core) -> Self {
        Self {
            core,
            deleted: Counter::default(),
        }
    }

    /// Adds the metrics of retention to a registry.
    pub(crate) fn register_metrics(&self, registry: &mut Registry) {
        registry.register(
            "retention_deleted_messages",
            "Messages that were deleted since they had been kept for as long as the rules say",
            self.deleted.clone(),
        );
    }

    /// Applies the rules once an hour, in one server of a database.
    pub(crate) async fn run_retention(self, stop: CancellationToken) {
        let mut ticker = Ticker::new(LOOK, stop);
        while ticker.tick().await {
            if let Err(error) = self.apply_when_due().await {
                tracing::warn!(%error, "messages that have expired could not be deleted");
            }
        }
    }

    async fn apply_when_due(&self) -> Result<()> {
        if !self.claim().await? {
            return Ok(());
        }
        let applied = self.apply().await?;
        if applied.deleted > 0 {
            let AppliedRetention { deleted, held } = applied;
            tracing::info!(deleted, held, "deleted messages that have expired");
        }
        Ok(())
    }

    /// Whether this server is the one to apply the rules now.
    async fn claim(&self) -> Result<bool> {
        let rules = self
            .core
            .store()
            .read(|reader| reader.retention().list_rules());
        Ok(!rules.await?.0.is_empty() && self.core.claim(DUE, EVERY_MILLIS).await?)
    }

    /// Deletes all messages that have expired, with their files, but for those that a legal hold
    /// keeps. Streams get a `message-delete` for each.
    ///
    /// # Errors
    ///
    /// [`Error::unavailable`](crate::Error::unavailable).
    pub async fn apply(&self) -> Result<AppliedRetention> {
        let store = self.core.store();
        let (rules, flows, imported) = store
            .read(|reader| {
                let rules = reader.retention().list_rules()?;
                let flows = reader.retention().list_flows()?;
                Ok((rules, flows, reader.imports().list_rooms()?))
            })
            .await?;
        let mut applied = AppliedRetention::default();
        for (room, organization) in flows {
            let period = rules.of_flow(room, organization);
            applied.add(
                self.apply_to(room, period, !imported.contains(&room))
                    .await?,
            );
        }
        let period = rules.of_private();
        if period == RetentionPeriod::Forever {
            return Ok(applied);
        }
        let mut after = RoomId(0);
        loop {
            let page = store
                .read(move |reader| reader.retention().list_private_page(after, PAGE))
                .await?;
            let Some(last) = page.last() else { break };
            after = *last;
            for room in page {
                applied.add(
                    self.apply_to(room, period, !imported.contains(&room))
                        .await?,
                );
            }
        }
        Ok(applied)
    }

    /// Deletes what has expired in a room. Where the oldest have the lowest numbers, the first page
    /// without an expired one is the last that is read; an import puts old ones behind newer ones.
    async fn apply_to(
        &self,
        room: RoomId,
        period: RetentionPeriod,
        is_in_order: bool,
    ) -> Result<AppliedRetention> {
        let mut applied = AppliedRetention::default();
        if period == RetentionPeriod::Forever {
            return Ok(applied);
        }
        let mut after = MessageId(0);
        loop {
            let page = self
                .core
                .store()
                .read(move |reader| reader.messages().list_oldest(room, after, PAGE))
                .await?;
            let Some(last) = page.last() else { break };
            after = last.id;
            let now = self.core.now();
            let expired = page
                .iter()
                .filter(|message| period.has_expired(message.sent, now));
            let expired: Vec<MessageId> = expired.map(|message| message.id).collect();
            if expired.is_empty() && is_in_order {
                break;
            }
            for batch in expired.chunks(BATCH) {
                applied.add(self.delete_batch(room, batch.to_vec()).await?);
            }
        }
        Ok(applied)
    }

    async fn delete_batch(&self, room: RoomId, batch: Vec<MessageId>) -> Result<AppliedRetention> {
        let (applied, _) = self
            .core
            .store()
            .write(NoCaller::Process, move |tx| {
                delete_expired(tx, room, &batch)
            })
            .await?;
        self.deleted.inc_by(applied.deleted);
        Ok(applied)
    }
}

/// Deletes of these messages those that have expired by the rules and holds of now.
fn delete_expired(
    tx: &mut Tx<'_>,
    room: RoomId,
    batch: &[MessageId],
) -> StoreResult<AppliedRetention> {
    let mut applied = AppliedRetention::default();
    tx.rooms().lock(room)?;
    let rules = tx.retention().list_rules()?;
    let holds = tx.retention().lock_holds()?;
    let Some(place) = tx.retention().find_room(room)? else {
        return Ok(applied);
    };
    let period = match &place {
        RoomUnderHold::Flow(room, organization) => rules.of_flow(*room, *organization),
        RoomUnderHold::Private(..) => rules.of_private(),
    };
    let now = tx.now();
    for id in batch {
        let Some(message) = tx.messages().find(room, *id)? else {
            continue;
        };
        if !period.has_expired(message.sent, now) {
            continue;
        }
        if holds.covering(&place, message.author.user).is_some() {
            applied.held += u64::from(message.event.is_listed());
            continue;
        }
        delete(tx, &message)?;
        applied.deleted += u64::from(message.event.is_listed());
    }
    Ok(applied)
}

/// Deletes a message, and its thread when that was the last one of it.
fn delete(tx: &mut Tx<'_>, message: &Message) -> StoreResult<()> {
    if message.event.is_listed() {
        // Of a private message the notice needs both users.
        let by = message.to.and(message.author.user);
        remove(tx, by, message)?;
    } else {
        tx.messages().delete(message)?;
    }
    match message.thread_root {
        Some(root) => tx.threads().delete_empty(message.room, root),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
