//! Mails about a deletion to the administrators of the organization.

use eddyline_model::mail::{MailKind, Purpose};
use eddyline_model::names::email_key;
use eddyline_model::{OrganizationId, UserId};
use eddyline_storage::{NewMail, Tx};

use crate::Error;
use crate::config::MailQuotas;
use crate::core::transaction::TxResult;
use crate::mail_quota::MailCause;

/// The mails about one request or cancellation.
pub(super) struct DeletionMails {
    pub(super) organization: OrganizationId,
    /// The user who causes them; `None` for an operator.
    pub(super) sender: Option<UserId>,
    pub(super) purpose: Purpose,
    pub(super) detail: Option<String>,
}

impl DeletionMails {
    /// Puts a mail to each of these addresses into the queue, as far as the quotas allow: a deletion
    /// that is requested and cancelled again and again fills no mailbox. The caller calls
    /// [`Mail::mail_is_queued`](crate::mailer::Mail::mail_is_queued) after the commit.
    ///
    /// # Errors
    ///
    /// [`Error::mail_quota`](crate::Error::mail_quota) when a user requests a deletion of which not all
    /// would learn.
    pub(super) fn queue(
        self,
        tx: &mut Tx<'_>,
        quotas: MailQuotas,
        recipients: Vec<String>,
    ) -> TxResult<()> {
        let keys: Vec<String> = recipients.iter().map(|email| email_key(email)).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let cause = MailCause {
            kind: MailKind::Deletion,
            // The quota of the user does not count: other mail that the user caused must not suppress these.
            sender: None,
            organization: Some(self.organization),
        };
        let mut verdicts = quotas.record(tx, cause, &keys)?;
        let is_request = matches!(self.purpose, Purpose::DeletionRequest(_));
        if self.sender.is_some()
            && is_request
            && let Some(exceeded) = verdicts.iter_mut().find_map(Option::take)
        {
            return Err(Error::from(exceeded).into());
        }
        let allowed = recipients.into_iter().zip(verdicts);
        let mails: Vec<NewMail> = allowed
            .filter(|(_, exceeded)| exceeded.is_none())
            .map(|(recipient, _)| NewMail {
                purpose: self.purpose,
                recipient,
                detail: self.detail.clone(),
            })
            .collect();
        let now = tx.now();
        Ok(tx.mails().insert(&mails, now)?)
    }
}
