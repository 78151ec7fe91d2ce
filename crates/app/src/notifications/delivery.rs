//! The job that sends push messages.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use eddyline_model::Timestamp;
use eddyline_outbound::{Error as OutboundError, OutboundRequest};
use eddyline_storage::{DuePush, QueuedPush};
use eddyline_webpush::encrypt;
use http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::Notifications;
use super::compose::{self, PushMessage};
use super::senders::{Admission, Sender};
use crate::Result;
use crate::core::transaction::NoCaller;
use crate::metrics::DeliveryFailure;

/// The most due messages that are read at a time: the first of each browser, in turns of
/// organizations and users, so that those without room do not hide others.
const LOOKED_AT: i64 = 256;
/// The time within which a push service must answer. A later answer counts as a failure, even if
/// the push service accepts the message.
pub(super) const ANSWER_TIME: Duration = Duration::from_secs(3);
/// How long no other process takes those that were taken: all of them are done by then.
const HOLD_MILLIS: i64 = 5 * 60_000;
/// The pause for messages whose host does not answer the messages of others.
const HOST_PAUSE_MILLIS: i64 = 5_000;
/// How often the queue is looked at when nothing rang: another process may have put some in.
const POLL: Duration = Duration::from_secs(10);
/// For how many seconds a push service keeps a message for a browser that is not there.
const TTL_SECONDS: u32 = 24 * 3600;
/// How long it is worth trying to reach a push service.
const MAX_AGE_MILLIS: i64 = 3_600_000;
/// The pause after a first failure; it doubles with each other one.
const FIRST_PAUSE_MILLIS: i64 = 30_000;
/// The longest pause that a push service is granted.
const MAX_PAUSE_MILLIS: i64 = 15 * 60_000;

const TTL: HeaderName = HeaderName::from_static("ttl");
const TOPIC: HeaderName = HeaderName::from_static("topic");
const URGENCY: HeaderName = HeaderName::from_static("urgency");

/// What became of a push message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// The push service took it.
    Sent,
    /// The push service never will take it.
    Refused,
    /// The browser takes no more messages.
    Gone,
    /// It may be taken later: after so many milliseconds, if the push service says so.
    Later(Option<i64>),
}

