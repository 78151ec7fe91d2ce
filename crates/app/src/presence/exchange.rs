//! Presence between servers on one database: once a second each publishes what changed among its
//! users and reads what changed at the others.
//!
//! Each server has rows of its own (`node_presence`), one for each user present, so that a server
//! which starts late or misses a round reads the present state, and what a killed server published
//! is left out with that server. A server that knows of no other neither writes nor reads.

use std::collections::BTreeSet;
use std::time::Duration;

use eddyline_model::{Timestamp, UserId};
use eddyline_storage::{OtherNode, PresenceRow, SILENCE_MILLIS};
use eddyline_streaming::presence::PresenceState;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::outgoing::PresenceRows;
use super::room_presence::{RoomPresence, decode, encode};
use super::{MINUTE_MILLIS, Ordering};
use crate::core::transaction::NoCaller;
use crate::jobs::Ticker;
use crate::{PresenceTracker, Result};

/// How often a server publishes and reads.
const EVERY: Duration = Duration::from_secs(1);
/// How many batches are written at once, as long as there are more. All users of a server that
/// begins are mostly among these, so that others do not take them for absent meanwhile.
const BATCHES: usize = 16;
/// How many rows are read at once.
const ROWS: i64 = 512;
/// How many events are sent at once. A pause follows, so that listeners can read them.
const EVENTS_AT_ONCE: usize = 64;
/// How long the pause is.
const PAUSE: Duration = Duration::from_millis(5);

/// How far this server has published.
#[derive(Debug, Default)]
struct Published {
    /// The time of its newest rows. Absent when it has published none, or they have been removed.
    at: Option<Timestamp>,
    /// When rows of users who left were last removed.
    cleared: Timestamp,
}

impl PresenceTracker {
    /// Exchanges presence with other servers.
    pub(crate) async fn run_presence_exchange(self, stop: CancellationToken) {
        let mut ticker = Ticker::new(EVERY, stop);
        let mut published = Published::default();
        while ticker.tick().await {
            if let Err(error) = self.exchange_presence(&mut published).await {
                tracing::debug!(%error, "presence could not be exchanged with other servers");
            }
        }
    }

    async fn exchange_presence(&self, published: &mut Published) -> Result<()> {
        if !self.online.others.load(Ordering::Relaxed) {
            return Ok(());
        }
        let (node, since) = (
            self.core.node.clone(),
            self.core.now().plus_millis(-SILENCE_MILLIS),
        );
        let others = self
            .core
            .store()
            .read(move |reader| reader.nodes().list_others(&node, since))
            .await?;
        self.drop_missing(&others).await;
        if others.is_empty() {
            return self.end_publishing(published).await;
        }
        let outcome = self.publish_presence(published).await;
        for other in others {
            self.read_presence(other).await?;
        }
        outcome
    }

    async fn publish_presence(&self, published: &mut Published) -> Result<()> {
        let now = self.core.now();
        let from = published.at;
        let clear = from.is_some() && now.0.saturating_sub(published.cleared.0) >= MINUTE_MILLIS;
        let batches = self.batches(from.is_none(), now);
        if batches.is_empty() && from.is_some() && !clear {
            return Ok(());
        }
        match self
            .write_batches(
                &batches,
                from,
                clear.then(|| now.plus_millis(-MINUTE_MILLIS)),
            )
            .await
        {
            Ok(at) => {
                published.at = at;
                if clear || from.is_none() {
                    published.cleared = now;
                }
                Ok(())
            }
            Err(error) => {
                self.online.state().put_back(&batches);
                Err(error)
            }
        }
    }

    /// The next users to publish: of all who are present, when the server begins.
    fn batches(&self, begins: bool, now: Timestamp) -> Vec<PresenceRows> {
        let mut state = self.online.state();
        if begins {
            state.publish_all();
        }
        state.next_batches(BATCHES, now)
    }

    /// Writes rows, and removes those of users who left before `clear`. Returns the time of the new
    /// rows; `None` when other servers do not count this one among those that live, or its rows are
    /// gone.
    async fn write_batches(
        &self,
        batches: &[PresenceRows],
        from: Option<Timestamp>,
        clear: Option<Timestamp>,
    ) -> Result<Option<Timestamp>> {
        let node = self.core.node.clone();
        let rows: Vec<Vec<_>> = batches
            .iter()
            .map(|batch| batch.iter().map(row).collect())
            .collect();
        let written = self.core.store().write(NoCaller::Process, move |tx| {
            // Later than all rows before, whatever the clock does.
            let at = tx.now().max(from.unwrap_or_default().plus_millis(1));
            let is_listed = match from {
                Some(from) => tx.nodes().advance_presence(&node, from, at)?,
                None => tx.nodes().set_presence_start(&node, at)?,
            };
            if let Some(before) = clear.filter(|_| is_listed) {
                tx.nodes().delete_absent(&node, before)?;
            }
            if is_listed {
                rows.iter()
                    .try_for_each(|rows| tx.nodes().upsert_presence(&node, at, rows))?;
            }
            Ok(is_listed.then_some(at))
        });
        Ok(written.await?.0)
    }

