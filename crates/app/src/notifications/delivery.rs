//! The job that sends push messages.

use std::time::Duration;

use eddyline_model::Timestamp;
use eddyline_outbound::OutboundRequest;
use eddyline_storage::QueuedPush;
use eddyline_webpush::encrypt;
use futures_util::StreamExt as _;
use futures_util::stream;
use http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use tokio_util::sync::CancellationToken;

use super::Notifications;
use super::compose::{self, PushMessage};
use crate::Result;
use crate::core::transaction::NoCaller;
use crate::metrics::DeliveryFailure;

/// How many are taken at once.
const BATCH: i64 = 64;
/// How many are sent at the same time.
const AT_ONCE: usize = 16;
/// How long no other process takes those that were taken: all of them are done by then.
const HOLD_MILLIS: i64 = 5 * 60_000;
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
    /// Sends what is in the queue.
    #[expect(
        clippy::disallowed_methods,
        reason = "wakes when a message is to be tried again"
    )]
    pub(crate) async fn run_delivery(self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            let pause = match self.send_due(&stop).await {
                Ok(pause) => pause,
                Err(error) => {
                    tracing::warn!(%error, "the queue of push messages cannot be read; trying again");
                    POLL
                }
            };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.queued.notified() => {}
                () = stop.cancelled() => return,
            }
        }
    }

    /// Sends what is due, and tells after what time to look again.
    async fn send_due(&self, stop: &CancellationToken) -> Result<Duration> {
        loop {
            let read = self
                .core
                .store()
                .read(|reader| reader.notifications().find_next_due());
            let Some(due) = read.await? else {
                return Ok(POLL);
            };
            let millis = u64::try_from(due.0 - self.core.now().0).unwrap_or_default();
            if millis > 0 {
                return Ok(POLL.min(Duration::from_millis(millis)));
            }
            let taken = self.take().await?;
            let sending = stream::iter(taken)
                .map(|(queued, message)| self.deliver(queued, message))
                .buffer_unordered(AT_ONCE)
                .for_each(async |()| {});
            if stop.run_until_cancelled(sending).await.is_none() {
                // What was under way is due again when the hold ends.
                return Ok(Duration::ZERO);
            }
        }
    }

    /// Takes push messages out of turn for other processes, and writes them. Those that are not to
    /// be sent any more are thrown away.
    async fn take(&self) -> Result<Vec<(QueuedPush, PushMessage)>> {
        let (taken, _) = self
            .core
            .store()
            .write(NoCaller::Process, move |tx| {
                let now = tx.now();
                let again = now.plus_millis(HOLD_MILLIS);
                let (mut taken, mut useless) = (Vec::new(), Vec::new());
                for queued in tx.notifications().claim_due(now, again, BATCH)? {
                    match compose::message(tx, &queued)? {
                        Some(message) => taken.push((queued, message)),
                        None => useless.push(queued.id),
                    }
                }
                tx.notifications().delete_pushes(&useless)?;
                Ok(taken)
            })
            .await?;
        Ok(taken)
    }

    async fn deliver(&self, queued: QueuedPush, message: PushMessage) {
        let outcome = self.send(&message).await;
        let now = self.core.now();
        let until = match outcome {
            Outcome::Later(wait) => next(&queued, now, wait),
            Outcome::Sent | Outcome::Refused | Outcome::Gone => None,
        };
        self.count(outcome, until.is_some());
        let noted = self
            .core
            .store()
            .write(NoCaller::Process, move |tx| {
                let mut notifications = tx.notifications();
                match outcome {
                    Outcome::Gone => notifications.delete_subscription(&queued.push.session),
                    Outcome::Sent | Outcome::Refused | Outcome::Later(_) => match until {
                        Some(until) => notifications.postpone_pushes(&queued.push.session, until),
                        None => notifications.delete_pushes(&[queued.id]),
                    },
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

    async fn send(&self, message: &PushMessage) -> Outcome {
        let Some(request) = self.request(message) else {
            return Outcome::Gone;
        };
        match self.outbound.send(request).await {
            Ok(response) => judge(response.status, &response.headers),
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

/// When to try again; `None` when it is not worth it any more. `wait` is the shortest pause that the
/// push service takes.
fn next(queued: &QueuedPush, now: Timestamp, wait: Option<i64>) -> Option<Timestamp> {
    let doublings = u32::try_from(queued.attempts - 1)
        .unwrap_or_default()
        .min(10);
    let pause = (FIRST_PAUSE_MILLIS << doublings).max(wait.unwrap_or_default());
    let until = now.plus_millis(pause.min(MAX_PAUSE_MILLIS));
    (until.0 - queued.created_at.0 < MAX_AGE_MILLIS).then_some(until)
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
            let until = next(&queued(attempts), now, wait);
            assert_eq!(until, Some(Timestamp(pause)), "{attempts} {wait:?}");
        }
        let late = Timestamp(MAX_AGE_MILLIS - 10_000);
        assert_eq!(next(&queued(1), late, None), None);
    }
}
