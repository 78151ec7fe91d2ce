//! The job that finds in the log what is to be pushed, and puts it into the queue.
//!
//! All processes look; the one that first moves the cursor past what it found puts it into the
//! queue, in the same transaction, but for what is more than one transaction takes: that is put
//! there before. The others then go on from there.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use eddyline_model::log::{LogBody, LogItem, Seq};
use eddyline_model::messages::{Message, MessageView};
use eddyline_model::notifications::{NotificationSettings, is_notified, is_notified_of};
use eddyline_model::{MessageId, RoomId, Timestamp, UserId};
use eddyline_storage::{NewPush, Reader, Result as StoreResult, Subscriber};
use tokio_util::sync::CancellationToken;

use super::{Notifications, is_quiet};
use crate::Result;
use crate::core::transaction::NoCaller;

/// The setting that has the position up to which the log was looked through.
pub(super) const CURSOR_SETTING: &str = "pushes_after";

/// How many entries of the log are looked through at once.
const PAGE: i64 = 64;
/// After how many entries without anything to push the cursor is moved all the same, so that a
/// process that starts does not look through a long log.
const STRIDE: i64 = 10_000;
/// The most push messages that one transaction puts into the queue. All who write wait for it.
const WRITTEN_AT_ONCE: usize = 500;
/// How long messages gather, so that a busy server looks a few times in a second and not at each.
const GATHER: Duration = Duration::from_millis(200);
/// The pause after a failure to read the log or to write the queue.
const RETRY_PAUSE: Duration = Duration::from_secs(1);
/// How old a message may be: who is notified of an older one learns nothing new.
const MAX_AGE_MILLIS: i64 = 10 * 60_000;

/// What one look into the log found.
struct Scan {
    /// The cursor as it is kept.
    cursor: Vec<u8>,
    /// How far the log was looked through.
    through: Seq,
    pushes: Vec<NewPush>,
    /// Whether there may be more.
    is_full: bool,
}

impl Notifications {
    /// Puts what is to be pushed into the queue, whenever the log has grown.
    #[expect(
        clippy::disallowed_methods,
        reason = "a pause in which messages gather"
    )]
    pub(crate) async fn run_queueing(self, stop: CancellationToken) {
        let mut fed = self.core.fed.subscribe();
        let mut scanned = Seq(0);
        loop {
            let outcome = self.queue_news(&mut scanned).await;
            if let Err(error) = &outcome {
                tracing::warn!(%error, "push messages could not be queued; trying again");
            }
            let grown = async {
                if outcome.is_ok() {
                    // The sender lives as long as the jobs.
                    let _ = fed.changed().await;
                    tokio::time::sleep(GATHER).await;
                } else {
                    // The log may not grow again for a long time: messages that are in it would not
                    // be pushed until then.
                    tokio::time::sleep(RETRY_PAUSE).await;
                }
            };
            if stop.run_until_cancelled(grown).await.is_none() {
                return;
            }
        }
    }

    /// Looks through the log from where this process has come to.
    async fn queue_news(&self, scanned: &mut Seq) -> Result<()> {
        loop {
            let (after, now) = (*scanned, self.core.now());
            let look = self
                .core
                .store()
                .read(move |reader| scan(reader, after, now));
            let Some(scan) = look.await? else {
                return Ok(());
            };
            let (through, is_full) = (scan.through, scan.is_full);
            // What could not be written is looked through again.
            if !self.keep(scan).await? {
                // Another process was faster, and has queued some of it.
                *scanned = Seq(0);
                continue;
            }
            *scanned = through;
            if !is_full {
                return Ok(());
            }
        }
    }

    /// Queues what was found and moves the cursor. Says whether this process was the first.
    async fn keep(&self, scan: Scan) -> Result<bool> {
        let is_far = scan.through.0 - position(&scan.cursor).0 >= STRIDE;
        if scan.pushes.is_empty() && !is_far {
            return Ok(true);
        }
        let Scan {
            cursor,
            through,
            mut pushes,
            ..
        } = scan;
        let has_pushes = !pushes.is_empty();
        while pushes.len() > WRITTEN_AT_ONCE {
            let portion = pushes.drain(..WRITTEN_AT_ONCE).collect();
            if !self.write(portion, cursor.clone(), None).await? {
                return Ok(false);
            }
        }
        let is_first = self.write(pushes, cursor, Some(through)).await?;
        if is_first && has_pushes {
            self.queued.notify_one();
        }
        Ok(is_first)
    }

    /// Puts push messages into the queue and, with the last of them, moves the cursor `through`.
    /// Does nothing and returns `false` when the cursor has been moved.
    async fn write(
        &self,
        pushes: Vec<NewPush>,
        cursor: Vec<u8>,
        through: Option<Seq>,
    ) -> Result<bool> {
        let write = self.core.store().write(NoCaller::Process, move |tx| {
            let is_first = match through {
                Some(through) => {
                    let through = through.0.to_be_bytes();
                    tx.settings()
                        .set_unchanged(CURSOR_SETTING, &cursor, &through)?
                }
                None => tx.settings().find(CURSOR_SETTING)?.as_ref() == Some(&cursor),
            };
            if is_first {
                let now = tx.now();
                tx.notifications().insert_pushes(&pushes, now)?;
            }
            Ok(is_first)
        });
        let (is_first, _) = write.await?;
        Ok(is_first)
    }
}