    /// Removes what was published, since there is no other server to read it. One that starts later
    /// would find users who have left.
    async fn end_publishing(&self, published: &mut Published) -> Result<()> {
        if published.at.is_some() {
            let node = self.core.node.clone();
            self.core
                .store()
                .write(NoCaller::Process, move |tx| {
                    tx.nodes().delete_presence(&node)
                })
                .await?;
            published.at = None;
        }
        self.online.state().outgoing = None;
        self.online.others.store(false, Ordering::Relaxed);
        Ok(())
    }

    async fn read_presence(&self, other: OtherNode) -> Result<()> {
        let read = self.online.state().elsewhere.read_up_to(&other.id);
        // From the beginning, where rows have been removed that were not read.
        let whole = read < other.presence_from || read > other.presence_at;
        if !whole && read == other.presence_at {
            self.online
                .state()
                .elsewhere
                .note(&other.id, read, other.heartbeat);
            return Ok(());
        }
        let after = if whole { Timestamp(0) } else { read };
        let mut gone: BTreeSet<UserId> = match whole {
            true => self
                .online
                .state()
                .elsewhere
                .users_of(&other.id)
                .into_iter()
                .collect(),
            false => BTreeSet::new(),
        };
        let (mut events, mut last) = (0, UserId(0));
        loop {
            let node = other.id.clone();
            let rows = self
                .core
                .store()
                .read(move |reader| reader.nodes().list_presence_since(&node, after, last, ROWS))
                .await?;
            let is_last = (rows.len() as i64) < ROWS;
            for PresenceRow { user, places, .. } in rows {
                gone.remove(&user);
                last = user;
                // A later version may write what this one does not know; then the user is absent.
                let places = decode(&places).unwrap_or_default();
                self.apply_paced(&mut events, &other.id, user, places, self.core.now())
                    .await;
            }
            if is_last {
                break;
            }
        }
        for user in gone {
            self.apply_paced(
                &mut events,
                &other.id,
                user,
                Box::default(),
                self.core.now(),
            )
            .await;
        }
        let node = other.id.clone();
        let from = self
            .core
            .store()
            .read(move |reader| reader.nodes().find_presence_start(&node))
            .await?;
        // Otherwise rows that were not read may have been removed meanwhile: the next round reads
        // all.
        if whole || from.is_none_or(|from| from <= read) {
            self.online
                .state()
                .elsewhere
                .note(&other.id, other.presence_at, other.heartbeat);
        }
        Ok(())
    }

    /// Takes away the users of servers that are not on the list any more: they were last there when
    /// their server last showed a sign of life.
    async fn drop_missing(&self, others: &[OtherNode]) {
        let listed = |id: &str| others.iter().any(|other| other.id == id);
        let missing = self.online.state().elsewhere.missing(listed);
        for (id, heartbeat) in missing {
            let users = self.online.state().elsewhere.users_of(&id);
            let mut events = 0;
            for user in users {
                self.apply_paced(&mut events, &id, user, Box::default(), heartbeat)
                    .await;
            }
            self.online.state().elsewhere.remove(&id);
        }
    }

    /// Applies how another server shows a user, with a pause after so many `events`.
    #[expect(
        clippy::disallowed_methods,
        reason = "a pause in which listeners read; no event says when they have"
    )]
    async fn apply_paced(
        &self,
        events: &mut usize,
        node: &str,
        user: UserId,
        places: Box<[RoomPresence]>,
        at: Timestamp,
    ) {
        *events += self.apply_places(node, user, places, at);
        if *events >= EVENTS_AT_ONCE {
            *events = 0;
            sleep(PAUSE).await;
        }
    }
}

fn row((user, places): &(UserId, Vec<RoomPresence>)) -> PresenceRow {
    let present = places
        .iter()
        .any(|place| place.state != PresenceState::Offline);
    PresenceRow {
        user: *user,
        present,
        places: encode(places),
    }
}
