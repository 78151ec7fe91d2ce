//! Removing now and then what has ended: links, unused sessions, codes, tokens, and servers that
//! died.

use std::time::Duration;

use eddyline_model::Timestamp;
use eddyline_model::audit_export::GRACE_DAYS;
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
        self.tidy_grants().await
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