impl Notifications {
    /// Sends what is in the queue. Messages under way when the job is to stop are due again when
    /// the hold ends.
    #[expect(
        clippy::disallowed_methods,
        reason = "wakes when a message is to be tried again"
    )]
    pub(crate) async fn run_delivery(self, stop: CancellationToken) {
        let mut under_way = JoinSet::new();
        while !stop.is_cancelled() {
            let pause = match self.start_due(&mut under_way).await {
                Ok(pause) => pause,
                Err(error) => {
                    tracing::warn!(%error, "the queue of push messages cannot be read; trying again");
                    POLL
                }
            };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.queued.notified() => {}
                () = self.senders.released() => {}
                () = stop.cancelled() => return,
            }
            while let Some(ended) = under_way.try_join_next() {
                if let Err(error) = ended {
                    tracing::error!(%error, "sending a push message panicked");
                }
            }
        }
    }

    /// Begins to send the messages that are due and have room. Returns the time to wait before it
    /// looks again, unless a message is released or put into the queue earlier.
    async fn start_due(&self, under_way: &mut JoinSet<()>) -> Result<Duration> {
        loop {
            let now = self.core.now();
            let read = self.core.store().read(move |reader| {
                let mut notifications = reader.notifications();
                let due = notifications.list_due_pushes(now, LOOKED_AT)?;
                let next = notifications.find_next_due_after(now)?;
                Ok((due, next))
            });
            let (due, next) = read.await?;
            let (mut senders, mut postponed) = (Vec::new(), Vec::new());
            for push in due {
                match self.senders.admit(&push) {
                    Admission::Send(sender) => senders.push((push.id, sender)),
                    Admission::Wait => {}
                    Admission::Postpone => postponed.push(push),
                }
            }
            if senders.is_empty() && postponed.is_empty() {
                let millis = next.map(|next| u64::try_from(next.0 - now.0).unwrap_or_default());
                return Ok(millis.map_or(POLL, |millis| POLL.min(Duration::from_millis(millis))));
            }
            for (queued, message, sender) in self.take(senders, postponed).await? {
                let notifications = self.clone();
                let sender = Arc::new(sender);
                under_way
                    .spawn(async move { notifications.deliver(queued, message, sender).await });
            }
        }
    }

    /// Takes push messages out of turn for other processes, and writes them. Those that are not to
    /// be sent any more are thrown away.
    async fn take(
        &self,
        senders: Vec<(i64, Sender)>,
        postponed: Vec<DuePush>,
    ) -> Result<Vec<(QueuedPush, PushMessage, Sender)>> {
        let ids: Vec<i64> = senders.iter().map(|(id, _)| *id).collect();
        // Messages are composed before: all who write wait for a transaction that writes.
        let mut messages = self.compose(ids.clone()).await?;
        let composed: HashSet<i64> = messages.keys().copied().collect();
        let (taken, _) = self
            .core
            .store()
            .write(NoCaller::Process, move |tx| {
                let now = tx.now();
                let later = now.plus_millis(HOST_PAUSE_MILLIS);
                for push in &postponed {
                    tx.notifications().postpone_pushes(&push.session, later)?;
                }
                let again = now.plus_millis(HOLD_MILLIS);
                let (mut taken, mut ended) = (Vec::new(), Vec::new());
                for queued in tx.notifications().claim_pushes(&ids, now, again)? {
                    let is_late = now.0 - queued.created_at.0 >= MAX_AGE_MILLIS;
                    if composed.contains(&queued.id) && !is_late {
                        taken.push(queued);
                    } else {
                        // The claim put off the other messages of the browser too; they are due as
                        // before.
                        let session = &queued.push.session;
                        tx.notifications().postpone_pushes(session, now)?;
                        ended.push(queued.id);
                    }
                }
                tx.notifications().delete_pushes(&ended)?;
                Ok(taken)
            })
            .await?;
        let mut senders: HashMap<i64, Sender> = senders.into_iter().collect();
        let sent = taken.into_iter().filter_map(|queued| {
            let message = messages.remove(&queued.id)?;
            let sender = senders.remove(&queued.id)?;
            Some((queued, message, sender))
        });
        Ok(sent.collect())
    }

    /// Composes push messages, by their numbers, but for those that are not to be sent any more.
    async fn compose(&self, ids: Vec<i64>) -> Result<HashMap<i64, PushMessage>> {
        let read = self.core.store().read(move |reader| {
            let mut messages = HashMap::new();
            for queued in reader.notifications().list_pushes(&ids)? {
                let message = compose::message(reader, &queued)?;
                messages.extend(message.map(|message| (queued.id, message)));
            }
            Ok(messages)
        });
        Ok(read.await?)
    }

    async fn deliver(&self, queued: QueuedPush, message: PushMessage, sender: Arc<Sender>) {
        let outcome = self.send(&message, &sender).await;
        let now = self.core.now();
        let next = match outcome {
            Outcome::Later(wait) => next(&queued, now, wait),
            Outcome::Sent | Outcome::Refused | Outcome::Gone => Next::default(),
        };
        self.count(outcome, next.is_tried_again);
        let noted = self
            .core
            .store()
            .write(NoCaller::Process, move |tx| {
                let mut notifications = tx.notifications();
                let session = &queued.push.session;
                match outcome {
                    Outcome::Gone => return notifications.delete_subscription(session),
                    Outcome::Sent | Outcome::Refused => {
                        notifications.release_pushes(session, now)?;
                    }
                    Outcome::Later(_) => notifications.postpone_pushes(session, next.at)?,
                }
                match next.is_tried_again {
                    true => Ok(()),
                    false => notifications.delete_pushes(&[queued.id]),
                }
            })
            .await;
        if let Err(error) = noted {
            tracing::warn!(%error, "what became of a push message could not be noted; it may be sent again");
        }
    }

    fn count(&self, outcome: Outcome, is_postponed: bool) {
        let failure = match outcome {
            Outcome::Sent => return self.deliveries.note_sent(),
            Outcome::Gone => DeliveryFailure::Gone,
            Outcome::Later(_) if is_postponed => DeliveryFailure::Postponed,
            Outcome::Refused | Outcome::Later(_) => DeliveryFailure::GivenUp,
        };
        self.deliveries.note_failed(failure);
    }

    async fn send(&self, message: &PushMessage, sender: &Arc<Sender>) -> Outcome {
        let Some(request) = self.request(message) else {
            return Outcome::Gone;
        };
        // A look-up of the host may outlast the answer.
        let held = Arc::clone(sender);
        let request = OutboundRequest {
            held: Some(held),
            ..request
        };
        let answer = self.outbound.send_for_head(request).await;
        // Other failures are of this address alone, and tell nothing of the host.
        match &answer {
            Ok(_) => sender.note_answer(true),
            Err(OutboundError::Timeout | OutboundError::Connect(_)) => sender.note_answer(false),
            Err(_) => {}
        }
        match answer {
            Ok(response) => judge(response.status, &response.headers),
            Err(OutboundError::BadUrl(text)) => {
                tracing::debug!(text, "the address of a push service can never be asked");
                Outcome::Gone
            }
            Err(error) => {
                tracing::debug!(%error, "a push service was not reached");
                Outcome::Later(None)
            }
        }
    }

    /// The request to the push service (RFC 8030, section 5); `None` when nothing can be encrypted
    /// for this browser.
    fn request(&self, message: &PushMessage) -> Option<OutboundRequest> {
        let body = encrypt(&message.keys, &message.content).ok()?;
        let seconds = self.core.now().0 / 1000;
        let subject = &self.core.config().addresses.web;
        let authorization = self
            .key
            .authorization(&message.endpoint, subject, seconds)
            .ok()?;
        let mut authorization = HeaderValue::try_from(authorization).ok()?;
        authorization.set_sensitive(true);
        let mut request = OutboundRequest::post(&message.endpoint, body);
        request.headers = HeaderMap::from_iter([
            (AUTHORIZATION, authorization),
            (CONTENT_ENCODING, HeaderValue::from_static("aes128gcm")),
            (
                CONTENT_TYPE,
                HeaderValue::from_static("application/octet-stream"),
            ),
            (TTL, HeaderValue::from(TTL_SECONDS)),
            (URGENCY, HeaderValue::from_static("high")),
            (TOPIC, HeaderValue::try_from(&message.topic).ok()?),
        ]);
        Some(request)
    }
}

