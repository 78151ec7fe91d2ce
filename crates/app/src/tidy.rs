//! Removing now and then what has ended: links, unused sessions, codes, tokens, and servers that
//! died.

use std::time::Duration;

use eddyline_model::audit_export::GRACE_DAYS;
use eddyline_model::{MessageId, RoomId, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::Result;
use crate::accounts::SESSION_DAYS;
use crate::audit_destination::AuditDestination;
use crate::core::Core;
use crate::core::liveness::FORGOTTEN_MILLIS;
use crate::core::transaction::NoCaller;
use crate::jobs::Ticker;

const EVERY: Duration = Duration::from_secs(3600);
const DAY_MILLIS: i64 = 24 * 3_600_000;
/// How many grants end, or records of mail, in one transaction, since everybody else who writes
/// waits for it.
const BATCH: i64 = 500;
/// The setting with the room and the message up to which unread marks were compacted.
const COMPACTED: &str = "marks_compacted";
/// How many messages of a room are looked at for marks at a time.
const LOOKED_AT: i64 = 5_000;
/// How many messages are rewritten in one transaction. Each may have thousands of marks.
const COMPACTED_AT_ONCE: usize = 4;

impl Core {
    /// Tidies up once an hour.
    pub(crate) async fn run_tidying(self, stop: CancellationToken) {
        let mut ticker = Ticker::new(EVERY, stop);
        while ticker.tick().await {
            if let Err(error) = self.tidy().await {
                tracing::debug!(%error, "what has ended could not be thrown away");
            }
        }
    }

    pub(crate) async fn tidy(&self) -> Result<()> {
        let ended = self.store().write(NoCaller::Process, |tx| {
            let now = tx.now();
            tx.mails().delete_ended_links(now)?;
            tx.emails().delete_ended_claims(now)?;
            tx.nodes()
                .delete_silent_writers(now.plus_millis(-DAY_MILLIS))?;
            tx.nodes()
                .delete_silent(now.plus_millis(-FORGOTTEN_MILLIS))?;
            tx.sessions()
                .delete_idle(now.plus_millis(-SESSION_DAYS * DAY_MILLIS))
        });
        ended.await?;
        self.tidy_mail_records().await?;
        self.tidy_audit().await?;
        self.tidy_grants().await?;
        self.compact_marks().await
    }

    /// Rewrites messages of versions that spelled out the unread marks of groups and of everyone, a
    /// few at a time. It goes on where it ended.
    async fn compact_marks(&self) -> Result<()> {
        let place = self
            .store()
            .read(|reader| reader.settings().find(COMPACTED));
        let place = place.await?.unwrap_or_default();
        let begin: (i64, i64) = serde_json::from_slice(&place).unwrap_or_default();
        let (mut room, mut after) = begin;
        while let Some((found, last)) = self.next_room(RoomId(room), MessageId(after)).await? {
            if found.0 != room {
                (room, after) = (found.0, 0);
            }
            let through = last.0.min(after + LOOKED_AT);
            let rewritten = self
                .compact_marks_of(found, MessageId(after), MessageId(through))
                .await?;
            after = through;
            if rewritten > 0 {
                self.note_compacted((room, after)).await?;
            }
        }
        match (room, after) == begin {
            true => Ok(()),
            false => self.note_compacted((room, after)).await,
        }
    }

    /// Notes up to which message of which room marks were compacted.
    async fn note_compacted(&self, place: (i64, i64)) -> Result<()> {
        let place = serde_json::json!(place).to_string();
        let note = self.store().write(NoCaller::Process, move |tx| {
            tx.settings().delete(COMPACTED)?;
            tx.settings().insert_or_find(COMPACTED, place.as_bytes())
        });
        note.await?;
        Ok(())
    }

    /// The first room, from this one on, with messages after the last that was looked at in this one.
    async fn next_room(
        &self,
        room: RoomId,
        after: MessageId,
    ) -> Result<Option<(RoomId, MessageId)>> {
        let next = self
            .store()
            .read(move |reader| reader.rooms().find_next_with_messages(room, after));
        Ok(next.await?)
    }

    /// Rewrites messages of a room after one and through another, and gives how many.
    async fn compact_marks_of(
        &self,
        room: RoomId,
        after: MessageId,
        through: MessageId,
    ) -> Result<usize> {
        let found = self.store().read(move |reader| {
            reader
                .messages()
                .list_with_spelled_marks(room, after, through)
        });
        let found = found.await?;
        for ids in found.chunks(COMPACTED_AT_ONCE) {
            let ids = ids.to_vec();
            self.store()
                .write(NoCaller::Process, move |tx| {
                    tx.messages().set_compact_marks(room, &ids)
                })
                .await?;
        }
        Ok(found.len())
    }

    /// Removes the records that are older than the log keeps them. Those that a destination has not
    /// taken stay longer.
    async fn tidy_audit(&self) -> Result<()> {
        let days = i64::from(self.config().audit.days);
        let until = self.now().plus_millis(-days * DAY_MILLIS);
        let taken = self.find_taken_by_all().await?;
        self.delete_audit(until, taken).await?;
        if taken.is_some() {
            let grace = i64::from(GRACE_DAYS) * DAY_MILLIS;
            self.delete_audit(until.plus_millis(-grace), None).await?;
        }
        Ok(())
    }

    /// The last record that all destinations of the audit log have taken; `None` without any.
    async fn find_taken_by_all(&self) -> Result<Option<i64>> {
        let destinations = &self.config().audit.destinations;
        let names: Vec<_> = destinations.iter().map(AuditDestination::name).collect();
        if names.is_empty() {
            return Ok(None);
        }
        let exports = self.store().read(|reader| reader.audit_exports().list());
        let exports = exports.await?;
        let configured = exports
            .iter()
            .filter(|export| names.contains(&&*export.name));
        Ok(configured.map(|export| export.last_id).min())
    }

    async fn delete_audit(&self, until: Timestamp, through: Option<i64>) -> Result<()> {
        loop {
            let (deleted, _) = self
                .store()
                .write(NoCaller::Process, move |tx| {
                    tx.audit().delete_until(until, through, BATCH)
                })
                .await?;
            if i64::try_from(deleted).is_ok_and(|deleted| deleted < BATCH) {
                return Ok(());
            }
        }
    }

    async fn tidy_mail_records(&self) -> Result<()> {
        let until = self.now().plus_millis(-DAY_MILLIS);
        loop {
            let (deleted, _) = self
                .store()
                .write(NoCaller::Process, move |tx| {
                    tx.mail_records().delete_until(until, BATCH)
                })
                .await?;
            if i64::try_from(deleted).is_ok_and(|deleted| deleted < BATCH) {
                return Ok(());
            }
        }
    }

    /// What ended a day ago: so clocks of several servers need not agree, and a client that comes a
    /// little late is still told why it is refused. Grants go before codes, which stay as long as
    /// what they were exchanged for.
    async fn tidy_grants(&self) -> Result<()> {
        let long_ago = self.now().plus_millis(-DAY_MILLIS);
        loop {
            let (ended, _) = self
                .store()
                .write(NoCaller::Process, move |tx| {
                    let idle = tx.grants().list_idle(long_ago, BATCH)?;
                    for grant in &idle {
                        tx.grants().delete(*grant)?;
                    }
                    Ok(idle.len())
                })
                .await?;
            if i64::try_from(ended).is_ok_and(|ended| ended < BATCH) {
                break;
            }
        }
        self.store()
            .write(NoCaller::Process, move |tx| {
                tx.oauth_tokens().delete_ended_access(long_ago)
            })
            .await?;
        self.store()
            .write(NoCaller::Process, move |tx| {
                tx.oauth_tokens().delete_ended_refresh(long_ago)
            })
            .await?;
        self.store()
            .write(NoCaller::Process, move |tx| {
                tx.oauth_tokens().delete_ended_codes(long_ago)
            })
            .await?;
        Ok(())
    }
}
