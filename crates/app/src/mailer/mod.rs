//! The worker that sends the mail that waits in the store.
//!
//! Each process with a [`Mailing`] runs one. It takes a few mails at a time and holds them for a
//! while, so that no other process takes them meanwhile; writes their mails, whose secret links
//! are made only now and stored as digests; and takes each mail out of the queue once it is sent.
//! What cannot be sent now is put off, for longer each time. A process that ends in between loses
//! nothing: what it held is due again when its time is over.

mod compose;
mod metrics;
mod retry;

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use eddyline_auth::SignInGuard;
use eddyline_auth::SignInLimit;
use eddyline_mail::{MailMessage, SendError};
use eddyline_model::mail::QueuedMail;
use eddyline_storage::Result as StoreResult;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use self::metrics::MailMetrics;
use crate::config::Mailing;
use crate::core::Core;
use crate::core::transaction::NoCaller;
use crate::metrics::DeliveryFailure;
use crate::{Error, Limit, Result};

/// How many mails are taken at once.
const BATCH: i64 = 16;
/// How many of them are sent at the same time. A mail takes the mailer a minute at most, so that
/// all are done before the hold ends.
const AT_ONCE: usize = 4;
/// How long no other process takes them.
const HOLD_MILLIS: i64 = 5 * 60_000;
/// How often the worker looks for mail when nobody rang: another process may have queued some.
const POLL: Duration = Duration::from_secs(10);
/// How long mails under way may take when the process is to end.
const LAST_CALL: Duration = Duration::from_secs(1);

/// The queue of mail, and the job that sends it.
#[derive(Clone)]
pub(crate) struct Mail {
    core: Core,
    /// Notified when this process puts mail into the queue.
    queued: Arc<Notify>,
    /// Limits requests for mail, by recipient and by network.
    requests: Arc<SignInGuard>,
    metrics: MailMetrics,
}

crate::core::opaque_debug!(Mail);

impl Mail {
    pub(crate) fn new(core: Core) -> Self {
        let requests = Arc::new(SignInGuard::new(core.config().sign_in));
        Self {
            core,
            queued: Arc::default(),
            requests,
            metrics: MailMetrics::default(),
        }
    }

    /// Counts a request of `client` for mail to `recipient`. These requests need no credentials, so
    /// they have the limits of failed sign-ins.
    pub(crate) fn count_mail_request(&self, recipient: &str, client: IpAddr) -> Result<()> {
        let (requests, now) = (&self.requests, self.core.now());
        requests.check(recipient, client, now).map_err(|refused| {
            let limit = match refused.limit {
                SignInLimit::Account => Limit::AccountLetters,
                SignInLimit::Address => Limit::AddressLetters,
            };
            Error::too_many_requests(limit, refused.wait.seconds)
        })?;
        requests.failed(recipient, client, now);
        Ok(())
    }

    /// Lets this process send mail that it has just put into the queue. Without it the mail goes
    /// out some seconds later.
    pub(crate) fn mail_is_queued(&self) {
        self.queued.notify_one();
    }

    /// Sends mail.
    #[expect(
        clippy::disallowed_methods,
        reason = "wakes when a failed mail is to be tried again"
    )]
    pub(crate) async fn run_mailer(self, stop: CancellationToken) {
        let Some(mailing) = self.core.config().mail.clone() else {
            return;
        };
        let mailer = MailWorker {
            mail: self,
            mailing,
        };
        while !stop.is_cancelled() {
            let pause = match mailer.send_due(&stop).await {
                Ok(pause) => pause,
                Err(error) => {
                    tracing::warn!(%error, "the queue of mail cannot be read; trying again");
                    POLL
                }
            };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = mailer.mail.queued.notified() => {}
                () = stop.cancelled() => return,
            }
        }
    }
}

struct MailWorker {
    mail: Mail,
    mailing: Mailing,
}

/// What became of a mail.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DeliveryOutcome {
    /// Nothing more is to be done about it.
    Done,
    /// It is to be tried again.
    PutOff,
}

impl MailWorker {
    /// Sends what is due, and tells after what time to look again.
    async fn send_due(&self, stop: &CancellationToken) -> Result<Duration> {
        loop {
            if let Some(pause) = self.nothing_due().await? {
                return Ok(pause);
            }
            let messages = self.take().await?;
            let fates = self.deliver(messages, stop).await;
            if stop.is_cancelled() {
                return Ok(Duration::ZERO);
            }
            if !fates.is_empty() && fates.iter().all(|fate| *fate == DeliveryOutcome::PutOff) {
                // Probably the mail server cannot be reached; the rest of a long queue need not
                // find out all at once.
                return Ok(POLL.min(self.mailing.first_retry));
            }
        }
    }