/// What the answer of a push service means (RFC 8030, section 5; RFC 8292, section 4.2).
fn judge(status: StatusCode, headers: &HeaderMap) -> Outcome {
    match status {
        status if status.is_success() => Outcome::Sent,
        StatusCode::NOT_FOUND | StatusCode::GONE => Outcome::Gone,
        StatusCode::TOO_MANY_REQUESTS => Outcome::Later(wait(headers)),
        status if status.is_server_error() => Outcome::Later(wait(headers)),
        status => {
            tracing::warn!(%status, "a push service refused a message");
            Outcome::Refused
        }
    }
}

fn wait(headers: &HeaderMap) -> Option<i64> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?;
    seconds
        .parse::<u32>()
        .ok()
        .map(|seconds| i64::from(seconds) * 1000)
}

/// The next attempt after a failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Next {
    /// The time at which the browser is tried again.
    at: Timestamp,
    /// `true` if it is then worth it to try this message.
    is_tried_again: bool,
}

/// Returns the next attempt. `wait` is the shortest pause that the push service accepts.
fn next(queued: &QueuedPush, now: Timestamp, wait: Option<i64>) -> Next {
    let doublings = u32::try_from(queued.attempts - 1)
        .unwrap_or_default()
        .min(10);
    let pause = (FIRST_PAUSE_MILLIS << doublings).max(wait.unwrap_or_default());
    let at = now.plus_millis(pause.min(MAX_PAUSE_MILLIS));
    Next {
        at,
        is_tried_again: at.0 - queued.created_at.0 < MAX_AGE_MILLIS,
    }
}

#[cfg(test)]
mod tests {
    use eddyline_model::{MessageId, RoomId};
    use eddyline_storage::NewPush;

    use super::*;

    fn queued(attempts: i64) -> QueuedPush {
        QueuedPush {
            id: 1,
            push: NewPush {
                session: Vec::new(),
                room: RoomId(1),
                message: MessageId(1),
            },
            attempts,
            created_at: Timestamp(0),
        }
    }

    #[test]
    fn an_answer_says_what_becomes_of_a_message() {
        let none = HeaderMap::new();
        let minute = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static("60"))]);
        let date = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static("Fri"))]);
        for (status, headers, outcome) in [
            (201, &none, Outcome::Sent),
            (404, &none, Outcome::Gone),
            (410, &none, Outcome::Gone),
            (400, &none, Outcome::Refused),
            (413, &none, Outcome::Refused),
            (429, &minute, Outcome::Later(Some(60_000))),
            (429, &date, Outcome::Later(None)),
            (503, &none, Outcome::Later(None)),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(judge(status, headers), outcome, "{status}");
        }
    }

    #[test]
    fn a_message_is_tried_less_and_less_often_for_an_hour() {
        let now = Timestamp(0);
        for (attempts, wait, pause) in [
            (1, None, 30_000),
            (2, None, 60_000),
            (60, None, MAX_PAUSE_MILLIS),
            (1, Some(0), 30_000),
            (1, Some(45_000), 45_000),
            (1, Some(86_400_000), MAX_PAUSE_MILLIS),
        ] {
            let next = next(&queued(attempts), now, wait);
            let expected = Next {
                at: Timestamp(pause),
                is_tried_again: true,
            };
            assert_eq!(next, expected, "{attempts} {wait:?}");
        }
        let late = Timestamp(MAX_AGE_MILLIS - 10_000);
        assert!(!next(&queued(1), late, None).is_tried_again);
    }
}
