//! Handing records to a destination.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use eddyline_model::Timestamp;
use eddyline_outbound::OutboundRequest;
use eddyline_syslog::{Collector, SyslogConnection, SyslogError, SyslogMessage, UNCONFIRMED};
use eddyline_wire::NamedRecord;
use http::header::{CONTENT_TYPE, USER_AGENT};
use http::{HeaderName, HeaderValue, StatusCode};

use crate::audit_destination::{AuditDestination, AuditWebhook};

/// The name and the version of the program in messages.
const APPLICATION: &str = "eddyline";
const VERSION: &str = env!("CARGO_PKG_VERSION");
const AGENT: HeaderValue =
    HeaderValue::from_static(concat!("eddyline/", env!("CARGO_PKG_VERSION")));
const WEBHOOK_ID: HeaderName = HeaderName::from_static("webhook-id");
const WEBHOOK_TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const WEBHOOK_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");
/// How long after it was written a batch may have been lost with its connection: as long as the operating
/// system waits for a confirmation, and the time that writing takes.
const UNCERTAIN_FOR: Duration = Duration::from_secs(UNCONFIRMED.as_secs() + 10);
/// How long a connection must have been open to count as good: what only stands in front of a collector
/// may take a connection and end it.
const STABLE_AFTER: Duration = Duration::from_secs(5);

/// Why a destination has not taken a batch.
#[derive(Debug, thiserror::Error)]
pub(super) enum SendFailure {
    #[error(transparent)]
    Syslog(#[from] SyslogError),
    #[error(transparent)]
    Webhook(#[from] eddyline_outbound::Error),
    /// The webhook answered, and not that it has taken the records.
    #[error("the webhook answered {0}")]
    Refused(StatusCode),
    /// A record that is no JSON, or a value that is no header, which there are none of.
    #[error("the request cannot be written: {0}")]
    Unwritable(Box<dyn std::error::Error + Send + Sync>),
}

impl SendFailure {
    /// Whether fewer records may be taken.
    pub(super) fn is_of_size(&self) -> bool {
        matches!(
            self,
            Self::Refused(StatusCode::PAYLOAD_TOO_LARGE)
                | Self::Syslog(SyslogError::Timeout)
                | Self::Webhook(eddyline_outbound::Error::Timeout)
        )
    }

    fn unwritable(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Unwritable(error.into())
    }
}

/// What is to be handed over.
pub(super) struct RecordBatch<'a> {
    /// The number of the record before.
    pub(super) after: i64,
    /// At least one.
    pub(super) records: &'a [NamedRecord],
    /// The server that they are of.
    pub(super) host: &'a str,
    pub(super) now: Timestamp,
}

/// Records that were handed over and may not have arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordLoss {
    /// The number of the record behind which to begin again.
    pub(super) after: i64,
    /// Whether the connection was a good one before it ended.
    pub(super) was_stable: bool,
}

/// Hands batches over, one after the other.
pub(super) enum RecordSender {
    Syslog(SyslogSender),
    Webhook(AuditWebhook),
}

impl RecordSender {
    pub(super) fn new(destination: AuditDestination) -> Self {
        match destination {
            AuditDestination::Syslog(collector) => Self::Syslog(SyslogSender {
                collector,
                connection: None,
                written: VecDeque::new(),
                repeated_through: 0,
            }),
            AuditDestination::Webhook(webhook) => Self::Webhook(webhook),
        }
    }

    /// Hands a batch over. Of a failed one the destination may have taken some.
    pub(super) async fn send(&mut self, batch: &RecordBatch<'_>) -> Result<(), SendFailure> {
        match self {
            Self::Syslog(syslog) => syslog.send(batch).await,
            Self::Webhook(webhook) => post(webhook, batch).await,
        }
    }

    /// What may have been lost since this was asked last.
    pub(super) async fn find_loss(&mut self) -> Option<RecordLoss> {
        match self {
            Self::Syslog(syslog) => syslog.find_loss().await,
            Self::Webhook(_) => None,
        }
    }

    /// Ends what is open. Later batches open it again.
    pub(super) async fn close(&mut self) {
        if let Self::Syslog(syslog) = self
            && let Some((connection, _)) = syslog.connection.take()
        {
            syslog.written.clear();
            connection.close().await;
        }
    }

