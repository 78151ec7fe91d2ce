//! One destination: reading on from where it is, handing over, and noting what it has taken.

use std::time::{Duration, Instant};

use eddyline_model::Timestamp;
use eddyline_model::audit::{AuditFilter, AuditRange};
use eddyline_model::audit_export::{BATCH, larger_batch, pause_millis, smaller_batch};
use eddyline_storage::{
    AuditExport, Error as StoreError, Reader, Result as StoreResult, SILENCE_MILLIS,
};
use eddyline_wire::NamedRecord;
use url::Url;

use super::insert_missing;
use super::metrics::{AuditExportMetrics, ExportMetrics};
use super::sender::{RecordBatch, RecordLoss, RecordSender, SendFailure};
use crate::audit::list;
use crate::audit_destination::AuditDestination;
use crate::core::Core;
use crate::core::transaction::NoCaller;

/// How often new records are looked for.
const LOOK: Duration = Duration::from_millis(500);
/// How often a process looks whether the one that sends is gone.
const HOLDER_CHECK: Duration = Duration::from_secs(2);
/// How often waiting records are counted while there are more than a batch of them.
const COUNTING: Duration = Duration::from_secs(10);

/// Why nothing was sent.
#[derive(Debug, thiserror::Error)]
enum ExportFailure {
    #[error(transparent)]
    Send(#[from] SendFailure),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the connection ended, and the last records are sent again")]
    Lost,
}

/// What one look came to.
enum ExportStep {
    /// A batch was taken; there may be more.
    Taken,
    /// There is nothing new.
    Idle,
    /// Another process sends.
    NotHolder,
}

/// What the tables say.
struct ExportLook {
    export: AuditExport,
    /// Whether another living process sends.
    is_held_elsewhere: bool,
    records: Vec<NamedRecord>,
    /// How many wait, where they were counted.
    waiting: Option<i64>,
}

/// The work for one destination.
pub(super) struct ExportWork {
    core: Core,
    name: &'static str,
    /// What messages call this server.
    host: String,
    sender: RecordSender,
    metrics: ExportMetrics,
    /// What may have been lost, until that is noted.
    loss: Option<RecordLoss>,
    /// How many records are sent at once.
    batch: i64,
    /// How many at most, since more were too many for the destination.
    largest: i64,
    /// Failures since the last success.
    failures: u32,
    /// When waiting records were last counted.
    counted: Option<Instant>,
}

impl ExportWork {
    pub(super) fn new(
        core: Core,
        metrics: &AuditExportMetrics,
        destination: AuditDestination,
    ) -> Self {
        let name = destination.name();
        let base = Url::parse(&core.config().addresses.base).ok();
        let host = base.as_ref().and_then(Url::host_str).unwrap_or_default();
        Self {
            name,
            host: host.trim_matches(['[', ']']).to_owned(),
            sender: RecordSender::new(destination),
            metrics: metrics.of(name),
            loss: None,
            batch: BATCH,
            largest: BATCH,
            failures: 0,
            counted: None,
            core,
        }
    }

    /// Sends what comes next, if anything does, and says how long to wait then.
    pub(super) async fn work(&mut self) -> Duration {
        match self.step().await {
            Ok(step) => {
                self.note_success(&step);
                match step {
                    ExportStep::Taken => Duration::ZERO,
                    ExportStep::Idle => LOOK,
                    ExportStep::NotHolder => HOLDER_CHECK,
                }
            }
            Err(failure) => self.note_failure(&failure),
        }
    }

    /// Ends the connection. What may be lost already is left to the next process.
    pub(super) async fn close(mut self) {
        if let Err(error) = self.leave_loss().await {
            tracing::debug!(destination = self.name, %error, "records may be lost");
        }
        self.sender.close().await;
    }

    fn note_success(&mut self, step: &ExportStep) {
        let is_proven = match step {
            ExportStep::Taken => self.sender.is_proven(true),
            ExportStep::Idle => self.sender.is_proven(false),
            ExportStep::NotHolder => false,
        };
        if self.failures == 0 || !is_proven {
            return;
        }
        tracing::info!(destination = self.name, "the audit log is sent again");
        self.failures = 0;
    }

    fn note_failure(&mut self, failure: &ExportFailure) -> Duration {
        if self.failures == 0 {
            tracing::warn!(
                destination = self.name,
                error = failure as &dyn std::error::Error,
                "the audit log cannot be sent; trying again"
            );
        }
        self.metrics.count_failure();
        self.failures = self.failures.saturating_add(1);
        if let ExportFailure::Send(failure) = failure
            && failure.is_of_size()
        {
            self.batch = smaller_batch(self.batch);
            self.largest = self.batch;
        }
        Duration::from_millis(pause_millis(self.failures, eddyline_random::number()))
    }

