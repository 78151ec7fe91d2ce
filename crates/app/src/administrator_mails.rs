//! Mails to the administrators of an organization about what will be deleted in it.

use eddyline_model::OrganizationId;
use eddyline_model::mail::{MailKind, Purpose};
use eddyline_model::names::email_key;
use eddyline_storage::{NewMail, Result as StoreResult, Tx};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::config::MailQuotas;
use crate::core::transaction::TxResult;
use crate::mail_quota::MailCause;

/// The mails about one request or cancellation.
pub(crate) struct AdministratorMails {
    pub(crate) kind: MailKind,
    pub(crate) organization: OrganizationId,
    pub(crate) purpose: Purpose,
    pub(crate) detail: Option<String>,
    /// Whether it is refused where not all of them would learn of it.
    pub(crate) must_reach_all: bool,
}

impl AdministratorMails {
    /// Puts a mail to each of these addresses into the queue, as far as the quotas allow: what is
    /// requested and cancelled again and again fills no mailbox. The caller calls
    /// [`Mail::mail_is_queued`](crate::mailer::Mail::mail_is_queued) after the commit.
    ///
    /// # Errors
    ///
    /// [`Error::mail_quota`](crate::Error::mail_quota) when not all would learn of what they must.
    pub(crate) fn queue(
        self,
        tx: &mut Tx<'_>,
        quotas: MailQuotas,
        recipients: Vec<String>,
    ) -> TxResult<()> {
        let keys: Vec<String> = recipients.iter().map(|email| email_key(email)).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let cause = MailCause {
            kind: self.kind,
            // The quota of the user does not count: other mail that the user caused must not suppress these.
            sender: None,
            organization: Some(self.organization),
        };
        let mut verdicts = quotas.record(tx, cause, &keys)?;
        if self.must_reach_all
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

/// What the mails about a rule say, as it is kept until they are sent.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct RuleDetail {
    /// The user who set or cancelled it.
    pub(crate) by: i64,
    /// The name of the flow that it is for.
    pub(crate) flow: Option<String>,
    /// The days; `None` where the rule of a flow ends.
    pub(crate) days: Option<u32>,
    /// From which day on it applies.
    pub(crate) day: String,
}

/// The addresses of the active administrators.
pub(crate) fn list_administrators(tx: &mut Tx<'_>, id: OrganizationId) -> StoreResult<Vec<String>> {
    let members = tx.organization_members().list_users(id)?.into_iter();
    let administrators = members.filter(|(user, admin)| *admin && user.active);
    Ok(administrators.map(|(user, _)| user.email).collect())
}
