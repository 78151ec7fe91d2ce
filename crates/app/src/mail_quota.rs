//! Quotas on mail: how much may go to one address, and how much one user and one organization may
//! cause. They are counted in the database, so that they hold over all processes.
//!
//! Mail to an address counts for the organization that causes it, so that no organization keeps
//! another from writing to the same address. A higher bound on the mail of all organizations
//! protects the mailbox; the first mail of an organization in a day is sent beyond it as well. Only
//! operators make organizations, so these first mails are few. Members do not keep each other from
//! writing either: the first mail of a user is sent beyond the quota of the organization. It counts
//! towards a higher bound on the organization alone, and not towards that on all: otherwise the
//! members of one organization could reach the bound of the others.

use std::cmp::Reverse;
use std::collections::HashMap;

use eddyline_model::mail::{MailKind, MailRate};
use eddyline_model::{OrganizationId, Timestamp, UserId};
use eddyline_storage::{Result as StoreResult, Tx};

use crate::config::MailQuotas;
use crate::core::transaction::TxResult;
use crate::{Error, Limit};

const MINUTE_MILLIS: i64 = 60_000;

/// The bound on the mail to an address of all organizations together, as a multiple of that of one,
/// and the bound on the mail of one with the first mail of each of its users.
const ALL_ORGANIZATIONS: u32 = 5;

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
        let mut verdicts = self.of_recipients(tx, cause, recipients)?;
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
        cause: MailCause,
        recipients: &[&str],
    ) -> StoreResult<Vec<Option<MailQuotaExceeded>>> {
        let Some(longest) = self.recipient.bounds().map(|(_, window)| window).max() else {
            return Ok(vec![None; recipients.len()]);
        };
        let now = tx.now();
        let since = now.plus_millis(-longest);
        let mut mails: HashMap<String, Vec<EarlierMail>> = HashMap::new();
        for record in tx.mail_records().list_to(cause.kind, recipients, since)? {
            let of_organization = record.organization == cause.organization;
            mails
                .entry(record.recipient)
                .or_default()
                .push(EarlierMail {
                    at: record.at,
                    organization: record.organization,
                    of_organization,
                    of_sender: of_organization && record.sender == cause.sender,
                });
        }
        let verdict = |recipient: &&str| {
            let mails = mails.get_mut(*recipient)?;
            mails.sort_unstable_by_key(|mail| Reverse(mail.at));
            let (until, window) = next_mail(self.recipient, mails, now)?;
            let quota = MailQuota::Recipient;
            Some(MailQuotaExceeded::new(quota, window, until, now))
        };
        Ok(recipients.iter().map(verdict).collect())
    }
}

/// A mail that went to the same address.
#[derive(Clone, Copy, Debug)]
struct EarlierMail {
    at: Timestamp,
    organization: Option<OrganizationId>,
    /// True if the same organization caused it.
    of_organization: bool,
    /// True if the same user of that organization caused it.
    of_sender: bool,
}

/// Returns the time at which the next mail may go to an address, and the window of the bound that
/// is reached; `None` for now. `rate` is that of one organization; the mails are the earlier ones
/// to the address, the latest first.
fn next_mail(rate: MailRate, mails: &[EarlierMail], now: Timestamp) -> Option<(Timestamp, i64)> {
    let of_organization: Vec<Timestamp> = mails
        .iter()
        .filter(|mail| mail.of_organization)
        .map(|mail| mail.at)
        .collect();
    let is_first_of_organization = of_organization.is_empty();
    let is_first_of_sender = mails.iter().all(|mail| !mail.of_sender);
    let reached = rate.bounds().flat_map(|(limit, window)| {
        let until = |limit: i64, times: &[Timestamp]| {
            let first = times.get(usize::try_from(limit - 1).ok()?)?;
            let until = first.plus_millis(window);
            (until > now).then_some((until, window))
        };
        let most = limit * i64::from(ALL_ORGANIZATIONS);
        let of_all = within_quotas(limit, mails);
        [
            until(limit, &of_organization).filter(|_| !is_first_of_sender),
            until(most, &of_organization),
            until(most, &of_all).filter(|_| !is_first_of_organization),
        ]
    });
    reached.flatten().max()
}

/// Returns the times of the mails that count for all organizations: of each organization, as many
/// as its quota, the latest.
fn within_quotas(limit: i64, mails: &[EarlierMail]) -> Vec<Timestamp> {
    let mut counts: HashMap<Option<OrganizationId>, i64> = HashMap::new();
    let counted = mails.iter().filter(|mail| {
        let count = counts.entry(mail.organization).or_default();
        *count += 1;
        *count <= limit
    });
    counted.map(|mail| mail.at).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: MailRate = MailRate {
        per_minute: 0,
        per_day: 2,
    };
    const DAY: i64 = 24 * 60 * MINUTE_MILLIS;
    const NOW: Timestamp = Timestamp(10 * DAY);

    /// A mail of the same user, and of another member: the organization and whether the user is the
    /// same.
    const SAME: (i64, bool) = (0, true);
    const MEMBER: (i64, bool) = (0, false);

    /// A mail of each of two users of so many other organizations.
    fn others(organizations: i64) -> Vec<(i64, bool)> {
        (2..2 * organizations + 2)
            .map(|mail| (mail / 2, false))
            .collect()
    }

    /// Returns the milliseconds until the next mail may go to an address that had these, the first
    /// a millisecond ago, the second two, and so on.
    fn next(mails: &[(i64, bool)]) -> Option<i64> {
        let ago = mails.iter().zip(1..);
        let mails: Vec<_> = ago
            .map(|(&(organization, of_sender), ago)| EarlierMail {
                at: NOW.plus_millis(-ago),
                organization: Some(OrganizationId(organization)),
                of_organization: organization == 0,
                of_sender,
            })
            .collect();
        next_mail(RATE, &mails, NOW).map(|(until, _)| until.0 - NOW.0)
    }

    #[test]
    fn an_organization_sends_an_address_as_much_as_its_quota() {
        assert_eq!(next(&[]), None);
        assert_eq!(next(&[SAME]), None);
        assert_eq!(next(&[SAME, SAME]), Some(DAY - 2));
        assert_eq!(next(&[MEMBER, SAME, MEMBER]), Some(DAY - 2));
    }

    #[test]
    fn the_first_mail_of_a_user_is_sent_beyond_the_quota_of_the_organization() {
        assert_eq!(next(&[MEMBER, MEMBER, MEMBER]), None);
        assert_eq!(next(&[MEMBER; 10]), Some(DAY - 10));
    }

    #[test]
    fn the_mail_of_others_leaves_an_organization_its_quota() {
        assert_eq!(next(&[vec![SAME], others(4)].concat()), None);
    }

    #[test]
    fn the_members_of_one_organization_do_not_reach_the_bound_of_the_others() {
        let of_another = [(1, false); 30];
        assert_eq!(next(&[&[SAME], &of_another[..]].concat()), None);
        let of_two = [&of_another[..], &[(2, false); 30]].concat();
        assert_eq!(next(&[&[SAME], &of_two[..]].concat()), None);
    }

    #[test]
    fn all_organizations_together_have_five_times_the_quota_but_for_a_first_mail() {
        let ten = [vec![SAME], others(5)].concat();
        assert_eq!(next(&ten[..10]), Some(DAY - 10));
        assert_eq!(next(&ten[..9]), None);
        assert_eq!(next(&others(15)), None);
    }
}