    async fn step(&mut self) -> Result<ExportStep, ExportFailure> {
        self.look_for_loss().await;
        let Some(look) = self.look().await? else {
            self.begin().await?;
            return Ok(ExportStep::Idle);
        };
        self.metrics.show_success(look.export.updated_at);
        if let Some(waiting) = look.waiting {
            self.metrics.show_waiting(waiting);
        }
        if look.is_held_elsewhere || !self.claim(&look.export).await? {
            self.give_up_turn().await?;
            return Ok(ExportStep::NotHolder);
        }
        if let Some(loss) = self.loss
            && loss.after < look.export.last_id
        {
            self.leave_loss().await?;
            // A connection that ended soon is a failure, so that the next one waits.
            return match loss.was_stable {
                true => Ok(ExportStep::Idle),
                false => Err(ExportFailure::Lost),
            };
        }
        // None of it was noted.
        self.loss = None;
        match look.records.last().map(|record| record.id) {
            Some(last) => self.hand_over(&look, last).await,
            None => {
                self.largest = BATCH;
                Ok(ExportStep::Idle)
            }
        }
    }

    async fn look_for_loss(&mut self) {
        if let Some(found) = self.sender.find_loss().await {
            let earlier = self.loss.map_or(found.after, |loss| loss.after);
            self.loss = Some(RecordLoss {
                after: found.after.min(earlier),
                ..found
            });
        }
    }

    /// Notes that records from there on may have been lost, so that they are sent again, by whichever
    /// process sends.
    async fn leave_loss(&mut self) -> Result<(), StoreError> {
        self.look_for_loss().await;
        if let Some(loss) = self.loss {
            let name = self.name;
            let noted = self.core.store().write(NoCaller::Process, move |tx| {
                tx.audit_exports().set_back(name, loss.after)
            });
            noted.await?;
            self.loss = None;
        }
        Ok(())
    }

    async fn hand_over(
        &mut self,
        look: &ExportLook,
        last: i64,
    ) -> Result<ExportStep, ExportFailure> {
        let now = self.core.now();
        let batch = RecordBatch {
            after: look.export.last_id,
            records: &look.records,
            host: &self.host,
            now,
        };
        self.sender.send(&batch).await?;
        self.batch = larger_batch(self.batch).min(self.largest);
        if self.advance((look.export.last_id, last), now).await? {
            return Ok(ExportStep::Taken);
        }
        self.give_up_turn().await?;
        Ok(ExportStep::NotHolder)
    }

    async fn give_up_turn(&mut self) -> Result<(), StoreError> {
        self.leave_loss().await?;
        self.sender.close().await;
        Ok(())
    }

    async fn begin(&self) -> Result<(), StoreError> {
        let name = self.name;
        let begun = self
            .core
            .store()
            .write(NoCaller::Process, move |tx| insert_missing(tx, name));
        begun.await?;
        Ok(())
    }

    async fn look(&mut self) -> Result<Option<ExportLook>, StoreError> {
        let question = ExportQuestion {
            name: self.name,
            node: self.core.node.clone(),
            limit: self.batch,
            is_counting: self.counted.is_none_or(|at| at.elapsed() >= COUNTING),
            since: self.core.now().plus_millis(-SILENCE_MILLIS),
        };
        let is_counting = question.is_counting;
        let look = self.core.store().read(move |reader| question.ask(reader));
        let look = look.await?;
        if is_counting {
            self.counted = Some(Instant::now());
        }
        Ok(look)
    }

    /// Makes this process the one that sends, unless it is or another one was faster.
    async fn claim(&self, export: &AuditExport) -> Result<bool, StoreError> {
        if export.holder == self.core.node {
            return Ok(true);
        }
        let (name, node) = (self.name, self.core.node.clone());
        let claimed = self.core.store().write(NoCaller::Process, move |tx| {
            let since = tx.now().plus_millis(-SILENCE_MILLIS);
            tx.audit_exports().claim(name, &node, since)
        });
        Ok(claimed.await?.0)
    }

    /// Notes what was taken. Says whether this process still is the one that sends, from there.
    async fn advance(&self, (from, to): (i64, i64), now: Timestamp) -> Result<bool, StoreError> {
        let (name, node) = (self.name, self.core.node.clone());
        let advanced = self.core.store().write(NoCaller::Process, move |tx| {
            tx.audit_exports().advance(name, &node, (from, to), now)
        });
        Ok(advanced.await?.0)
    }
}

/// What a look is to find.
struct ExportQuestion {
    name: &'static str,
    /// This process.
    node: String,
    /// How many records.
    limit: i64,
    /// Whether to count them where there are more.
    is_counting: bool,
    /// Since when a process must have shown a sign of life that counts as living.
    since: Timestamp,
}

impl ExportQuestion {
    /// `None` where the destination is not in the table.
    fn ask(&self, reader: &mut Reader<'_>) -> StoreResult<Option<ExportLook>> {
        let Some(export) = reader.audit_exports().find(self.name)? else {
            return Ok(None);
        };
        let is_held_elsewhere = export.holder != self.node && {
            let living = reader.nodes().list(self.since)?;
            living.iter().any(|node| node.id == export.holder)
        };
        let range = AuditRange::following(export.last_id, self.limit);
        let records = match is_held_elsewhere {
            true => Vec::new(),
            false => list(reader, &AuditFilter::default(), range)?,
        };
        let found = i64::try_from(records.len()).unwrap_or(i64::MAX);
        let waiting = match !is_held_elsewhere && found < self.limit {
            true => Some(found),
            false if self.is_counting => Some(reader.audit().count_after(export.last_id)?),
            false => None,
        };
        Ok(Some(ExportLook {
            export,
            is_held_elsewhere,
            records,
            waiting,
        }))
    }
}
