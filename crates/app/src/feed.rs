//! The feed: reads the log onward, encodes each entry once, hands it to the hub, and makes this
//! process forget what others changed.

pub(crate) mod replay;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use eddyline_model::log::{Control, LogBody, LogItem, Seq};
use eddyline_model::{EventId, RoomId, Timestamp, UserId};
use eddyline_storage::{Error as StoreError, Reader, Result as StoreResult};
use eddyline_streaming::{Amendment, Audience, Entry};
use futures_util::FutureExt as _;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use crate::actor::{grant_key, key};
use crate::feed_encode::EntryEncoder;
use crate::jobs::Background;
use crate::ring_index::{AmendedEntries, RingMessageIndex};
use crate::{App, Error, Result};

/// How many entries of the log one read takes. All of them are in memory at once, and each can be
/// as large as the largest message.
const PAGE: i64 = 64;
/// How much of the log the ring starts with, so that streams that lost a restarted server find
/// what they missed in memory.
const WARM: i64 = 2048;
/// How often the feed makes sure that it is up to date when nobody rang.
const CHECK: Duration = Duration::from_millis(500);
/// How often streams that have nothing to say may be asked for a sign of life.
const TICK: Duration = Duration::from_secs(5);
const RETRY: Duration = Duration::from_millis(250);
/// How often a warning says that the log still cannot be read.
const OUTAGE_PAUSE: Duration = Duration::from_secs(60);

struct Feed {
    app: App,
    entry_encoder: EntryEncoder,
    at: EventId,
    ring_index: RingMessageIndex,
    control_seen: Arc<Notify>,
    outage: Option<Outage>,
}

/// A time in which the log cannot be read.
struct Outage {
    began: Instant,
    /// When a warning was last logged.
    warned: Instant,
}

impl Outage {
    /// Takes a failure into account, and says whether it is to be a warning: the first, and one in
    /// a minute.
    fn is_warned_of(outage: &mut Option<Self>, now: Instant) -> bool {
        match outage {
            Some(outage) if now.duration_since(outage.warned) < OUTAGE_PAUSE => return false,
            Some(outage) => outage.warned = now,
            None => {
                *outage = Some(Self {
                    began: now,
                    warned: now,
                });
            }
        }
        true
    }
}

/// Why the feed could not take the next entries.
#[derive(Debug)]
enum FeedError {
    /// The store does not answer; the feed tries again.
    Transient(Error),
    /// The log has an entry that this version cannot read. The feed ends: without that entry this
    /// process could go on granting a right that was withdrawn.
    Fatal(Error),
}

impl From<StoreError> for FeedError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::LogRow { .. } | StoreError::Corrupt(_) => Self::Fatal(error.into()),
            error => Self::Transient(error.into()),
        }
    }
}

impl From<FeedError> for Error {
    fn from(error: FeedError) -> Self {
        match error {
            FeedError::Transient(error) | FeedError::Fatal(error) => error,
        }
    }
}

type FeedResult<T> = std::result::Result<T, FeedError>;

