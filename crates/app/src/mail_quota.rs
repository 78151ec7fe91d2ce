//! Quotas on mail: how much may go to one address, and how much one user and one organization may
//! cause. They are counted in the database, so that they hold over all processes.

use std::collections::HashMap;

use eddyline_model::mail::MailKind;
use eddyline_model::{OrganizationId, Timestamp, UserId};
use eddyline_storage::{Result as StoreResult, Tx};

use crate::config::MailQuotas;
use crate::core::transaction::TxResult;
use crate::{Error, Limit};

const MINUTE_MILLIS: i64 = 60_000;

/// Whose quota on mail is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MailQuota {
    /// That of the address it goes to.
    Recipient,
    /// That of the user who causes it.
    Sender,
    /// That of the organization.
    Organization,
}

/// Why mail is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}; try again in {retry_after} seconds", self.reason())]
pub(crate) struct MailQuotaExceeded {
    /// Whose quota it is.
    pub(crate) quota: MailQuota,
    /// The same, and whether it is that of a minute or of a day.
    pub(crate) limit: Limit,
    /// Seconds to wait.
    pub(crate) retry_after: u64,
}

impl MailQuotaExceeded {
    /// The bound of a quota within `window` milliseconds.
    fn new(quota: MailQuota, window: i64, until: Timestamp, now: Timestamp) -> Self {
        let millis = u64::try_from(until.0 - now.0).unwrap_or_default();
        let limit = match (quota, window > MINUTE_MILLIS) {
            (MailQuota::Recipient, false) => Limit::RecipientMinute,
            (MailQuota::Recipient, true) => Limit::RecipientDay,
            (MailQuota::Sender, false) => Limit::SenderMinute,
            (MailQuota::Sender, true) => Limit::SenderDay,
            (MailQuota::Organization, false) => Limit::OrganizationMinute,
            (MailQuota::Organization, true) => Limit::OrganizationDay,
        };
        Self {
            quota,
            limit,
            retry_after: millis.div_ceil(1000).max(1),
        }
    }

    /// Which quota is used up, in a sentence for the user without a full stop.
    fn reason(&self) -> &'static str {
        match self.quota {
            MailQuota::Recipient => "too much mail has gone to this address",
            MailQuota::Sender => "you have sent too much mail",
            MailQuota::Organization => "the organization has sent too much mail",
        }
    }
}

impl From<MailQuotaExceeded> for Error {
    fn from(exceeded: MailQuotaExceeded) -> Self {
        let MailQuotaExceeded {
            limit, retry_after, ..
        } = exceeded;
        Self::mail_quota(limit, retry_after, exceeded.reason())
    }
}

/// Who causes mail, and of which kind it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MailCause {
    pub(crate) kind: MailKind,
    pub(crate) sender: Option<UserId>,
    pub(crate) organization: Option<OrganizationId>,
}

impl MailQuotas {
    /// Records one mail. The recipient is given in the form by which addresses are compared.
    ///
    /// # Errors
    ///
    /// [`Error::mail_quota`].
    pub(crate) fn record_one(
        &self,
        tx: &mut Tx<'_>,
        cause: MailCause,
        recipient: &str,
    ) -> TxResult<()> {
        match self.record(tx, cause, &[recipient])?.pop().flatten() {
            Some(exceeded) => Err(Error::from(exceeded).into()),
            None => Ok(()),
        }
    }