    /// The time until mail may be due; `None` when some is.
    async fn nothing_due(&self) -> Result<Option<Duration>> {
        let (due, waiting) = self
            .mail
            .core
            .store()
            .read(|reader| {
                let mut mails = reader.mails();
                Ok((mails.find_next_due()?, mails.count()?))
            })
            .await?;
        self.mail.metrics.waiting.set(waiting);
        let Some(due) = due else {
            return Ok(Some(POLL));
        };
        let millis = u64::try_from(due.0 - self.mail.core.now().0).unwrap_or_default();
        Ok((millis > 0).then(|| POLL.min(Duration::from_millis(millis))))
    }

    /// Takes mails out of turn for others, and writes their mails. Those that nobody needs any
    /// more are thrown away.
    async fn take(&self) -> Result<VecDeque<(QueuedMail, MailMessage)>> {
        let addresses = self.mail.core.config().addresses.clone();
        let (messages, _) = self
            .mail
            .core
            .store()
            .write(NoCaller::Process, move |tx| {
                let now = tx.now();
                let mut messages = VecDeque::new();
                for mail in tx
                    .mails()
                    .claim_due(now, now.plus_millis(HOLD_MILLIS), BATCH)?
                {
                    match compose::message(tx, &addresses, &mail)? {
                        Some(message) => messages.push_back((mail, message)),
                        None => tx.mails().delete(mail.id)?,
                    }
                }
                Ok(messages)
            })
            .await?;
        Ok(messages)
    }

    /// Sends mails, a few at a time. When the process is to end, no more are begun, and those
    /// that were not are given back.
    async fn deliver(
        &self,
        mut messages: VecDeque<(QueuedMail, MailMessage)>,
        stop: &CancellationToken,
    ) -> Vec<DeliveryOutcome> {
        let mut fates = Vec::new();
        let mut under_way = FuturesUnordered::new();
        while !stop.is_cancelled() {
            while under_way.len() < AT_ONCE
                && let Some((mail, message)) = messages.pop_front()
            {
                under_way.push(self.send(mail, message));
            }
            tokio::select! {
                fate = under_way.next() => match fate {
                    Some(fate) => fates.push(fate),
                    None => return fates,
                },
                () = stop.cancelled() => break,
            }
        }
        let rest = async { while under_way.next().await.is_some() {} };
        if tokio::time::timeout(LAST_CALL, rest).await.is_err() {
            tracing::warn!("mails were under way when the server stopped; they may be sent twice");
        }
        self.give_back(messages).await;
        fates
    }

    async fn give_back(&self, messages: VecDeque<(QueuedMail, MailMessage)>) {
        let mails: Vec<QueuedMail> = messages.into_iter().map(|(mail, _)| mail).collect();
        let given = self.mail.core.store().write(NoCaller::Process, move |tx| {
            let now = tx.now();
            mails
                .iter()
                .try_for_each(|mail| tx.mails().release(mail, now))
        });
        if let Err(error) = given.await {
            tracing::debug!(%error, "mail that was not sent stays held for some minutes");
        }
    }

    async fn send(&self, mail: QueuedMail, message: MailMessage) -> DeliveryOutcome {
        let outcome = self.mailing.mailer.send(&message).await;
        let until = match &outcome {
            Ok(_) => None,
            Err(error) => self.again(&mail, error),
        };
        let deliveries = &self.mail.metrics.deliveries;
        match (&outcome, until) {
            (Ok(_), _) => deliveries.note_sent(),
            (Err(_), Some(_)) => deliveries.note_failed(DeliveryFailure::Postponed),
            (Err(_), None) => deliveries.note_failed(DeliveryFailure::GivenUp),
        }
        let id = mail.id;
        let noted: StoreResult<_> = self
            .mail
            .core
            .store()
            .write(NoCaller::Process, move |tx| match until {
                Some(until) => tx.mails().postpone(id, until),
                None => tx.mails().delete(id),
            })
            .await;
        if let Err(error) = noted {
            tracing::warn!(%error, mail = id, "what became of a mail could not be noted; it may be sent again");
        }
        if until.is_some() {
            DeliveryOutcome::PutOff
        } else {
            DeliveryOutcome::Done
        }
    }

    /// When to try again after a failure; `None` for never.
    fn again(&self, mail: &QueuedMail, error: &SendError) -> Option<eddyline_model::Timestamp> {
        let (id, to, attempts) = (mail.id, &mail.recipient, mail.attempts);
        if error.permanent {
            tracing::warn!(mail = id, %to, %error, "a mail was refused and is given up");
            return None;
        }
        let until = retry::next(mail, self.mail.core.now(), self.mailing.first_retry);
        match until {
            Some(until) => {
                tracing::warn!(mail = id, %to, attempts, %error, %until, "a mail could not be sent yet");
            }
            None => {
                tracing::warn!(mail = id, %to, attempts, %error, "a mail is given up after many attempts");
            }
        }
        until
    }
}

#[cfg(test)]
mod tests;