impl App {
    /// Starts the feed and the other background work of this process: once this answers, streams
    /// can be opened.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn start(&self) -> Result<Background> {
        let jobs = self.core().jobs();
        if jobs.stopped().is_cancelled() {
            return Err(Error::unavailable("the application was stopped"));
        }
        let control_seen = Arc::new(Notify::new());
        let mut feed = Feed {
            app: self.clone(),
            entry_encoder: self.core().entry_encoder.clone(),
            at: EventId::default(),
            ring_index: RingMessageIndex::default(),
            control_seen: control_seen.clone(),
            outage: None,
        };
        // On the list before anything is cached, so that others wait for this process.
        self.heartbeat().await?;
        let begun = async {
            self.audit_export().begin().await?;
            feed.start().await
        };
        if let Err(error) = begun.await {
            self.core().leave().await;
            return Err(error);
        }
        let background = jobs.background();
        jobs.spawn_essential("feed", feed.run(jobs.stopped()));
        let app = self.clone();
        jobs.spawn("heartbeat", move |stop| {
            app.clone().run_heartbeat(control_seen.clone(), stop)
        });
        let presence = self.presence().clone();
        jobs.spawn("presence", move |stop| presence.clone().run_presence(stop));
        let presence = self.presence().clone();
        jobs.spawn("presence exchange", move |stop| {
            presence.clone().run_presence_exchange(stop)
        });
        let mail = self.mail().clone();
        jobs.spawn("mailer", move |stop| mail.clone().run_mailer(stop));
        let notifications = self.notifications().clone();
        jobs.spawn("push queue", move |stop| {
            notifications.clone().run_queueing(stop)
        });
        let notifications = self.notifications().clone();
        jobs.spawn("push delivery", move |stop| {
            notifications.clone().run_delivery(stop)
        });
        let core = self.core().clone();
        jobs.spawn("tidying", move |stop| core.clone().run_tidying(stop));
        let files = self.files().clone();
        jobs.spawn("file cleaning", move |stop| {
            files.clone().run_file_cleaning(stop)
        });
        let retention = self.retention().clone();
        jobs.spawn("retention", move |stop| {
            retention.clone().run_retention(stop)
        });
        let deletions = self.deletions().clone();
        jobs.spawn("deletions", move |stop| {
            deletions.clone().run_deletions(stop)
        });
        for destination in self.audit_export().destinations() {
            let (exporter, destination) = (self.audit_export().clone(), destination.clone());
            jobs.spawn(destination.job_name(), move |stop| {
                exporter.clone().run_export(destination.clone(), stop)
            });
        }
        let hub = self.core().hub.clone();
        jobs.spawn("wakes", move |stop| {
            let hub = hub.clone();
            async move {
                stop.run_until_cancelled(hub.run_wakes()).await;
            }
        });
        Ok(background)
    }

    /// Ends all streams and lets no new ones begin.
    pub fn end_streams(&self) {
        self.core().hub.close_all();
    }
}

impl Feed {
    async fn start(&mut self) -> Result<()> {
        let start = self.app.core().store().read(|reader| {
            let after = Seq((reader.log().find_head()?.seq.0 - WARM).max(0));
            if after.0 == 0 {
                return Ok(EventId::default());
            }
            Ok(reader
                .log()
                .list_after(Seq(after.0 - 1), 1)?
                .first()
                .map_or(EventId::default(), |item| item.id))
        });
        self.at = start.await?;
        self.app.core().hub.start_at(self.at);
        Ok(self.read_on().await?)
    }

    /// Reads the log until it is to stop, after all streams have ended; or, with an error, until an
    /// entry comes that this version cannot read.
    async fn run(mut self, stop: CancellationToken) -> Result<()> {
        let reading = AssertUnwindSafe(self.read_until(&stop))
            .catch_unwind()
            .await;
        let outcome = reading.unwrap_or_else(|_| Err(Error::internal("the feed panicked")));
        self.app.end_streams();
        if outcome.is_err() {
            // The heartbeat ends with the feed, so that others do not wait any more for this
            // process, which therefore must not rely on its memory.
            stop.cancel();
            self.app.core().mark_synced(Timestamp(0));
            self.app.core().leave().await;
        }
        outcome
    }