fn position(cursor: &[u8]) -> Seq {
    Seq(cursor.try_into().map_or(0, i64::from_be_bytes))
}

/// `None` when no browser takes push messages.
fn scan(reader: &mut Reader<'_>, after: Seq, now: Timestamp) -> StoreResult<Option<Scan>> {
    if !reader.notifications().has_subscriptions()? {
        return Ok(None);
    }
    let Some(cursor) = reader.settings().find(CURSOR_SETTING)? else {
        return Ok(None);
    };
    let after = after.max(position(&cursor));
    let items = reader.log().list_after(after, PAGE)?;
    let through = items.last().map_or(after, |item| item.id.seq);
    let is_full = i64::try_from(items.len()) == Ok(PAGE);
    let pushes = pushes(reader, items, now)?;
    Ok(Some(Scan {
        cursor,
        through,
        pushes,
        is_full,
    }))
}

/// What is to be pushed of some entries of the log.
fn pushes(
    reader: &mut Reader<'_>,
    items: Vec<LogItem>,
    now: Timestamp,
) -> StoreResult<Vec<NewPush>> {
    let views: Vec<Arc<MessageView>> = items
        .into_iter()
        .filter_map(|item| match item.body {
            LogBody::Message(view) => view,
            LogBody::Control(_) => None,
        })
        .filter(|view| {
            let message = &view.message;
            is_notified_of(message) && now.0 - message.sent.0 < MAX_AGE_MILLIS
        })
        .collect();
    let mut pushes = Vec::new();
    let rooms: HashSet<RoomId> = views.iter().map(|view| view.message.room).collect();
    for room in rooms {
        let said: Vec<&Message> = views
            .iter()
            .map(|view| &view.message)
            .filter(|message| message.room == room)
            .collect();
        pushes.extend(pushes_of_room(reader, room, &said, now)?);
    }
    pushes.sort_by_key(|push| (push.room, push.message));
    Ok(pushes)
}

/// What is to be pushed of messages of one room.
fn pushes_of_room(
    reader: &mut Reader<'_>,
    room: RoomId,
    messages: &[&Message],
    now: Timestamp,
) -> StoreResult<Vec<NewPush>> {
    let recipients: Vec<UserId> = messages.iter().filter_map(|message| message.to).collect();
    let mut notifications = reader.notifications();
    let subscribers: Vec<Subscriber> = match recipients.is_empty() {
        true => notifications
            .list_subscribers_of_rooms(&[room])?
            .into_iter()
            .map(|(_, subscriber)| subscriber)
            .collect(),
        false => notifications.list_subscribers(&recipients)?,
    };
    if subscribers.is_empty() {
        return Ok(Vec::new());
    }
    let users: HashSet<UserId> = subscribers.iter().map(|one| one.user).collect();
    let users: Vec<UserId> = users.into_iter().collect();
    let settings = notifications.list_settings(&users)?;
    let levels = notifications.list_levels(&[room], &users)?;
    let ids: Vec<MessageId> = messages.iter().map(|message| message.id).collect();
    let mentioned = notifications.list_mentioned(room, &ids, &users)?;
    let default = NotificationSettings::default();
    let mut pushes = Vec::new();
    for subscriber in &subscribers {
        let user = subscriber.user;
        let settings = settings.get(&user).unwrap_or(&default);
        if is_quiet(settings, now) {
            continue;
        }
        let level = *levels.get(&(room, user)).unwrap_or(&settings.level);
        let mut notified = messages.iter().filter(|message| {
            let is_mentioned = mentioned.contains(&(message.id, user));
            // A private message is addressed to one of the two users.
            let is_theirs = message.to.is_none_or(|to| to == user);
            is_theirs && is_notified(message, user, level, is_mentioned)
        });
        // A later push message for the same browser and room replaces an earlier one.
        pushes.extend(notified.next_back().map(|message| NewPush {
            session: subscriber.session.clone(),
            room,
            message: message.id,
        }));
    }
    Ok(pushes)
}