    /// Whether the destination is known to take records, where the last step handed some over or did not.
    pub(super) fn is_proven(&self, has_sent: bool) -> bool {
        match self {
            Self::Syslog(SyslogSender {
                connection: Some((_, since)),
                ..
            }) => since.elapsed() >= STABLE_AFTER,
            Self::Syslog(_) => false,
            Self::Webhook(_) => has_sent,
        }
    }
}

/// A collector with the connection to it.
pub(super) struct SyslogSender {
    collector: Collector,
    /// With the time since when it is open.
    connection: Option<(SyslogConnection, Instant)>,
    /// The batches of the connection that may not have arrived.
    written: VecDeque<WrittenBatch>,
    /// The last record that was written again because its connection ended.
    repeated_through: i64,
}

/// A batch that was handed to the operating system.
struct WrittenBatch {
    at: Instant,
    /// The number of the record before.
    after: i64,
    last: i64,
}

impl SyslogSender {
    async fn send(&mut self, batch: &RecordBatch<'_>) -> Result<(), SendFailure> {
        let mut frames = Vec::new();
        for record in batch.records {
            frames.extend(frame(record, batch.host)?);
        }
        let (mut connection, since) = match self.connection.take() {
            Some(open) => open,
            None => {
                self.written.clear();
                (self.collector.connect().await?, Instant::now())
            }
        };
        self.written.push_back(WrittenBatch {
            at: Instant::now(),
            after: batch.after,
            last: batch.records.last().map_or(batch.after, |last| last.id),
        });
        // A connection that fails is dropped here, and what was written to it is in doubt.
        connection.send(&frames).await?;
        self.connection = Some((connection, since));
        Ok(())
    }

    async fn find_loss(&mut self) -> Option<RecordLoss> {
        while let Some(batch) = self.written.front()
            && batch.at.elapsed() > UNCERTAIN_FOR
        {
            self.written.pop_front();
        }
        if let Some((connection, _)) = &mut self.connection
            && connection.is_open().await
        {
            return None;
        }
        let ended = self.connection.take();
        let was_stable = ended.is_some_and(|(_, since)| since.elapsed() >= STABLE_AFTER);
        if was_stable {
            // A good connection that ends, such as one that a proxy ends when it is idle, has these
            // records repeated once and not for ever.
            self.written
                .retain(|batch| batch.last > self.repeated_through);
        }
        let after = self.written.front()?.after;
        let last = self.written.back().map_or(after, |batch| batch.last);
        self.repeated_through = self.repeated_through.max(last);
        self.written.clear();
        Some(RecordLoss { after, was_stable })
    }
}

fn frame(record: &NamedRecord, host: &str) -> Result<Vec<u8>, SendFailure> {
    let json = serde_json::to_string(record).map_err(SendFailure::unwritable)?;
    let message = SyslogMessage {
        at: &record.at,
        host,
        application: APPLICATION,
        version: VERSION,
        kind: &record.action,
        json: &json,
    };
    Ok(message.frame())
}

/// Asks the webhook to take the records, which it has done when it answers with a status of success.
async fn post(webhook: &AuditWebhook, batch: &RecordBatch<'_>) -> Result<(), SendFailure> {
    let body = serde_json::to_vec(batch.records).map_err(SendFailure::unwritable)?;
    let first = batch.records.first().map_or(0, |record| record.id);
    let last = batch.records.last().map_or(0, |record| record.id);
    // After a restore numbers are given again, at other times.
    let at = batch.records.last().map_or("", |record| &record.at);
    let at: String = at.chars().filter(char::is_ascii_alphanumeric).collect();
    let (id, timestamp) = (format!("audit-{first}-{last}-{at}"), batch.now.0 / 1000);
    let signature = webhook.secret.sign(&id, timestamp, &body);
    let mut request = OutboundRequest::post(&*webhook.url, body);
    let headers = [
        (WEBHOOK_ID, id),
        (WEBHOOK_TIMESTAMP, timestamp.to_string()),
        (WEBHOOK_SIGNATURE, signature),
    ];
    for (name, value) in headers {
        let value = HeaderValue::try_from(value).map_err(SendFailure::unwritable)?;
        request.headers.insert(name, value);
    }
    let json = HeaderValue::from_static("application/json");
    request.headers.insert(CONTENT_TYPE, json);
    request.headers.insert(USER_AGENT, AGENT);
    let answer = webhook.outbound.send_for_head(request).await?;
    match answer.status.is_success() {
        true => Ok(()),
        false => Err(SendFailure::Refused(answer.status)),
    }
}