    async fn read_until(&mut self, stop: &CancellationToken) -> Result<()> {
        let notifier = self.app.core().store().change_notifier();
        let (_closed, none) = mpsc::channel(1);
        let mut committed = self.app.core().store().committed().unwrap_or(none);
        let mut check = tokio::time::interval(CHECK);
        check.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut tick = tokio::time::interval(TICK);
        loop {
            let outcome = tokio::select! {
                () = stop.cancelled() => return Ok(()),
                // None when the writer has ended; then only the log tells.
                Some(items) = committed.recv() => self.take_hint(items).await,
                () = notifier.changed_elsewhere() => self.read_on().await,
                _ = check.tick() => {
                    self.expire();
                    self.read_on().await
                }
                _ = tick.tick() => {
                    self.app.core().hub.tick();
                    Ok(())
                }
            };
            match outcome {
                Ok(()) => {}
                Err(FeedError::Transient(error)) => {
                    self.note_failure(&error);
                    #[expect(
                        clippy::disallowed_methods,
                        reason = "a pause before the database is tried again"
                    )]
                    tokio::time::sleep(RETRY).await;
                }
                Err(FeedError::Fatal(error)) => return Err(error),
            }
        }
    }

    /// Logs a failure. Only some are warnings, since the feed tries four times a second.
    fn note_failure(&mut self, error: &Error) {
        let now = Instant::now();
        if Outage::is_warned_of(&mut self.outage, now) {
            tracing::warn!(%error, "the log cannot be read; trying again until it can");
        } else {
            tracing::debug!(%error, "the log still cannot be read");
        }
    }

    fn note_recovery(&mut self) {
        if let Some(outage) = self.outage.take() {
            tracing::info!(
                seconds = outage.began.elapsed().as_secs(),
                "the log can be read again"
            );
        }
    }

    /// Takes what this process committed itself, which spares reading it. Where other processes
    /// wrote in between, the log is read first.
    async fn take_hint(&mut self, items: Vec<LogItem>) -> FeedResult<()> {
        let Some(first) = items.first() else {
            return Ok(());
        };
        if first.id.seq.0 > self.at.seq.0 + 1 {
            return self.read_on().await;
        }
        let new = items
            .iter()
            .position(|item| item.id.seq > self.at.seq)
            .unwrap_or(items.len());
        self.take(&items[new..]).await
    }

    async fn read_on(&mut self) -> FeedResult<()> {
        loop {
            let after = self.at.seq;
            let asked_at = self.app.now();
            let items = self.app.core().store().log_onward(after, PAGE).await?;
            let full = items.len() as i64 >= PAGE;
            self.take(&items).await?;
            if !full {
                self.app.core().mark_synced(asked_at);
                self.note_recovery();
                return Ok(());
            }
        }
    }

    async fn take(&mut self, items: &[LogItem]) -> FeedResult<()> {
        let Some(last) = items.last() else {
            return Ok(());
        };
        let found = self.look_up(items).await?;
        self.end_credentials(items);
        let controlled = items.iter().filter(|item| self.act(item, &found)).count() > 0;
        self.at = last.id;
        let (told, amended) = self.ring_index.take(items);
        let mut amendments = self.amendments(&amended);
        amendments.extend(items.iter().filter_map(EntryEncoder::flow_removed));
        self.app
            .core()
            .hub
            .publish_amended(self.at, self.encode(&told, found), amendments);
        if items.iter().any(|item| {
            matches!(
                item.body,
                LogBody::Control(Control::OrganizationRemove { .. })
            )
        }) {
            // Drops the ring: replays of private messages must go through the log, which checks who
            // shares an organization now.
            self.app.core().hub.start_at(last.id);
        }
        self.ring_index
            .drop_before(self.app.core().hub.ring_start());
        self.app.core().fed.send_replace(last.id);
        self.app.messages().latest.note(items);
        self.app.presence().note_posts(items);
        if controlled {
            self.control_seen.notify_one();
        }
        Ok(())
    }

    fn amendments(&self, amended: &[AmendedEntries]) -> Vec<Amendment> {
        amended
            .iter()
            .filter_map(|amended| self.entry_encoder.amendment(amended))
            .collect()
    }

    /// Amends what may be told for a while only.
    fn expire(&mut self) {
        let amended = self.ring_index.expire(self.app.now());
        if !amended.is_empty() {
            self.app
                .core()
                .hub
                .publish_amended(self.at, Vec::new(), self.amendments(&amended));
        }
    }

    /// Adds a flow to those streams of these users that follow their user into flows.
    fn add_room(&self, users: &[UserId], room: RoomId) {
        self.app.core().hub.add_room(users, room);
        self.app.presence().follow(users, room);
    }

    /// Looks up in one go what the items need to be encoded and acted upon.
    async fn look_up(&self, items: &[LogItem]) -> FeedResult<LookedUp> {
        let unknown: Vec<LogItem> = items
            .iter()
            .filter(|item| self.entry_encoder.needs_look_up(item))
            .cloned()
            .collect();
        if unknown.is_empty() {
            return Ok(LookedUp::default());
        }
        let entry_encoder = self.entry_encoder.clone();
        let looked_up = self.app.core().store().read(move |reader| {
            let mut found = LookedUp::default();
            for item in &unknown {
                let entry = entry_encoder.encode(reader, item)?;
                // The encoder knows the flows of messages now.
                let LogBody::Control(control) = &item.body else {
                    continue;
                };
                if let Some(entry) = entry {
                    found.entries.insert(item.id.seq, entry);
                }
                let members = match *control {
                    Control::FlowAdd { room, user } if is_open(reader, room)? => vec![user],
                    Control::FlowChange { room } if is_open(reader, room)? => {
                        readers_of(reader, room)?
                    }
                    _ => continue,
                };
                found.members.insert(item.id.seq, members);
            }
            StoreResult::Ok(found)
        });
        Ok(looked_up.await?)
    }

    /// The entries of the items, given those that were looked up.
    fn encode(&self, items: &[LogItem], mut found: LookedUp) -> Vec<Arc<Entry>> {
        let entry = |item: &LogItem| match self.entry_encoder.encode_known(item) {
            Some(known) => known,
            None => found.entries.remove(&item.id.seq),
        };
        items.iter().filter_map(entry).map(Arc::new).collect()
    }

    /// Forgets the credentials and grants that ended, and ends their streams: of however many, in
    /// one go.
    fn end_credentials(&self, items: &[LogItem]) {
        let (mut credentials, mut grants) = (HashSet::new(), HashSet::new());
        for item in items {
            match item.body {
                LogBody::Control(Control::CredentialEnd { credential, .. }) => {
                    credentials.insert(credential);
                }
                LogBody::Control(Control::GrantEnd { grant, .. }) => {
                    grants.insert(grant);
                }
                _ => {}
            }
        }
        if !credentials.is_empty() || !grants.is_empty() {
            let app = &self.app;
            app.authentication()
                .callers
                .invalidate_ended(&credentials, &grants);
            let keys = credentials
                .iter()
                .map(|id| key(*id))
                .chain(grants.iter().map(|id| grant_key(*id)));
            app.core().hub.revoke_credentials(&keys.collect());
        }
    }

    /// Does what an entry asks of this process, before anybody hears of it: forgets what is not
    /// true any more, and ends what is not allowed any more. Tells whether there was something.
    fn act(&self, item: &LogItem, found: &LookedUp) -> bool {
        let LogBody::Control(control) = &item.body else {
            return false;
        };
        let (cache, hub) = (&self.app.rooms().cache, &self.app.core().hub);
        let callers = &self.app.authentication().callers;
        match *control {
            Control::FlowAdd { room, .. } => {
                cache.invalidate(room);
                if let Some(members) = found.members.get(&item.id.seq) {
                    self.add_room(members, room);
                }
            }
            Control::FlowRemove { room, user } => {
                cache.invalidate(room);
                hub.revoke_room(user, room);
                self.app.presence().unfollow(user, room);
            }
            Control::FlowChange { room } => {
                cache.invalidate(room);
                if let Some(members) = found.members.get(&item.id.seq) {
                    self.add_room(members, room);
                }
            }
            Control::FlowArchive { room } => {
                cache.invalidate(room);
                hub.revoke_room_for_all(room);
                self.app.presence().unfollow_all(room);
            }
            Control::UserEdit { user } => {
                callers.invalidate_user(user);
                match found.entries.get(&item.id.seq).map(Entry::audience) {
                    Some(Audience::Many { rooms, .. }) => cache.invalidate_user(user, rooms),
                    _ => cache.invalidate_all(),
                }
            }
            Control::Revoked { user } => {
                callers.invalidate_user(user);
                hub.revoke_user(user);
            }
            // Acted upon beforehand, all at once.
            Control::CredentialEnd { .. } | Control::GrantEnd { .. } => {}
            Control::OrganizationRemove { user } => {
                callers.invalidate_user(user);
                cache.invalidate_all();
                // The `FlowRemove` of each flow has ended the streams of that flow.
                hub.revoke_private(user);
            }
            Control::OrganizationChange => cache.invalidate_all(),
            Control::GroupChange { organization } => cache.invalidate_groups(organization),
            Control::FlowTokens { room } => callers.invalidate_flow_tokens(room),
            Control::UserJoin { .. }
            | Control::UserBlock { .. }
            | Control::Read { .. }
            | Control::ThreadRead { .. } => return false,
        }
        true
    }
}

/// What items need to be encoded and acted upon.
#[derive(Default)]
struct LookedUp {
    /// The entries of controls.
    entries: HashMap<Seq, Entry>,
    /// Who may listen to a flow from now on: those who came into it, and all of its members where it
    /// changed, since an archived flow may have come back.
    members: HashMap<Seq, Vec<UserId>>,
}

/// Whether there is a flow that is not archived.
fn is_open(reader: &mut Reader<'_>, room: RoomId) -> StoreResult<bool> {
    let flow = reader.flows().find(room)?;
    Ok(flow.is_some_and(|flow| !flow.disabled))
}

/// The members of a flow who may read it unless it is archived.
fn readers_of(reader: &mut Reader<'_>, room: RoomId) -> StoreResult<Vec<UserId>> {
    let members = reader.members().list_of_room(room)?.into_iter();
    let allowed = members.filter(|(membership, _)| !membership.blocked);
    Ok(allowed.map(|(membership, _)| membership.user).collect())
}