    /// Records mail to each of these recipients, in order, as far as the quotas allow. Gives for
    /// each why there is none, in the same order.
    pub(crate) fn record(
        &self,
        tx: &mut Tx<'_>,
        cause: MailCause,
        recipients: &[&str],
    ) -> StoreResult<Vec<Option<MailQuotaExceeded>>> {
        if recipients.is_empty() {
            return Ok(Vec::new());
        }
        tx.mail_records().lock()?;
        let mut verdicts = self.of_recipients(tx, cause.kind, recipients)?;
        let allowed: Vec<usize> = (0..recipients.len())
            .filter(|place| verdicts[*place].is_none())
            .collect();
        let (mut room, mut short) = (allowed.len(), None);
        for (quota, rate) in [
            (MailQuota::Sender, self.sender),
            (MailQuota::Organization, self.organization),
        ] {
            for (limit, window) in rate.bounds() {
                let Some(used) = count(tx, cause, quota, window)? else {
                    continue;
                };
                let left = usize::try_from(limit - used).unwrap_or_default();
                if left < room {
                    (room, short) = (left, Some((quota, limit, window)));
                }
            }
        }
        let (sent, refused) = allowed.split_at(room);
        let sent: Vec<&str> = sent.iter().map(|place| recipients[*place]).collect();
        let now = tx.now();
        tx.mail_records()
            .insert(cause.kind, &sent, cause.sender, cause.organization, now)?;
        if let Some((quota, limit, window)) = short {
            // There is room again when the first of the last `limit` mails is old enough.
            let first = nth_last(tx, cause, quota, limit - 1)?.unwrap_or(now);
            let exceeded = MailQuotaExceeded::new(quota, window, first.plus_millis(window), now);
            refused
                .iter()
                .for_each(|place| verdicts[*place] = Some(exceeded));
        }
        Ok(verdicts)
    }

    fn of_recipients(
        &self,
        tx: &mut Tx<'_>,
        kind: MailKind,
        recipients: &[&str],
    ) -> StoreResult<Vec<Option<MailQuotaExceeded>>> {
        let Some(longest) = self.recipient.bounds().map(|(_, window)| window).max() else {
            return Ok(vec![None; recipients.len()]);
        };
        let now = tx.now();
        let mut times: HashMap<String, Vec<i64>> = HashMap::new();
        for (recipient, at) in
            tx.mail_records()
                .list_to(kind, recipients, now.plus_millis(-longest))?
        {
            times.entry(recipient).or_default().push(at.0);
        }
        for times in times.values_mut() {
            times.sort_unstable_by(|one, other| other.cmp(one));
        }
        let verdict = |recipient: &&str| {
            let times = times.get(*recipient)?;
            let until = self.recipient.bounds().filter_map(|(limit, window)| {
                let first = times.get(usize::try_from(limit - 1).ok()?)?;
                Some((first + window, window)).filter(|(until, _)| *until > now.0)
            });
            let (until, window) = until.max()?;
            Some(MailQuotaExceeded::new(
                MailQuota::Recipient,
                window,
                Timestamp(until),
                now,
            ))
        };
        Ok(recipients.iter().map(verdict).collect())
    }
}

/// How much of a quota is used; `None` where nobody has that quota.
fn count(
    tx: &mut Tx<'_>,
    cause: MailCause,
    quota: MailQuota,
    window: i64,
) -> StoreResult<Option<i64>> {
    let since = tx.now().plus_millis(-window);
    match (quota, cause.sender, cause.organization) {
        (MailQuota::Sender, Some(sender), _) => {
            tx.mail_records().count_by_sender(sender, since).map(Some)
        }
        (MailQuota::Organization, _, Some(organization)) => tx
            .mail_records()
            .count_of_organization(cause.kind, organization, since)
            .map(Some),
        _ => Ok(None),
    }
}

fn nth_last(
    tx: &mut Tx<'_>,
    cause: MailCause,
    quota: MailQuota,
    n: i64,
) -> StoreResult<Option<Timestamp>> {
    match (quota, cause.sender, cause.organization) {
        (MailQuota::Sender, Some(sender), _) => {
            tx.mail_records().find_nth_last_by_sender(sender, n)
        }
        (MailQuota::Organization, _, Some(organization)) => tx
            .mail_records()
            .find_nth_last_of_organization(cause.kind, organization, n),
        _ => Ok(None),
    }
}
